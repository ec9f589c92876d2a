"""Mails as Outlook keeps them: headers, bodies in their three forms, attachments, mails inside."""

import random
from datetime import UTC, datetime

import pytest

from tasks.errors import Damaged
from tasks.reading import read_document
from tasks.reading.mail import msg as reader
from tasks.reading.mail.msg import read
from tests.cases import cases
from tests.tasks.reading.msg.messages import Value, message, msg
from tests.tasks.reading.ooxml.compounds import compound

SUBJECT, BODY, HTML, RTF, SENT, FROM, FROM_ADDRESS = 0x37, 0x1000, 0x1013, 0x1009, 0x39, 0x42, 0x5D01
NAME, ADDRESS, TYPE = 0x3001, 0x39FE, 0x0C15
FILE, DATA, METHOD, CID, MIME = 0x3707, 0x3701, 0x3705, 0x3712, 0x370E
MAY = datetime(2024, 5, 1, 8, tzinfo=UTC)
PLAIN: dict[int, Value] = {SUBJECT: "Übernahme", BODY: "Dear Ben,\r\n\r\nplease sign.\r\n", SENT: MAY}
PLAIN |= {FROM: "Ada", FROM_ADDRESS: "ada@example.com"}


def stored(rtf: bytes) -> bytes:
    """RTF as a body that is not compressed."""
    return b"\0\0\0\0" + len(rtf).to_bytes(4, "little") + b"MELA" + bytes(4) + rtf


def test_headers_words_and_recipients() -> None:
    recipients: list[dict[int, Value]] = [
        {NAME: "Ben", ADDRESS: "ben@example.com", TYPE: 1},
        {NAME: "Cem", ADDRESS: "cem@example.com", TYPE: 2},
    ]
    assert read(msg(PLAIN, recipients)).text == (
        "From: Ada <ada@example.com>\nTo: Ben <ben@example.com>\nCc: Cem <cem@example.com>\n"
        "Date: 2024-05-01T08:00:00Z\nSubject: Übernahme\n\nDear Ben,\n\nplease sign.\n"
    )


def test_a_page_is_read_where_there_is_no_plain_text() -> None:
    page = "<html><p>Größe</p><table><tr><td>a</td><td>b</td></tr></table>".encode("cp1252")
    assert read(msg({SUBJECT: "x", HTML: page, 0x3FDE: 1252})).text == "Subject: x\n\nGröße\na\tb\n"


def test_a_page_within_rtf_is_had_back() -> None:
    rtf = (
        rb"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}}"
        rb"{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Gr\'f6\'dfe \u8364?5{\*\htmltag72 </p>}\htmlrtf\par}\htmlrtf0"
        rb"{\*\htmltag64 <table><tr><td>}a{\*\htmltag64 </td><td>}b\{c\}{\*\htmltag64 </td></tr></table>}}"
    )
    assert read(msg({SUBJECT: "x", RTF: stored(rtf)})).text == "Subject: x\n\nGröße €5\na\tb{c}\n"


def test_a_table_is_read_from_the_page_within_rtf_where_the_plain_text_has_a_cell_a_line() -> None:
    rows = "".join(
        rf"{{\*\htmltag64 <tr><td>}}{label}{{\*\htmltag64 </td><td>}}{figure}{{\*\htmltag64 </td></tr>}}"
        for label, figure in (("Revenue", "9.4"), ("EBITDA", "1.2"), ("Margin", "13%"))
    )
    greeting = r"{\*\htmltag64 <ul><li>}{\pntext *\tab}Dear Ben{\*\htmltag64 </ul><table>}"
    rtf = rf"{{\rtf1\ansi\fromhtml1 {greeting}{rows}}}"
    plain = "Dear Ben\r\n\r\nRevenue\r\n9.4\r\nEBITDA\r\n1.2\r\nMargin\r\n13%\r\n"
    text = read(msg({SUBJECT: "x", BODY: plain, RTF: stored(rtf.encode())})).text
    assert text == "Subject: x\n\n• Dear Ben\nRevenue\t9.4\nEBITDA\t1.2\nMargin\t13%\n"


def test_plain_text_within_rtf_and_rtf_alone() -> None:
    wrapped = rb"{\rtf1\ansi\fromtext \deff0{\fonttbl{\f0 Arial;}}Dear Ben,\par please sign.\par}"
    assert read(msg({SUBJECT: "x", RTF: stored(wrapped)})).text == "Subject: x\n\nDear Ben,\nplease sign.\n"
    alone = rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard Dear \b Ben\b0\par}"
    assert "Dear Ben" in read(msg({SUBJECT: "x", RTF: stored(alone)})).text


