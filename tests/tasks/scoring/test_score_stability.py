"""The share of draws in which companies keep their place when the weights vary."""

from random import Random

import pytest

from tasks.scoring.score import stability


@pytest.mark.parametrize(
    ("standings", "weight"),
    [
        ([{"a": 1.0, "b": 0.9}, {"a": 0.2, "b": 0.1}], 3),
        ([{"a": 0.9}, {"a": 0.9, "b": 0.6}], 1),
        ([{"a": 0.5, "b": 0.5}] * 2, 2),
    ],
    ids=["better in everything", "what is not scored earns nothing", "equal totals share a place"],
)
def test_a_place_that_no_weights_change_is_kept_in_every_draw(standings: list[dict[str, float]], weight: float) -> None:
    assert stability(standings, {"a": 1, "b": weight}) == [1.0, 1.0]


def test_companies_that_each_lead_in_one_criterion_of_equal_weight_change_places_half_the_time() -> None:
    # As they are they tie; a draw parts them, so neither second keeps the shared first place.
    shares = stability([{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 0.99}], {"a": 1, "b": 1})
    assert shares is not None
    assert shares[0] == shares[1] == pytest.approx(0.5, abs=0.05)


def test_a_lead_that_hangs_on_a_heavy_weight_is_less_sure_than_one_that_does_not() -> None:
    weights = {"a": 1.5, "b": 1, "c": 1}
    close = stability([{"a": 1.0, "b": 0.4, "c": 0.4}, {"a": 0.2, "b": 0.9, "c": 0.9}], weights)
    clear = stability([{"a": 1.0, "b": 0.9, "c": 0.4}, {"a": 0.2, "b": 0.5, "c": 0.9}], weights)
    assert close is not None
    assert clear is not None
    assert close[0] < clear[0] < 1


def test_the_same_figures_give_the_same_shares() -> None:
    random = Random(7)
    standings = [{name: random.random() for name in "abcdef"} for _ in range(30)]
    weights = dict.fromkeys("abcdef", 1.0)
    assert stability(standings, weights) == stability(standings, weights)


@pytest.mark.parametrize("standings", [[], [{"a": 1.0, "b": 0.5}], [{"a": 1.0}, {"a": 0.5}]])
def test_without_anything_to_vary_there_are_no_shares(standings: list[dict[str, float]]) -> None:
    assert stability(standings, {"a": 1, "b": 1}) is None
