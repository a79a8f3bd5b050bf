"""A fairness condition that can hold only finitely often proves whatever is claimed of fair runs: of nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from fdverify.engines.live import live
from fdverify.liveness.goals import LeadsTo
from fdverify.logic import And, If, Not
from fdverify.models.system import (
    Choices,
    Flag,
    Flags,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.obligations.vacuity import VacuityReport, check_vacuity
from fdverify.verdict import Obligation, Verdict
from tests.liveness.proofs import unproved
from tests.liveness.test_no_false_proofs import argued

START = Property("start", lambda s: s.left >= 0, "it has begun")
END = Property("end", lambda s: s.done, "it is done")
USED = Property("used", lambda s: s.used, "a token was just used")


def spends(s: State, c: Choices) -> Update:
    """Use a token, or be done; there are only so many tokens, whether it is done or not."""
    uses = And(c.use, s.left > 0)
    return update(left=If(uses, s.left - 1, s.left), used=uses, done=Not(And(Not(s.done), Not(c.finish))))


def refills(s: State, c: Choices) -> Update:
    """The same, but once it is done there are tokens again and again."""
    made = spends(s, c).changes
    return update(**{**made, "left": If(And(s.done, s.left == 0), s.n, made["left"])})


def tokens(
    run: Callable[[State, Choices], Update] = spends,
    n: int | None = 5,
    more: tuple[Variable, ...] = (),
    fairness: tuple[Property, ...] = (USED,),
    premise: Property = START,
) -> System:
    return System(
        name="tokens",
        options={},
        parameters=(Parameter("n", 0, n),),
        variables=(
            Variable("left", Integers(), initial=lambda s: s.n, range=lambda s: And(s.left >= 0, s.left <= s.n)),
            Variable("used", Flags(), initial=lambda s: False),
            Variable("done", Flags(), initial=lambda s: False),
            *more,
        ),
        phases=(Phase("spend", run, (Flag("use"), Flag("finish"))),),
        properties=(premise, END),
        liveness=(END,),
        fairness=fairness,
    )


def looked_at(system: System, premise: Property = START, **terms: Any) -> VacuityReport:
    """What is found of the proof by tokens that run out, which is one but for its being about nothing."""
    given = {"done": END.holds, "rank": lambda s: (s.left,), "helpful": lambda s: {"used": True}, **terms}
    invariant = argued(system, "fair-ranking", LeadsTo(premise, END), given)
    assert unproved(invariant) == []
    return check_vacuity(invariant)


def premise_of(found: VacuityReport) -> Obligation:
    return next(each for each in found.obligations if each.name == "goal-premise")


def test_what_can_be_used_up_is_not_fair() -> None:
    system = tokens()
    found = premise_of(looked_at(system))
    assert live(system, END).verdict is Verdict.VACUOUS
    assert found.verdict is Verdict.VACUOUS
    assert found.detail == "there is no fair run: used cannot hold again and again once start holds, at n = 5"


def test_however_many_there_are() -> None:
    assert premise_of(looked_at(tokens(n=None))).verdict is Verdict.VACUOUS


def test_two_conditions_that_do_not_go_together() -> None:
    """Each of them can hold for ever, and neither after the other."""

    def run(s: State, c: Choices) -> Update:
        made = spends(s, c).changes
        return update(**made, over=Not(And(Not(s.over), Not(c.finish))))

    over = Variable("over", Flags(), initial=lambda s: False)
    before = Property("before", lambda s: Not(s.over), "it is not over")
    after = Property("after", lambda s: s.over, "it is over")
    system = tokens(run, n=3, more=(over,), fairness=(before, after))
    found = looked_at(
        system, rank=lambda s: (If(s.over, 0, 1),), helpful=lambda s: {"before": s.over, "after": Not(s.over)}
    )
    assert premise_of(found).verdict is Verdict.VACUOUS
    assert "before, after cannot hold again and again" in premise_of(found).detail
    assert live(system, END).verdict is Verdict.VACUOUS


def test_a_run_that_is_fair_only_while_the_premise_does_not_hold() -> None:
    """Fair runs there are, and the goal is about none of them."""

    def run(s: State, c: Choices) -> Update:
        made = refills(s, c).changes
        begins = Not(And(Not(s.begun), Not(c.finish)))
        return update(
            left=If(s.begun, spends(s, c).changes["left"], s.n),
            used=If(begins, And(s.begun, made["used"]), True),
            done=And(s.begun, made["done"]),
            begun=begins,
        )

    begun = Variable("begun", Flags(), initial=lambda s: False)
    premise = Property("begun", lambda s: s.begun, "it has begun")
    system = tokens(run, more=(begun,), premise=premise)
    assert live(system, END).verdict is not Verdict.VACUOUS
    assert premise_of(looked_at(system, premise)).verdict is Verdict.VACUOUS


def test_a_fair_run_is_found_and_shown() -> None:
    found = looked_at(tokens(refills))
    assert premise_of(found).verdict is Verdict.PROVED
    assert (found.remarks, found.unseen) == ((), ())


def test_a_fair_run_that_takes_large_parameters_is_found() -> None:
    """Below 5 there is none."""

    def run(s: State, c: Choices) -> Update:
        made = refills(s, c).changes
        return update(**{**made, "left": If(s.n < 5, spends(s, c).changes["left"], made["left"])})

    found = looked_at(tokens(run, n=None))
    assert premise_of(found).verdict is Verdict.PROVED
    assert found.remarks == ()


def growing(run: Callable[[State, Choices], Update], cap: Callable[[State], int] | None = None) -> System:
    """The same with a number that grows in every round, so that no state comes back."""

    def grows(s: State, c: Choices) -> Update:
        return update(**run(s, c).changes, age=s.age + 1)

    age = Variable("age", Integers(), initial=lambda s: 0, range=lambda s: s.age >= 0, cap=cap)
    return tokens(grows, more=(age,))


@pytest.mark.parametrize("run", [spends, refills])
def test_what_cannot_be_searched_to_its_end_is_a_note(run: Callable[[State, Choices], Update]) -> None:
    found = looked_at(growing(run))
    assert premise_of(found).verdict is Verdict.PROVED
    (remark,) = found.remarks
    assert remark.startswith("whether there is a fair run is not known: no instance could be searched to its end")


def test_what_grows_above_its_cap_does_not_stop_the_search() -> None:
    assert premise_of(looked_at(growing(spends, cap=lambda s: 3))).verdict is Verdict.VACUOUS
    found = looked_at(growing(refills, cap=lambda s: 3))
    assert (premise_of(found).verdict, found.remarks) == (Verdict.PROVED, ())


def test_a_loop_among_many_states_is_enough() -> None:
    """What grows may stop: then there is a fair run, however many states there are."""

    def run(s: State, c: Choices) -> Update:
        return update(**refills(s, c).changes, age=If(c.finish, s.age + 1, s.age))

    age = Variable("age", Integers(), initial=lambda s: 0, range=lambda s: s.age >= 0)
    found = looked_at(tokens(run, more=(age,)))
    assert (premise_of(found).verdict, found.remarks) == (Verdict.PROVED, ())


def test_what_the_invariant_excludes_is_vacuous_though_numbers_grow() -> None:
    system = growing(refills)
    never = Property("used", lambda s: And(s.used, s.left > s.n), "more than all are left")
    system = System(**{**{name: getattr(system, name) for name in System.__dataclass_fields__}, "fairness": (never,)})
    found = premise_of(looked_at(system))
    assert found.verdict is Verdict.VACUOUS
    assert found.detail.endswith("there is no fair run: used cannot hold once start holds")
