"""Small documents that hold what the sample's lack: text boxes, formulas, notes, comments, forms, attachments."""

import zlib
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from io import BytesIO

from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from tests.fuzz.zips import office
from tests.tasks.reading.hostile_pdfs import filled, page
from tests.tasks.reading.msg.messages import Value, message, msg
from tests.tasks.reading.ooxml.compounds import Streams
from tests.tasks.reading.ooxml.packages import CHART, DIAGRAM, NAMES, OFFICE, SHEET, p, relationships
from tests.written import saved

_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_DRAWN = '<a:graphic><a:graphicData><c:chart r:id="{}"/></a:graphicData></a:graphic>'
_DIAGRAM = '<a:graphic><a:graphicData><dgm:relIds r:dm="{}"/></a:graphicData></a:graphic>'
_FORMULA = "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"


def documents() -> dict[str, list[bytes]]:
    """The documents by format; the same bytes each time."""
    workbook = _workbook()
    word = _word({"word/embeddings/book.xlsx": workbook})
    return {
        ".docx": [word],
        ".pptx": [_slides()],
        ".xlsx": [workbook],
        ".pdf": [_form(), _attached(word), _packed_objects(), _noted()],
        ".eml": [_mail(word), _mail(b"words")],
        ".msg": [_outlook_mail(workbook)],
        ".txt": ["Œuvre — 1 250 €\r\nЗдравствуйте\t本契約は\U0001f600\n".encode() * 5, b"caf\xe9 " * 40, b""],
    }


def _mail(attached: bytes) -> bytes:
    mail = EmailMessage()
    mail["From"] = "Œuvre <a@example.com>"
    mail["To"] = '"Ü, B" <b@example.com>, c@example.com'
    mail["Date"] = "Wed, 01 May 2024 10:00:00 +0200"
    mail["Subject"] = "Größe – " * 9
    mail.set_content("Größe\n")
    mail.add_alternative("<table><tr><td>a<td>b</table><img src='cid:a'>", subtype="html")
    mail.add_attachment(attached, maintype="application", subtype="octet-stream", filename="ä.docx")
    mail.add_attachment("words", filename="a.txt")
    for number, part in enumerate(mail.walk()):
        if part.is_multipart():
            part.set_boundary(f"boundary{number}")
    return mail.as_bytes(policy=SMTP)


def _outlook_mail(attached: bytes) -> bytes:
    rtf = rb"{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Gr\'f6\'dfe \u8364?{\*\htmltag72 </p>}}"
    packed = b"\0\0\0\0" + len(rtf).to_bytes(4, "little") + b"MELA" + bytes(4) + rtf
    inner = message({0x37: "inner", 0x1009: packed}, [{0x3001: "Ben", 0x39FE: "b@example.com", 0x0C15: 1}])
    attachments: list[dict[int, Value | Streams]] = [
        {0x3707: "a.xlsx", 0x3701: attached, 0x3705: 1},
        {0x3001: "inner", 0x3701: inner, 0x3705: 5},
    ]
    return msg({0x37: "Größe", 0x1013: b"<p>page", 0x39: datetime(2024, 5, 1, tzinfo=UTC)}, (), attachments)


