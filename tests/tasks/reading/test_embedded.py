"""What becomes of documents inside documents, and that nothing about them fails their host."""

import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged, TooLarge
from tasks.reading import embedded, formats
from tasks.reading.embedded import read_with_embedded, with_embedded
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.text_writer import NO_TEXT, Attachment, Place, Reading, today
from tests.cases import cases
from tests.tasks.documents.drive.archives.zips import zipped
from tests.tasks.reading.ooxml.compounds import NATIVE, agile, compound, native, standard
from tests.written import saved, workbook_of

HOST = Reading("The host.\n", [Place(0, 10, "page", "1")], ["Read with care."])


def docx(text: str, *inside: tuple[str, bytes]) -> bytes:
    """A Word document with others embedded in it."""
    document = Document()
    document.add_paragraph(text)
    for name, content in inside:
        part = Part(PackURI(f"/word/embeddings/{name}"), "application/octet-stream", content, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.PACKAGE)
    return saved(document)


def xlsx(*cells: str | int) -> bytes:
    return saved(workbook_of(cells)[0])


def pdf(text: str, *inside: tuple[str, bytes]) -> bytes:
    """A PDF with files attached to it."""
    canvas, data = Canvas(""), BytesIO()
    canvas.drawString(72, 720, text)
    writer = PdfWriter(BytesIO(saved(canvas)))
    for name, content in inside:
        writer.add_attachment(name, content)
    writer.write(data)
    return data.getvalue()


def short(value: object) -> str:
    """How a test's parameter is called: bytes would fill pages."""
    return value if isinstance(value, str) and len(value) < 60 else type(value).__name__


def read(data: bytes, extension: str) -> Reading:
    return formats.reader(extension)(data)


def embed(
    *inside: tuple[str, bytes | None], host: Reading = HOST, by: Callable[[bytes, str], Reading] = read
) -> Reading:
    """The reading of a host with these documents inside it."""
    attachments = [Attachment(name, data) for name, data in inside]
    return with_embedded(replace(host, attachments=attachments), by, formats.list_supported())


def test_an_embedded_document_stands_after_the_host_on_a_page_of_its_own() -> None:
    reading = embed(("Budget.xlsx", xlsx("Rent", 1200)), ("Annex.pdf", pdf("Annex one")))
    assert reading.text == (
        "The host.\n\fEmbedded document: Budget.xlsx\nSheet\nRent\t1200\n\fEmbedded document: Annex.pdf\nAnnex one\n"
    )
    assert reading.warnings == ["Read with care.", "Embedded, and read after the text: Budget.xlsx, Annex.pdf."]
    assert reading.attachments == []


def test_places_of_an_embedded_document_lie_within_its_own_place() -> None:
    reading = embed(("Budget.xlsx", xlsx("Rent", 1200)))
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("page", "1", "The host.\n"),
        ("attachment", "Budget.xlsx", "Embedded document: Budget.xlsx\nSheet\nRent\t1200\n"),
        ("file_dates", f"{today()}/{today()}", "Sheet\nRent\t1200\n"),
        ("sheet", "Sheet", "Sheet\nRent\t1200\n"),
        ("cells", "A1:B1", "Rent\t1200\n"),
    ]


def test_two_levels_are_read_and_what_is_deeper_is_named() -> None:
    deepest = docx("Level three", ("Level four.docx", docx("Level four")))
    host = docx("The host", ("One.docx", docx("Level one", ("Two.docx", docx("Level two", ("Three.docx", deepest))))))
    reading = read_with_embedded(host, ".docx")
    assert reading.text == (
        "The host\n\fEmbedded document: One.docx\nLevel one\n\fEmbedded document: Two.docx\nLevel two\n"
    )
    attachments = [place for place in reading.places if place.kind == "attachment"]
    assert [place.label for place in attachments] == ["One.docx", "Two.docx"]
    assert attachments[0].end == attachments[1].end == len(reading.text)
    assert reading.warnings == [
        "Embedded, and read after the text: One.docx.",
        "One.docx: Embedded, and read after the text: Two.docx.",
        "One.docx: Two.docx: Embedded, but too deep inside to be read: Three.docx.",
    ]


def test_a_page_without_text_or_picture_says_that_there_is_no_text() -> None:
    writer, file = PdfWriter(), BytesIO()
    writer.add_blank_page(612, 792)
    writer.write(file)
    reading = read_with_embedded(file.getvalue(), ".pdf")
    assert (reading.text.strip(), reading.warnings) == ("", [NO_TEXT])


def test_attachments_of_a_pdf_are_read_and_their_bytes_stay_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("The host", ("notes.txt", b"A note"), ("sound.mp3", b"ID3")))
    reading = read_with_embedded(path)
    assert reading.text == "The host\n\fEmbedded document: notes.txt\nA note"
    assert reading.warnings == [
        "Embedded, and read after the text: notes.txt.",
        "Embedded, in a format that no reader reads: sound.mp3.",
    ]
    assert reading.attachments == []


