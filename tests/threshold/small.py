"""Automata at hand, and a check whose counterexample is replayed step by step."""

from dataclasses import replace
from pathlib import Path

from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check_specification import SpecificationResult, ThresholdSettings, check
from fdverify.threshold.counter_system import is_initial, take_step
from fdverify.threshold.lasso_semantics import evaluate_on_lasso
from fdverify.threshold.text.read import parse_assumption, parse_automaton

STRB = Path(__file__).parents[2] / "examples" / "threshold" / "strb.ta"
TEXT = STRB.read_text()
QUIET, COUNTS = "do { }", "do { x' == x + 1; }"
DRIVERS = ("query", "search")


def assuming(*claims: str) -> Automaton:
    """Reliable broadcast under another resilience condition."""
    automaton = parse_automaton(TEXT, "strb.ta")
    return replace(automaton, assumptions=tuple(parse_assumption(claim, automaton) for claim in claims))


def one(*rules: str, spec: str, locations: str = "A B C", init: str = "A == N; x == 0;") -> Automaton:
    """A small automaton over N, T and x."""
    names = locations.split()
    places = " ".join(f"{name}: [];" for name in names)
    numbered = " ".join(f"{at}: {rule};" for at, rule in enumerate(rules))
    rest = " ".join(f"{name} == 0;" for name in names if name not in init)
    text = f"skel A {{ shared x; parameters N, T; assumptions {{ N >= 1; T >= 1; }} locations {{ {places} }} "
    return parse_automaton(
        f"{text} inits {{ {init} {rest} }} rules {{ {numbered} }} specifications {{ s: {spec}; }} }}", "t"
    )


def found(automaton: Automaton, name: str = "s", driver: str = "auto") -> SpecificationResult:
    (specification,) = (each for each in automaton.specifications if each.name == name)
    checked = check(automaton, specification, ThresholdSettings(driver))
    example = checked.trace
    if example is not None:
        configurations = [{**example.parameters, **example.start}]
        assert is_initial(automaton, configurations[0])
        back = 0
        for at, shown in enumerate(example.steps):
            back = len(configurations) - 1 if at == example.loop else back
            for _ in range(shown.processes):
                following = take_step(replace(shown.step, processes=1), configurations[-1])
                assert following is not None
                configurations.append(following)
            assert configurations[-1] == {**example.parameters, **shown.after}
        if example.loop == len(example.steps):
            back = len(configurations) - 1
        assert configurations[back] == configurations[-1]
        assert not evaluate_on_lasso(specification.formula, configurations, back)
    return checked
