"""Many cases in one test: for tables of what needs no report of its own, and no fixture that a case would change.

Collecting and running a test costs each worker of pytest-xdist some 4 ms of processor time, which thousands of cases
do not repay. `cases` is written like `pytest.mark.parametrize`; every case runs, and those that fail are named.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

_LONGEST = 300
"""Characters that are shown of a case."""

_Test = Callable[..., None]


def cases(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[_Test], _Test]:
    """A decorator: one test of all rows, whose values go by those names; two decorators test each pair of rows.

    The test's other parameters are fixtures, which all cases share: a folder, say, in which each writes its file anew.
    Raises the failure of the case, with the case as a note; of several cases, a group of them. A case that skips itself
    skips the test unless another fails. Marks stand above this decorator.
    """
    rows = list(rows)
    assert rows, "a table without cases tests nothing"
    assert not any(isinstance(row, ParameterSet) for row in rows), "`pytest.param` goes with `parametrize`"
    fields = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    named = [dict(zip(fields, row if len(fields) > 1 else (row,), strict=True)) for row in rows]

    def decorate(test: _Test) -> _Test:
        assert not hasattr(test, "pytestmark"), "marks stand above `cases`, or they are lost"

        def all_cases(**others: object) -> None:
            failures: list[BaseException] = []
            skipped: BaseException | None = None
            for case in named:
                try:
                    test(**others, **case)
                except pytest.skip.Exception as reason:
                    skipped = reason
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - the other cases run all the same
                    failure.add_note(f"in the case {case!r}"[:_LONGEST])
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(named)} cases fail", failures)
            if skipped:
                raise skipped

        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(all_cases, attribute, getattr(test, attribute))
        signature = inspect.signature(test)
        fixtures = [each for each in signature.parameters.values() if each.name not in fields]
        all_cases.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return all_cases

    return decorate