def _word(more: dict[str, bytes]) -> bytes:
    box = (
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>"
        + p("In a box")
        + "</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>"
        + p("In a box")
        + "</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    cell = "<w:tc><w:tcPr><w:gridSpan w:val='2'/><w:vMerge w:val='restart'/></w:tcPr>{}</w:tc>"
    table = "<w:tbl><w:tr>{}{}</w:tr></w:tbl>"
    inner = table.format(cell.format(p("inner")), cell.format(p("cell")))
    body = (
        "<w:p><w:pPr><w:pStyle w:val='Heading1'/><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr>"
        "<w:r><w:t>Purpose</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>Words</w:t><w:footnoteReference w:id='2'/><w:tab/><w:noBreakHyphen/><w:sym w:font='Symbol' "
        "w:char='F0B7'/>"
        "<w:br/></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<w:commentRangeStart w:id='0'/><w:r><w:commentReference w:id='0'/></w:r><w:hyperlink r:id='rId9'><w:r>"
        "<w:t>link</w:t></w:r>"
        "</w:hyperlink><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r>"
        "<w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/>"
        "</w:r></w:p>"
        + box
        + table.format(cell.format(p("outer") + inner + p("")), cell.format(p("second")))
        + "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>" + p("prompt") + "</w:sdtContent></w:sdt>"
        + f"<w:p><m:oMathPara>{_FORMULA}</m:oMathPara></w:p><w:p><w:r><w:drawing>{_DRAWN.format('rId1')}</w:drawing>"
        f"</w:r></w:p>"
        + f"<w:p><w:r><w:drawing>{_DIAGRAM.format('rId2')}</w:drawing></w:r></w:p>"
        + "<w:sectPr><w:headerReference w:type='default' r:id='rId6'/><w:footerReference r:id='rId7'/></w:sectPr>"
    )  # fmt: skip
    names = ("word/document.xml", "word/_rels/document.xml.rels")
    return office(names[0], {
        names[0]: f"<w:document {NAMES}><w:body>{body}</w:body></w:document>",
        names[1]: relationships(
            ("chart", "charts/chart1.xml"), ("diagramData", "diagrams/data1.xml"), ("footnotes", "footnotes.xml"),
            ("comments", "comments.xml"), ("styles", "styles.xml"), ("header", "header1.xml"),
            ("footer", "footer1.xml"), ("package", "embeddings/book.xlsx"), ("hyperlink", "https://example.org/"),
        ),
        "word/charts/chart1.xml": CHART,
        "word/diagrams/data1.xml": DIAGRAM,
        "word/footnotes.xml": f"<w:footnotes {NAMES}><w:footnote w:type='separator' w:id='0'>{p('')}</w:footnote>"
        f"<w:footnote w:id='2'>{p('A note')}</w:footnote></w:footnotes>",
        "word/comments.xml": f"<w:comments {NAMES}><w:comment w:id='0' w:author='Ada'>{p('A remark')}</w:comment>"
        "</w:comments>",
        "word/styles.xml": f"<w:styles {NAMES}><w:style w:type='paragraph' w:styleId='Heading1'>"
        "<w:name w:val='heading 1'/>"
        "<w:basedOn w:val='Normal'/><w:pPr><w:outlineLvl w:val='0'/></w:pPr></w:style><w:style w:styleId='Normal'/>"
        "</w:styles>",
        "word/header1.xml": f"<w:hdr {NAMES}>{p('Confidential')}</w:hdr>",
        "word/footer1.xml": f"<w:ftr {NAMES}>{p('Page')}</w:ftr>",
        **more,
    })  # fmt: skip


def _slides() -> bytes:
    def shape(text: str) -> str:
        return (
            f"<p:sp><p:nvSpPr><p:cNvPr id='2' name=\"Box {text}\"/></p:nvSpPr><p:spPr><a:xfrm><a:off x='100' "
            f"y='200'/></a:xfrm></p:spPr>"
            f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r><a:br/><a:fld><a:t>3</a:t></a:fld>{_FORMULA}</a:p>"
            f"</p:txBody></p:sp>"
        )

    cell = "<a:txBody><a:p><a:r><a:t>cell</a:t></a:r></a:p></a:txBody>"
    row = f"<a:tr><a:tc gridSpan='2'>{cell}</a:tc><a:tc hMerge='1'/></a:tr>"
    tree = (
        shape("Title") + f"<p:grpSp><p:grpSpPr/>{shape('grouped')}<p:grpSp>{shape('deeper')}</p:grpSp></p:grpSp>"
        f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{row * 2}</a:tbl></a:graphicData></a:graphic>"
        f"</p:graphicFrame>"
        f"<p:graphicFrame>{_DRAWN.format('rId1')}</p:graphicFrame>"
        f"<p:graphicFrame>{_DIAGRAM.format('rId2')}</p:graphicFrame>"
    )
    slide = f"<p:{{0}} {_P} {NAMES}><p:cSld><p:spTree>{{1}}</p:spTree></p:cSld></p:{{0}}>"
    main = "ppt/presentation.xml"
    return office(main, {
        main: f"<p:presentation {_P} {NAMES}><p:sldIdLst><p:sldId id='256' r:id='rId1'/><p:sldId id='257' r:id='rId2'/>"
        "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            ("slide", "slides/slide1.xml"), ("slide", "slides/slide2.xml"), ("commentAuthors", "commentAuthors.xml")
        ),
        "ppt/slides/slide1.xml": slide.format("sld", tree),
        "ppt/slides/slide2.xml": slide.format("sld", shape("Second")).replace("<p:sld ", "<p:sld show='0' "),
        "ppt/slides/_rels/slide1.xml.rels": relationships(
            ("chart", "../charts/chart1.xml"), ("diagramData", "../diagrams/data1.xml"),
            ("notesSlide", "../notesSlides/notesSlide1.xml"), ("comments", "../comments/comment1.xml"),
        ),
        "ppt/charts/chart1.xml": CHART,
        "ppt/diagrams/data1.xml": DIAGRAM,
        "ppt/notesSlides/notesSlide1.xml": slide.format("notes", shape("A speaker's note")),
        "ppt/comments/comment1.xml": f"<p:cmLst {_P}><p:cm authorId='0' idx='1'><p:text>A remark</p:text></p:cm>"
        "</p:cmLst>",
        "ppt/commentAuthors.xml": f"<p:cmAuthorLst {_P}><p:cmAuthor id='0' name='Ada'/></p:cmAuthorLst>",
    })  # fmt: skip


