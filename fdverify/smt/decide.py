"""Decides SMT-LIB scripts with Z3."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

import z3

from fdverify.smt.script import Assertion, Decision, Script, find_declared_symbol, render_assertions

OPTIONS = f"z3 {z3.get_version_string()}, simple solver, splits by relevance, tracked hypotheses and conclusion"
_HEURISTICS = {"auto_config": False, "case_split": 3}
"""Split cases by relevance: of the cases of a round, few matter to any one conclusion."""
_NEGATED = "h!negated"
_LITTLE_EFFORT = 1_000_000
"""In Z3's own units; it suffices for most obligations, and takes a few tenths of a second at most."""
_EFFORT_TOGETHER = 10_000_000
"""For all scripts that are proved together."""


def decide_script(script: Script, seed: int = 0, core: bool = True) -> Decision:
    """Decide the script.  Every seed other than 0 also shuffles the assertions.  A ``core`` costs half the time again.

    Creating a Z3 context takes longer than most scripts, so all scripts share one.  Z3's search may then depend on
    earlier scripts.  ``sat`` and ``unsat`` are correct regardless; after ``unknown`` the script is decided once more in
    a fresh context, with Z3's own heuristics.
    """
    decision = _decide_with_solver(_make_solver(), script, seed, core)
    if decision.status != "unknown":
        return decision
    return _decide_with_solver(z3.SimpleSolver(ctx=z3.Context()), script, seed, core)


def _make_solver() -> z3.Solver:
    solver = z3.SimpleSolver()
    for option, value in _HEURISTICS.items():
        solver.set(option, value)
    return solver


def _decide_with_solver(solver: z3.Solver, script: Script, seed: int, core: bool) -> Decision:
    context = solver.ctx
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
    step = frozenset(scripts[0].step)
    assert all(script.step == scripts[0].step for script in scripts), "the step is asserted once for all"
    assertions = list(dict.fromkeys(assertion for script in scripts for assertion in script.assertions))
    if not _agree_on_symbols(assertions):
        return [None for _ in scripts]
    try:
        formulas = _build_formulas(assertions)
        if formulas is None:
            return [None for _ in scripts]
        solver = _GuardedSolver(_choose_prefix(assertions))
        for assertion, formula in formulas.items():
            if assertion in step:
                solver.add(formula)
            else:
                solver.add_guarded(assertion, formula)
        return [solver.prove(script) for script in scripts]
    except z3.Z3Exception:
        return [None for _ in scripts]


def _build_formulas(assertions: Sequence[Assertion]) -> dict[Assertion, Any] | None:
    """Return the formula of each assertion: the term that was printed in this process, or else its text, parsed."""
    texts = [assertion for assertion in assertions if assertion.term is None]
    parsed = z3.parse_smt2_string(render_assertions(texts)) if texts else []
    if len(parsed) != len(texts):
        return None
    return {each: each.term for each in assertions} | dict(zip(texts, parsed, strict=True))


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


class _Guard(NamedTuple):
    """The literal that guards an assertion, its handle in Z3's library, and its identity."""

    literal: Any
    handle: Any
    identity: int


class _GuardedSolver:
    """A solver in which assertions are guarded by literals of their own.

    It calls Z3's functions directly: its Python interface takes longer to pass on the literals than most proofs take.
    """

    def __init__(self, prefix: str) -> None:
        self._solver = _make_solver()
        self._solver.set("rlimit", _LITTLE_EFFORT)
        self._context = self._solver.ctx.ref()
        self._prefix = prefix
        self._guards: dict[Assertion, _Guard] = {}
        self._begun = self._effort = _read_effort(self._solver)

    def add(self, formula: Any) -> None:
        z3.Z3_solver_assert(self._context, self._solver.solver, formula.as_ast())

    def add_guarded(self, assertion: Assertion, formula: Any) -> None:
        literal = z3.Bool(f"{self._prefix}{len(self._guards)}")
        self._guards[assertion] = _Guard(literal, literal.as_ast(), literal.get_id())
        implication = z3.Z3_mk_implies(self._context, literal.as_ast(), formula.as_ast())
        self.add(z3.BoolRef(implication, literal.ctx))

    def prove(self, script: Script) -> Decision | None:
        """Try to prove a script all of whose assertions were added."""
        if self._effort - self._begun > _EFFORT_TOGETHER:
            return None
        started, before = perf_counter(), self._effort
        # A part of the step has no guard.
        hypotheses = [self._guards.get(each) for each in script.hypotheses]
        negated = self._guards.get(script.negated)
        guards = [guard.handle for guard in (*hypotheses, negated) if guard is not None]
        literals = (z3.Ast * len(guards))(*guards)
        status = z3.Z3_solver_check_assumptions(self._context, self._solver.solver, len(guards), literals)
        self._effort = _read_effort(self._solver)
        if status != z3.unsat.r:
            return None
        used = self._read_core()
        core = [index for index, guard in enumerate(hypotheses) if guard is not None and guard.identity in used]
        return Decision(
            "unsat",
            effort=self._effort - before,
            core=tuple(core),
            needs_negated=negated is not None and negated.identity in used,
            seconds=perf_counter() - started,
        )

    def _read_core(self) -> set[int]:
        """Return the identities of the guards in the unsat core."""
        core = self._solver.unsat_core()
        handles = (z3.Z3_ast_vector_get(self._context, core.vector, index) for index in range(len(core)))
        return {z3.Z3_get_ast_id(self._context, handle) for handle in handles}


def _order_assertions(script: Script, seed: int) -> list[int]:
    indices = list(range(len(script.assertions)))
    if seed != 0:
        Random(seed).shuffle(indices)
    return indices


def _read_effort(solver: z3.Solver) -> int:
    context = solver.ctx.ref()
    statistics = solver.statistics().stats
    # It is among the last: looking at all of them takes longer than many a script.
    for index in reversed(range(z3.Z3_stats_size(context, statistics))):
        if z3.Z3_stats_get_key(context, statistics, index) == "rlimit count":
            return int(z3.Z3_stats_get_uint_value(context, statistics, index))
    return 0


def _format_exception(error: z3.Z3Exception) -> str:
    value = error.value
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return " ".join(text.split())
