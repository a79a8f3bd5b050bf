"""What came of proofs, for people: failures with their step tables, then a summary table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from fdverify.engines.inductive import NO_DEAD_END
from fdverify.errors import nearby
from fdverify.proofs.result import Checked, ProofResult, Stability
from fdverify.reports.argument import argument_tree
from fdverify.reports.failures import failure_in_words
from fdverify.reports.safe_text import Text
from fdverify.reports.suggestions import print_suggested
from fdverify.reports.table import as_text, described, print_steps, print_verdict
from fdverify.verdict import Verdict

if TYPE_CHECKING:
    from fdverify.discovery.suggest.suggest import Suggested


def proofs_text(
    results: Sequence[ProofResult], seconds: float, witness: bool, suggested: Sequence[Suggested] = (), without: int = 0
) -> str:
    """What came of proofs; ``without`` files that were looked at make none."""
    summary = f"{counted(len(results), 'proof')}, {counted_without(without)}{seconds:.1f} s"
    return as_text(lambda console: _print(console, results, summary, witness, suggested))


def counted_without(number: int) -> str:
    return f"{counted(number, 'file')} without a proof, " if number else ""


def counted(number: int, what: str) -> str:
    return f"{number} {what if number == 1 else f'{what}s'}"


def _print(
    console: Console, results: Sequence[ProofResult], summary: str, witness: bool, suggested: Sequence[Suggested]
) -> None:
    for result in results:
        if result.error is None:
            _print_proof(console, result, witness)
            for found in suggested:
                if found.path == result.path:
                    print_suggested(console, found)
    stabilities = [(r, c) for r in results for c in r.checked if c.decisions]
    if stabilities:
        _print_stability(console, stabilities)
    _print_summary(console, results)
    console.print(Text(summary, style="dim"))


def obligation_text(result: ProofResult, name: str) -> str:
    """Why an obligation is not proved: the first line says what fails, a step table follows if there is one."""
    return as_text(lambda console: _print_obligation(console, result, name), for_terminal=False).rstrip()


def _print_obligation(console: Console, result: ProofResult, name: str) -> None:
    for checked in result.checked:
        if checked.question.name == name:
            _print_unproved(console, result, checked)
    for found in () if result.vacuity is None else result.vacuity.obligations:
        if found.name == name:
            console.print(Text(f"{nearby(result.path)}: {name} is {found.verdict}: {found.detail}"), soft_wrap=True)
            if name == NO_DEAD_END:
                _print_dead_end(console, result)


def _print_unproved(console: Console, result: ProofResult, checked: Checked) -> None:
    if checked.broken is not None:
        _print_failure(console, result, checked)
    elif checked.verdict is Verdict.UNKNOWN:
        _print_unknown(console, result, checked)


def _print_dead_end(console: Console, result: ProofResult) -> None:
    if result.vacuity is not None and result.vacuity.dead_end is not None:
        print_steps(console, result.vacuity.dead_end)


def _print_proof(console: Console, result: ProofResult, witness: bool) -> None:
    # What has a step to show comes first.
    for checked in sorted(result.checked, key=lambda checked: checked.broken is None):
        _print_unproved(console, result, checked)
    _print_dead_end(console, result)
    for note in result.notes:
        console.print(Text(f"note: {result.name}: {note}"), soft_wrap=True)
    for name, meaning in {} if result.subject is None else result.subject.assumptions.items():
        console.print(Text(f"{result.name}: assuming {name}: {meaning}"), soft_wrap=True)
    for found in result.witnesses if witness else ():
        console.print(Text(f"{result.name}: a run at the end of which {found.shows}"), soft_wrap=True)
        print_steps(console, found.run)
    if result.subject is not None and result.subject.reduction is not None:
        console.print(argument_tree(result, result.subject))
        console.print()
    if result.verdict is not Verdict.PROVED:
        print_verdict(console, result.verdict, result.detail, f"{result.name}: ")
        if result.subject is not None:
            about = described(result.subject.model, result.subject.options)
            console.print(Text(f"{about}, k {result.subject.k}", style="dim"), soft_wrap=True)
        console.print()


def _print_unknown(console: Console, result: ProofResult, checked: Checked) -> None:
    console.print(Text(f"{result.name}: {checked.question.name} is unknown: {checked.detail}"), soft_wrap=True)
    if checked.kept is not None:
        console.print(Text(f"  its SMT-LIB text is kept in {checked.kept}"), soft_wrap=True)


def _print_failure(console: Console, result: ProofResult, checked: Checked) -> None:
    assert checked.broken is not None, "only what is broken is a failure"
    assert result.subject is not None, "and only what was loaded"
    about = checked.question.about
    source = result.subject.sources.get(about)
    place = "" if source is None else f"{source}: "
    line = f"{place}{checked.question.name} fails: {failure_in_words(result, checked)}"
    console.print(Text(line, style="bold"), soft_wrap=True)
    console.print(Text(f"  {about}: {result.subject.meaning(about)}"), soft_wrap=True)
    print_steps(console, checked.broken.step)
    console.print(Text(f"  {checked.broken.words}"), soft_wrap=True)
    # A run from the start that is the step itself need not be shown twice.
    if checked.broken.run is not None and checked.broken.run != checked.broken.step:
        print_steps(console, checked.broken.run)
    hint = result.hint(checked)
    if hint is not None:
        console.print(Text(f"hint: {hint}"), soft_wrap=True)
    console.print()


def _print_stability(console: Console, found: Sequence[tuple[ProofResult, Checked]]) -> None:
    """How the obligations of each proof fared under other seeds, and its most varying one."""
    table = Table(title="stability", title_justify="left")
    for name in ("proof", "seeds", "passed", "most varying obligation", "effort least", "median", "most"):
        table.add_column(name, justify="left" if name.startswith(("proof", "most v")) else "right")
    for result in dict.fromkeys(id(result) for result, _ in found):
        own = [(checked, checked.stability()) for owner, checked in found if id(owner) == result]
        measured = [(checked, stability) for checked, stability in own if stability is not None]
        name = next(owner.name for owner, _ in found if id(owner) == result)
        runs, passed = sum(s.seeds for _, s in measured), sum(s.passed for _, s in measured)
        checked, widest = max(measured, key=lambda pair: _spread(pair[1]))
        efforts = (str(widest.least), str(widest.middle), str(widest.most))
        table.add_row(
            Text(name), str(widest.seeds), f"{100 * passed / runs:g} %", Text(checked.question.name), *efforts
        )
    console.print(table)


def _spread(stability: Stability) -> float:
    return stability.most / max(1, stability.least)


def _print_summary(console: Console, results: Sequence[ProofResult]) -> None:
    table = Table()
    for name in ("proof", "verdict", "conjuncts", "obligations", "cached", "seconds"):
        table.add_column(name, justify="left" if name in ("proof", "verdict") else "right")
    for result in results:
        if result.error is not None:
            kind = "bad file" if result.error.exit_code == 2 else "internal error"
            table.add_row(Text(result.name), Text(kind, style="bold red"), "", "", "", f"{result.seconds:.1f}")
            continue
        conjuncts = {checked.question.about for checked in result.checked if checked.is_about_conjunct}
        cached = sum(checked.cached for checked in result.checked)
        table.add_row(
            Text(result.name),
            _verdict(result),
            str(len(conjuncts)),
            str(len(result.obligations)),
            str(cached),
            f"{result.seconds:.1f}",
        )
    console.print(table)


def _verdict(result: ProofResult) -> Text:
    """The verdict, and of a proof whether all of it is what the cache says was proved before."""
    if result.verdict is not Verdict.PROVED:
        return Text(str(result.verdict), style="bold")
    return Text(f"{result.verdict} (cached)" if result.is_from_cache else str(result.verdict), style="bold green")
