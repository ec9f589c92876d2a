"""How much a figure of a memo grew, held against the ledger: "net income rose 17 % to $5.8 billion", "nearly doubled".

The growth is computed here from the room's figures of both periods. What a memo says of growth in constant
currencies, of comparable sales or without single items is none of reported figures, and is not looked at.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from tasks.figures.conflicts import RoomFigure, groups, ranking
from tasks.figures.derived import year_before

_OTHERWISE: Final = re.compile(
    r"constant|currenc|comparable|organic|like[- ]for[- ]like|same[- ]store|adjust|exclud|underlying|non-?gaap|\bfx\b"
    r"|\bcagr\b|per year|a year\b|annuali[sz]ed|sequential|(?:previous|prior|last|preceding) quarter|expect"
    r"|guid|forecast|would|volume|\bprice",
    re.IGNORECASE,
)
"""Words of a change that is not the one between the reported figures of a period and the same one a year before."""

_PERCENT: Final = r"(?P<{0}>\d{{1,4}}(?:[.,]\d{{1,2}})?) ?(?:%|per ?cent)"
_ABOUT: Final = (
    r"(?:(?:by )?(?P<{0}>about|around|roughly|approximately|some|nearly|almost|over|more than|under) )?(?:by )?"
)
_RISE: Final = r"up|rose|rises?|risen|gr[eo]wn?|grows|increas\w+(?: of)?|climbed|gained|jumped|advanced|growth of|plus"
_FALL: Final = r"down|fell|falls?|fallen|declin\w+(?: of)?|dropp?\w*|decreas\w+(?: of)?|shrank|slipped|lost"
_CHANGE: Final = re.compile(
    rf"\b(?:(?P<rise>{_RISE})|(?P<fall>{_FALL})) {_ABOUT.format('about')}{_PERCENT.format('percent')}"
    rf"|{_ABOUT.format('near')}{_PERCENT.format('share')} (?:(?P<higher>above|more|higher|growth|increase|up)"
    r"|(?P<lower>below|lower|less|down|decline|decrease))\b",
    re.IGNORECASE,
)
_MULTIPLE: Final = re.compile(
    r"\b(?:(?P<more>more than)|(?P<nearly>nearly|almost)|about|roughly)"
    r" (?P<word>doubled|tripled|quadrupled|halved)\b"
    r"|\b(?P<plain>doubled|tripled|quadrupled|halved)\b",
    re.IGNORECASE,
)
_TIMES: Final = {"doubled": Decimal(2), "tripled": Decimal(3), "quadrupled": Decimal(4), "halved": Decimal("0.5")}
_SLACK: Final = Decimal("0.1")
"""The part by which what is said in round words may differ: "nearly doubled" is 1.8 to 2 times as much."""


@dataclass(frozen=True, slots=True)
class StatedGrowth:
    """A change that a memo states: between which two factors of the year before the figure lies, and its percents.

    `written` is the number of percents; None where it is said in words.
    """

    low: Decimal
    high: Decimal
    written: Decimal | None = None


def stated_growth(words: str) -> StatedGrowth | None:
    """The one change over the year before that a sentence states; None where it states none, several or another one."""
    if _OTHERWISE.search(words):
        return None
    found = [*_in_percent(words), *_in_words(words)]
    return found[0] if len(found) == 1 else None


def _in_percent(words: str) -> Iterator[StatedGrowth]:
    for match in _CHANGE.finditer(words):
        number = (match["percent"] or match["share"]).replace(",", ".")
        percent = Decimal(number)
        half = Decimal(1).scaleb(-len(number.partition(".")[2])) / 2
        about = (match["about"] or match["near"] or "").lower()
        below = above = half
        if about in {"over", "more than"}:
            below, above = Decimal(0), max(percent * _SLACK, Decimal(1))
        elif about in {"nearly", "almost", "under"}:
            below, above = max(percent * _SLACK, Decimal(1)), half
        elif about:
            below = above = max(percent * _SLACK, Decimal(1))
        if match["fall"] or match["lower"]:
            percent, below, above = -percent, above, below
        yield StatedGrowth(1 + (percent - below) / 100, 1 + (percent + above) / 100, Decimal(number))


def _in_words(words: str) -> Iterator[StatedGrowth]:
    for match in _MULTIPLE.finditer(words):
        times = _TIMES[(match["word"] or match["plain"]).lower()]
        low, high = times * (1 - _SLACK), times * (1 + _SLACK)
        if match["nearly"]:
            low, high = (low, times) if times > 1 else (times, high)
        elif match["more"]:
            low, high = (times, times * 2) if times > 1 else (Decimal(0), times)
        yield StatedGrowth(low, high)


def figure_a_year_before(figure: RoomFigure, ledger: Iterable[RoomFigure]) -> RoomFigure | None:
    """The room's figure of the same concept a year earlier, the one that counts; None where it has none."""
    period = figure.figure.period
    earlier = [
        other
        for other in ledger
        if "/" in other.figure.period and year_before(other.figure.period, period) and _is_alike(figure, other)
    ]
    return ranking(earlier)[0] if "/" in period and earlier else None


def _is_alike(one: RoomFigure, other: RoomFigure) -> bool:
    """Whether both figures would stand in one group if they were of one period."""
    moved = replace(other, figure=replace(other.figure, period=one.figure.period))
    return len(groups([one, moved])) == 1


def agrees_with(stated: StatedGrowth, later: RoomFigure, earlier: RoomFigure) -> bool | None:
    """Whether the room's figures grew as stated, as far as they are rounded; None where growth says nothing."""
    old, new = earlier.figure, later.figure
    if old.value - old.step / 2 <= 0 or new.value <= 0:
        return None
    least = (new.value - new.step / 2) / (old.value + old.step / 2)
    most = (new.value + new.step / 2) / (old.value - old.step / 2)
    return least <= stated.high and most >= stated.low
