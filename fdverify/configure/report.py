"""The outcome of ``fdverify configure``: the document, and the text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal

from rich.console import Console
from rich.table import Table

from fdverify.configure.product_check import ProductAnswer, RuleAnswer, SettingValue
from fdverify.detectors.product import Product, Setting
from fdverify.durations import SECOND, format_duration
from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import is_made, print_steps
from fdverify.runs.run_table import ShownRun, ShownStep
from fdverify.verdict import Verdict

_STYLES = {Verdict.PROVED: "bold green", Verdict.UNKNOWN: "bold yellow"}


@dataclass(frozen=True)
class UsedSetting:
    """A setting, its value as text, and where it is from; ``key`` is what the product calls it."""

    name: str
    value: str
    meaning: str
    source: Literal["given", "default"]
    key: str


@dataclass(frozen=True)
class CheckedRule:
    """A rule that a setting has to obey; ``spare`` is negative if it does not."""

    setting: str
    value: str
    least: str
    spare: str
    holds: bool
    formula: str


@dataclass(frozen=True, kw_only=True)
class ProductDocument(Document):
    """The result of ``fdverify configure PRODUCT``."""

    command: Literal["configure"] = "configure"
    product: str
    model: str
    options: Mapping[str, str]
    verdict: Verdict
    safe: bool | None
    detail: str
    settings: tuple[UsedSetting, ...]
    rules: tuple[CheckedRule, ...]
    detection: str
    detection_seconds: float
    detection_formula: str
    proofs: tuple[str, ...]
    rests_on: tuple[str, ...]
    page: str
    tick_seconds: float | None
    """How long a round of the run is."""
    trace: ShownRun | None
    seconds: float


@dataclass(frozen=True)
class ListedProduct:
    """A product of the catalogue; settings without a default have to be given."""

    name: str
    summary: str
    needs: tuple[str, ...]
    page: str


@dataclass(frozen=True, kw_only=True)
class ProductsDocument(Document):
    """The result of ``fdverify configure`` without a product."""

    command: Literal["configure"] = "configure"
    products: tuple[ListedProduct, ...]


def report_products(products: Sequence[Product]) -> Outcome:
    """Build the outcome of listing the products."""
    listed = tuple(
        ListedProduct(each.name, each.summary, tuple(s.name for s in each.settings if s.default is None), each.page)
        for each in products
    )
    return Outcome(exit_code=0, document=ProductsDocument(products=listed), render=partial(_render_products, listed))


def _render_products(listed: Sequence[ListedProduct], console: Console) -> None:
    table = Table("product", "what it is", "needs")
    for each in listed:
        table.add_row(Text(each.name), Text(each.summary), Text(" ".join(f"--{name}" for name in each.needs)))
    console.print(table)


def report_product(answer: ProductAnswer, seconds: float) -> Outcome:
    """Build the outcome of checking a product's settings."""
    product = answer.product
    document = ProductDocument(
        product=product.name,
        model=product.model,
        options=product.options,
        verdict=answer.verdict,
        safe={Verdict.PROVED: True, Verdict.VIOLATED: False}.get(answer.verdict),
        detail=_describe_answer(answer),
        settings=tuple(_describe_setting(each) for each in answer.values),
        rules=tuple(_describe_rule(each, product) for each in answer.rules),
        detection=format_duration(answer.detection),
        detection_seconds=float(answer.detection / SECOND),
        detection_formula=product.detection_formula,
        proofs=product.proofs,
        rests_on=product.rests_on,
        page=product.page,
        tick_seconds=None if answer.tick is None else float(answer.tick / SECOND),
        trace=answer.run,
        seconds=seconds,
    )
    return Outcome(
        exit_code=answer.verdict.exit_code,
        document=document,
        render=partial(_render_product, answer, document),
        runs=() if answer.run is None else (answer.run,),
    )


