"""The outcome of checking proofs, and its rendering: failures with their step tables, and a summary table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from fdverify.errors import shorten_path
from fdverify.obligations.obligation import NO_DEAD_END
from fdverify.proofs.argument_tree import build_argument_tree
from fdverify.proofs.findings import list_findings
from fdverify.proofs.proof_document import build_document
from fdverify.proofs.proof_result import (
    CheckedObligation,
    ProofResult,
    ProofSuggestions,
    Stability,
    Suggestion,
    compute_exit_code,
    describe_failure,
)
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import describe_model, print_steps, print_verdict, render_text
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class ProofsReport:
    """The results of proofs and how to show them; ``without`` is the number of files that contain no proof."""

    results: Sequence[ProofResult]
    seconds: float
    witness: bool = False
    suggestions: Sequence[ProofSuggestions] = ()
    without: int = 0

    def build_outcome(self) -> Outcome:
        return Outcome(
            exit_code=compute_exit_code(self.results),
            document=build_document(self.results, self.seconds, self.witness, self.suggestions),
            render=self.render,
            runs=tuple(run for result in self.results for run in _list_runs(result, self.witness)),
            findings=tuple(finding for result in self.results for finding in list_findings(result, render_obligation)),
        )

    def render(self, console: Console) -> None:
        for result in self.results:
            if result.error is None:
                _print_proof(console, result, self.witness)
                for suggested in self.suggestions:
                    if suggested.path == result.path:
                        _print_suggestions(console, suggested)
        stabilities = [(r, c) for r in self.results for c in r.checked if c.decisions]
        if stabilities:
            _print_stability(console, stabilities)
        _print_summary(console, self.results)
        without = f"{write_count(self.without, 'file')} without a proof, " if self.without else ""
        console.print(Text(f"{write_count(len(self.results), 'proof')}, {without}{self.seconds:.1f} s", style="dim"))


def write_count(number: int, what: str) -> str:
    """Write a number with a noun in the singular or plural."""
    return f"{number} {what if number == 1 else f'{what}s'}"


def _list_runs(result: ProofResult, witness: bool) -> Iterator[ShownRun]:
    """List the runs of a proof in the order in which they are shown."""
    for checked in result.checked:
        if checked.broken is not None:
            yield checked.broken.step
            if checked.broken.run is not None and checked.broken.run != checked.broken.step:
                yield checked.broken.run
    if result.vacuity is not None and result.vacuity.dead_end is not None:
        yield result.vacuity.dead_end
    if witness:
        yield from (each.run for each in result.witnesses)


def render_obligation(result: ProofResult, name: str) -> str:
    """Describe why an obligation is not proved, with the step table if there is one."""
    return render_text(lambda console: _print_obligation(console, result, name), for_terminal=False).rstrip()


def _print_obligation(console: Console, result: ProofResult, name: str) -> None:
    for checked in result.checked:
        if checked.question.name == name:
            _print_unproved(console, result, checked)
    for obligation in () if result.vacuity is None else result.vacuity.obligations:
        if obligation.name == name:
            console.print(
                Text(f"{shorten_path(result.path)}: {name} is {obligation.verdict}: {obligation.detail}"),
                soft_wrap=True,
            )
            if name == NO_DEAD_END:
                _print_dead_end(console, result)


def _print_unproved(console: Console, result: ProofResult, checked: CheckedObligation) -> None:
    if checked.broken is not None:
        _print_failure(console, result, checked)
    elif checked.verdict is Verdict.UNKNOWN:
        _print_unknown(console, result, checked)


def _print_dead_end(console: Console, result: ProofResult) -> None:
    if result.vacuity is not None and result.vacuity.dead_end is not None:
        print_steps(console, result.vacuity.dead_end)


def _print_proof(console: Console, result: ProofResult, witness: bool) -> None:
    # Failures with a step table come first.
    for checked in sorted(result.checked, key=lambda checked: checked.broken is None):
        _print_unproved(console, result, checked)
    _print_dead_end(console, result)
    for note in result.notes:
        console.print(Text(f"note: {result.name}: {note}"), soft_wrap=True)
    for name, meaning in {} if result.subject is None else result.subject.assumptions.items():
        console.print(Text(f"{result.name}: assuming {name}: {meaning}"), soft_wrap=True)
    for shown in result.witnesses if witness else ():
        console.print(Text(f"{result.name}: a run at the end of which {shown.shows}"), soft_wrap=True)
        print_steps(console, shown.run)
    if result.subject is not None and result.subject.reduction is not None:
        console.print(build_argument_tree(result, result.subject))
        console.print()
    if result.verdict is not Verdict.PROVED:
        print_verdict(console, result.verdict, result.detail, f"{result.name}: ")
        if result.subject is not None:
            about = describe_model(result.subject.model, result.subject.options)
            console.print(Text(f"{about}, k {result.subject.k}", style="dim"), soft_wrap=True)
        console.print()


def _print_unknown(console: Console, result: ProofResult, checked: CheckedObligation) -> None:
    console.print(Text(f"{result.name}: {checked.question.name} is unknown: {checked.detail}"), soft_wrap=True)
    if checked.kept is not None:
        console.print(Text(f"  its SMT-LIB text is kept in {checked.kept}"), soft_wrap=True)


def _print_failure(console: Console, result: ProofResult, checked: CheckedObligation) -> None:
    assert checked.broken is not None, "only what is broken is a failure"
    assert result.subject is not None, "and only what was loaded"
    about = checked.question.about
    source = result.subject.sources.get(about)
    place = "" if source is None else f"{source}: "
    line = f"{place}{checked.question.name} fails: {describe_failure(result, checked)}"
    console.print(Text(line, style="bold"), soft_wrap=True)
    console.print(Text(f"  {about}: {result.subject.get_meaning(about)}"), soft_wrap=True)
    print_steps(console, checked.broken.step)
    console.print(Text(f"  {checked.broken.words}"), soft_wrap=True)
    # If the run from the start is the step itself, it is not shown twice.
    if checked.broken.run is not None and checked.broken.run != checked.broken.step:
        print_steps(console, checked.broken.run)
    hint = result.find_hint(checked)
    if hint is not None:
        console.print(Text(f"hint: {hint}"), soft_wrap=True)
    console.print()


def _print_stability(console: Console, decided: Sequence[tuple[ProofResult, CheckedObligation]]) -> None:
    """Print, for each proof, how many obligations passed under other seeds, and the one whose effort varies most."""
    table = Table(title="stability", title_justify="left")
    for name in ("proof", "seeds", "passed", "most varying obligation", "effort least", "median", "most"):
        table.add_column(name, justify="left" if name.startswith(("proof", "most v")) else "right")
    for result in dict.fromkeys(id(result) for result, _ in decided):
        own = [(checked, checked.compute_stability()) for owner, checked in decided if id(owner) == result]
        measured = [(checked, stability) for checked, stability in own if stability is not None]
        name = next(owner.name for owner, _ in decided if id(owner) == result)
        runs, passed = sum(s.seeds for _, s in measured), sum(s.passed for _, s in measured)
        checked, widest = max(measured, key=lambda pair: _measure_spread(pair[1]))
        efforts = (str(widest.effort_least), str(widest.effort_median), str(widest.effort_most))
        table.add_row(
            Text(name), str(widest.seeds), f"{100 * passed / runs:g} %", Text(checked.question.name), *efforts
        )
    console.print(table)


def _measure_spread(stability: Stability) -> float:
    return stability.effort_most / max(1, stability.effort_least)


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
            _render_verdict(result),
            str(len(conjuncts)),
            str(len(result.obligations)),
            str(cached),
            f"{result.seconds:.1f}",
        )
    console.print(table)


def _render_verdict(result: ProofResult) -> Text:
    """Render the verdict; mark a proof that comes entirely from the cache."""
    if result.verdict is not Verdict.PROVED:
        return Text(str(result.verdict), style="bold")
    return Text(f"{result.verdict} (cached)" if result.is_from_cache else str(result.verdict), style="bold green")


def _print_suggestions(console: Console, suggested: ProofSuggestions) -> None:
    name = suggested.path.stem
    if suggested.remark:
        console.print(Text(f"suggest: {name}: {suggested.remark}"), soft_wrap=True)
    for number, suggestion in enumerate(suggested.suggestions):
        console.print(
            Text(f"suggest: {'or ' if number else ''}{_describe_suggestion(suggested, suggestion)}:"), soft_wrap=True
        )
        needed = "; ".join(suggestion.imports)
        console.print(Text(f"  needs: {needed}", style="dim"), soft_wrap=True)
        for conjunct in suggestion.conjuncts:
            for line in conjunct.source.splitlines():
                console.print(Text(f"  {line}"), soft_wrap=True)
    console.print()


def _describe_suggestion(suggested: ProofSuggestions, suggestion: Suggestion) -> str:
    these = "this conjunct" if len(suggestion.conjuncts) == 1 else f"these {len(suggestion.conjuncts)} conjuncts"
    if suggestion.proves:
        return f"add {these}, and the invariant of {shorten_path(suggested.path)} is inductive and implies the goal"
    unproved = suggestion.unproved
    left = "1 obligation is" if len(unproved) == 1 else f"{len(unproved)} obligations are"
    return f"{these} may help, but then {left} still not proved ({', '.join(unproved)})"
