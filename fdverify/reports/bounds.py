"""Bounds for people: the formula by cases, what it rests on, and the run that nothing less survives."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from rich.console import Console

from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.configure import Configuration, Failure
from fdverify.discovery.bounds.find import Found
from fdverify.discovery.bounds.subject import Subject
from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text, described, print_steps, print_verdict
from fdverify.verdict import Verdict


def bounds_text(found: Found, seconds: float) -> str:
    def show(console: Console) -> None:
        for bound in found.bounds:
            _print_bound(console, bound)
        for note in found.notes:
            console.print(Text(note), soft_wrap=True)
        if not found.bounds:
            if found.run is not None:
                print_steps(console, found.run)
            print_verdict(console, found.verdict, found.why)
        console.print(Text(f"{_described(found.about)}, {seconds:.1f} s", style="dim"), soft_wrap=True)

    return as_text(show)


def _described(about: Subject) -> str:
    return described(about.model, {name: text for name, text in about.options.items() if name == "variant"})


def _print_bound(console: Console, bound: Bound) -> None:
    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    if bound.needed.run is not None:
        print_steps(console, bound.needed.run)
    line(f"{bound.name}: {bound.status}", "bold green" if bound.proved else "bold yellow")
    line(f"  {bound.meaning}")
    if bound.formula.cases:
        for case in bound.formula.cases:
            when = case.when()
            line(f"    {case.sum}" + (f"   if {when}" if when else ""))
    else:
        line(f"    {bound.formula}")
    if bound.linear is not None:
        line(f"  least linear formula that is nowhere less: {bound.linear}")
    if bound.enough is not None:
        line(f"  enough for {_told(bound.enough)}")
    elif bound.linear_enough is not None:
        line(f"  {bound.linear} is enough for {_told(bound.linear_enough)}")
    else:
        line("  that it is enough was not proved")
    line(f"  nothing less is enough for {_told(bound.needed)}; explored: {bound.measured} instances")


def _told(evidence: Evidence) -> str:
    obligations = f" ({len(evidence.obligations)} obligations proved)" if evidence.obligations else ""
    return f"{evidence.scope}: {evidence.detail}{obligations}"


def configuration_text(numbers: Mapping[str, int], tick: Decimal | None, found: Configuration) -> str:
    def ticks(number: int) -> str:
        return f"{number} ticks" + ("" if tick is None else f" = {time_text(number * tick)}")

    def show(console: Console) -> None:
        def line(text: str, style: str = "") -> None:
            console.print(Text(text, style=style), soft_wrap=True)

        about, least, usual = found.about, found.least, found.usual
        if found.failure is not None:
            print_steps(console, found.failure.run)
            line(_failure_in_words(about, found.failure))
        if found.run is not None:
            print_steps(console, found.run)
        line(", ".join([_described(about), *(f"{name} = {value}" for name, value in numbers.items())]))
        if least is not None:
            steps = f"{least.timeout} steps of the {about.watcher}, at least {ticks(least.timeout)}"
            line(f"initial timeout   {steps}", "bold")
        if found.longer:
            some = " or ".join(str(timeout) for timeout in found.longer)
            line(f"longer is not always safe: {about.claim} is violated with {some} as initial timeout", "bold yellow")
        if least is not None and least.detection is not None:
            line(f"crash noticed in  {ticks(least.detection)} at worst", "bold")
        if usual is not None and usual.detection is not None:
            line(f"with {found.usual_formula} = {usual.timeout} it would be {ticks(usual.detection)}")
        for reason in (*found.because, *found.notes):
            line(reason, "dim")
        if found.verdict is not Verdict.PROVED:
            print_verdict(console, found.verdict, found.detail)

    return as_text(show)


def _failure_in_words(about: Subject, failure: Failure) -> str:
    suspected, violated = f"a correct {about.watched} may be suspected", f"{about.claim} is violated"
    what = suspected if failure.wrong_suspicion else violated
    return f"with {failure.timeout} as initial timeout, {what}, as above"


def time_text(seconds: Decimal) -> str:
    """A length of time with the unit that suits it."""
    for unit, size in (("s", Decimal(1)), ("ms", Decimal("1e-3")), ("us", Decimal("1e-6"))):
        if seconds >= size:
            return f"{(seconds / size).normalize():f} {unit}"
    return f"{(seconds / Decimal('1e-9')).normalize():f} ns"
