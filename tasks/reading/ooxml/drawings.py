"""The words of drawings: the paragraphs and tables of shapes, charts, diagrams and formulas.

They are scanned as bytes, in the form that `canonical` returns: one pattern runs over them at 300 MB/s, and never past
the next `<`. A chart of 6 KB takes 0.07 ms, two fifths of the time for its tree. Formulas, which are rare and
structured, are cut out and passed to lxml; those nested deeper than a parser follows are read flat.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from lxml import etree

from tasks.errors import TooLarge
from tasks.language.normalise import one_line
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.number_formats import show_number
from tasks.reading.ooxml.package import Package
from tasks.reading.ooxml.xml import M, W, unescape

_LONGEST: Final = 10_000
_SUFFIXES: Final = "png|jpe?g|jfif|gif|bmp|dib|tiff?|svg|[ew]mf|webp|heic|ico|pict?|eps|pdf"
_TELLS_NOTHING: Final = re.compile(
    rf"""
      [^\n]{{1,250}}\.(?:{_SUFFIXES})                 # the name of a file, with or without a path
    | (?:[a-z]:[\\/]|\\\\|\.{{0,2}}/|file:)[^\n]*     # a path
    | (?:https?|ftp|data|cid|blob):\S*(?:\ .{{0,100}})?
    | \W*+(?:picture|image|img|photo|graphic|gr[aá]fi[ck]o?|graphique|bild|imagen|imagem|immagine|afbeelding
        |obr[aá]zek|slide|diagramm?|chart|obje[ck]t|shape|group|gruppe|rectangle|rechteck|text\ ?box|textfeld|icon
        |logo|(?:content\ |picture\ )?placeholder|google\ shape|smartart)?[\W\d_]*+
    | (?=\S*\d{{5}})[\w.-]+                           # IMG_20240501, shutterstock_1234567
    | [!_]*[a-z]{{2,}}[-_]?\d{{1,4}}|\W*_\w+             # meeting2, gg-09, !_Of2K1: names of files
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DECORATIVE: Final = re.compile(rb"""<[\w.-]++:decorative(?=\s)(?![^<]*?\sval\s*+=\s*+["'](?:0|false)["'])""")


def alternative_text(attributes: bytes, below: bytes = b"") -> str:
    """The alternative text on one line; "" if it is uninformative, or only repeats the shape's name.

    Args:
        attributes: those of a `cNvPr` or `docPr`.
        below: what stands in that element; with `adec:decorative` in it, the picture is decoration.
    """
    if b"descr" not in attributes and b"title" not in attributes:
        return ""
    words = alternative_words(xml.attribute(attributes, b"descr") or xml.attribute(attributes, b"title"))
    if not words or words == one_line(xml.attribute(attributes, b"name")):
        return ""
    return "" if is_decorative(below) else words


def alternative_words(text: str) -> str:
    """An alternative text on one line; "" if it is uninformative."""
    words = one_line(text[:_LONGEST])
    return "" if not words or _tells_nothing(words) else words


def is_decorative(below: bytes) -> bool:
    """Whether the content of a `docPr` or `cNvPr` marks the picture as decoration."""
    return _DECORATIVE.search(below) is not None


@lru_cache(maxsize=256)
def _tells_nothing(words: str) -> bool:
    """Whether a text says nothing of the picture; cached, because the same logo is on every slide."""
    return _TELLS_NOTHING.fullmatch(words) is not None


_POINT: Final = re.compile(rb"<dgm:pt(?=[\s>])([^<]*+)")
_CONNECTION: Final = re.compile(rb"<dgm:cxn(?=\s)([^<]*+)")
_BELOW: Final = ("", "parOf")
"""The types of connections that make the tree; the others lead to what a program draws."""


def points_in_order(data: bytes) -> list[tuple[int, int]]:
    """Where each point of a part begins and ends, parents before children, siblings in order.

    Points without a parent, or with a circular one, come last.
    """
    connections = data.find(b"<dgm:cxnLst")
    last = connections if connections >= 0 else len(data)
    tags = list(_POINT.finditer(data, 0, last))
    bounds = [0, *(tag.start() for tag in tags[1:]), last]
    names = [xml.attribute(tag[1], b"modelId") for tag in tags]
    below = _below(data, last)
    owned = {name for children in below.values() for _, around in children for name in around}
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)  # a hostile file gives one id to many
    for name, start, end in zip(names, bounds, bounds[1:], strict=False):
        spans[name].append((start, end))
    ordered: list[tuple[int, int]] = []
    for root in [*(name for name in names if name not in owned), *names]:
        waiting = [root]
        while waiting:
            name = waiting.pop()
            ordered += spans.pop(name, [])
            children = below.pop(name, [])
            children.sort(key=lambda child: child[0])
            waiting += [one for _, around in reversed(children) for one in reversed(around)]
    return [*ordered, (last if tags else 0, len(data))]


