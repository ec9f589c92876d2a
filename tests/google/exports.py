"""Native documents as files: small real ones, made from a document's text."""

from functools import lru_cache

from tests.google.items import Item
from tests.google.natives import DOCX, EXTENSIONS, PDF, PPTX, XLSX
from tests.written import saved


def exported(item: Item, mime: str) -> bytes:
    """The bytes of an export: those given for the type, else made from the text."""
    given = item.exports.get(mime)
    return given if given is not None else made(mime, item.text)


@lru_cache(maxsize=256)
def made(mime: str, text: str) -> bytes:
    """A file of the type that says `text`: a paragraph, row or slide a line; tabs part the cells of a row."""
    lines = text.split("\n")
    match mime:
        case _ if mime == DOCX:
            return _word(lines)
        case _ if mime == XLSX:
            return _workbook(lines)
        case _ if mime == PPTX:
            return _slides(lines)
        case _ if mime == PDF:
            return _portable(lines)
        case "text/csv":
            return "\r\n".join(line.replace("\t", ",") for line in lines).encode()
        case "text/plain":
            # Google's plain text begins with a byte order mark and has Windows line ends.
            return ("\ufeff" + "\r\n".join(lines)).encode()
        case _ if mime.startswith("text/"):
            return text.encode()
    return f"{EXTENSIONS.get(mime, mime)}\n{text}".encode()


def _word(lines: list[str]) -> bytes:
    import docx

    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    return saved(document)


def _workbook(lines: list[str]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for line in lines:
        book.worksheets[0].append(line.split("\t"))
    return saved(book)


def _slides(lines: list[str]) -> bytes:
    import pptx

    deck = pptx.Presentation()
    for line in lines:
        title = deck.slides.add_slide(deck.slide_layouts[5]).shapes.title
        assert title is not None
        title.text = line
    return saved(deck)


def _portable(lines: list[str]) -> bytes:
    """The least PDF that shows the lines: one page, a built-in font, no compression."""
    shown = "".join(f"({line.translate(_ESCAPES)}) Tj T*\n" for line in lines)
    stream = f"BT /F1 11 Tf 14 TL 60 780 Td\n{shown}ET".encode("cp1252", "replace")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start)


_ESCAPES = str.maketrans({"\\": r"\\", "(": r"\(", ")": r"\)"})
