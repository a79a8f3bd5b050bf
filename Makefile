# Every target sets up .venv by itself; nothing else needs to be installed but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests often wait for processes, time limits and a browser, so more of them run at once than there are cores.
JOBS ?= 3
# Bytecode is kept, or each process would rewrite the assertions of all tests again.
export PYTHONDONTWRITEBYTECODE :=
# The plugin is tested with the oldest pytest that pyproject.toml allows, too.
OLDEST_PYTEST := pytest==7.0.0 pytest-xdist==3.8.0

.PHONY: verify test test-full test-oldest test-newest coverage browser check bench peers tables docs clean

verify: $(READY)
	$(BIN)/verify-invariant invariants

test: $(READY)
	FDVERIFY_TESTS=sample $(BIN)/python -m pytest -q -rs -n $(JOBS) --dist worksteal

test-full: $(READY)
	$(BIN)/python tests/record.py -n $(JOBS) --dist worksteal

# The same, and the lines of the package that are run, in processes that the tests start, too.
coverage: $(READY)
	$(BIN)/coverage erase
	$(BIN)/python tests/record.py --coverage -n $(JOBS) --dist worksteal

# The ranges in pyproject.toml are as wide as these two show: the tests with the lowest and with the newest versions.
test-oldest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-oldest test-newest: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv venv --quiet --clear --seed --python $(PYTHON) .venv-$@
	$(BIN)/uv pip install --quiet --python .venv-$@ --resolution $(RESOLUTION) --editable '.[test]'
	$(BIN)/uv pip install --quiet --python .venv-$@ --target .venv-$@/oldest-pytest $(OLDEST_PYTEST)
	$(BIN)/uv pip list --python .venv-$@
	FDVERIFY_TESTS=sample .venv-$@/bin/python -m pytest -q -rs -n $(JOBS) --dist worksteal

# For the tests of the HTML report, which are skipped without it.  Debian's packages; needs root.
browser:
	(command -v chromium && command -v chromedriver) || \
		(apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver)

check: $(READY)
	$(BIN)/ruff check fdverify tests examples benchmarks invariants docs setup.py
	$(BIN)/ruff format --check fdverify tests examples benchmarks invariants docs setup.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# FDVERIFY_PEER_… in the environment say how Ivy, TLC and ByMC are called: benchmarks/peers.py --help.
peers: $(READY)
	$(BIN)/python benchmarks/peers.py

tables: $(READY)
	$(BIN)/python benchmarks/tables.py

docs: $(READY)
	$(BIN)/python docs/write_cli.py
	$(BIN)/python docs/write_modules.py

clean:
	rm -rf $(VENV) .venv-test-oldest .venv-test-newest build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage-data *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $(VENV)/oldest-pytest $(OLDEST_PYTEST)
	$(BIN)/python -m compileall -q fdverify
	touch $(READY)
