"""What the next call will most likely not exceed, from those before it."""

import random

from tasks.spending.budget import Measured, MeasuredUsage
from tasks.spending.money import Usage

WORST = Usage(0, 7000, 4096)


def test_before_the_first_call_it_is_the_worst_case() -> None:
    assert MeasuredUsage().likely_most((7000, 3000), WORST) == WORST


def test_after_the_first_calls_it_follows_what_they_used() -> None:
    measured = MeasuredUsage()
    measured.add((7000, 3000), Usage(1, 3500, 200))
    assert measured.likely_most((7000, 3000), WORST) == WORST  # one alone says nothing of the spread
    measured.add((7000, 3000), Usage(1, 3500, 200))
    assert measured.likely_most((7000, 3000), WORST) == Usage(0, 4375, 250)
    for _ in range(8):
        measured.add((7000, 3000), Usage(1, 3500, 200))
    assert measured.likely_most((7000, 3000), WORST) == Usage(0, 4025, 230)


def test_the_denser_of_both_sizes_counts() -> None:
    """A table has many more words and figures for its bytes than the prose that was measured."""
    measured = MeasuredUsage()
    for _ in range(10):
        measured.add((7000, 3000), Usage(1, 3500, 200))
    assert measured.likely_most((7000, 5000), WORST).input_tokens > 6500
    assert measured.likely_most((7000, 9000), WORST).input_tokens == WORST.input_tokens


def test_it_is_never_above_the_worst_case() -> None:
    measured = MeasuredUsage()
    for _ in range(2):
        measured.add((7000, 3000), Usage(1, 7000, 4096))
    assert measured.likely_most((7000, 3000), WORST) == WORST


def test_few_values_of_the_same_kind_are_above_it() -> None:
    chance, above = random.Random(7), 0
    for _ in range(200):
        measured = Measured()
        for number in range(30):
            value = chance.gauss(0.45, 0.05)
            most = measured.likely_most()
            above += number > 0 and most is not None and value > most
            measured.add(value)
    assert above <= 29  # of 5,800: one in 200
