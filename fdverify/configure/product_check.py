"""The check of a product's settings, by formulas that are proved for all values; nothing is explored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

from fdverify.detectors.model_catalogue import find_model
from fdverify.detectors.product import Product, SafetyRule, Setting
from fdverify.durations import format_duration
from fdverify.models.system import State
from fdverify.obligations.planned_violation import interpret_worst_run
from fdverify.runs.concrete_interpreter import build_initial_state
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.verdict import Verdict

_LONGEST_TIME, _MOST_ROUNDS = 1000, 2000
"""A run is shown if no time in it is longer than so many rounds, and it has not more; else a replay takes too long."""


@dataclass(frozen=True)
class SettingValue:
    """A setting with its value: nanoseconds, or a number."""

    setting: Setting
    value: Fraction
    is_default: bool


@dataclass(frozen=True)
class RuleAnswer:
    """A rule, and whether it holds; its numbers are nanoseconds if its setting is a time."""

    rule: SafetyRule
    value: Fraction
    least: Fraction
    is_tight: bool

    @property
    def holds(self) -> bool:
        return self.value >= self.least


@dataclass(frozen=True)
class ProductAnswer:
    """What the formulas say of a product with these settings."""

    product: Product
    values: tuple[SettingValue, ...]
    rules: tuple[RuleAnswer, ...]
    broken_limits: tuple[str, ...]
    """What the proofs assume and does not hold."""
    detection: Fraction
    """Nanoseconds after which a crash is noticed at the latest, for ticks as short as one likes."""
    run: ShownRun | None = None
    """A run that breaks a rule, if one is broken."""
    tick: Fraction | None = None
    """The nanoseconds of a round of the run."""
    why_no_run: str = ""

    @property
    def verdict(self) -> Verdict:
        broken = [answer for answer in self.rules if not answer.holds]
        if self.broken_limits or any(not answer.is_tight for answer in broken):
            return Verdict.UNKNOWN
        return Verdict.VIOLATED if broken else Verdict.PROVED


def check_product(product: Product, values: tuple[SettingValue, ...]) -> ProductAnswer:
    """Evaluate the formulas at these values, and replay a run if a rule is broken."""
    tick = Fraction(1, lcm(*(each.value.denominator for each in values)))
    state = _build_state(product, values, tick)
    half = tick / 2
    once, twice = (int(product.compute_detection(_build_state(product, values, each))) * each for each in (tick, half))
    rules = tuple(_evaluate_rule(rule, values, state, tick) for rule in product.rules)
    answer = ProductAnswer(
        product,
        values,
        rules,
        tuple(limit.meaning for limit in product.limits if not limit.holds(state)),
        2 * twice - once,  # what the formula tends to as ticks become short: it is linear in the length of a tick
    )
    broken = [each for each in rules if not each.holds]
    return _add_run(answer, broken[0]) if answer.verdict is Verdict.VIOLATED else answer


def _evaluate_rule(rule: SafetyRule, values: tuple[SettingValue, ...], state: State, tick: Fraction) -> RuleAnswer:
    value = next(each for each in values if each.setting.name == rule.setting)
    scale = tick if value.setting.is_time else Fraction(1)
    least = Fraction(int(rule.compute_least(state))) * scale
    return RuleAnswer(rule, value.value, max(least, value.setting.least * scale), bool(rule.is_tight(state)))


def _build_state(product: Product, values: tuple[SettingValue, ...], tick: Fraction) -> State:
    """Build the state of the parameters, with times in ticks of so many nanoseconds."""
    numbers: dict[str, int] = dict(product.chosen)
    for each in values:
        numbers[each.setting.parameter] = int(each.value / tick) if each.setting.is_time else int(each.value)
    if product.is_strict:
        numbers["initial_timeout"] += 1  # suspecting after T is the same as suspecting at one tick more
    return State({**numbers, "timeout": numbers["initial_timeout"]})


def _add_run(answer: ProductAnswer, broken: RuleAnswer) -> ProductAnswer:
    """Add the run that breaks a rule, replayed at these very values, with the longest ticks that measure them all."""
    product, rule = answer.product, broken.rule
    times = [each.value for each in answer.values if each.setting.is_time and each.value > 0]
    tick = _find_longest_tick(times) / (2 if product.is_strict else 1)
    state = _build_state(product, answer.values, tick)
    numbers = {**state.values(), **rule.plan_for(state)}
    too_long = f"it has too many rounds of {format_duration(tick)} to be shown: give rounder times to see it"
    if max(numbers.values()) > _LONGEST_TIME:
        return replace(answer, why_no_run=too_long)
    model = find_model(product.model)
    options = {**product.options, "crash": False, "timeout": str(numbers["initial_timeout"]), "buffer": None}
    system = model.instantiate({each.name: numbers[each.name] for each in model.parameters}, options)
    plan = rule.build_plan()
    if plan.left(build_initial_state(system)) > _MOST_ROUNDS:
        return replace(answer, why_no_run=too_long)
    run = interpret_worst_run(system, system.find_property("strong-accuracy"), plan)
    return replace(answer, run=show_run(system, run), tick=tick)


def _find_longest_tick(times: list[Fraction]) -> Fraction:
    """Find the greatest common divisor of some times."""
    scale = lcm(*(time.denominator for time in times))
    return Fraction(gcd(*(int(time * scale) for time in times)), scale)
