"""Presentations (ECMA-376 part 1, 13 and 19): the words of each shape, note and comment, slide by slide."""

from lxml import etree

from tests.fuzz.plain_readers.package import PlainPackage, name_of, value_of
from tests.fuzz.plain_readers.stories import Story, drawn_lines

_SHAPES = ("p:sp", "p:pic", "p:cxnSp", "p:graphicFrame")


def read(data: bytes) -> list[list[Story]]:
    """The stories of each slide, in the order of the show."""
    package = PlainPackage(data)
    main = package.main()
    root = package.tree(main)
    assert root is not None
    targets = {related.id: related.target for related in package.related(main)}
    slides = [element for element in root.iter() if name_of(element) == "p:sldId"]
    names = dict.fromkeys(targets.get(value_of(slide, "r:id") or "", "") for slide in slides)
    written: set[str] = set()
    return [_slide(package, name, written) for name in names if name]


def _slide(package: PlainPackage, name: str, written: set[str]) -> list[Story]:
    root = package.tree(name)
    if root is None:
        return []
    stories = [Story("shape", words) for words in _shapes(root)]
    around = list(package.related(name))
    for kind in ("notesSlide", "comments"):
        for target in dict.fromkeys(related.target for related in around if related.kind == kind):
            part = package.tree(target) if target not in written else None
            written.add(target)
            if part is not None and kind == "notesSlide":
                stories += [Story("speaker_note", words) for words in _shapes(part, notes=True)]
            elif part is not None:
                stories += [Story("comment", words) for words in _comments(part)]
    return stories


def _shapes(root: etree._Element, *, notes: bool = False) -> list[list[str]]:
    """The words of each shape that has any, in the order of the file."""
    found = []
    for element in root.iter():
        if name_of(element) in _SHAPES and not any(name_of(above) in _SHAPES for above in element.iterancestors()):
            words = [word for line in drawn_lines(element) for word in line.split()]
            holder = next((inner for inner in element.iter() if name_of(inner) == "p:ph"), None)
            if notes and "".join(words).isdecimal() and _is_numbered(element, holder):
                continue
            if words:
                found.append(words)
    return found


def _is_numbered(shape: etree._Element, holder: etree._Element | None) -> bool:
    """Whether a shape is there for the number of the slide: by its placeholder, or by a field in it."""
    if holder is not None:
        return holder.get("type") == "sldNum"
    return any(name_of(inner) == "a:fld" and inner.get("type") == "slidenum" for inner in shape.iter())


def _comments(root: etree._Element) -> list[list[str]]:
    """The words of comments: `p:text` (19.4), or the body of a thread's remark (MS-PPTX)."""
    found = []
    for element in root.iter():
        local = name_of(element).rpartition(":")[2]
        if name_of(element) == "p:text":
            found.append((element.text or "").split())
        elif local == "txBody":
            found.append([word for line in drawn_lines(element) for word in line.split()])
    return [words for words in found if words]
