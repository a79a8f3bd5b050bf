"""``fdverify configure``: what it says of a product's settings is what the oracles say, and bad input is one line."""

import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from fdverify.configure.product_check import ProductAnswer, SettingValue, check_product
from fdverify.detectors.product import Product
from fdverify.detectors.product_catalogue import load_products
from fdverify.durations import SECOND
from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER
from fdverify.schemas import find_schema
from fdverify.verdict import Verdict
from tests.cli.script import Outcome, run
from tests.oracle import deadline, missed_checks
from tests.sampling import choose

ROOT = Path(__file__).parents[2]
PRODUCTS = {product.name: product for product in load_products()}
SETTINGS = choose(full=200, sample=10)
TICKS = (Fraction(1), Fraction(SECOND), Fraction(3 * SECOND), Fraction(1, 7))
GIVEN: dict[str, tuple[str, ...]] = {
    "heartbeat-fixed-delay": ("--period", "10s", "--interval", "1s", "--timeout", "25s", "--stall", "1s"),
    "heartbeat-fixed-rate": ("--period", "10s", "--interval", "1s", "--timeout", "25s", "--stall", "1s"),
    "spark-executor": ("--stall", "1s"),
    "checks-fixed-delay": ("--period", "1s", "--timeout", "5s", "--tolerance", "4"),
    "checks-fixed-rate": ("--period", "1s", "--timeout", "5s", "--tolerance", "4"),
    "elasticsearch-follower": (),
    "ray-node": (),
    "kubernetes-probe": (),
}


def configure(name: str, *arguments: str) -> Outcome:
    return run("configure", name, *arguments)


def document(outcome: Outcome) -> Any:
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("product")))
    return found


def test_the_catalogue_is_listed() -> None:
    outcome = run("configure")
    assert outcome.code == 0
    assert all(name in outcome.stdout for name in PRODUCTS)
    listed = json.loads(run("configure", "--json").stdout)
    jsonschema.validate(listed, json.loads(find_schema("products")))
    assert [each["name"] for each in listed["products"]] == list(PRODUCTS)


def test_every_product_has_a_page_and_proofs() -> None:
    assert set(GIVEN) == set(PRODUCTS)
    for product in PRODUCTS.values():
        assert (ROOT / product.page).is_file()
        for proof in product.proofs:
            assert (SHIPPED_FOLDER / f"{proof}.py").is_file()


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_product_answers(name: str) -> None:
    safe = configure(
        name, "--delay", "1s", "--pause", "500ms" if "kubernetes" not in name else "0s", "--losses", "0", *GIVEN[name]
    )
    slow = configure(name, "--delay", "100s", "--pause", "5s", "--losses", "1", *GIVEN[name], "--json")
    expected = 1 if name == "kubernetes-probe" else 0
    assert (safe.code, safe.stderr) == (expected, "")
    assert slow.code == 1
    found = document(slow)
    assert found["safe"] is False
    assert found["rules"][0]["spare"].startswith("-")


def test_a_run_shows_what_is_not_safe(tmp_path: Path) -> None:
    arguments = ("--delay", "2s", "--pause", "5s", "--losses", "1", "--html", str(tmp_path / "run.html"))
    outcome = configure("elasticsearch-follower", *arguments)
    assert outcome.code == 1
    assert "not safe: tolerance is too small" in outcome.stdout
    assert "tolerance 3, at least 4 is needed: 1 too little" in outcome.stdout
    assert "a crash is noticed within 35 s" in outcome.stdout
    assert "a round is 1 s" in outcome.stdout
    assert (tmp_path / "run.html").read_text().startswith("<!doctype html>")
    found = document(configure("elasticsearch-follower", *arguments[:-2], "--json"))
    assert found["trace"]["steps"][-1]["state"]["misses"] == 3
    assert {each["key"] for each in found["settings"] if each["source"] == "default"} == {
        f"cluster.fault_detection.follower_check.{key}" for key in ("interval", "timeout", "retry_count")
    }


def test_units_may_be_mixed_and_a_long_run_is_not_shown() -> None:
    found = document(configure("ray-node", "--delay", "5001us", "--pause", "0.1ms", "--losses", "2", "--json"))
    assert (found["safe"], found["trace"]) == (False, None)
    assert "too many rounds of 1 us" in found["detail"]
    assert found["rules"][0]["least"] == "10.102 ms"


