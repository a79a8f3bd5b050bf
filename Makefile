# Every target sets up .venv by itself; nothing else needs to be installed but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: verify test test-full check bench clean

verify: $(READY)
	$(BIN)/fdverify explore --variant tla --delta 2 --phi 4 --timeout '6*phi+delta' --subrounds
	$(BIN)/fdverify induct --variant tla --delta 2 --phi 4 --timeout '6*phi+delta'
	@echo 'The next one is violated, as it should be: the initial timeout is too short.'
	$(BIN)/fdverify bmc --variant tla --delta 2 --phi 4 --timeout 'delta+1'; test $$? -eq 1

test: $(READY)
	FDVERIFY_TESTS=sample $(BIN)/python -m pytest -q -n $(JOBS)

test-full: $(READY)
	$(BIN)/python tests/record.py -n $(JOBS)

check: $(READY)
	$(BIN)/ruff check fdverify tests examples benchmarks
	$(BIN)/ruff format --check fdverify tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

bench: $(READY)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)
