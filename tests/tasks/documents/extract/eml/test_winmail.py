"""Mails whose words and attachments Outlook packed into a winmail.dat."""

import struct
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from tasks.documents.extract.embedded import read_with_embedded
from tasks.documents.extract.text_writer import Reading

BODY, MESSAGE, RENDERED, DATA, NAME, ATTACHED = 0x2800C, 0x69003, 0x69002, 0x6800F, 0x18010, 0x69005
PLAIN, HTML, LONG_NAME, OBJECT, CODE_PAGE, CONTENT_ID, SUBJECT = 0x1000, 0x1013, 0x3707, 0x3701, 0x3FDE, 0x3712, 0x37


def attribute(number: int, data: bytes, level: int = 1) -> bytes:
    return struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)


def packed(*attributes: bytes) -> bytes:
    return b"\x78\x9f\x3e\x22\x01\x00" + b"".join(attributes)


def filled(data: bytes) -> bytes:
    return struct.pack("<II", 1, len(data)) + data + bytes(-len(data) % 4)


def properties(values: dict[int, str | bytes | int], *, objects: frozenset[int] = frozenset()) -> bytes:
    listed = struct.pack("<I", len(values) + 1)
    listed += struct.pack("<HH", 0x1F, 0x8001) + bytes(16) + struct.pack("<II", 1, 6) + "abc".encode("utf-16-le")
    listed += bytes(2) + filled("a named one".encode("utf-16-le"))
    for number, value in values.items():
        if isinstance(value, int):
            listed += struct.pack("<HHI", 3, number, value)
        elif isinstance(value, str):
            listed += struct.pack("<HH", 0x1F, number) + filled(f"{value}\0".encode("utf-16-le"))
        else:
            listed += struct.pack("<HH", 0xD if number in objects else 0x102, number) + filled(value)
    return listed


def file(name: str, data: bytes, more: dict[int, str | bytes | int] | None = None) -> bytes:
    pieces = attribute(RENDERED, bytes(14), 2) + attribute(NAME, name.encode("cp1252") + b"\0", 2)
    return pieces + attribute(DATA, data, 2) + attribute(ATTACHED, properties(more or {}), 2)


def reading(data: bytes, words: str = "") -> Reading:
    message = EmailMessage()
    message["From"] = "a@example.com"
    if words:
        message.set_content(words)
    message.add_attachment(data, maintype="application", subtype="ms-tnef", filename="winmail.dat")
    return read_with_embedded(message.as_bytes(policy=SMTP), ".eml")


def test_what_is_attached_is_read_under_its_long_name() -> None:
    files = file("LEASE~1.TXT", b"the lease", {LONG_NAME: "Lease (Größe).txt"}) + file("b.csv", b"a;b\n1;2\n")
    text = reading(packed(files), "See the files.").text
    assert "Attachments: Lease (Größe).txt, b.csv\n\nSee the files.\n" in text
    assert text.index("the lease") < text.index("a\tb")


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (attribute(BODY, b"plain words\0"), "plain words"),
        (attribute(MESSAGE, properties({PLAIN: "wide wörds"})), "wide wörds"),
        (attribute(MESSAGE, properties({HTML: "<p>Größe</p>".encode(), CODE_PAGE: 65001})), "Größe"),
        (attribute(MESSAGE, properties({HTML: "<p>Größe</p>".encode("latin-1"), CODE_PAGE: 28591})), "Größe"),
    ],
)
def test_its_words_are_read_where_the_mail_has_no_others(inner: bytes, text: str) -> None:
    assert reading(packed(inner)).text.partition("\n\n")[2].strip() == text
    assert reading(packed(inner), "Others.").text.partition("\n\n")[2].strip() == "Others."


def test_a_mail_in_it_is_read_with_its_own_files() -> None:
    inner = packed(attribute(MESSAGE, properties({SUBJECT: "Für Ben", PLAIN: "inner words"})), file("c.txt", b"deep"))
    attached = properties({LONG_NAME: "Für Ben", OBJECT: bytes(16) + inner}, objects=frozenset({OBJECT}))
    read = reading(packed(attribute(RENDERED, b"", 2), attribute(ATTACHED, attached, 2)), "outer")
    words = (
        "outer",
        "Embedded document: Für Ben.eml",
        "Subject: Für Ben",
        "inner words",
        "Embedded document: c.txt",
        "deep",
    )
    places = [read.text.index(word) for word in words]
    assert places == sorted(places)


def test_pictures_of_the_page_are_left_out() -> None:
    assert "logo" not in reading(packed(file("logo.png", b"x", {CONTENT_ID: "1"})), "words").text


def test_one_that_is_cut_off_gives_what_is_there() -> None:
    data = packed(file("a.txt", b"first"), file("b.txt", b"second" * 100))
    for length in range(len(data)):
        reading(data[:length], "words")
    assert "first" in reading(data[:-700], "words").text


def test_lengths_that_lead_nowhere_end_the_reading() -> None:
    huge = struct.pack("<HHII", 0x1F, PLAIN, 0xFFFFFFFF, 0xFFFFFFFF)
    for listed in (struct.pack("<I", 0xFFFFFFFF) + huge * 1000, b"\xff" * 1000, struct.pack("<IHH", 1, 0x7777, 1)):
        assert reading(packed(attribute(MESSAGE, listed), file("a.txt", b"first")), "words").text.endswith("first")
