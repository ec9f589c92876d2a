"""Text documents (ECMA-376 part 1, 11 and 17): the words of the body, headers, footers, notes and comments."""

from collections.abc import Iterator

from lxml import etree

from tests.fuzz.plain_readers.package import PlainPackage, name_of, value_of
from tests.fuzz.plain_readers.stories import Story

_LEFT_OUT = (
    "w:del",
    "w:moveFrom",
    "w:instrText",
    "w:delText",
    "w:delInstrText",
    "w:pPr",
    "w:rPr",
    "w:sectPr",
    "w:tblPr",
)
_BOX = "w:txbxContent"
_BREAKS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-", "a:br": "\n"}
_NOTES = {"footnotes": "w:footnote", "endnotes": "w:endnote", "comments": "w:comment"}


def read(data: bytes) -> list[Story]:
    """The body first, then text boxes, headers, footers, notes and comments that the body refers to."""
    package = PlainPackage(data)
    main = package.main()
    root = package.tree(main)
    assert root is not None
    stories = list(_stories("body", root))
    around = list(package.related(main))
    for kind in ("header", "footer"):
        for target in dict.fromkeys(related.target for related in around if related.kind == kind):
            part = package.tree(target)
            if part is not None:
                stories += _stories(kind, part)
    for kind, name in _NOTES.items():
        for related in around:
            part = package.tree(related.target) if related.kind == kind else None
            for element in part if part is not None else ():
                if name_of(element) == name and value_of(element, "w:type") in (None, "normal"):
                    stories += _stories(kind, element)
    return [story for story in stories if story.words]


def _stories(kind: str, root: etree._Element) -> Iterator[Story]:
    """The words of an element, and those of each text box in it."""
    boxes: list[etree._Element] = []
    yield Story(kind, "".join(_pieces(root, boxes)).split())
    while boxes:
        yield Story("text_box", "".join(_pieces(boxes.pop(0), boxes)).split())


def _pieces(root: etree._Element, boxes: list[etree._Element]) -> Iterator[str]:
    """The text below an element, with a line end behind each paragraph and cell."""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        name = name_of(element)
        if event == "end":
            yield "\n" if name in ("w:p", "w:tc", "a:p") else ""
        elif name in _LEFT_OUT:
            walk.skip_subtree()
        elif name == _BOX and element is not root:
            boxes.append(element)
            walk.skip_subtree()
        elif name in ("w:t", "a:t", "m:t"):
            yield element.text or ""
        elif name == "w:tab" and element.getparent() is not None and name_of(element.getparent()) == "w:tabs":
            continue
        elif name in _BREAKS:
            yield _BREAKS[name]