def _describe_answer(answer: ProductAnswer) -> str:
    """Say in one line whether the settings are safe, and why not."""
    broken = [each for each in answer.rules if not each.holds]
    names = " and ".join(each.rule.setting for each in broken)
    if answer.broken_limits:
        return f"the formulas are proved only if {' and '.join(answer.broken_limits)}"
    if answer.verdict is Verdict.UNKNOWN:
        return f"{names} is less than what is proved to be enough, and here it is not proved that less is too little"
    if not broken:
        return "no correct process is ever suspected"
    shown = "as in the run above" if answer.run is not None else f"in a run; {answer.why_no_run}"
    return f"{names} is too small: a correct process may be suspected, {shown}"


def _describe_setting(used: SettingValue) -> UsedSetting:
    setting = used.setting
    source: Literal["given", "default"] = "default" if used.is_default else "given"
    return UsedSetting(setting.name, _format_value(setting, used.value), setting.meaning, source, setting.key)


def _describe_rule(answer: RuleAnswer, product: Product) -> CheckedRule:
    setting = product.find_setting(answer.rule.setting)
    spare = answer.value - answer.least
    sign = "-" if spare < 0 else ""
    return CheckedRule(
        setting.name,
        _format_value(setting, answer.value),
        _format_value(setting, answer.least),
        sign + _format_value(setting, abs(spare)),
        answer.holds,
        answer.rule.formula,
    )


def _format_value(setting: Setting, value: Fraction) -> str:
    return format_duration(value) if setting.is_time else str(value)


def _render_product(answer: ProductAnswer, document: ProductDocument, console: Console) -> None:
    def print_line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    if answer.run is not None and answer.tick is not None:
        print_steps(console, fold_idle_rounds(answer.run))
        print_line(f"a round is {format_duration(answer.tick)}; rounds in which nothing but time changes are left out")
    table = Table("setting", "value", "from", "what it is")
    for each in document.settings:
        source = " ".join(filter(None, (each.source, each.key)))
        table.add_row(Text(each.name), Text(each.value), Text(source), Text(each.meaning))
    console.print(table)
    for rule in document.rules:
        spare = f"{rule.spare} to spare" if rule.holds else f"{rule.spare.removeprefix('-')} too little"
        print_line(
            f"{rule.setting} {rule.value}, at least {rule.least} is needed: {spare}  [{rule.formula}]",
            "" if rule.holds else "bold red",
        )
    print_line(f"a crash is noticed within {document.detection}  [{document.detection_formula}]")
    print_line(f"rests on: {'; '.join(document.rests_on)}", "dim")
    print_line(f"proved for all values by {', '.join(document.proofs)}; see {document.page}", "dim")
    words = {Verdict.PROVED: "safe", Verdict.VIOLATED: "not safe"}.get(answer.verdict, "unknown")
    print_line(f"{words}: {document.detail}", _STYLES.get(answer.verdict, "bold red"))


def fold_idle_rounds(run: ShownRun) -> ShownRun:
    """Leave out the rounds in which nothing but time changes, except for the last one before something does."""
    return replace(run, steps=tuple(_list_busy_steps(run.steps)))


def _list_busy_steps(steps: Sequence[ShownStep]) -> Iterator[ShownStep]:
    busy = [number for number in range(1, len(steps)) if _is_busy(steps[number - 1], steps[number])]
    kept = {0, len(steps) - 1, *busy, *(number - 1 for number in busy)}
    return (steps[number] for number in sorted(kept))


def _is_busy(before: ShownStep, step: ShownStep) -> bool:
    """Tell whether other choices are made than before, or anything but a number or the age of a message changes."""
    chosen = dict(step.choices) != dict(before.choices) and any(map(is_made, step.choices.values()))
    changed = any(
        len(value) != len(old) if isinstance(value, tuple) and isinstance(old, tuple) else value != old
        for value, old in zip(step.state.values(), before.state.values(), strict=True)
        if isinstance(value, bool | str | tuple)
    )
    return chosen or changed