@cases(
    ("name", "data"),
    [
        ("oleObject1.bin", xlsx("Rent")),
        ("Budget.xlsm", xlsx("Rent")),
        ("oleObject1.bin", compound({"Package": xlsx("Rent")})),
        ("oleObject1.bin", compound({NATIVE: native("Budget.xlsx", "C:\\Budget.xlsx", xlsx("Rent"))})),
        ("oleObject1.bin", agile(xlsx("Rent"), "VelvetSweatshop")),
        ("oleObject1.bin", compound({"Package": standard(xlsx("Rent"), "VelvetSweatshop")})),
        ("no extension", pdf("Rent")),
        ("misnamed.txt", pdf("Rent")),
        ("oleObject1.bin", compound({"CONTENTS": pdf("Rent")})),
        ("oleObject1.bin", compound({NATIVE: native("note.txt", "", b"Rent")})),
        ("Rent.TXT", b"Rent"),
    ],
)
def test_the_format_is_found_by_what_is_in_it_else_by_the_name(name: str, data: bytes) -> None:
    assert "Rent" in embed((name, data)).text.partition("Embedded document")[2]


@cases(
    ("name", "data", "named"),
    [
        ("../../etc/Budget.xlsx", xlsx("Rent"), "Budget.xlsx"),
        ("C:\\Users\\me\\Budget.xlsx", xlsx("Rent"), "Budget.xlsx"),
        ("a\nb\x00c.txt", b"Rent", "a bc.txt"),
        ("", pdf("Rent"), "a document without a name"),
        ("x" * 500 + ".xlsx", xlsx("Rent"), "x" * 99 + "…" + "x" * 15 + ".xlsx"),
        ("oleObject1.bin", compound({"Package": xlsx("Rent")}), "oleObject1.xlsx"),
        ("oleObject1.bin", compound({NATIVE: native("Q1/Budget.xlsx", "", xlsx("Rent"))}), "Budget.xlsx"),
    ],
)
def test_the_name_is_that_of_the_file_without_a_path(name: str, data: bytes, named: str) -> None:
    reading = embed((name, data))
    assert [place.label for place in reading.places if place.kind == "attachment"] == [named]
    assert f"Embedded document: {named}\n" in reading.text
    assert reading.warnings[-1] == f"Embedded, and read after the text: {named}."


def plain_zip(*names: str) -> bytes:
    return zipped(dict.fromkeys(names, "x"), zipfile.ZIP_STORED)


@cases(
    ("name", "data", "warning"),
    [
        ("sound.wav", b"RIFF", "Embedded, in a format that no reader reads: sound.wav."),
        ("files.zip", plain_zip("word/a.png"), "Embedded, in a format that no reader reads: files.zip."),
        ("a.xlsb", plain_zip("_rels/.rels", "xl/workbook.bin"), "Embedded, but damaged: a.xlsb."),
        ("o.bin", compound({"VisioDocument": b"x"}), "Embedded, in a format that no reader reads: o.vsd."),
        ("a.xlsx", agile(xlsx("Rent"), "another"), "Embedded, but closed by a password: a.xlsx."),
        ("o.bin", compound({NATIVE: native("a.docx", "", b"junk")}), "Embedded, but damaged: a.docx."),
        ("a.pdf", b"", "Embedded, but damaged: a.pdf."),
        ("o.bin", compound({"Package": b"x"})[:600], "Embedded, but damaged: o.bin."),
        ("a.pdf", None, "Embedded, but lost or too large to be read: a.pdf."),
        ("a.docx", docx(""), "Embedded, without text: a.docx."),
    ],
)
def test_what_cannot_be_read_is_a_warning_and_never_a_failure(name: str, data: bytes | None, warning: str) -> None:
    reading = embed((name, data), ("note.txt", b"A note\n"))
    assert reading.text == "The host.\n\fEmbedded document: note.txt\nA note\n"
    assert reading.warnings == [
        "Read with care.",
        *sorted(["Embedded, and read after the text: note.txt.", warning], key=lambda each: "read after" not in each),
    ]


@cases("failure", [ValueError("secret"), Damaged("x"), RecursionError(), KeyError("part")])
def test_whatever_a_reader_stumbles_over_is_damage(failure: Exception) -> None:
    def stumble(data: bytes, extension: str) -> Reading:
        raise failure

    assert embed(("a.pdf", b"%PDF-"), by=stumble).warnings[1:] == ["Embedded, but damaged: a.pdf."]


def test_warnings_of_an_embedded_document_carry_its_name() -> None:
    reading = embed(("Letter.docx", docx("A letter")[:-500]))
    assert "A letter" in reading.text
    assert reading.warnings[-1] == f"Letter.docx: {CUT_OFF}"


def test_names_of_one_kind_share_a_sentence_and_long_lists_are_counted() -> None:
    equations = [(f"oleObject{number}.bin", compound({"Equation Native": bytes([number])})) for number in range(26)]
    sounds = [(f"{number}.wav", bytes([number])) for number in range(30)]
    reading = embed(*equations, *sounds)
    named = ", ".join(f"{number}.wav" for number in range(19))
    assert reading.warnings[1:] == [
        f"Embedded, in a format that no reader reads: Equation (26 times), {named} and 11 more."
    ]