def _below(data: bytes, start: int) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
    """The points below each point: their order, and the names of what is on their line and their arrow."""
    below: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for attributes in _CONNECTION.findall(data, start):
        if xml.attribute(attributes, b"type") in _BELOW:
            number = xml.attribute(attributes, b"srcOrd")
            names = (xml.attribute(attributes, name) for name in (b"parTransId", b"destId", b"sibTransId"))
            around = tuple(name for name in names if name)
            order = int(number) if number.isdecimal() and len(number) < 10 else 0
            below[xml.attribute(attributes, b"srcId")].append((order, around))
    return below


_SERIES: Final = re.compile(rb"<c:ser" + xml.ATTRIBUTES + rb">")
_SERIES_END: Final = re.compile(rb"</c:ser\s*+>")
_LISTS: Final = (b"tx", b"cat", b"xVal", b"val", b"yVal", b"bubbleSize", b"dlblRangeCache")
_SKIPPED: Final = (b"dLbls", b"trendline", b"errBars")
"""What within a series has words and values of its own."""

_LIST: Final = re.compile(rb"<(?:c|c15):(%b)" % b"|".join(_LISTS + _SKIPPED) + xml.ATTRIBUTES + rb">")
_LIST_ENDS: Final = {name: re.compile(rb"</(?:c|c15):%b\s*+>" % name) for name in _LISTS + _SKIPPED}
_CODE: Final = re.compile(rb"<c:formatCode" + xml.ATTRIBUTES + rb">([^<]*+)")
_CHART_POINT: Final = re.compile(
    rb"""<c:pt(?=[\s>])(?=[^<]*?\sidx\s*+=\s*+["']([0-9]{1,9})["'])?"""
    rb"""(?=[^<]*?\sformatCode\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)'))?[^<]*+<c:v""" + xml.ATTRIBUTES + rb">([^<]*+)"
)
_VALUE: Final = re.compile(rb"<c:v" + xml.ATTRIBUTES + rb">([^<]*+)")
_CACHED: Final = re.compile(rb"<(?:(c:strCache)|(/c:strCache)|c:v)" + xml.ATTRIBUTES + rb">([^<]*+)")
_EXTENDED: Final = re.compile(rb"<cx:pt" + xml.ATTRIBUTES + rb">([^<]*+)")
_Points = dict[int, str]
_WORDS: Final = re.compile(rb"<[mw]:t" + xml.ATTRIBUTES + rb"(?<!/)>([^<]++)")
_TEXTS: Final = (M + "t", W + "t")
_LARGEST: Final = 1 << 20
"""Bytes of a formula that is given to lxml."""

_RUNS: Final = re.compile(
    rb"<(?:a:t(?:>|%(attributes)b(?<!/)>)([^<]++)"
    rb"|(/a:(?:p|tc|tr)(?=[\s>])|a:br(?=[\s/>])|a:tc(?=/>|%(attributes)b(?<=/)>)))" % {b"attributes": xml.ATTRIBUTES}
)
"""The words of a run; the end of a paragraph, cell or row, a line break or an empty cell."""

_PARAGRAPH, _CELL, _ROW = "\0", "\1", "\2"
_MARKS: Final = {b"/a:p": b"\0", b"a:br": b"\n", b"/a:tc": b"\1", b"a:tc": b"\1", b"/a:tr": b"\2"}
"""What an end stands for while the words are put together: characters that XML cannot hold."""

_FORMULA: Final = re.compile(rb"<m:oMath" + xml.ATTRIBUTES + rb"(?<!/)>")
_FORMULA_END: Final = re.compile(rb"</m:oMath\s*+>|(?=</?a:p[\s>])")
_LARGE: Final = 1 << 20
"""From this size on, in bytes, what is found in a shape is counted while it is taken."""

_MOST_RUNS: Final = 2_000_000
_MOST_WORDS: Final = 32 << 20
_MOST_FORMULAS: Final = 10_000
"""The most runs, bytes of text and formulas that one shape, table or diagram may hold."""

_TOO_MUCH: Final = "One shape holds more text than can be read. Split the document."
_LARGEST_CHART: Final = 32 << 20
"""Of a larger chart, in bytes, the rest is left out as though it were lost."""

_MOST_REPEATED: Final = 16 << 20
"""The most characters of drawings that are written again where several slides show the same one."""


