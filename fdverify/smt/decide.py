"""Decides SMT-LIB scripts with Z3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from time import perf_counter

import z3

from fdverify.smt.script import Assertion, Decision, Script, find_declared_symbol, render_assertions

OPTIONS = f"z3 {z3.get_version_string()}, simple solver, tracked hypotheses and conclusion"
_NEGATED = "h!negated"
_LITTLE_EFFORT = 300_000
"""In Z3's own units; it suffices for most obligations, and takes about a tenth of a second at most."""


def decide_script(script: Script, seed: int = 0, core: bool = True) -> Decision:
    """Decide the script.  Every seed other than 0 also shuffles the assertions.  A ``core`` costs half the time again.

    Creating a Z3 context takes longer than most scripts, so all scripts share one.  Z3's search may then depend on
    earlier scripts.  ``sat`` and ``unsat`` are correct regardless; after ``unknown`` the script is decided once more in
    a fresh context.
    """
    decision = _decide_in_context(z3.main_ctx(), script, seed, core)
    return _decide_in_context(z3.Context(), script, seed, core) if decision.status == "unknown" else decision


def _decide_in_context(context: z3.Context, script: Script, seed: int, core: bool) -> Decision:
    solver = z3.SimpleSolver(ctx=context)
    solver.set("unsat_core", core)
    solver.set("random_seed", seed)
    before = _read_effort(solver)
    try:
        # Parse without names: Z3 would assert the named formulas of a text untracked, so no core would contain them.
        formulas = z3.parse_smt2_string(script.render(named=False), ctx=context)
        if len(formulas) != len(script.assertions):
            return Decision("unknown", reason="Z3 did not parse the script into the assertions that were printed")
        for index in _order_assertions(script, seed):
            hypothesis = index - len(script.step)
            if core and hypothesis >= 0:
                name = f"h!{hypothesis}" if hypothesis < len(script.hypotheses) else _NEGATED
                solver.assert_and_track(formulas[index], z3.Bool(name, ctx=context))
            else:
                solver.add(formulas[index])
        status = solver.check()
    except z3.Z3Exception as error:
        return Decision("unknown", reason=_format_exception(error))
    effort = _read_effort(solver) - before
    if status == z3.unsat:
        if not core:
            return Decision("unsat", effort=effort)
        names = [name.decl().name() for name in solver.unsat_core()]
        needed = sorted(int(name.removeprefix("h!")) for name in names if name != _NEGATED)
        return Decision("unsat", effort=effort, core=tuple(needed), needs_negated=_NEGATED in names)
    if status == z3.sat:
        return Decision("sat", effort=effort)
    return Decision("unknown", reason=solver.reason_unknown(), effort=effort)


def prove_scripts(scripts: Sequence[Script]) -> list[Decision | None]:
    """Try to prove scripts that have the same step, with one solver: what it learns of one helps with the others.

    Every hypothesis and negated conclusion is guarded by a literal of its own, and a script is decided under the
    assumption of its literals.  The literals of other scripts may be false, so they add nothing to it.  ``None`` means
    that a script was not proved with little effort; it may still be provable by a solver of its own.
    """
    step = scripts[0].step
    assert all(script.step == step for script in scripts), "the step is asserted once for all"
    numbers = {each: number for number, each in enumerate(dict.fromkeys(a for s in scripts for a in s.assertions))}
    if not _agree_on_symbols(list(numbers)):
        return [None for _ in scripts]
    try:
        formulas = z3.parse_smt2_string(render_assertions(list(numbers)))
        if len(formulas) != len(numbers):
            return [None for _ in scripts]
        solver = z3.SimpleSolver()
        solver.set("rlimit", _LITTLE_EFFORT)
        guards: dict[Assertion, z3.BoolRef] = {}
        prefix = _choose_prefix(list(numbers))
        for assertion, number in numbers.items():
            if assertion in step:
                solver.add(formulas[number])
            else:
                guards[assertion] = z3.Bool(f"{prefix}{number}")
                solver.add(z3.Implies(guards[assertion], formulas[number]))
        return [_prove_under_guards(solver, script, guards) for script in scripts]
    except z3.Z3Exception:
        return [None for _ in scripts]


def _agree_on_symbols(assertions: Sequence[Assertion]) -> bool:
    """Tell whether every symbol has one declaration: in one text, a formula could otherwise mean something else."""
    declarations = {line for assertion in assertions for line in assertion.declarations}
    return len({find_declared_symbol(line) for line in declarations}) == len(declarations)


def _choose_prefix(assertions: Sequence[Assertion]) -> str:
    """Choose how guards begin and no symbol does: Z3 takes a fresh symbol for one of the same name in a text."""
    declarations = "\n".join(line for assertion in assertions for line in assertion.declarations)
    prefix = "guard!"
    while prefix in declarations:
        prefix += "!"
    return prefix


def _prove_under_guards(solver: z3.Solver, script: Script, guards: Mapping[Assertion, z3.BoolRef]) -> Decision | None:
    started, before = perf_counter(), _read_effort(solver)
    assumed = [guards[each] for each in (*script.hypotheses, script.negated) if each in guards]
    if solver.check(assumed) != z3.unsat:
        return None
    used = {guard.get_id() for guard in solver.unsat_core()}
    core = [index for index, each in enumerate(script.hypotheses) if each in guards and guards[each].get_id() in used]
    needs_negated = script.negated in guards and guards[script.negated].get_id() in used
    effort, seconds = _read_effort(solver) - before, perf_counter() - started
    return Decision("unsat", effort=effort, core=tuple(core), needs_negated=needs_negated, seconds=seconds)


def _order_assertions(script: Script, seed: int) -> list[int]:
    indices = list(range(len(script.assertions)))
    if seed != 0:
        Random(seed).shuffle(indices)
    return indices


def _read_effort(solver: z3.Solver) -> int:
    statistics = solver.statistics()
    counts = dict(statistics[index] for index in range(len(statistics)))
    return int(counts.get("rlimit count", 0))


def _format_exception(error: z3.Z3Exception) -> str:
    value = error.value
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return " ".join(text.split())
