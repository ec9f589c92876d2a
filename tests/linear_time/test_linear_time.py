"""No text from elsewhere takes time that grows faster than it: no function, no pattern.

What `python -m tests.linear_time` prints is measured here: of each function some shapes, and all of them in the tests
that are slow.
"""

from collections.abc import Iterator

import pytest

from tests.cases import cases
from tests.linear_time.calls import CALLS, EXCUSED, PACKAGES, call_of, functions, modules, reason_to_excuse
from tests.linear_time.measuring import Limits, Subject, measure
from tests.linear_time.subjects import CALLS_ALONE, PATTERNS, of_calls, of_functions, of_patterns
from tests.matrices import quick_cases

QUICK = Limits(least=0.002, most=65_536)
SOME = quick_cases(PACKAGES, quick=(PACKAGES.index("tasks.scoring"),))
PATTERN_QUICK, PATTERN = Limits(0.002, 4096), Limits(0.004, 16_384)


def failures(subjects: Iterator[Subject], limits: Limits) -> list[str]:
    return [str(case) for case in measure([*subjects], limits) if case.fails]


@cases("package", PACKAGES)
def test_every_function_that_takes_a_text_is_measured_or_excused(package: str) -> None:
    left = [name for name, function in functions(package) if not (call_of(name, function) or reason_to_excuse(name))]
    assert left == [], "give them a call in `CALLS`, or a reason in `EXCUSED`"


def test_calls_and_excuses_are_of_functions_that_exist() -> None:
    names = {name for package in PACKAGES for name, _ in functions(package)}
    assert all(any(reason_to_excuse(name) == why for name in names) for why in EXCUSED)
    assert not [name for name in CALLS if reason_to_excuse(name)]
    known = {
        f"{module.__name__}.{name}" for package in PACKAGES for module in modules(package) for name in vars(module)
    }
    assert not set(PATTERNS) - known


@pytest.mark.parametrize("package", SOME)
def test_some_shapes_take_time_in_proportion_to_their_length(package: str) -> None:
    assert failures(of_functions(package, every=30), QUICK) == []


@pytest.mark.parametrize("package", SOME)
def test_patterns_take_time_in_proportion_to_the_text(package: str) -> None:
    assert failures(of_patterns(package, 5), PATTERN_QUICK) == []


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("package", PACKAGES)
def test_all_shapes_take_time_in_proportion_to_their_length(package: str) -> None:
    assert failures(of_functions(package, every=2), Limits()) == []
    assert failures(of_patterns(package, 60), PATTERN) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS_ALONE)
def test_documents_and_their_figures_take_time_in_proportion_to_their_length(name: str) -> None:
    assert failures(of_calls(name, every=2), Limits()) == []


@pytest.mark.slow
def test_counts_of_a_long_list_take_time_in_proportion_to_their_length() -> None:
    line = "At 31 December 2024 it had 52 Employees.\n\n"
    name = "tasks.figures.document_figures.find_figures"
    listed = Subject(name, CALLS[name], {"lines of counts": lambda size: line * (size // len(line))})
    assert failures(iter([listed]), Limits(least=0.4, seconds=60)) == []


@pytest.mark.slow
def test_a_quadratic_pattern_and_one_that_never_ends_are_found() -> None:
    import re

    dots = Subject("dots", re.compile(r"[.!?]+(?=\s)").findall, {"dots": lambda size: "." * size})
    endless = Subject("endless", re.compile("(?:a|a)*b").findall, {"a": lambda size: "a" * size})
    cases = list(measure([dots, endless], Limits(0.004, 16_384, seconds=2)))
    assert [case.fails for case in cases] == [True, True]
    assert cases[1].seconds is None