def test_remarks_on_many_embedded_documents_are_bounded() -> None:
    scans = [(f"{number}.pdf", b"%PDF-" + bytes([number])) for number in range(60)]
    reading = embed(*scans, by=lambda data, extension: Reading("text\n", [], ["Looks odd.", "Is odd."]))
    assert len(reading.warnings) == 22


def test_equal_documents_are_read_once_and_all_named() -> None:
    times = 0

    def count(data: bytes, extension: str) -> Reading:
        nonlocal times
        times += 1
        return read(data, extension)

    budget = xlsx("Rent")
    wrapped = [compound({"\x01Ole": bytes([number]), "Package": budget}) for number in range(2)]
    reading = embed(("a.xlsx", budget), ("b.xlsx", budget), ("o1.bin", wrapped[0]), ("o2.bin", wrapped[1]), by=count)
    assert times == 1
    assert reading.text.count("Embedded document: ") == 1
    assert reading.warnings[1:] == ["Embedded, and read after the text: a.xlsx, b.xlsx, o1.xlsx, o2.xlsx."]


def test_the_same_document_on_both_levels_is_read_once() -> None:
    note = docx("A note")
    reading = embed(("note.docx", note), ("letter.docx", docx("A letter", ("note.docx", note))))
    assert reading.text.count("A note") == 1


def test_at_most_a_hundred_are_read_on_all_levels_together() -> None:
    inner = [(f"inner {number}.txt", f"inner {number}".encode()) for number in range(80)]
    outer = [(f"outer {number}.txt", f"outer {number}".encode()) for number in range(80)]
    reading = embed(("first.pdf", pdf("First", *inner)), *outer)
    assert reading.text.count("Embedded document: ") == embedded.MOST
    assert any(warning.startswith("Embedded, but not read after so much else: ") for warning in reading.warnings)


def test_text_beyond_the_bound_is_left_out() -> None:
    def long(data: bytes, extension: str) -> Reading:
        return Reading(data.decode() * (embedded.MOST_CHARACTERS // 2))

    reading = embed(("a.txt", b"a"), ("bb.txt", b"bb"), ("c.txt", b"c"), by=long)
    assert len(reading.text) < embedded.MOST_CHARACTERS + 1000
    assert reading.warnings[1:] == [
        "Embedded, and read after the text: a.txt, c.txt.",
        "Embedded, but lost or too large to be read: bb.txt.",
    ]


@pytest.mark.parametrize("failure", [TooLarge("It unpacks to far more."), MemoryError()])
def test_one_that_is_too_large_leaves_the_others_alone(failure: Exception) -> None:
    def refuse(data: bytes, extension: str) -> Reading:
        if data == b"large":
            raise failure
        return read(data, extension)

    reading = embed(("large.txt", b"large"), ("note.txt", b"A note"), by=refuse)
    assert reading.warnings[1:] == [
        "Embedded, and read after the text: note.txt.",
        "Embedded, but lost or too large to be read: large.txt.",
    ]


def test_when_time_is_up_the_rest_is_named() -> None:
    host = replace(HOST, attachments=[Attachment("a.txt", b"a"), Attachment("b.txt", b"b")])
    reading = with_embedded(host, read, formats.list_supported(), seconds=0)
    assert reading.text == HOST.text
    assert reading.warnings[1:] == ["Embedded, but not read after so much else: a.txt, b.txt."]


def test_a_bomb_inside_is_a_warning() -> None:
    bomb = BytesIO()
    with zipfile.ZipFile(BytesIO(docx("x"))) as whole, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in whole.infolist():
            if entry.filename != "word/document.xml":
                archive.writestr(entry, whole.read(entry))
        with archive.open("word/document.xml", "w") as part:
            for _ in range(200):
                part.write(b"<w:p/>" * 180_000)
    reading = embed(("bomb.docx", bomb.getvalue()), ("note.txt", b"A note"))
    assert reading.text == "The host.\n\fEmbedded document: note.txt\nA note"
    assert "Embedded, but lost or too large to be read: bomb.docx." in reading.warnings


def test_a_host_without_text_begins_with_what_is_inside_it() -> None:
    reading = embed(("note.txt", b"A note"), host=Reading("", [], [NO_TEXT]))
    assert reading.text == "Embedded document: note.txt\nA note"
    assert reading.warnings == ["Embedded, and read after the text: note.txt."]
    assert embed(("a.wav", b""), host=Reading("", [], [NO_TEXT])).warnings[0] == NO_TEXT


def test_pages_are_counted_with_those_of_what_is_inside() -> None:
    def two_pages(data: bytes, extension: str) -> Reading:
        return Reading("", pages=2)

    assert embed(("a.pdf", b"%PDF-"), host=Reading("", pages=3), by=two_pages).pages == 5
    assert embed(("a.pdf", b"%PDF-"), host=Reading(""), by=two_pages).pages == 2


def test_a_host_without_anything_inside_is_left_as_it_is() -> None:
    assert embed() == HOST
