"""What is measured: the public functions that take a text, and every pattern, each with its shapes."""

import inspect
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from tests.linear_time import patterns
from tests.linear_time.calls import CALLS, call_of, functions, modules
from tests.linear_time.measuring import Subject
from tests.linear_time.shapes import SHAPES

CALLS_ALONE: Final = ("read_document", "tasks.figures")
"""What the calls that are no functions of the packages begin with."""

PATTERNS: Final[dict[str, str]] = {
    "tasks.reading.docx.scan._END_OF_PARAGRAPH": "it looks at the properties of one paragraph",
    "tasks.reading.ooxml.number_formats._LITERAL": "a format code has 400 characters at most",
    "tasks.reading.ooxml.xml._ASIDE": "each of its openings is known to have an end",
    **dict.fromkeys(
        ("tasks.scoring.rules._FIGURE_RULE", "tasks.scoring.rules._BETWEEN", "tasks.scoring.rules._FACT_RULE"),
        "it reads the user's own criteria",
    ),
    "tasks.language.quotations._PAGE_NUMBER": "it is matched with a line of 120 characters at most",
    "tasks.language.numbers._CELL": "it is matched with a cell of 60 characters at most",
    **dict.fromkeys(
        ("tasks.statements.figures._LIMITS_BEHIND",),
        "it is matched at one place, with some twenty characters",
    ),
}
"""Patterns whose time may grow faster, as what they search is short: why, by their names."""


def of_functions(package: str, every: int = 1) -> Iterator[Subject]:
    """The functions of a package, each with one shape in so `every`, beginning with another one."""
    known = {name: call for name, call in CALLS.items() if name.startswith(f"{package}.")}
    for name, function in functions(package):
        if call := call_of(name, function):
            known[name] = call
    for place, (name, call) in enumerate(sorted(known.items())):
        yield Subject(name, call, dict(islice(SHAPES.items(), place % every, None, every)))


def of_calls(name_begins: str, every: int = 1) -> Iterator[Subject]:
    """Those of the calls that stand for more than one function: documents read whole, the figures of a document."""
    for place, (name, call) in enumerate(CALLS.items()):
        if name.startswith(name_begins):
            yield Subject(name, call, dict(islice(SHAPES.items(), place % every, None, every)))


def of_patterns(package: str, most: int) -> Iterator[Subject]:
    """The patterns of a package, each with so many of the texts that are made from it."""
    for module in modules(package):
        if not module.__file__.endswith(".py") or not inspect.getsource(module):
            continue
        for name, pattern, method in patterns.patterns(module):
            full_name = f"{module.__name__}.{name}"
            if full_name not in PATTERNS:
                shapes = {str(make): make for make in islice(patterns.texts(pattern), most)}
                yield Subject(f"{full_name} {method}", _search(pattern, method), shapes)


def _search(pattern: re.Pattern[Any], method: str) -> Any:
    search = getattr(pattern, method)
    if isinstance(pattern.pattern, str):
        return search
    return lambda text: search(text.encode("latin-1", "replace"))
