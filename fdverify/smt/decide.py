"""Decides SMT-LIB scripts with Z3."""

from __future__ import annotations

from random import Random

import z3

from fdverify.smt.script import Decision, Script

OPTIONS = f"z3 {z3.get_version_string()}, simple solver, tracked hypotheses and conclusion"
_NEGATED = "h!negated"


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
