"""What the Office formats share where their parts are parsed into trees: names, and a parser that is safe."""

from typing import Final

from lxml import etree

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DGM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
S: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

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
