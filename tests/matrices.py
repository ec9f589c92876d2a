"""Matrices of cases: some of them in every run of the tests, all of them in `make test-all`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def quick_cases(cases: Iterable[Any], *, quick: Collection[int]) -> list[Any]:
    """The cases for `parametrize`; those whose positions are not in `quick` are marked `slow`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=[] if number in quick else [pytest.mark.slow]
        )
        for number, case in enumerate(cases)
    ]
