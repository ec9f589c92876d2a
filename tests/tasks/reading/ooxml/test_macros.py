"""Packages with macros are read like those without: the macros are named, and nothing of them is run or read."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from docx import Document
from pptx import Presentation

from tasks.reading.embedded import read_with_embedded
from tasks.reading.ooxml.package import MACROS
from tests.written import saved, workbook_of

_OF_OFFICE = "http://schemas.microsoft.com/office/2006/relationships/"


def docx() -> bytes:
    document = Document()
    document.add_paragraph("Words")
    return saved(document)


def xlsx() -> bytes:
    return saved(workbook_of(["Words"])[0])


def pptx() -> bytes:
    show = Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes[0].text_frame.text = "Words"
    return saved(show)


def with_macros(package: bytes, rels: str, kind: str) -> bytes:
    """The package with a part of macros, to which its main part leads."""
    changed = BytesIO()
    with ZipFile(BytesIO(package)) as before, ZipFile(changed, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name == rels:
                link = f'<Relationship Id="rIdM" Type="{_OF_OFFICE}{kind}" Target="vbaProject.bin"/></Relationships>'
                data = data.replace(b"</Relationships>", link.encode())
            after.writestr(name, data)
        after.writestr(f"{rels.partition('/')[0]}/vbaProject.bin", b"Attribute VB_Name = secret")
    return changed.getvalue()


@pytest.mark.parametrize(
    ("package", "rels", "extension", "kind"),
    [
        (docx(), "word/_rels/document.xml.rels", ".docm", "vbaProject"),
        (docx(), "word/_rels/document.xml.rels", ".dotm", "vbaProject"),
        (xlsx(), "xl/_rels/workbook.xml.rels", ".xlsm", "vbaProject"),
        (xlsx(), "xl/_rels/workbook.xml.rels", ".xltm", "xlMacrosheet"),
        (pptx(), "ppt/_rels/presentation.xml.rels", ".ppsm", "vbaProject"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_macros_are_named_and_left_out(package: bytes, rels: str, extension: str, kind: str) -> None:
    plain = read_with_embedded(package, extension)
    assert "Words" in plain.text
    assert MACROS not in plain.warnings
    reading = read_with_embedded(with_macros(package, rels, kind), extension)
    assert reading.text == plain.text
    assert MACROS in reading.warnings
