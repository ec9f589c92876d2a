"""The words of charts and diagrams that stand in parts of their own."""

from collections.abc import Iterator

from lxml import etree

from tasks.documents.extract import ooxml
from tasks.documents.extract.ooxml import DGM, R
from tasks.documents.extract.package import Package


def related_drawing(package: Package, part: str, element: etree._Element) -> Iterator[str]:
    """The lines of the chart or diagram that `element`, which stands in `part`, refers to."""
    wanted = element.get(R + "id") or element.get(R + "dm")
    for relationship in package.relationships(part):
        if relationship.id != wanted:
            continue
        root = package.xml(relationship.target)
        if root is None:
            return
        if root.tag == DGM + "dataModel":
            yield from ooxml.paragraphs(root)
            return
        yield from ooxml.chart(root)
        for shapes in package.relationships(relationship.target):
            if shapes.kind == "chartUserShapes":
                drawn = package.xml(shapes.target)
                if drawn is not None:
                    yield from ooxml.paragraphs(drawn)
