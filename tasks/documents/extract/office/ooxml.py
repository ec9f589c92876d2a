"""What the Office formats share inside their parts: names, a safe parser, and the words of drawings.

Text boxes, charts, diagrams and formulas are the same in a document, a presentation and a workbook.
"""

from collections.abc import Iterator
from typing import Final

from lxml import etree

from tasks.documents.extract.reading import one_line
from tasks.documents.extract.spreadsheet.numbers import show

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX: Final = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
DGM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
S: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
V: Final = "{urn:schemas-microsoft-com:vml}"

_STRICT: Final = b"http://purl.oclc.org/ooxml/"
_USUAL: Final = (
    (b"wordprocessingml/main", W),
    (b"drawingml/main", A),
    (b"drawingml/chart", C),
    (b"drawingml/diagram", DGM),
    (b"officeDocument/math", M),
    (b"presentationml/main", P),
    (b"officeDocument/relationships", R),
    (b"spreadsheetml/main", S),
)


def parser(*, recover: bool = False) -> etree.XMLParser:
    """A parser that opens nothing from outside, expands no entity, and bounds depth (256) and text (10 MB)."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=recover,
        remove_comments=True,
        remove_pis=True,
    )


def usual_namespaces(data: bytes) -> bytes:
    """A part of a strict package (ISO/IEC 29500) with the namespaces of the transitional ones."""
    if _STRICT in data:
        for strict, usual in _USUAL:
            data = data.replace(_STRICT + strict, usual[1:-1].encode())
    return data


def drop_fallbacks(root: etree._Element) -> None:
    """Keep one choice of each alternative: the others repeat the same words."""
    for alternative in list(root.iter(MC + "AlternateContent")):
        choices = [child for child in alternative if child.tag in (MC + "Choice", MC + "Fallback")]
        for other in choices[1:]:
            alternative.remove(other)


def paragraph(element: etree._Element) -> str:
    r"""The words of a DrawingML paragraph (`a:p`); line breaks as `\n`."""
    pieces: list[str] = []
    for child in element:
        if child.tag == A + "br":
            pieces.append("\n")
        elif child.tag in (A + "r", A + "fld"):
            pieces.extend(text.text or "" for text in child.iter(A + "t"))
        elif child.tag not in (A + "pPr", A + "endParaRPr"):
            pieces.extend(formula(math) for math in child.iter(M + "oMath"))
    return "".join(pieces)


def paragraphs(element: etree._Element) -> Iterator[str]:
    """The paragraphs within an element that have words, in order."""
    for child in element.iter(A + "p"):
        text = paragraph(child)
        if text.strip():
            yield text


def table(element: etree._Element) -> Iterator[str]:
    """The rows of a DrawingML table (`a:tbl`), cells split by tabs."""
    for row in element.iter(A + "tr"):
        cells = [one_line(" ".join(paragraphs(cell))) for cell in row.iter(A + "tc")]
        if any(cells):
            yield "\t".join(cells).rstrip("\t")


def formula(element: etree._Element) -> str:
    """An Office formula on one line: `a/b`, `x²` or `x^k`, `x₂` or `x_k`, `√`."""
    pieces: list[str] = []
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name in ("t", "delText"):
            pieces.append((child.text or "") if name == "t" else "")
        elif name == "f":
            pieces.append("/".join(formula(part) for part in child if part.tag in (M + "num", M + "den")))
        elif name in ("sup", "sub"):
            pieces.append(_raised(formula(child)) if name == "sup" else _lowered(formula(child)))
        elif name == "rad":
            pieces.append("√" + "".join(formula(part) for part in child if part.tag == M + "e"))
        elif not name.endswith("Pr"):
            pieces.append(formula(child))
    return "".join(pieces)


def _raised(text: str) -> str:
    if set(text) <= set("0123456789+-=()ni"):
        return text.translate(str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"))
    return f"^({text})" if len(text) > 1 else f"^{text}"


def _lowered(text: str) -> str:
    if set(text) <= set("0123456789+-=()"):
        return text.translate(str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"))
    return f"_({text})" if len(text) > 1 else f"_{text}"


def chart(root: etree._Element) -> Iterator[str]:
    """The words and values of a chart: its titles, then each series with its points, a category and a value a line."""
    yield from paragraphs(root)
    for series in root.iter(C + "ser"):
        name = " ".join(value for value, _ in _points(series.find(C + "tx")))
        if name:
            yield name
        categories = _first(series, "cat", "xVal")
        values = _first(series, "val", "yVal")
        for index in range(max(len(categories), len(values))):
            cells = [points[index][0] for points in (categories, values) if index < len(points)]
            if any(cells):
                yield "\t".join(cells)
    for cache in root.iter(C + "strCache"):
        if not any(ancestor.tag == C + "ser" for ancestor in cache.iterancestors()):
            yield from (one_line(value.text or "") for value in cache.iter(C + "v"))
    for point in root.iter(CX + "pt"):
        if point.text and point.text.strip():
            yield one_line(point.text)


def _first(series: etree._Element, *names: str) -> list[tuple[str, int]]:
    for name in names:
        element = series.find(C + name)
        if element is not None:
            return _points(element)
    return []


def _points(element: etree._Element | None) -> list[tuple[str, int]]:
    """The cached values below an element with their index, as shown; several levels of a category are joined."""
    if element is None:
        return []
    code = element.findtext(f".//{C}formatCode") or ""
    merged: dict[int, str] = {}
    for point in element.iter(C + "pt"):
        number = point.get("idx") or ""
        index = int(number) if number.isdecimal() else len(merged)
        code_here = point.get("formatCode") or code
        text = point.findtext(C + "v") or ""
        parent = point.getparent()
        if parent is not None and parent.tag in (C + "numCache", C + "numLit"):
            text = show(text, code_here)
        merged[index] = f"{one_line(text)} {merged[index]}" if index in merged else one_line(text)
    if not merged:
        merged = dict(enumerate(one_line(value.text or "") for value in element.iter(C + "v")))
    return [(merged[index], index) for index in sorted(merged)]