def _workbook() -> bytes:
    rows = (
        "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c><c r='C1' s='1'><v>45000.5</v></c></row>"
        "<row r='2'><c r='A2' s='2'><v>0.125</v></c><c r='B2' t='b'><v>1</v></c><c r='C2' t='e'><v>#N/A</v></c>"
        "<c r='D2' t='str'><f t='shared' ref='D2:D9' si='0'>A2&amp;\"x\"</f><v>made</v></c><c r='E2' t='d'>"
        "<v>2024-01-31</v></c></row>"
        "<row r='9' hidden='1'><c r='A9' s='3'><v>-1234.5</v></c>"
        "<c r='XFD9' t='inlineStr'><is><r><t>in</t></r><r><t xml:space='preserve'> line</t></r></is></c></row>"
    )
    sheet = (
        f"<worksheet xmlns='{SHEET}' xmlns:r='{OFFICE}'><dimension ref='A1:B2'/><sheetData>{rows}</sheetData>"
        "<mergeCells><mergeCell ref='A1:B2'/></mergeCells><hyperlinks><hyperlink ref='A1' r:id='rId9'/></hyperlinks>"
        '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Quarter &amp;P of &amp;N&amp;RDraft</oddHeader>'
        "</headerFooter>"
        "<drawing r:id='rId1'/><legacyDrawing r:id='rId3'/></worksheet>"
    )
    formats = "".join(
        f"<numFmt numFmtId='{number}' formatCode='{code}'/>"
        for number, code in ((164, "#,##0.00 [$€-407];[Red]-#,##0.00"), (165, "[h]:mm:ss"), (166, "0.0E+00"))
    )
    styles = "".join(f"<xf numFmtId='{number}'/>" for number in (0, 22, 10, 164, 165, 166))
    main = "xl/workbook.xml"
    return office(main, {
        main: f"<workbook xmlns='{SHEET}' xmlns:r='{OFFICE}'><workbookPr date1904='0'/><sheets>"
        "<sheet name='Ledger' sheetId='1' r:id='rId1'/><sheet name='Hidden' sheetId='2' state='hidden' r:id='rId2'/>"
        "</sheets>"
        "<definedNames><definedName name='Rate'>Ledger!$A$1</definedName></definedNames></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            ("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"), ("styles", "styles.xml"),
            ("sharedStrings", "sharedStrings.xml"),
        ),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": sheet,
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(
            ("drawing", "../drawings/drawing1.xml"), ("comments", "../comments1.xml")
        ),
        "xl/drawings/drawing1.xml": f"<xdr:wsDr {NAMES}><xdr:sp><xdr:txBody><a:p><a:r><a:t>Box</a:t></a:r></a:p>"
        "</xdr:txBody></xdr:sp>"
        f"<xdr:graphicFrame>{_DRAWN.format('rId1')}</xdr:graphicFrame></xdr:wsDr>",
        "xl/drawings/_rels/drawing1.xml.rels": relationships(("chart", "../charts/chart1.xml")),
        "xl/charts/chart1.xml": CHART,
        "xl/comments1.xml": f"<comments xmlns='{SHEET}'><authors><author>Ada</author></authors><commentList>"
        "<comment ref='A1' authorId='0'><text><r><t>A remark</t></r></text></comment></commentList></comments>",
        "xl/styles.xml": f"<styleSheet xmlns='{SHEET}'><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs>"
        "</styleSheet>",
        "xl/sharedStrings.xml": f"<sst xmlns='{SHEET}'><si><t>First</t></si><si><r><t>Se</t></r>"
        "<r><t>cond_x000A_line</t></r>"
        "<rPh><t>reading aid</t></rPh></si></sst>",
    })  # fmt: skip


