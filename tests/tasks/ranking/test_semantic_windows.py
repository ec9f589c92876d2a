"""Windows: what of a passage a model sees at once."""

import pytest

from tasks.ranking.semantic import Candidate, windows


def passage(text: str, start: int = 100) -> Candidate:
    return Candidate(7, start, start + len(text), text)


def test_a_short_passage_is_its_own_window() -> None:
    short = passage("The lease ends in March.")
    assert list(windows(short)) == [short]


@pytest.mark.parametrize("text", ["The lease ends. " * 75, "x" * 1200, "賃貸借" * 400, "a\tb\n" * 299 + "ends"])
def test_windows_cover_a_long_passage_without_gaps(text: str) -> None:
    found = list(windows(passage(text)))
    assert "".join(window.text for window in found) == text
    assert [window.start for window in found] == [100, *(window.end for window in found[:-1])]
    assert all(window.text_id == 7 and window.end - window.start == len(window.text) for window in found)
    assert max(len(window.text) for window in found) <= 660


def test_a_window_ends_between_words() -> None:
    first, *_ = windows(passage("The lease of the premises ends in March of the year. " * 20))
    assert first.text.endswith(" ")


def test_windows_are_of_about_one_length() -> None:
    lengths = [len(window.text) for window in windows(passage("lease " * 110))]
    assert max(lengths) - min(lengths) < 70


def test_every_part_is_embedded_with_what_the_passage_stands_under() -> None:
    parts = windows(passage("83.4\t12.0\n" * 100)._replace(about="Year\tRevenue"))
    assert [part.with_context.split("\n")[0] for part in parts] == ["Year\tRevenue"] * 2


def test_what_a_passage_stands_under_does_not_crowd_out_its_words() -> None:
    (part,) = windows(passage("83.4")._replace(about="Revenue\t" * 500))
    assert part.with_context.endswith("\n83.4")
    assert len(part.with_context) < 210


def test_a_passage_without_words_has_no_windows() -> None:
    assert list(windows(passage(""))) == []
