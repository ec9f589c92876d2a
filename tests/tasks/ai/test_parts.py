"""Parts of long sources: whole together, none too large, cut where the texts have borders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.ai.answerer import Source
from tasks.ai.openai.long_context import cut, size_of

TEXTS = st.lists(st.text(alphabet=st.sampled_from("ab é漢\ud800\n\f. "), max_size=800), max_size=5)


@given(TEXTS, st.integers(400, 2000))
def test_nothing_is_lost_or_read_twice_and_no_part_is_too_large(texts: list[str], room: int) -> None:
    sources = [Source(number, "a.txt", "page 1", text) for number, text in enumerate(texts, 1)]
    parts = list(cut(sources, room))
    assert all(0 < size_of(part) <= room for part in parts)
    read = [piece for part in parts for piece in part]
    for source in sources:
        assert "".join(piece.text for piece in read if piece.number == source.number) == source.text
    assert [piece.number for piece in read] == sorted(piece.number for piece in read)
    assert all((piece.name, piece.place) == ("a.txt", "page 1") for piece in read)


@pytest.mark.parametrize(
    ("between", "border"), [("\f", "\f"), ("\n\n", "\n\n"), ("\n", "\n"), (". ", ". "), ("。", "。"), (" ", " ")]
)
def test_a_part_ends_where_the_text_has_a_border(between: str, border: str) -> None:
    text = between.join(f"word{number}" for number in range(300))
    parts = list(cut([Source(1, "a.txt", None, text)], 1000))
    assert len(parts) > 2
    assert all(part[0].text.endswith(border) for part in parts[:-1])


def test_a_text_without_any_border_is_cut_all_the_same() -> None:
    assert sum(len(part[0].text) for part in cut([Source(1, "a.txt", None, "x" * 10_000)], 1000)) == 10_000


def test_small_sources_share_a_part() -> None:
    sources = [Source(number, "a.txt", None, "The lease ends in 2027.") for number in range(1, 21)]
    assert [len(part) for part in cut(sources, 10_000)] == [20]
