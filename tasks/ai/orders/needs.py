"""The words that a pattern of an order cannot do without, read from the pattern itself.

They are far cheaper to look for than the pattern. Only what patterns here are made of is understood; what is not
(a class of letters, a look ahead) counts as anything, so that a word may be missed but none is needed in vain.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Words = frozenset[str]
"""Words of which one must stand there: whole (`ai`) or as they begin (`ignor-`)."""

_TOKEN: Final = re.compile(
    r"\(\?(?:[:=!]|<[=!])|\[\^?(?:\\.|[^\]\\])+\]|\\.|(?:[?*+]|\{\d+(?:,\d*)?\})\??|.", re.DOTALL
)
_EDGE: Final = " "
"""Where a word begins or ends: any sign that is no letter, or no sign at all."""
_ANY: Final = "."


@dataclass(frozen=True, slots=True)
class _Choice:
    """A group by its branches, or anything optional."""

    branches: list[list["_Item"]]
    optional: bool = False


_Item = str | _Choice


def needs(pattern: str) -> list[Words]:
    """Of each of these, one word stands in whatever the pattern matches, where all but letters parts words."""
    return _needed(_choice(iter(_TOKEN.findall(pattern))).branches, before=False, behind=False)


def _choice(signs: Iterator[str]) -> _Choice:
    branches: list[list[_Item]] = [[]]
    for sign in signs:
        items = branches[-1]
        if sign == ")":
            break
        if sign == "|":
            branches.append([])
        elif sign == "(?:":
            items.append(_choice(signs))
        elif sign.startswith("(?"):
            _choice(signs)
            items.append(_ANY)
        elif sign[0] in "?*" or sign.startswith("{0"):
            last = items.pop()
            items.append(_Choice(last.branches if isinstance(last, _Choice) else [[last]], optional=True))
        elif sign[0] in "+{":
            items += [] if items[-1] == _EDGE else [_ANY]
        else:
            items.append(_item(sign))
    return _Choice(branches)


def _item(sign: str) -> str:
    if sign.startswith("["):
        letters = re.sub(r"\\[sd]|\d-\d", "", sign)
        return _ANY if letters.startswith("[^") or re.search(r"[a-z]|\\[wWSD]", letters) else _EDGE
    if sign in {".", r"\w", r"\S", r"\D", r"\B"}:
        return _ANY
    return sign if sign.isascii() and sign.isalpha() else _EDGE


def _needed(branches: list[list[_Item]], *, before: bool, behind: bool) -> list[Words]:
    """What each branch needs; of several branches, the longest words of each, in one."""
    each = [_of_branch(items, before=before, behind=behind) for items in branches]
    if len(each) == 1:
        return each[0]
    return [frozenset[str]().union(*(max(words, key=_shortest) for words in each))] if all(each) else []


def _of_branch(items: list[_Item], *, before: bool, behind: bool) -> list[Words]:
    found: list[Words] = []
    end = 0
    while end < len(items):
        at, end = end, end + 1
        item = items[at]
        while _is_letter(item) and end < len(items) and _is_letter(items[end]):
            end += 1
        begins, ends = _is_edge(items[:at][::-1], before, step=-1), _is_edge(items[end:], behind, step=1)
        if isinstance(item, _Choice):
            found += [] if item.optional else _needed(item.branches, before=begins, behind=ends)
        elif _is_letter(item) and begins and end - at > 1:
            found.append(frozenset({"".join(map(str, items[at:end])) + ("" if ends else "-")}))
    return found


def _is_letter(item: _Item) -> bool:
    return isinstance(item, str) and item.isalpha()


def _is_edge(items: Sequence[_Item], outside: bool, *, step: int) -> bool:
    """Whether a word ends before these items, which lead away from it; what lies `outside` is behind them."""
    for item in items:
        if not isinstance(item, _Choice):
            return item == _EDGE
        if not all(_is_edge(branch[::step], outside=False, step=step) for branch in item.branches):
            return False
        if not item.optional:
            return True
    return outside


def _shortest(words: Words) -> int:
    return min(map(len, words))
