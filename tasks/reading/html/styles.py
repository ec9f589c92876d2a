"""What styles say that matters to the text: what the page hides, what begins a line, how a list counts.

Of style sheets only rules on a class, an id or an element by itself are known (`.note { display: none }`): those that
depend on what stands around are a browser's business. Rules for other media than the screen do not count.
"""

import re
from collections.abc import Mapping
from typing import Final

_HIDING: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all"
    r"|font-size\s*:\s*(?:0+(?:\.0*)?(?:px|pt|em|rem|%)?|[01](?:\.\d+)?p[xt])\s*(?:[;!]|$)"
    r"|opacity\s*:\s*0(?:\.0*)?(?![\d.]))",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"(?:^|[;\s])display\s*:\s*(?:block|flex|grid|table(?!-c)|list-item)", re.IGNORECASE)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_AT_RULE: Final = re.compile(r"@[a-z-]+")
_SELECTOR: Final = re.compile(r"(?:[a-z][a-z0-9]*)?[.#][\w-]+|[a-z][a-z0-9]*", re.IGNORECASE)
_LONGEST_SHEET: Final = 1 << 20
_MOST_RULES: Final = 20_000

_COUNTERS: Final = {
    "1": "decimal", "a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman",
    "disc": "disc", "circle": "circle", "square": "square", "none": "none",
}  # fmt: skip
_LIST_STYLE: Final = re.compile(
    r"list-style(?:-type)?\s*+:[^;]{0,80}?\b(none|[a-z]+-[a-z]+|decimal|disc|circle|square)", re.IGNORECASE
)
BULLETS: Final = {"disc": "•", "circle": "◦", "square": "▪"}
"""By the style of a list without numbers."""

_BY_DEPTH: Final = ("disc", "circle", "square")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class HtmlStyles:
    """What the page's style sheets hide, as far as they have been read."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()
        self._left = _LONGEST_SHEET

    def add(self, sheet: str) -> None:
        """Read a style sheet; of all of them together 1 MB."""
        sheet = sheet[: self._left]
        self._left -= len(sheet)
        if "none" not in sheet and "hidden" not in sheet:
            return
        for rule in _screen_rules(_without_comments(sheet)).split("}", _MOST_RULES)[:_MOST_RULES]:
            selectors, _, declarations = rule.rpartition("{")
            if _HIDING.search(declarations):
                names = (selector.strip() for selector in selectors.split(","))
                self._hidden.update(name for name in names if _SELECTOR.fullmatch(name))

    def hide(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether the page hides this element with all that is in it."""
        if not attributes:
            return tag in self._hidden
        if "hidden" in attributes:
            return True
        style = attributes.get("style")
        if style and _HIDING.search(style[:2000]):
            return True
        if not self._hidden:
            return False
        names = [f".{name}" for name in attributes.get("class", "")[:2000].split()]
        if "id" in attributes:
            names.append(f"#{attributes['id']}")
        return tag in self._hidden or any(name in self._hidden or tag + name in self._hidden for name in names)


def is_block(attributes: Mapping[str, str]) -> bool:
    """Whether an element that stands in a line by its nature begins one by its style."""
    style = attributes.get("style")
    return style is not None and _BLOCK.search(style[:2000]) is not None


def counter_style(tag: str, attributes: Mapping[str, str], depth: int) -> str:
    """How the items of a list (`ol`, `ul`) are marked: `decimal`, `lower-alpha`, `disc`, `none`."""
    style = _LIST_STYLE.search(attributes.get("style", "")[:2000])
    if style:
        return style[1].lower()
    named = _COUNTERS.get(attributes.get("type", "").strip())
    return named or ("decimal" if tag == "ol" else _BY_DEPTH[min(depth, 2)])


def item_marker(style: str, number: int) -> str:
    """What stands before a list item, with a space: `• `, `4. `, `c. `; "" where the list shows nothing."""
    if style == "none":
        return ""
    if style in BULLETS:
        return f"{BULLETS[style]} "
    counted = str(number)
    if style.endswith(("-alpha", "-latin")) and number > 0:
        counted = _letters(number)
    elif style.endswith("-roman") and 0 < number < 4000:
        counted = _roman(number)
    elif style == "decimal-leading-zero":
        counted = f"{number:02}"
    return f"{counted.upper() if style.startswith('upper') else counted}. "


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(97 + rest) + letters
    return letters


def _roman(number: int) -> str:
    pieces = []
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        pieces.append(letters * count)
    return "".join(pieces)


def _without_comments(sheet: str) -> str:
    return _COMMENT.sub(" ", sheet) if sheet.count("/*") == sheet.count("*/") else sheet


def _screen_rules(sheet: str) -> str:
    """`sheet` without the blocks of rules that hold under conditions (`@media print { … }`)."""
    if "@" not in sheet:
        return sheet
    kept = []
    at = 0
    while match := _AT_RULE.search(sheet, at):
        kept.append(sheet[at : match.start()])
        at = _end_of_rule(sheet, match.end())
    kept.append(sheet[at:])
    return "".join(kept)


def _end_of_rule(sheet: str, at: int) -> int:
    depth = 0
    for match in re.compile("[{};]").finditer(sheet, at):
        sign = match.group()
        depth += (sign == "{") - (sign == "}")
        if depth < 0 or (depth == 0 and sign in "};"):
            return match.end()
    return len(sheet)