def _form() -> bytes:
    """A form with an outline, a link and two pages."""
    canvas = Canvas("", invariant=1, pageCompression=1)
    canvas.drawString(72, 700, "A form")
    canvas.acroForm.textfield(name="who", value="Ada Alpha", x=72, y=600, width=200, height=20)
    canvas.acroForm.checkbox(name="agreed", checked=True, x=72, y=560)
    canvas.acroForm.choice(name="which", value="one", options=["one", "two"], x=72, y=500, width=90, height=20)
    canvas.bookmarkPage("top")
    canvas.addOutlineEntry("Part one", "top", 0)
    canvas.bookmarkPage("clause")
    canvas.addOutlineEntry("Clause", "clause", 1)
    canvas.linkURL("https://example.org/", (72, 700, 200, 720))
    canvas.showPage()
    canvas.drawString(72, 700, "Second page")
    return saved(canvas)


def _attached(data: bytes) -> bytes:
    """The form with attachments."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(_form())))
    writer.add_attachment("contract.docx", data)
    writer.add_attachment("note.txt", b"An attached note")
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def _packed_objects() -> bytes:
    """A PDF whose objects stand in a stream, found through a cross-reference stream (PDF 1.5)."""
    inside = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 6 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    offsets = [sum(len(each) + 1 for each in inside[:index]) for index in range(len(inside))]
    table = b" ".join(b"%d %d" % (number, offset) for number, offset in enumerate(offsets, 1)) + b" "
    out = b"%PDF-1.5\n"
    starts = {}
    for number, head, content in (
        (5, b"/Type /ObjStm /N %d /First %d" % (len(inside), len(table)), table + b"\n".join(inside)),
        (6, b"", b"BT /F1 12 Tf 72 700 Td (From a packed object) Tj ET"),
    ):
        starts[number] = len(out)
        data = zlib.compress(content)
        out += b"%d 0 obj\n<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (
            number, head, len(data), data,
        )  # fmt: skip
    start = len(out)
    rows = [(0, 0, 255), *((2, 5, index) for index in range(4)), (1, starts[5], 0), (1, starts[6], 0), (1, start, 0)]
    data = zlib.compress(b"".join(bytes([kind]) + at.to_bytes(2, "big") + bytes([rest]) for kind, at, rest in rows))
    return out + (
        b"7 0 obj\n<< /Type /XRef /W [1 2 1] /Size 8 /Root 1 0 R /Filter /FlateDecode /Length %d "
        b">>\nstream\n%s\nendstream\nendobj\n"
        b"startxref\n%d\n%%%%EOF\n" % (len(data), data, start)
    )


def _noted() -> bytes:
    """A PDF as it is written by hand, whose every object can be changed: a stamp, a note, a field, titles, XML."""
    kinds = b"Stamp", b"FreeText", b"Text", b"Widget /FT /Tx /T (name) /V (Ada)"
    note = b"<< /Type /Annot /Subtype /%s /Rect [9 9 99 99] /Contents (a note) /AP << /N 9 0 R >> >>"
    return page(
        b"BT /F1 9 Tf (more, and words) Tj ET",
        more=b"/Annots [5 0 R 6 0 R 7 0 R 8 0 R]",
        catalog=b"/Outlines 10 0 R /NeedsRendering true /AcroForm << /Fields [8 0 R] /XFA [(a) 12 0 R] >>",
        others=[
            *(note % kind for kind in kinds),
            filled(b"BT /F1 9 Tf (stamped) Tj [(a) -9 (b)] TJ ET", b"/Subtype /Form /BBox [0 0 9 9]"),
            b"<< /First 11 0 R /Count 2 >>",
            b"<< /Title (Chapter) /Parent 10 0 R /Next 11 0 R /First 11 0 R >>",
            filled(b"<x><draw><value><text>words</text></value></draw><data><a>value</a></data></x>"),
        ],
    )
