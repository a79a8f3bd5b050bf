"""What cannot be read is told, not refused; what is read is what was compiled."""

import operator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.source_reader import check_sources
from fdverify.errors import UsageError
from fdverify.models.loading import load_module
from tests.no_wrong_answers.source.reading import HEADER, function_in, phase_in


def executed(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["f"]


def test_a_function_without_source_is_told() -> None:
    function = AuthorFunction("phase", "step", executed("def f(s, c):\n    return s.f is False"))
    assert check_sources([function]) == (function,)


def test_a_function_of_c_is_told() -> None:
    functions = [AuthorFunction("property", "claim", each) for each in (operator.attrgetter("x"), partial(max, 3))]
    assert check_sources(functions) == tuple(functions)


def test_a_function_that_calls_one_without_source_is_told(tmp_path: Path) -> None:
    function = phase_in(tmp_path, "exec('def low(v):\\n    return v is True')\n\ndef f(s, c):\n    return low(s.f)\n")
    assert check_sources([function]) == (function,)


def test_a_function_that_calls_what_is_only_known_at_run_time_is_told(tmp_path: Path) -> None:
    function = phase_in(tmp_path, "def f(s, c):\n    return getattr(math, ''.join(['c', 'eil']))(s.x)\n")
    assert check_sources([function]) == (function,)


def test_an_unreadable_function_does_not_hide_another(tmp_path: Path) -> None:
    unread = AuthorFunction("phase", "step", executed("def f(s, c):\n    return s.f"))
    with pytest.raises(UsageError, match=r"model\.py:\d+"):
        check_sources([unread, phase_in(tmp_path, "def f(s, c):\n    return s.f is False\n")])


def test_a_file_that_was_changed_is_read_as_it_was_run(tmp_path: Path) -> None:
    first = function_in(tmp_path, "def f(s, c):\n    return s.f is False\n")
    second = function_in(tmp_path, "def f(s, c):\n    return s.f == False\n")
    assert check_sources([AuthorFunction("phase", "step", second)]) == ()
    # Its file says something else by now, so it is not read, and never taken for the other one.
    function = AuthorFunction("phase", "step", first)
    assert check_sources([function]) == (function,)


def test_a_neighbour_is_read_as_it_was_run(tmp_path: Path) -> None:
    for operation, refused in (("==", False), ("is", True)):
        (tmp_path / "helper.py").write_text(f"def low(v):\n    return v {operation} False\n")
        (tmp_path / "model.py").write_text(HEADER + "from helper import low\n\ndef f(s, c):\n    return low(s.f)\n")
        function = AuthorFunction("phase", "step", load_module(tmp_path / "model.py").f)
        if refused:
            with pytest.raises(UsageError, match=r"helper\.py:2: phase step "):
                check_sources([function])
        else:
            assert check_sources([function]) == ()


def test_functions_on_one_line_are_told_apart(tmp_path: Path) -> None:
    source = "f = [lambda s: s.f == True, lambda s: s.f is True, lambda s: (lambda v: v == 1)(s.f)]\n"
    functions: Any = function_in(tmp_path, source)
    good = [AuthorFunction("property", "claim", functions[place]) for place in (0, 2)]
    assert check_sources(good) == ()
    with pytest.raises(UsageError, match="is True"):
        check_sources([AuthorFunction("property", "claim", functions[1])])


def test_the_place_of_a_helper_in_another_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("\n\ndef low(v):\n    return isinstance(v, int)\n")
    function = phase_in(tmp_path, "from helper import low\n\ndef f(s, c):\n    return low(s.x)\n")
    with pytest.raises(UsageError) as refused:
        check_sources([function])
    assert "helper.py:4: phase step asks for the type of a state value in `isinstance(v, int)`" in str(refused.value)


def test_an_argument_that_the_engine_gives_is_of_the_state(tmp_path: Path) -> None:
    source = "def f(s, c=None):\n    return update(x=1 if c is None else 2)\n"
    function = function_in(tmp_path, source)
    with pytest.raises(UsageError, match="same object"):
        check_sources([AuthorFunction("phase", "step", function)])
    assert check_sources([AuthorFunction("property", "claim", function)]) == ()


def test_a_function_with_too_many_ways_through_it_is_told(tmp_path: Path) -> None:
    helpers = "".join(f"def g{n}(xs):\n    return And(g{n + 1}([*xs, 1]), g{n + 1}([*xs, 2]))\n\n" for n in range(25))
    function = phase_in(tmp_path, f"{helpers}def g25(xs):\n    return xs[0]\n\ndef f(s, c):\n    return g0([s.f])\n")
    assert check_sources([function]) == (function,)
