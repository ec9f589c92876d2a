"""Fusing the order by words with the order by meaning."""

import pytest

from tasks.ranking.semantic import reorder


def test_what_both_find_comes_before_what_one_finds() -> None:
    fused = reorder([(10, 9.0), (11, 8.5), (12, 2.0)], [0.1, 0.8, 0.7], 3)
    assert [position for position, _score in fused] == [11, 10, 12]


def test_meaning_lifts_a_passage_that_shares_few_words() -> None:
    fused = reorder([(0, 5.0), (1, 4.5), (2, 2.0), (3, 1.0)], [0.1, 0.2, 0.9, 0.1], 1)
    assert fused[0][0] == 2


def test_passages_as_good_as_equal_by_words_are_told_apart_by_meaning() -> None:
    fused = reorder([(0, 0.0197), (1, 0.0195), (2, 0.0195)], [0.1, 0.1, 0.4], 3)
    assert fused[0][0] == 2


def test_scores_fall_from_at_most_one() -> None:
    scores = [score for _position, score in reorder([(0, 50.0), (1, 20.0), (2, 1.0)], [-0.2, 0.9, 0.3], 3)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] <= 1


@pytest.mark.parametrize("similarities", [[0.0, 0.0], [-0.5, -0.5]])
def test_where_nothing_is_meant_the_words_decide(similarities: list[float]) -> None:
    assert [position for position, _score in reorder([(0, 2.0), (1, 3.0)], similarities, 2)] == [1, 0]


def test_equal_candidates_keep_their_order() -> None:
    assert [position for position, _score in reorder([(4, 1.0), (2, 1.0), (3, 1.0)], [0.5] * 3, 3)] == [4, 2, 3]


@pytest.mark.parametrize(("k", "given"), [(-1, 0), (0, 0), (1, 1), (9, 2)])
def test_at_most_k_are_given(k: int, given: int) -> None:
    assert len(reorder([(0, 2.0), (1, 1.0)], [0.1, 0.2], k)) == given


def test_no_candidates_have_no_order() -> None:
    assert reorder([], [], 5) == []
