"""Builds Office packages part by part, for what the writing libraries cannot be made to write."""

import zipfile
from pathlib import Path

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
NAMES = (
    WORD
    + f' xmlns:r="{OFFICE}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    + ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    + ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    + ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    + ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    + ' xmlns:v="urn:schemas-microsoft-com:vml"'
    + ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    + ' xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"'
)
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def relationships(*targets: tuple[str, str]) -> str:
    """A part of relationships, rId1 and on: kind and target of each."""
    items = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}" '
        f"TargetMode='{'External' if '://' in target else 'Internal'}'/>"
        for number, (kind, target) in enumerate(targets, 1)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{items}</Relationships>'
    )


def package(path: Path, main: str, parts: dict[str, str | bytes]) -> Path:
    """A package at `path` whose main part is `main`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relationships(("officeDocument", main)))
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def docx(path: Path, body: str, parts: dict[str, str | bytes] | None = None) -> Path:
    """A Word document with this body."""
    document = f"<w:document {NAMES}><w:body>{body}</w:body></w:document>"
    return package(path, "word/document.xml", {"word/document.xml": document, **(parts or {})})


def p(text: str) -> str:
    """A paragraph of a Word document."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(path: Path, rows: str, parts: dict[str, str | bytes] | None = None, after: str = "") -> Path:
    """A workbook of one sheet, "Ledger", with these rows."""
    return package(
        path,
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">'
            '<sheets><sheet name="Ledger" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relationships(
                ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
            ),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}" xmlns:r="{OFFICE}">'
            f"<sheetData>{rows}</sheetData>{after}</worksheet>",
            **(parts or {}),
        },
    )


CHART = (
    f"<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Revenue by year</a:t></a:r></a:p></c:rich>"
    "</c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Alpha</c:v></c:pt>"
    "</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>FY23</c:v></c:pt>"
    "<c:pt idx='1'><c:v>FY24</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
    "<c:formatCode>0%</c:formatCode><c:pt idx='0'><c:v>0.25</c:v></c:pt><c:pt idx='1'><c:v>0.5</c:v></c:pt>"
    "</c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
)
CHART_LINES = "Revenue by year\nAlpha\nFY23\t25%\nFY24\t50%\n"
DIAGRAM = (
    f"<dgm:dataModel {NAMES}><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Board</a:t></a:r></a:p></dgm:t></dgm:pt>"
    "<dgm:pt><dgm:t><a:p><a:r><a:t>Auditor</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
)
