"""Whether a quotation of a memo stands in a room word for word, and where it stands with other words."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from tasks.language.quotations import in_sentence, locate
from tasks.memo.room import MemoPlace, RoomTexts

_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")
_INSERTED: Final = re.compile(r"\[[^\[\]]*\]")
_ELLIPSIS: Final = re.compile(r"\.{3,}|…")
_CHANGED: Final = 5
"""One word in so many, and at least one, may differ where a room is said to have a quotation in other words."""

_FEWEST_SAME: Final = 3
_MOST_PLACES: Final = 5


class QuotedWord(NamedTuple):
    """A word or a number of a text: case folded, with its characters."""

    word: str
    start: int
    end: int


def quotation_places(quote: str, room: RoomTexts) -> tuple[bool, list[MemoPlace]]:
    """Whether the room has the quotation word for word, and where.

    Where it has it with another word or figure alone, the places of these are given; where neither, none.
    Words in square brackets are the memo's own, and stand for what was left out.
    """
    quote = _INSERTED.sub("…", quote).strip(" ,;…")
    stretches = [(passage, room.around(passage, len(quote))) for passage in room.passages(quote)]
    exact: dict[MemoPlace, None] = {}
    changed: list[tuple[float, MemoPlace]] = []
    for passage, text in stretches:
        span = locate(quote, text) or locate(quote.rstrip(".!?"), text)
        if span is not None:
            exact[passage.place(text[slice(*in_sentence(text, *span))])] = None
        elif not exact:
            for part in _ELLIPSIS.split(quote):
                near = _nearest(part, text)
                if near is not None:
                    changed.append((near[0], passage.place(text[slice(*in_sentence(text, *near[1]))])))
    if exact:
        return True, _one_a_text([*exact])
    return False, _one_a_text([place for _, place in sorted(changed, key=lambda entry: -entry[0])])


def _one_a_text(places: Sequence[MemoPlace]) -> list[MemoPlace]:
    """The first places, each sentence of a document once: passages that lie side by side find the same."""
    return list({(place.document_id, place.text): place for place in reversed(places)}.values())[::-1][:_MOST_PLACES]


def _nearest(quote: str, text: str) -> tuple[float, tuple[int, int]] | None:
    """Where a text says nearly what a quotation does: the share of its words and the characters; None for nowhere."""
    wanted = [token.word for token in _tokens(quote)]
    tokens = _tokens(text)
    matcher = SequenceMatcher(None, [token.word for token in tokens], wanted, autojunk=False)
    block = matcher.find_longest_match()
    allowed = max(1, len(wanted) // _CHANGED)
    first = max(block.a - block.b - allowed, 0)
    window = tokens[first : block.a - block.b + len(wanted) + allowed]
    matcher.set_seq1([token.word for token in window])
    blocks = [same for same in matcher.get_matching_blocks() if same.size]
    same = sum(block.size for block in blocks)
    if same < max(_FEWEST_SAME, len(wanted) - allowed):
        return None
    low, high = blocks[0].a, blocks[-1].a + blocks[-1].size
    added = high - low - same
    span = window[low].start, window[high - 1].end
    if added > allowed or (same == len(wanted) and not added and re.search(r"[\t\n\f]", text[slice(*span)])):
        return None  # all its words, but of several cells or lines: nothing says that they are other words
    return same / (len(wanted) + added), span


def _tokens(text: str) -> list[QuotedWord]:
    return [QuotedWord(match[0].casefold(), *match.span()) for match in _TOKEN.finditer(text)]