class Drawings:
    """The charts and diagrams of a package that are parts of their own, each read once."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._targets: dict[str, dict[str, str]] = {}
        self._lines: dict[str, list[str]] = {}
        self._repeated = 0

    def lines(self, source: str, relationship_id: str) -> list[str]:
        """The lines of the drawing that the part `source` refers to by that id; empty if there is none."""
        if source not in self._targets:
            self._targets[source] = {item.id: item.target for item in self._package.relationships(source)}
        target = self._targets[source].get(relationship_id, "")
        if target not in self._lines:
            self._lines[target] = self._read(target)
            return self._lines[target]
        self._repeated += sum(map(len, self._lines[target]))
        return self._lines[target] if self._repeated < _MOST_REPEATED else []

    def _read(self, name: str) -> list[str]:
        data = self._package.scan(name)
        if len(data) > _LARGEST_CHART:
            self._package.note_damage()
            data = data[:_LARGEST_CHART]
        if data.startswith(b"<dgm:"):
            return diagram_lines(data)
        lines = paragraphs(data)
        lines += chart_values(data)
        if xml.holds(data, b"<c:userShapes"):
            for item in self._package.relationships(name):
                if item.kind == "chartUserShapes":
                    lines += paragraphs(self._package.scan(item.target))
        return lines


def paragraphs(data: bytes, start: int = 0, end: int | None = None) -> list[str]:
    r"""The paragraphs with words between `start` and `end` of a part, in order; line breaks as `\n`.

    Raises:
        TooLarge: there are too many of them.
    """
    words = _words(data, start, end)
    if _CELL in words:
        words = words.replace(_CELL, "").replace(_ROW, "")
    return [line.strip("\r\n") for line in words.split(_PARAGRAPH) if line and not line.isspace()]


def diagram_lines(data: bytes) -> list[str]:
    """The paragraphs of a diagram (SmartArt), each point of it followed by those below it.

    Raises:
        TooLarge: there are too many of them.
    """
    lines = paragraphs(data)
    if len(lines) < 2:
        return lines
    return [line for start, end in points_in_order(data) for line in paragraphs(data, start, end)]


def table(data: bytes, start: int = 0, end: int | None = None) -> list[str]:
    """The rows of the table between `start` and `end` of a part, cells separated by tabs; empty rows are left out.

    Raises:
        TooLarge: there are too many of them.
    """
    words = _words(data, start, end).replace(_PARAGRAPH, " ")
    rows = ["\t".join(map(one_line, row.split(_CELL))).rstrip("\t") for row in words.split(_ROW)]
    return [row for row in rows if row]


def _words(data: bytes, start: int, end: int | None) -> str:
    end = len(data) if end is None else end
    if xml.holds(data, b"<m:oMath", start, end):
        data = with_formulas(data[start:end])
        start, end = 0, len(data)
    if data.find(b"<a:t", start, end) < 0:  # as between most points of a diagram
        return ""
    matches = _RUNS.findall(data, start, end) if end - start < _LARGE else _count_runs(data, start, end)
    pieces = [run or _MARKS[ending] for run, ending in matches]
    return xml.unescape(b"".join(pieces).decode("utf-8", "replace"))


def _count_runs(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, ...]]:
    """The matches of `_RUNS`, as long as they are within the limits for one shape."""
    size = 0
    for count, match in enumerate(_RUNS.finditer(data, start, end)):
        groups = match.groups(b"")
        size += len(groups[0])
        if count > _MOST_RUNS or size > _MOST_WORDS:
            raise TooLarge(_TOO_MUCH)
        yield groups


def with_formulas(data: bytes) -> bytes:
    """A part with a run of words in place of each formula.

    Raises:
        TooLarge: there are too many of them.
    """
    pieces: list[bytes] = []
    at = 0
    for count, formula in enumerate(_FORMULA.finditer(data)):
        if count > _MOST_FORMULAS:
            raise TooLarge(_TOO_MUCH)
        if formula.start() < at:
            continue
        end = _FORMULA_END.search(data, formula.end())
        after = end.end() if end is not None else len(data)
        words = b"".join(formula_words(data, formula.start(), after))
        pieces += data[at : formula.start()], b"<a:t>", words.replace(b"<", b"&lt;"), b"</a:t>"
        at = after
    return b"".join([*pieces, data[at:]])


def chart_values(data: bytes) -> Iterator[str]:
    """The lines of a chart's part without its paragraphs: for each series its name, then its points.

    A point's line has its category (or x), value (or y), size and label, as far as they exist, separated by tabs; after
    the series come titles taken from cells, and finally the points of the newer kind of chart (`cx`).
    """
    loose: list[str] = []
    shared: _Points = {}
    at = 0
    while (series := _SERIES.search(data, at)) is not None:
        loose += _strings_outside_series(data, at, series.start())
        end = _SERIES_END.search(data, series.end())
        at = end.start() if end is not None else len(data)
        lists = _lists(data, series.end(), at)
        shared = shared or lists.get(b"cat", {})
        yield from _series(lists, shared)
    yield from loose
    yield from _strings_outside_series(data, at, len(data))
    if data.startswith(b"<cx:"):
        yield from filter(None, map(_show, _EXTENDED.findall(data)))


def _lists(data: bytes, at: int, stop: int) -> dict[bytes, _Points]:
    """The contents of a series: its name, categories, values, sizes and labels."""
    lists: dict[bytes, _Points] = {}
    while (start := _LIST.search(data, at, stop)) is not None:
        name = start[1]
        end = _LIST_ENDS[name].search(data, start.end(), stop)
        at = end.end() if end is not None else stop
        if name in _LISTS and name not in lists:
            lists[name] = _points(data, start.end(), at)
    return lists


def _series(lists: dict[bytes, _Points], shared: _Points) -> Iterator[str]:
    """The lines of a series. `shared` are the categories of the chart's first series, which its axis shows for all."""
    name_of = " ".join(lists.get(b"tx", {}).values())
    if name_of:
        yield name_of
    y = lists.get(b"val") or lists.get(b"yVal", {})
    x = lists.get(b"cat") or lists.get(b"xVal", {})
    if b"val" in lists and all(shared.get(index, category) == category for index, category in x.items()):
        x = {index: shared[index] for index in y if index in shared} | x
    columns = [x, y, lists.get(b"bubbleSize", {}), lists.get(b"dlblRangeCache", {})]
    for index in sorted(set().union(*columns)):
        cells = [points[index] for points in columns if index in points]
        if any(cells):
            yield "\t".join(cells)


