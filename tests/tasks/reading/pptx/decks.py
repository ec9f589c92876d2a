"""Builds presentations part by part, for what python-pptx cannot be made to write."""

from collections.abc import Sequence
from pathlib import Path

from tests.tasks.reading.ooxml.packages import OFFICE, package, relationships

NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    f' xmlns:r="{OFFICE}"'
)

Parts = dict[str, str | bytes]


def shape(
    words: str,
    *,
    name: str = "",
    at: tuple[int, int] | None = None,
    size: tuple[int, int] | None = None,
    holder: str = "",
) -> str:
    """A shape with one paragraph; `at` is its left and top in EMU, `holder` the attributes of its placeholder."""
    extent = f'<a:ext cx="{size[0]}" cy="{size[1]}"/>' if size is not None else ""
    place = f'<a:xfrm><a:off x="{at[0]}" y="{at[1]}"/>{extent}</a:xfrm>' if at is not None else ""
    held = f"<p:ph {holder}/>" if holder else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{name}"/><p:cNvSpPr/><p:nvPr>{held}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{place}</p:spPr><p:txBody>{paragraph(words)}</p:txBody></p:sp>"
    )


def picture(description: str, *, name: str = "Picture 7", below: str = "") -> str:
    """A picture with this alternative text; `below` is what else its properties hold."""
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="7" name="{name}" descr="{description}">{below}</p:cNvPr><p:cNvPicPr/><p:nvPr/>'
        '</p:nvPicPr><p:blipFill/><p:spPr><a:xfrm><a:off x="0" y="0"/></a:xfrm></p:spPr></p:pic>'
    )


def paragraph(words: str) -> str:
    """A paragraph of one run."""
    return f"<a:p><a:r><a:t>{words}</a:t></a:r></a:p>"


def group(*members: str, at: tuple[int, int] = (0, 0)) -> str:
    """A group of shapes."""
    place = f'<p:grpSpPr><a:xfrm><a:off x="{at[0]}" y="{at[1]}"/></a:xfrm></p:grpSpPr>'
    return f"<p:grpSp><p:nvGrpSpPr/>{place}{''.join(members)}</p:grpSp>"


def frame(graphic: str, *, name: str = "") -> str:
    """The frame of a table, a chart or a diagram."""
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="{name}"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{graphic}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def tree(root: str, *shapes: str) -> str:
    """A slide (`sld`), a layout (`sldLayout`), a master (`sldMaster`) or notes with these shapes."""
    shown = f"<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{''.join(shapes)}</p:spTree>"
    return f"<p:{root} {NAMES}><p:cSld>{shown}</p:cSld></p:{root}>"


def pptx(
    path: Path, slides: Sequence[str | bytes], parts: Parts | None = None, **related: list[tuple[str, str]]
) -> Path:
    """A presentation of these slides' XML; `related` gives what a slide leads to: `slide1=[(kind, target)]`."""
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in range(1, len(slides) + 1))
    found: Parts = {
        "ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            *(("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1))
        ),
        **{f"ppt/slides/slide{number}.xml": slide for number, slide in enumerate(slides, 1)},
        **{f"ppt/slides/_rels/{name}.xml.rels": relationships(*targets) for name, targets in related.items()},
    }
    return package(path, "ppt/presentation.xml", {**found, **(parts or {})})


def slide(*shapes: str) -> str:
    """A slide with these shapes."""
    return tree("sld", *shapes)
