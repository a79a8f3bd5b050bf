"""From a control flow automaton to the threshold automaton of all processes, for any number of them.

What a process has received is not kept: of a step it matters only whether enough *can* have been received, and guards
of the form ``rcvd < …`` hold whenever a process is in a status in which it would otherwise not be.  That is checked,
and what would need the counter is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.claims.normal import all_of, any_of, either, positive
from fdverify.threshold.flow.arcs import Arc, Received, arcs
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.formula import Comparison, Constant, Formula, Linear
from fdverify.threshold.text.read import read, read_linear
from fdverify.threshold.text.write import formula_text, linear_text


def threshold_automaton(flow: ControlFlow) -> Automaton:
    return read(threshold_text(flow), flow.name)


def threshold_text(flow: ControlFlow) -> str:
    """The threshold automaton in ByMC's text format."""
    steps = arcs(flow)
    for step in steps:
        _check_memory(flow, steps, step)
    rules = [step for step in steps if step.source != step.target or step.adds]
    sections = {
        "assumptions": [f"{claim};" for claim in flow.assumptions],
        "locations": [f"{status}: [{at}];" for at, status in enumerate(flow.statuses)],
        "inits": [
            f"{' + '.join(flow.initial)} == {flow.processes};",
            *(f"{name} == 0;" for name in (*flow.statuses, *flow.shared) if name not in flow.initial),
        ],
        "rules": [f"{number}: {_rule(flow, step)}" for number, step in enumerate(rules, start=1)],
        "specifications": [f"{name}: {formula};" for name, formula in flow.specifications.items()],
    }
    lines = [f"/* {flow.about} */"] if flow.about else []
    lines += [
        f"skel {flow.name} {{",
        "  local sv;",
        f"  shared {', '.join(flow.shared)};",
        f"  parameters {', '.join(flow.parameters)};",
        "",
        "  /* Everybody has received what is due, and still has the status it has. */",
        f"  define FAIR == {formula_text(_fair(flow, steps))};",
    ]
    for name, entries in sections.items():
        lines += ["", f"  {name} ({len(entries)}) {{", *(f"    {entry}" for entry in entries), "  }"]
    return "\n".join([*lines, "}", ""])


def _rule(flow: ControlFlow, step: Arc) -> str:
    actions = " ".join(f"{name}' == {name} + {growth};" for name, growth in step.adds.items())
    same = [name for name in flow.shared if name not in step.adds]
    quiet = f"unchanged({', '.join(same)});" if same else ""
    guard = all_of(_possible(received) for received in step.received.values())
    return f"{step.source} -> {step.target} when ({formula_text(guard)}) do {{ {' '.join((actions, quiet)).strip()} }};"


def _possible(received: Received) -> Formula:
    """Whether so much can be received: there is a number at most the bound that the step's guards allow."""
    least = (*received.at_least, Linear())
    claims = [_at_least(received.bound, number) for number in least]
    claims += [_below(number, limit) for number in least for limit in received.below]
    return all_of(dict.fromkeys(claims))


def _at_least(left: Linear, right: Linear) -> Formula:
    return _compared(Comparison(left, ">=", right))


def _below(left: Linear, right: Linear) -> Formula:
    return _compared(Comparison(left, "<", right))


def _compared(comparison: Comparison) -> Formula:
    """As it is written, unless it says nothing."""
    known = positive(comparison)
    return known if isinstance(known, Constant) else comparison


def _check_memory(flow: ControlFlow, steps: Sequence[Arc], step: Arc) -> None:
    """Refuse a step whose guard may fail because of what was received before."""
    for counter, received in step.received.items():
        for limit in received.below:
            if not _stays_below(steps, step.source, counter, limit, set()):
                claim = f"a process of status {step.source} has {counter} < {linear_text(limit)}"
                raise UsageError(
                    f"{flow.name}: whether {claim} depends on what it received before",
                    "give those that have received more a status of their own",
                )


def _stays_below(steps: Sequence[Arc], status: str, counter: str, limit: Linear, assumed: set[str]) -> bool:
    """Whether a process of a status has received less; initially it has received nothing."""
    if status in assumed:
        return True
    assumed.add(status)
    for step in steps:
        if step.target != status:
            continue
        received = step.received.get(counter)
        if received is None:
            if not _stays_below(steps, step.source, counter, limit, assumed):
                return False
        elif not any(_is_never_more(below, limit) for below in received.below):
            return False
    return True


def _is_never_more(left: Linear, right: Linear) -> bool:
    difference = right.plus(left, -1)
    return difference.constant >= 0 and all(factor >= 0 for _, factor in difference.factors)


def _fair(flow: ControlFlow, steps: Sequence[Arc]) -> Formula:
    """That everybody can have received what is due, in the step that led to its status or kept it there."""
    due = {
        counter: read_linear(text, (*flow.shared, *flow.parameters), f"{flow.name}: due {counter}")
        for counter, text in flow.due.items()
    }
    claims: list[Formula] = []
    for status in flow.statuses:
        empty = Comparison(Linear.of({status: 1}), "==", Linear())
        ways: Iterable[Formula] = ()
        if status not in flow.left:
            nothing = all_of(_at_least(Linear(), amount) for amount in due.values())
            fresh = [step for step in steps if step.target == status and not step.received]
            _check_fresh(flow, steps, fresh)
            at_first = [nothing] if status in flow.initial or fresh else []
            ways = [*at_first, *(_received_all(step, due) for step in steps if step.target == status and step.received)]
        claims.append(either(empty, any_of(dict.fromkeys(ways))))
    return all_of(claims)


def _check_fresh(flow: ControlFlow, steps: Sequence[Arc], fresh: Sequence[Arc]) -> None:
    """A step that receives nothing is told from others only if nothing was received before."""
    for step in fresh:
        if any(other.target == step.source for other in steps):
            raise UsageError(
                f"{flow.name}: a step from {step.source} to {step.target} receives nothing, though something may have"
                " been received before",
                "receive first, then decide",
            )


def _received_all(step: Arc, due: dict[str, Linear]) -> Formula:
    claims: list[Formula] = []
    for counter, amount in due.items():
        received = step.received.get(counter, Received(Linear()))
        claims.append(_at_least(received.bound, amount))
        claims += [_below(number, limit) for number in (*received.at_least, amount) for limit in received.below]
    return all_of(dict.fromkeys(claims))
