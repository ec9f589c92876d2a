"""From the markup of a page to its lines and tables: handles what the parser reports, tag by tag.

It is not a browser: no scripts run, nothing is fetched, and only the styles in `styles.py` are known. The whole page is
read, including menus, but not what it hides: hidden text is a way to address machines behind people's backs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.html.grid import Block, Flow, HtmlCell, HtmlLine, HtmlRow, split_blocks
from tasks.reading.numerals import column_letters, numeral, raise_text
from tasks.reading.text_writer import ALTERNATIVE_TEXT, HEADING, INSERTED, make_label

_HIDING: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all"
    r"|font-size\s*:\s*(?:0+(?:\.0*)?(?:px|pt|em|rem|%)?|[01](?:\.\d+)?p[xt])\s*(?:[;!]|$)"
    r"|opacity\s*:\s*0(?:\.0*)?(?![\d.]))",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"(?:^|[;\s])display\s*:\s*(?:block|flex|grid|table(?!-c)|list-item)", re.IGNORECASE)
_SUPER: Final = re.compile(r"(?:^|[;\s])vertical-align\s*:\s*super\b", re.IGNORECASE)
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


class HtmlStyles:
    """What the page's style sheets hide, as far as they have been read."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()
        self._left = _LONGEST_SHEET

    def add(self, sheet: str) -> None:
        """Read a style sheet; at most 1 MB of all of them together."""
        sheet = sheet[: self._left]
        self._left -= len(sheet)
        if "none" not in sheet and "hidden" not in sheet:
            return
        sheet = _COMMENT.sub(" ", sheet) if sheet.count("/*") == sheet.count("*/") else sheet
        for rule in _screen_rules(sheet).split("}", _MOST_RULES)[:_MOST_RULES]:
            selectors, _, declarations = rule.rpartition("{")
            if _HIDING.search(declarations):
                names = (selector.strip() for selector in selectors.split(","))
                self._hidden.update(name for name in names if _SELECTOR.fullmatch(name))

    def hide(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether the page hides this element and everything in it."""
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
    """Whether the style of an inline element makes it begin a line."""
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
    """The marker before a list item, with a space: `• `, `4. `, `c. `; "" if the list shows none."""
    if style == "none":
        return ""
    if style in BULLETS:
        return f"{BULLETS[style]} "
    counted = str(number)
    if style.endswith(("-alpha", "-latin")) and number > 0:
        counted = column_letters(number).lower()
    elif style.endswith("-roman") and number < 4000:
        counted = numeral(number, "lowerRoman")
    elif style == "decimal-leading-zero":
        counted = f"{number:02}"
    return f"{counted.upper() if style.startswith('upper') else counted}. "


def _screen_rules(sheet: str) -> str:
    """`sheet` without its conditional blocks of rules (`@media print { … }`)."""
    if "@" not in sheet:
        return sheet
    kept = []
    at = 0
    while match := _AT_RULE.search(sheet, at):
        kept.append(sheet[at : match.start()])
        at = _find_rule_end(sheet, match.end())
    kept.append(sheet[at:])
    return "".join(kept)


def _find_rule_end(sheet: str, at: int) -> int:
    depth = 0
    for match in re.compile("[{};]").finditer(sheet, at):
        sign = match.group()
        depth += (sign == "{") - (sign == "}")
        if depth < 0 or (depth == 0 and sign in "};"):
            return match.end()
    return len(sheet)


_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "  # noqa: SIM905 - a list of words reads best as words
    "footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav noframes ol "
    "p plaintext pre search section summary table tbody td text tfoot th thead tr ul xmp".split()
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS: Final = frozenset({"ol", "ul", "menu", "dir"})
_PREFORMATTED: Final = frozenset({"pre", "xmp", "listing", "plaintext", "textarea"})
_APART: Final = frozenset({"button", "optgroup", "option", "select", "textarea"})
"""They stand in a line, with space around them."""

_NOT_SHOWN: Final = frozenset(
    "script template noscript noframes noembed iframe canvas video audio datalist annotation "  # noqa: SIM905 - as above
    "annotation-xml param source track".split()
)
_CHECKED: Final = {"checkbox": ("☐", "☒"), "radio": ("○", "◉")}
_WITHOUT_VALUE: Final = frozenset({"hidden", "password", "file", "image", "color", "range"})

_DEEPEST_TABLE: Final = 32
"""Tables inside each other; the cells of deeper ones are paragraphs."""

_MOST_CELLS: Final = 1_000_000
_MOST_REVISIONS: Final = 10


class TooManyCells(Exception):
    """The page has millions of cells: what was read so far is kept."""


@dataclass
class _List:
    """An open list: the marker of its items, and the next number."""

    style: str
    number: int
    step: int = 1


@dataclass
class _Table:
    """An open table; `outer` is the flow that contains it."""

    outer: Flow
    lists: list[_List]
    is_data: bool
    arranges: bool
    rows: list[HtmlRow] = field(default_factory=list)
    in_head: bool = False
    cell: tuple[int, int, bool] | None = None  # the open one: columns, rows, whether it heads others


class HtmlPage:
    """The target of lxml's parser; it holds the page's title and blocks.

    Attributes:
        title: what the page is called.
        hidden: the number of characters that the page hides.
        deleted: by whom and when text was deleted ("A. Author, 2024-05-01"; "" where nothing says so).
        depth: the number of elements that are open.
    """

    def __init__(self) -> None:
        self.title = ""
        self.hidden = 0
        self.deleted: dict[str, None] = {}
        self.depth = 0
        self._flow = Flow()
        self._styles = HtmlStyles()
        self._tables: list[_Table] = []
        self._beyond = 0  # tables that are too deep
        self._cells = 0
        self._lists: list[_List] = []
        self._kept_space = 0  # elements that keep white space
        self._at_kept = False  # such an element has just begun: its first line end does not count
        self._inserted: list[tuple[int, str]] = []  # depth and label
        self._raised: list[int] = []  # the depths of elements that raise their words
        self._skipped = 0  # the depth of the element that is left out; 0: none
        self._skipped_as = ""
        self._skipped_words: list[str] = []
        self._select: list[tuple[int, bool]] = []  # for each open select: its depth, whether one option was taken

    @property
    def blocks(self) -> list[Block]:
        """The lines and tables of the page; complete after `finish`."""
        return self._flow.blocks

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        self.depth += 1
        if self._skipped:
            return
        reason = self._reason_to_skip(tag, attributes)
        if reason:
            self._skipped, self._skipped_as = self.depth, reason
            self._skipped_words = []
            return
        if tag in _BLOCKS or (attributes and is_block(attributes)):
            self._flow.end_line()
        elif tag in _APART:
            self._flow.words(" ")
        if tag in _HEADINGS:
            self._flow.kind = HEADING
        elif tag in _LISTS:
            self._start_list(tag, attributes)
        elif tag == "li":
            self._start_item(attributes)
        elif tag in _PREFORMATTED:
            self._kept_space += 1
            self._at_kept = True
        elif tag == "br":
            self._flow.line_break()
        elif tag in ("img", "area"):
            self._alternative_text(attributes.get("alt", ""))
        elif tag == "input":
            self._input(attributes)
        elif tag == "ins":
            self._inserted.append((self.depth, _revision(attributes)))
        elif tag not in _BLOCKS and (tag == "sup" or _SUPER.search(attributes.get("style", "")[:2000])):
            self._raised.append(self.depth)
        elif tag == "select":
            self._select.append((self.depth, False))
        elif tag in ("table", "thead", "tr", "td", "th", "caption"):
            self._start_in_table(tag, attributes)
        elif tag == "q":
            self._flow.words("“")

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        self.depth -= 1
        while self._raised and self._raised[-1] > self.depth:
            self._raised.pop()
        if self._skipped:
            if self.depth < self._skipped:
                self._end_skipped()
            return
        if tag in _BLOCKS:
            self._flow.end_line()
        elif tag in _APART:
            self._flow.words(" ")
        if tag in _HEADINGS:
            self._flow.kind = ""
        elif tag in _LISTS:
            if self._lists:
                self._lists.pop()
        elif tag == "li":
            self._flow.prefix = ""
        elif tag in _PREFORMATTED:
            self._kept_space -= 1
        elif tag == "ins":
            while self._inserted and self._inserted[-1][0] > self.depth:
                self._inserted.pop()
        elif tag == "select":
            while self._select and self._select[-1][0] > self.depth:
                self._select.pop()
        elif tag in ("table", "thead", "tr", "td", "th"):
            self._end_in_table(tag)
        elif tag == "q":
            self._flow.words("”")

    def data(self, text: str) -> None:
        """Handle words, and white space between tags."""
        if self._skipped:
            self._skipped_words.append(text)
            return
        kept = self._kept_space > 0
        if self._at_kept:
            self._at_kept = False
            text = text.removeprefix("\n")
        if self._raised:
            text = raise_text(text)
        self._flow.words(text, kept=kept, mark=(INSERTED, self._inserted[-1][1]) if self._inserted else None)

    def comment(self, text: str) -> None:
        """Ignore a comment, which is not shown."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Ignore a processing instruction."""

    def close(self) -> None:
        """Called when the parser has finished its input."""

    def finish(self) -> None:
        """End everything that is open, because the page is over or breaks off."""
        if self._skipped:
            self._end_skipped()
        while self._tables:
            self._end_table()
        self._flow.end_line()

    def _reason_to_skip(self, tag: str, attributes: Mapping[str, str]) -> str:
        if tag in ("style", "title"):
            return tag
        if tag in _NOT_SHOWN:
            return "not shown"
        if tag == "option" and self._select:
            return self._reason_to_skip_option(attributes)
        if self._styles.hide(tag, attributes) or (tag == "dialog" and "open" not in attributes):
            return "hidden"
        if tag == "del":
            if len(self.deleted) < _MOST_REVISIONS:
                self.deleted[_revision(attributes)] = None
            return "deleted"
        return ""

    def _reason_to_skip_option(self, attributes: Mapping[str, str]) -> str:
        """Why an option of a drop-down list is skipped; "" if it is selected, because only selected ones are shown."""
        if "selected" in attributes:
            self._select[-1] = self._select[-1][0], True
            return ""
        return "option"

    def _end_skipped(self) -> None:
        text = "".join(self._skipped_words)
        if self._skipped_as == "hidden":
            self.hidden += len(one_line(text)) if len(text) < 1 << 20 else len(text)
        elif self._skipped_as == "style":
            self._styles.add(text)
        elif self._skipped_as == "title":
            self.title = self.title or one_line(text)
        self._skipped, self._skipped_words = 0, []

    def _alternative_text(self, words: str) -> None:
        words = one_line(words)
        if not words:
            return
        if self._tables:
            self._flow.words(words, mark=(ALTERNATIVE_TEXT, ""))
        else:
            self._flow.aside(HtmlLine(words, ALTERNATIVE_TEXT))

    def _input(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "text").strip().lower()
        if kind in _CHECKED:
            self._flow.words(f"{_CHECKED[kind]['checked' in attributes]} ")
        elif kind not in _WITHOUT_VALUE:
            self._flow.words(f" {attributes.get('value', '')} ")
        elif kind == "image":
            self._alternative_text(attributes.get("alt", ""))

    def _start_list(self, tag: str, attributes: Mapping[str, str]) -> None:
        bulleted = sum(open_list.style in BULLETS for open_list in self._lists[-3:])
        style = counter_style(tag, attributes, bulleted)
        backwards = tag == "ol" and "reversed" in attributes
        self._lists.append(_List(style, _number(attributes.get("start"), 1), -1 if backwards else 1))

    def _start_item(self, attributes: Mapping[str, str]) -> None:
        if not self._lists:
            self._flow.prefix = "• "
            return
        open_list = self._lists[-1]
        open_list.number = _number(attributes.get("value"), open_list.number)
        style = counter_style("", attributes, 0) if "type" in attributes else open_list.style
        self._flow.prefix = item_marker(style, open_list.number)
        open_list.number += open_list.step

    def _start_in_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "table":
            if len(self._tables) == _DEEPEST_TABLE:
                self._beyond += 1
            else:
                self._start_table(attributes)
        elif not self._tables or self._beyond:
            return
        elif tag == "caption":
            self._tables[-1].is_data = True
        elif tag == "thead":
            self._tables[-1].in_head = self._tables[-1].is_data = True
        elif tag == "tr":
            self._start_row()
        else:
            self._start_cell(tag, attributes)

    def _end_in_table(self, tag: str) -> None:
        if tag == "table" and self._beyond:
            self._beyond -= 1
        elif not self._tables or self._beyond:
            return
        elif tag == "table":
            self._end_table()
        elif tag == "thead":
            self._tables[-1].in_head = False
        else:
            self._end_cell()

    def _start_table(self, attributes: Mapping[str, str]) -> None:
        border = attributes.get("border", "0").strip()
        arranges = attributes.get("role", "").strip().lower() in ("presentation", "none")
        self._tables.append(_Table(self._flow, self._lists, border not in ("", "0", "none"), arranges))
        self._lists = []

    def _start_row(self) -> None:
        table = self._tables[-1]
        self._end_cell()
        table.rows.append(HtmlRow([], table.in_head))

    def _start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        table = self._tables[-1]
        self._end_cell()
        self._cells += 1
        if self._cells > _MOST_CELLS:
            raise TooManyCells
        if not table.rows:
            table.rows.append(HtmlRow([], table.in_head))
        if tag == "th":
            table.is_data = True
        spans = _number(attributes.get("colspan"), 1), _number(attributes.get("rowspan"), 1)
        table.cell = (*spans, tag == "th")
        self._flow = Flow()

    def _end_cell(self) -> None:
        table = self._tables[-1]
        if table.cell is None:
            return
        self._flow.end_line()
        blocks: str | list[Block] = self._flow.blocks
        if len(blocks) < 2:
            line = blocks[0] if blocks else HtmlLine("")
            if isinstance(line, HtmlLine) and not line.marks and not line.kind:
                blocks = one_line(line.text)
        table.rows[-1].cells.append(HtmlCell(blocks, *table.cell))
        table.cell = None
        self._flow = table.outer

    def _end_table(self) -> None:
        self._end_cell()
        table = self._tables.pop()
        self._lists = table.lists
        self._flow = table.outer
        self._flow.end_line()
        if table.arranges:
            table.is_data = False
        self._flow.blocks += split_blocks(table.rows, is_data=table.is_data)


def _number(text: str | None, otherwise: int) -> int:
    """The number in an attribute, if it is one of a few digits, otherwise `otherwise`."""
    stripped = (text or "").strip()
    digits = stripped.removeprefix("-")
    return int(stripped) if digits.isascii() and digits.isdigit() and len(digits) < 8 else otherwise


def _revision(attributes: Mapping[str, str]) -> str:
    """Who made the insertion or deletion, and when; Word writes the author to `cite`."""
    author = attributes.get("cite", "").removeprefix("mailto:")
    return make_label("" if "://" in author else author.replace("%20", " "), attributes.get("datetime", ""))