def test_what_the_proofs_assume_is_told() -> None:
    outcome = configure("spark-executor", "--delay", "1s", "--pause", "15s", "--stall", "1s", "--losses", "0")
    assert outcome.code == 3
    assert (
        outcome.stdout.splitlines()[-1] == "unknown: the formulas are proved only if pauses are shorter than the period"
    )
    shorter = configure("kubernetes-probe", "--delay", "0s", "--pause", "5s", "--losses", "0")
    assert shorter.code == 3
    assert "it is not proved that less is too little" in shorter.stdout


BAD = {
    "nothing given": ((), "--delay is needed: longest delay of a message"),
    "no unit": (("--delay", "5"), "--delay must be a time, got '5'"),
    "negative": (("--delay=-5s",), "--delay must be a time, got '-5s'"),
    "another unit": (("--delay", "5 days"), "--delay must be a time"),
    "a loss in part": (("--delay", "1s", "--pause", "1s", "--losses", "0.5"), "--losses must be a whole number"),
    "a negative loss": (("--delay", "1s", "--pause", "1s", "--losses=-1"), "--losses must be a whole number"),
    "no period": (
        ("--delay", "1s", "--pause", "1s", "--losses", "1", "--period", "0s"),
        "--period must be at least 1 ns",
    ),
    "no checks": (
        ("--delay", "1s", "--pause", "1s", "--losses", "1", "--tolerance", "0"),
        "--tolerance must be at least 1",
    ),
    "unknown": (("--delays", "1s"), "No such option: --delays"),
    "another product's": (("--stall", "1s"), "No such option: --stall"),
}


@pytest.mark.parametrize(("arguments", "says"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    outcome = configure("ray-node", *arguments)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert says in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_an_unknown_product_is_one_line() -> None:
    outcome = configure("ray-nodes")
    assert (outcome.code, outcome.stdout, len(outcome.stderr.splitlines())) == (2, "", 1)


def answer(product: Product, numbers: dict[str, int], tick: Fraction) -> ProductAnswer:
    """Check a product at these settings, with times in ticks."""
    values = (
        SettingValue(each, numbers[each.parameter] * (tick if each.is_time else Fraction(1)), False)
        for each in product.settings
    )
    return check_product(product, tuple(values))


@pytest.mark.parametrize("number", range(SETTINGS))
def test_checks_are_safe_where_the_oracle_says_so(number: int) -> None:
    random = Random(number)
    delta, pause, losses = random.randint(0, 2), random.randint(0, 2), random.randint(0, 1)
    setting = missed_checks.Setting(
        fixed_rate=random.random() < 0.5,
        delta=delta,
        period=random.randint(1, 4),
        losses=losses,
        pause=pause,
        tolerance=max(1, (losses + 1) ** 2 + random.randint(-1, 1)),
        timeout=max(1, 2 * delta + pause + random.randint(-1, 1)),
    )
    numbers = {**vars(setting), "initial_timeout": setting.timeout}
    product = PRODUCTS["checks-fixed-rate" if setting.fixed_rate else "checks-fixed-delay"]
    tick = random.choice(TICKS)
    found = answer(product, numbers, tick)
    safe = missed_checks.is_safe(setting)
    if found.verdict is not Verdict.UNKNOWN:
        assert found.verdict is (Verdict.PROVED if safe else Verdict.VIOLATED), setting
        assert safe or found.run is not None
    # The formula is for short ticks; in long ones, each check may take a tick more.
    assert missed_checks.find_latest_detection(setting) * tick <= found.detection + setting.tolerance * tick


@pytest.mark.parametrize("number", range(SETTINGS))
def test_heartbeats_are_safe_where_the_oracle_says_so(number: int) -> None:
    random = Random(number)
    delta, period = random.randint(0, 2), random.randint(1, 3)
    setting = deadline.Setting(
        fixed_rate=random.random() < 0.5,
        judges_first=False,
        delta=delta,
        soonest=random.randint(0, min(delta, period - 1)),
        period=period,
        losses=random.randint(0, 1),
        pause=random.randint(0, 2),
        stall=random.randint(0, 1),
        interval=1,
        first=1,
    )
    least = deadline.find_least_safe_timeout(setting)
    product = PRODUCTS["heartbeat-fixed-rate" if setting.fixed_rate else "heartbeat-fixed-delay"]
    timeout = max(1, least + random.randint(-1, 1))
    tick = random.choice(TICKS)
    found = answer(product, {**vars(setting), "initial_timeout": timeout}, tick)
    if found.verdict is Verdict.UNKNOWN:
        assert setting.fixed_rate, setting
        assert setting.pause >= setting.period, setting
    else:
        assert found.verdict is (Verdict.PROVED if timeout >= least else Verdict.VIOLATED), (setting, timeout)
    assert deadline.find_latest_detection(setting, timeout) * tick <= found.detection
