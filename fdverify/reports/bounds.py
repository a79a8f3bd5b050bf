"""Bounds for people: the formula by cases, what it rests on, and the run that nothing less survives."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from rich.console import Console

from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.configure import Configuration
from fdverify.discovery.bounds.find import Found
from fdverify.job import Job
from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text, described, print_steps


def bounds_text(job: Job, found: Found, seconds: float) -> str:
    def show(console: Console) -> None:
        for bound in found.bounds:
            _print_bound(console, bound)
        for note in found.notes:
            console.print(Text(note), soft_wrap=True)
        if not found.bounds:
            console.print(Text(f"unknown: {found.why}", style="bold yellow"), soft_wrap=True)
        console.print(Text(f"{_described(job)}, {seconds:.1f} s", style="dim"), soft_wrap=True)

    return as_text(show)


def _described(job: Job) -> str:
    system = job.system()
    return described(system.name, {name: text for name, text in system.options.items() if name == "variant"})


def _print_bound(console: Console, bound: Bound) -> None:
    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    if bound.needed.run is not None:
        print_steps(console, bound.needed.run)
    exact = "bold green" if bound.status == "exact" else "bold yellow"
    line(f"{bound.name}: {bound.status}", exact)
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


def configuration_text(job: Job, numbers: Mapping[str, int], tick: Decimal | None, found: Configuration) -> str:
    def ticks(number: int) -> str:
        return f"{number} ticks" + ("" if tick is None else f" = {time_text(number * tick)}")

    def show(console: Console) -> None:
        def line(text: str, style: str = "") -> None:
            console.print(Text(text, style=style), soft_wrap=True)

        least, usual = found.least, found.usual
        detector = job.system().detector
        assert detector is not None, "its detection time was measured"
        if found.fails_with_less is not None:
            print_steps(console, found.fails_with_less)
            line(
                f"with {least.timeout - 1} as initial timeout, a correct {detector.watched} may be suspected, as above"
            )
        line(", ".join([_described(job), *(f"{name} = {value}" for name, value in numbers.items())]))
        line(
            f"initial timeout   {least.timeout} steps of the {detector.watcher}, at least {ticks(least.timeout)}",
            "bold",
        )
        line(f"crash noticed in  {ticks(least.detection)} at worst", "bold")
        if usual is not None:
            line(f"with {found.usual_formula} = {usual.timeout} it would be {ticks(usual.detection)}")
        for reason in found.because:
            line(reason, "dim")

    return as_text(show)


def time_text(seconds: Decimal) -> str:
    """A length of time with the unit that suits it."""
    for unit, size in (("s", Decimal(1)), ("ms", Decimal("1e-3")), ("us", Decimal("1e-6"))):
        if seconds >= size:
            return f"{(seconds / size).normalize():f} {unit}"
    return f"{(seconds / Decimal('1e-9')).normalize():f} ns"