def _points(data: bytes, start: int, stop: int) -> _Points:
    """The cached values of a list by index, in order, as shown; the levels of a category are joined."""
    numeric = data.find(b"<c:num", start, stop) >= 0
    code_tag = _CODE.search(data, start, stop) if numeric else None
    code = _text(code_tag[1]) if code_tag is not None else ""
    levels: dict[int, list[str]] = {}
    for number, double, single, value in _CHART_POINT.findall(data, start, stop):
        text = _text(value)
        if numeric:
            text = show_number(text, _text(double or single) or code, of_chart=True)
        levels.setdefault(int(number) if number else len(levels), []).append(one_line(text))
    if not levels:
        return dict(enumerate(map(_show, _VALUE.findall(data, start, stop))))
    return {index: " ".join(reversed(levels[index])) for index in sorted(levels)}


def _strings_outside_series(data: bytes, start: int, stop: int) -> list[str]:
    """The strings cached between `start` and `stop`, outside any series."""
    if not xml.holds(data, b"<c:strCache", start, stop):
        return []
    shown, within = [], False
    for begin, end, value in _CACHED.findall(data, start, stop):
        if begin or end:
            within = bool(begin)
        elif within:
            shown.append(_show(value))
    return shown


def _text(value: bytes) -> str:
    return unescape(value.decode("utf-8", "replace"))


def _show(value: bytes) -> str:
    return one_line(_text(value))


def flat_formula_words(data: bytes, start: int, end: int) -> list[bytes]:
    """The words of the formula between `start` and `end` of a part, escaped as they are there."""
    words: list[bytes] = _WORDS.findall(data, start, end)
    return words


def formula_words(data: bytes, start: int, end: int) -> list[bytes]:
    """The same with the formula's structure: `a/b`, `x²`. Flat if it is larger than 1 MB or nested beyond 256 elements.

    A tree takes 20 µs, so callers limit how many formulas they ask for.
    """
    words = flat_formula_words(data, start, end)
    if not words or end - start >= _LARGEST:
        return words
    element = xml.element(data[start:end])
    if element is None or sum(bool(text.text) for text in element.iter(*_TEXTS)) < len(words):
        return words  # the parser stops where it is too deep
    return [xml.escape(on_one_line(element))]


def on_one_line(element: etree._Element) -> str:
    """An Office formula on one line: `a/b`, `x²` or `x^k`, `x₂` or `x_k`, `√`."""
    pieces: list[str] = []
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name in ("t", "delText"):
            pieces.append((child.text or "") if name == "t" else "")
        elif name == "f":
            pieces.append("/".join(on_one_line(part) for part in child if part.tag in (M + "num", M + "den")))
        elif name in ("sup", "sub"):
            pieces.append(_shift(on_one_line(child), *((_RAISED, "^") if name == "sup" else (_LOWERED, "_"))))
        elif name == "rad":
            pieces.append("√" + "".join(on_one_line(part) for part in child if part.tag == M + "e"))
        elif not name.endswith("Pr"):
            pieces.append(on_one_line(child))
    return "".join(pieces)


_RAISED: Final = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_LOWERED: Final = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def _shift(text: str, signs: dict[int, int], mark: str) -> str:
    if signs.keys() >= set(map(ord, text)):
        return text.translate(signs)
    return f"{mark}({text})" if len(text) > 1 else f"{mark}{text}"