@pytest.mark.parametrize(
    ("packed", "rtf"),
    [
        (
            "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0",
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
        ),
        ("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0", b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"),
    ],
)
def test_the_examples_of_the_specification_are_decompressed(packed: str, rtf: bytes) -> None:
    assert reader.decompress_rtf(bytes.fromhex(packed)) == rtf  # [MS-OXRTFCP] 4.1


def test_attachments_are_read_after_the_mail_and_pictures_of_the_page_left_out() -> None:
    attachments: list[dict[int, Value]] = [
        {FILE: "Lease.txt", DATA: b"The lease runs until 2031.", METHOD: 1},
        {FILE: "image001.png", DATA: b"\x89PNG", METHOD: 1, CID: "image001", MIME: "image/png"},
    ]
    reading = read_document(msg(PLAIN, (), attachments), ".msg")
    assert "Attachments: Lease.txt\n" in reading.text
    assert reading.text.endswith("\fEmbedded document: Lease.txt\nThe lease runs until 2031.")


def test_what_is_attached_without_a_name_has_one_by_its_type_and_a_signed_mail_is_read() -> None:
    signed = (
        b'Content-Type: multipart/signed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; name="Annex.txt"\r\n'
        b"Content-Disposition: attachment\r\n\r\nThe annex.\r\n--x--\r\n"
    )
    attachments: list[dict[int, Value]] = [
        {DATA: signed, METHOD: 1, MIME: "multipart/signed"},
        {DATA: b"%PDF-1.4", METHOD: 1, MIME: "application/pdf"},
    ]
    reading = read_document(msg(PLAIN, (), attachments), ".msg")
    assert "Attachments: attachment.eml, attachment.pdf\n" in reading.text
    assert "The annex." in reading.text


def test_a_mail_inside_is_read_with_what_is_attached_to_it() -> None:
    inner = message(
        {SUBJECT: "Über / alles", BODY: "The inner words: Größe.", SENT: MAY},
        [{NAME: "Ben", ADDRESS: "ben@example.com", TYPE: 1}],
        [{FILE: "Anhang ä.txt", DATA: b"Words of the inner attachment.", METHOD: 1}],
    )
    text = read_document(msg(PLAIN, (), [{NAME: "Über", DATA: inner, METHOD: 5}]), ".msg").text
    assert (
        "Embedded document: Über - alles.eml\nTo: Ben <ben@example.com>\nDate: 2024-05-01T08:00:00+00:00" in text
        or ("Embedded document: Über - alles.eml\nTo: Ben <ben@example.com>\nDate: 2024-05-01T08:00:00Z" in text)
    )
    assert "The inner words: Größe." in text
    assert "Embedded document: Anhang ä.txt\nWords of the inner attachment." in text


def test_mails_inside_mails_without_end_are_bounded() -> None:
    inner = message({SUBJECT: "innermost", BODY: "the innermost"})
    for number in range(12):
        inner = message({SUBJECT: f"{number}", BODY: "x"}, (), [{DATA: inner, METHOD: 5}])
    reading = read_document(msg(PLAIN, (), [{DATA: inner, METHOD: 5}]), ".msg")
    assert "the innermost" not in reading.text
    assert any("too deep" in warning for warning in reading.warnings)


def test_what_is_in_another_place_is_named() -> None:
    reading = read(msg(PLAIN, (), [{FILE: "plan.pdf", METHOD: 4}]))
    assert "plan.pdf is not in the mail" in reading.warnings[0]


def test_an_encrypted_mail_is_named() -> None:
    assert "S/MIME" in read(msg({0x1A: "IPM.Note.SMIME", SUBJECT: "x"})).warnings[0]


def test_a_body_in_another_encoding_than_it_says_is_read() -> None:
    data = compound(
        {
            "__properties_version1.0": bytes(32) + bytes.fromhex("1e0000100600000000000000") + bytes(4),
            "__substg1.0_1000001E": "Größe".encode("cp1252"),
        }
    )
    assert "Größe" in read(data).text


@cases("content", [b"", b"words", compound({}), compound({"WordDocument": b"x"})])
def test_what_is_no_mail_says_so(content: bytes) -> None:
    with pytest.raises(Damaged):
        read(content)


@pytest.mark.nightly
@pytest.mark.slow
def test_mutated_mails_raise_nothing_else() -> None:
    inner = message({SUBJECT: "inner", BODY: "inner", RTF: stored(rb"{\rtf1\fromhtml1 {\*\htmltag <p>}x}")})
    attachments = [{DATA: inner, METHOD: 5}, {FILE: "a.txt", DATA: b"words", METHOD: 1}]
    good = msg(PLAIN | {HTML: b"<p>x"}, [{NAME: "Ben", ADDRESS: "b@x", TYPE: 1}], attachments)  # type: ignore[arg-type]
    for seed in range(3000):
        dice = random.Random(seed)
        data = bytearray(good)
        for _ in range(dice.randrange(1, 20)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            read_document(bytes(data[: dice.randrange(len(data))] if seed % 9 == 0 else data), ".msg")
        except Damaged:
            continue
