"""A checked memo as a page and as JSON.

The page needs nothing else and no script: the memo with its claims marked, each leading to its verdict with the places.
A verdict is a word and a sign as well as a colour. Words of the memo and the room are escaped.
"""

import itertools
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tasks.language.escaped import escaped
from tasks.memo.check import CheckedClaim, MemoVerdict
from tasks.reports.html import allowed, environment, part

MARK: Final = "diligence check"
"""The generator that the page names: a page without it is somebody else's, and is not written over."""

_SIGNS: Final = {MemoVerdict.SUPPORTED: "✓", MemoVerdict.CONTRADICTED: "✗", MemoVerdict.NOT_FOUND: "?"}
_WORDS: Final = {
    MemoVerdict.SUPPORTED: "supported",
    MemoVerdict.CONTRADICTED: "contradicted",
    MemoVerdict.NOT_FOUND: "not found",
}


class MemoSegment(NamedTuple):
    """A stretch of the memo's text: the innermost claim that it is of, and the claims that end with it.

    Claims are numbers from 1; 0 for none.
    """

    text: str
    claim: int
    ending: Sequence[int]


def as_json(memo: str, checked: Sequence[CheckedClaim]) -> str:
    """The JSON of a checked memo: `{memo, statements: [{text, kind, verdict, places, why}]}`."""
    content = {"memo": memo, "statements": [_row(one) for one in checked]}
    return escaped(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def _row(one: CheckedClaim) -> dict[str, Any]:
    return {
        "text": one.statement.text,
        "kind": str(one.statement.kind),
        "verdict": str(one.verdict),
        "places": [
            {
                "document_id": place.document_id,
                "document_name": place.document_name,
                "place": place.place,
                "text": place.text,
            }
            for place in one.places
        ],
        "why": one.why,
    }


def render_memo(memo: str, room: str, text: str, checked: Sequence[CheckedClaim], unread: Sequence[str]) -> str:
    """The page of a checked memo: `memo` and `room` are their names, `unread` documents that could not be read."""
    style = part("memo.css")
    policy = f"default-src 'none'; style-src {allowed(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    claims = list(enumerate(checked, 1))
    return (
        environment()
        .get_template("memo.html")
        .render(
            memo=memo,
            room=room,
            generator=MARK,
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file
            claims=claims,
            contradicted=[(n, one) for n, one in claims if one.verdict is MemoVerdict.CONTRADICTED],
            segments=_segments(text, checked),
            counts=[(verdict, sum(one.verdict is verdict for one in checked)) for verdict in _WORDS],
            unread=unread,
            signs=_SIGNS,
            verdicts=_WORDS,
        )
    )


def _segments(text: str, checked: Sequence[CheckedClaim]) -> list[MemoSegment]:
    """The memo's text in stretches; quotations lie within sentences."""
    spans = [(one.statement.start, one.statement.end) for one in checked]
    borders = sorted({0, len(text), *(border for span in spans for border in span)})
    segments: list[MemoSegment] = []
    open_claims: list[int] = []
    starts: dict[int, list[int]] = {}
    for n, (start, _) in enumerate(spans, 1):
        starts.setdefault(start, []).append(n)
    for start, end in itertools.pairwise(borders):
        open_claims = [n for n in open_claims if spans[n - 1][1] > start] + starts.get(start, [])
        innermost = min(open_claims, key=lambda n: spans[n - 1][1] - spans[n - 1][0], default=0)
        ending = [n for n in open_claims if spans[n - 1][1] == end]
        segments.append(MemoSegment(text[start:end], innermost, ending))
    return segments
