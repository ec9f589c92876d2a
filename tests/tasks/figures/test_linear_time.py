"""Four times the text costs no more than six times the processor time, whatever its shape."""

from typing import Final

import pytest

from tests.benchmarks.figure_shapes import SHAPES, seconds
from tests.matrices import quick_cases

_MOST: Final = 6
_SPARE: Final = 0.1
"""Seconds by which a measurement of so little may err."""


@pytest.mark.parametrize("name", quick_cases(SHAPES, quick=range(0, len(SHAPES), 5)))
def test_finding_figures_takes_time_in_proportion_to_the_text(name: str) -> None:
    shape = SHAPES[name]
    once = seconds(shape, 1)
    assert seconds(shape, 4) <= _MOST * once + _SPARE
