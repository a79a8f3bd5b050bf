"""Whether some run through a graph satisfies a formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.threshold.oracle.formulas import (
    Always,
    Both,
    Claim,
    Compared,
    Either,
    Formula,
    Later,
    Negated,
    Truth,
)


def pushed(formula: Formula, positive: bool, claims: list[Formula]) -> Formula:
    """The formula, or its negation, with negations pushed inwards till they are about one configuration.

    What is about one configuration is added to the claims, and its place there stands for it.
    """
    if not is_temporal(formula):
        claims.append(formula if positive else Negated(formula))
        return Claim(len(claims) - 1)
    match formula:
        case Negated(operand):
            return pushed(operand, not positive, claims)
        case Both(left, right) | Either(left, right):
            one, other = pushed(left, positive, claims), pushed(right, positive, claims)
            return Both(one, other) if isinstance(formula, Both) == positive else Either(one, other)
        case Later(operand) | Always(operand):
            inside = pushed(operand, positive, claims)
            return Later(inside) if isinstance(formula, Later) == positive else Always(inside)
        case _:
            raise AssertionError("nothing else is about several times")


def is_temporal(formula: Formula) -> bool:
    match formula:
        case Compared() | Truth() | Claim():
            return False
        case Negated(operand):
            return is_temporal(operand)
        case Both(left, right) | Either(left, right):
            return is_temporal(left) or is_temporal(right)
        case Later() | Always():
            return True


Places = frozenset[int]
"""Which of the claims hold."""

Duties = frozenset[Formula]
"""Formulas that a run must satisfy from some time on."""


def ways(duties: Duties, true: Places) -> set[tuple[Duties, Duties]]:
    """All ways to do now what is due, where these claims hold now.

    Each is what is due at the next step, and what of the form <>… was put off till then.
    """
    found: set[tuple[Duties, Duties]] = set()

    def go_on(left: list[Formula], seen: Duties, later: Duties, put_off: Duties) -> None:
        if not left:
            found.add((later, put_off))
            return
        formula, rest = left[0], left[1:]
        if formula in seen:
            go_on(rest, seen, later, put_off)
            return
        seen |= {formula}
        match formula:
            case Claim(place):
                if place in true:
                    go_on(rest, seen, later, put_off)
            case Both(one, other):
                go_on([one, other, *rest], seen, later, put_off)
            case Either(one, other):
                go_on([one, *rest], seen, later, put_off)
                go_on([other, *rest], seen, later, put_off)
            case Always(operand):
                go_on([operand, *rest], seen, later | {formula}, put_off)
            case Later(operand):
                go_on([operand, *rest], seen, later, put_off)
                go_on(rest, seen, later | {formula}, put_off | {formula})
            case _:
                raise AssertionError("negations have been pushed inwards")

    go_on(list(duties), frozenset(), frozenset(), frozenset())
    return found


Node = tuple[int, Duties]


def some_run(
    formula: Formula, successors: Sequence[Sequence[int]], true: Sequence[Places], initial: Iterable[int]
) -> bool:
    """Whether some infinite run through a graph satisfies the formula, made of claims.

    ``true`` tells for each node of the graph which claims hold there.  A run satisfies the formula if what is
    due can be done at each step, and no <>… is put off at every step from some time on.
    """
    first = [(place, frozenset({formula})) for place in initial]
    edges: dict[Node, list[tuple[Node, Duties]]] = {}
    known: dict[tuple[Duties, Places], set[tuple[Duties, Duties]]] = {}
    waiting = list(first)
    while waiting:
        node = waiting.pop()
        if node in edges:
            continue
        place, duties = node
        key = duties, true[place]
        if key not in known:
            known[key] = ways(*key)
        edges[node] = [((after, later), put_off) for later, put_off in known[key] for after in successors[place]]
        waiting += [after for after, _ in edges[node] if after not in edges]
    for component in components(edges):
        inside = [put_off for node in component for after, put_off in edges[node] if after in component]
        if inside and not frozenset.intersection(*inside):
            return True  # a cycle takes all these steps; each <>… is not put off at one of them
    return False


def components(edges: Mapping[Node, Sequence[tuple[Node, Duties]]]) -> Iterator[set[Node]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    order: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    stack: list[Node] = []
    stacked: set[Node] = set()
    for root in edges:
        if root in order:
            continue
        path = [(root, iter(edges[root]))]
        order[root] = lowest[root] = len(order)
        stack.append(root)
        stacked.add(root)
        while path:
            node, rest = path[-1]
            for after, _ in rest:
                if after not in order:
                    order[after] = lowest[after] = len(order)
                    stack.append(after)
                    stacked.add(after)
                    path.append((after, iter(edges[after])))
                    break
                if after in stacked:
                    lowest[node] = min(lowest[node], order[after])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    component: set[Node] = set()
                    while node not in component:
                        component.add(stack.pop())
                    stacked -= component
                    yield component
