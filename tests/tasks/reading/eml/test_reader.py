"""Mails as the internet sends them: headers, words, attachments; and what senders break."""

import base64
import binascii
import quopri
import random
from email.message import EmailMessage
from email.policy import SMTP
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from tasks.errors import Damaged
from tasks.reading import read_document
from tasks.reading.mail.eml import MOST_PARTS, read
from tasks.reading.ooxml.package import CUT_OFF, EMBEDDED_LIMIT
from tasks.reading.text_writer import Reading
from tests.cases import cases


def mail(words: str = "The words.\n", subject: str = "Lease") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada <ada@example.com>"
    message["To"] = "ben@example.com"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0200"
    message["Subject"] = subject
    message.set_content(words)
    return message


def reading(message: EmailMessage | bytes) -> Reading:
    return read(message if isinstance(message, bytes) else message.as_bytes(policy=SMTP))


def raw(body: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"From: a@example.com", *headers, b"", body])


def words(message: EmailMessage | bytes) -> str:
    """What follows the headers."""
    return reading(message).text.partition("\n\n")[2].rstrip("\n")


def attached(message: EmailMessage | bytes) -> dict[str, bytes | None]:
    return {attachment.name: attachment.data for attachment in reading(message).attachments}


def test_headers_come_first_and_then_the_words() -> None:
    message = mail("Dear Ben,\n\nplease sign.\n", "Übernahme – Entwurf")
    message["Cc"] = '"Müller, Jürgen" <j@example.de>'
    read_mail = reading(message)
    assert read_mail.text == (
        "From: Ada <ada@example.com>\nTo: ben@example.com\n"
        'Cc: "Müller, Jürgen" <j@example.de>\n'
        "Date: 2024-05-01T10:00:00+02:00\nSubject: Übernahme – Entwurf\n\nDear Ben,\n\nplease sign.\n"
    )
    dates, body = read_mail.places
    assert dates.label == "/2024-05-01"
    assert (read_mail.text[body.start : body.end], body.kind) == ("Dear Ben,\n\nplease sign.\n", "body")


def test_of_two_forms_the_plain_one_is_taken() -> None:
    message = mail("plain words " * 30)
    message.add_alternative("<p>words of the page</p>" * 30, subtype="html")
    assert words(message) == ("plain words " * 30).strip() or words(message).startswith("plain words")


def test_a_page_is_taken_where_it_stands_alone_or_the_plain_form_says_nothing() -> None:
    page = "<table><tr><td>Revenue</td><td>9.4</td></tr></table>" + "<p>and more of it</p>" * 20
    alone = mail()
    alone.set_content(page, subtype="html")
    stub = mail("See the HTML version.")
    stub.add_alternative(page, subtype="html")
    for message in (alone, stub):
        assert words(message).startswith("Revenue\t9.4\nand more of it")


@cases(
    ("plain", "page", "taken"),
    [
        ("Please view this in HTML.", "<p>The purchase price is five million.</p>", "page"),
        ("The price is five million.", "<p>The price is <b>five</b> million.</p><p>Sent by a machine</p>", "plain"),
        ("The purchase price is five million.", "<p>Logo</p>", "plain"),
    ],
)
def test_a_short_plain_form_gives_way_to_a_page_that_says_something_else(plain: str, page: str, taken: str) -> None:
    message = mail(plain)
    message.add_alternative(page, subtype="html")
    assert words(message) == (plain if taken == "plain" else "The purchase price is five million.")


FIGURES = "<p>Dear Ben,</p><table><tr><td></td><td>2023</td><td>2022</td></tr>" + "".join(
    f"<tr><td>{label}</td><td>{now}</td><td>{before}</td></tr>"
    for label, now, before in (("Revenue", "9.4", "8.1"), ("EBITDA", "1.2", "0.9"), ("Margin", "13%", "11%"))
)
CELL_BY_CELL = "Dear Ben,\n\n2023\n2022\nRevenue\n9.4\n8.1\nEBITDA\n1.2\n0.9\nMargin\n13%\n11%\n"


def test_a_table_is_read_from_the_page_where_the_plain_form_has_a_cell_a_line() -> None:
    message = mail(CELL_BY_CELL)
    message.add_alternative(FIGURES, subtype="html")
    rows = "2023\t2022\nRevenue\t9.4\t8.1\nEBITDA\t1.2\t0.9\nMargin\t13%\t11%"
    assert words(message).replace("\n\t", "\n") == f"Dear Ben,\n{rows}"


@pytest.mark.parametrize(
    ("plain", "page"),
    [
        (f"{CELL_BY_CELL}\nThe board has approved these figures, which no page shows.\n", FIGURES),
        ("Dear Ben,\n\n2023 2022\n", "<p>Dear Ben,</p><table><tr><td>2023</td><td>2022</td></tr></table>"),
    ],
    ids=["words that the page lacks", "a row alone, as layouts have"],
)
def test_the_plain_form_stays_where_the_page_lacks_its_words_or_has_no_rows(plain: str, page: str) -> None:
    message = mail(plain)
    message.add_alternative(page, subtype="html")
    assert words(message) == plain.rstrip()


def test_words_before_and_after_an_attachment_are_all_read() -> None:
    body = b"--x\n\nbefore\n--x\nContent-Type: application/pdf; name=a.pdf\n\n%PDF\n--x\n\nafter\n--x--\nepilogue"
    message = raw(body, b"Content-Type: multipart/mixed; boundary=x")
    assert (words(message), attached(message)) == ("before\nafter", {"a.pdf": b"%PDF"})


def test_attachments_are_handed_on_and_read_after_the_mail() -> None:
    message = mail()
    message.add_attachment("The lease runs until 2031.", filename="Pächterverzeichnis 2024.txt")
    message.add_attachment(b"\0\1", maintype="application", subtype="x-unknown", filename="a.xyz")
    text = read_document(message.as_bytes(policy=SMTP), ".eml")
    assert "Attachments: Pächterverzeichnis 2024.txt, a.xyz\n" in text.text
    assert text.text.endswith("\n\fEmbedded document: Pächterverzeichnis 2024.txt\nThe lease runs until 2031.\n")
    assert any("a.xyz" in warning for warning in text.warnings)


def packed(*documents: tuple[str, str | bytes | bytearray], packing: int = ZIP_DEFLATED) -> bytearray:
    data = BytesIO()
    with ZipFile(data, "w", packing) as archive:
        for name, content in documents:
            archive.writestr(name, content)
    return bytearray(data.getvalue())


def with_zip(*zips: bytes | bytearray) -> EmailMessage:
    message = mail()
    for data in zips:
        message.add_attachment(bytes(data), maintype="application", subtype="zip", filename="papers.ZIP")
    return message


def test_an_attached_zip_is_read_as_the_documents_inside_it() -> None:
    inner = packed(("deed.txt", "A deed."), ("third.zip", packed(("a.txt", "a"))))
    message = with_zip(
        packed(("2024/", ""), ("2024/lease.txt", "Until 2031."), ("__MACOSX/2024/._l", "x"), ("in.zip", inner))
    )
    read_mail = read_document(message.as_bytes(policy=SMTP), ".eml")
    assert read_mail.text.endswith(
        "\n\fEmbedded document: papers.ZIP: 2024: lease.txt\nUntil 2031.\n"
        "\fEmbedded document: papers.ZIP: in.zip: deed.txt\nA deed."
    )
    assert read_mail.warnings == [
        "Embedded, and read after the text: papers.ZIP: 2024: lease.txt, papers.ZIP: in.zip: deed.txt.",
        "Embedded, in a format that no reader reads: papers.ZIP: in.zip: third.zip.",
    ]


def test_of_a_zip_what_is_damaged_or_closed_is_told_and_none_of_it_read() -> None:
    data = packed(("a.txt", "A lease."), ("b.txt", "B lease."), ("locked.txt", "secret"), packing=ZIP_STORED)
    data[data.index(b"A lease")] ^= 1
    data[data.index(b"locked.txt") - 24] |= 1  # of its flags, the one that says that a password closes it
    assert attached(with_zip(data)) == {"papers.ZIP: a.txt": None, "papers.ZIP: b.txt": b"B lease."}
    assert reading(with_zip(data)).warnings == [
        "papers.ZIP: closed by a password, or packed in an unusual way: locked.txt. Ask for it unpacked."
    ]
    cut = with_zip(packed(("a.txt", "A lease."))[:-10])  # within the directory
    assert (attached(cut), reading(cut).warnings) == ({"papers.ZIP: a.txt": b"A lease."}, [f"papers.ZIP: {CUT_OFF}"])
    assert attached(with_zip(b"no zip")) == {"papers.ZIP": b"no zip"}
    assert attached(with_zip(packed())) == {"papers.ZIP": bytes(packed())}


def test_all_zips_of_a_mail_unpack_within_one_allowance() -> None:
    large = bytes(EMBEDDED_LIMIT * 2 // 3)
    inside = [a.data for a in reading(with_zip(*[packed(("large.txt", large), ("b.txt", "b"))] * 3)).attachments]
    assert [data and len(data) for data in inside] == [len(large), 1, None, 1, None, 1]


def test_a_mail_inside_is_an_attachment_and_read() -> None:
    message = mail()
    message.add_attachment(mail("The inner words.", "Re: Lease / 2"))
    assert list(attached(message)) == ["Re: Lease - 2.eml"]
    assert "The inner words." in read_document(message.as_bytes(policy=SMTP), ".eml").text


def test_pictures_of_the_page_are_left_out() -> None:
    message = mail()
    message.add_alternative('<img src="cid:logo"><p>words</p>', subtype="html")
    message.get_payload()[1].add_related(b"\x89PNG", "image", "png", cid="<logo>")  # type: ignore[union-attr, index]
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="site plan.png")
    assert list(attached(message)) == ["site plan.png"]


@cases(
    ("value", "decoded"),
    [
        (b"=?utf-8?q?=C3=9Cbernahme?=", "Übernahme"),
        (b"=?ISO-8859-1?Q?=DCber?=\r\n =?utf-8?b?bmFobWU=?=", "Übernahme"),
        ("Übernahme".encode(), "Übernahme"),
        ("Übernahme".encode("cp1252"), "Übernahme"),
        (b"=?no-such-charset?q?abc?=", "abc"),
        (b"=?utf-8?b?!!!?=", None),
        (b"=?utf-8?q?=FF=FE?=", None),
        (b"=?zlib?q?abc?=", "abc"),
        (b"a" * 100_000, None),
        (b"=?a?q?" * 20_000 + b"?=", None),
    ],
)
def test_subjects_however_they_are_encoded(value: bytes, decoded: str | None) -> None:
    text = reading(raw(b"words", b"Subject: " + value)).text
    assert text.endswith("\n\nwords\n")
    assert decoded is None or f"Subject: {decoded}\n" in text


@cases(
    ("charset", "body"),
    [
        ("iso-8859-1", "Größe – 5 €".encode("cp1252")),
        ("us-ascii", "Größe – 5 €".encode()),
        ("unknown-8bit", "Größe – 5 €".encode()),
        ("x-no-such", "Größe – 5 €".encode()),
        ("utf-8", "Größe – 5 €".encode("cp1252")),
        ("idna", "Größe – 5 €".encode()),
        ("", "Größe – 5 €".encode()),
    ],
)
def test_words_whatever_character_set_they_claim(charset: str, body: bytes) -> None:
    assert words(raw(body, f'Content-Type: text/plain; charset="{charset}"'.encode())).startswith("Größe")


@cases(
    ("encoding", "body"),
    [
        ("base64", base64.encodebytes("Größe".encode())),
        ("base64", base64.b64encode("Größe".encode())[:-1] + b"!!\n%%"),
        ("BASE64 ", b" \n".join(base64.b64encode("Größe".encode())[at : at + 2] for at in range(0, 12, 2))),
        ("quoted-printable", quopri.encodestring("Größe".encode())),
        ("quoted-printable", b"Gr=C3=B6=C3=9Fe=XX=\n"),
        ("x-uuencode", b"begin 644 a.txt\n" + binascii.b2a_uu("Größe".encode()) + b" \nend\n"),
        ("8bit", "Größe".encode()),
        ("x-nonsense", "Größe".encode()),
    ],
)
def test_transfer_encodings_and_what_is_left_of_broken_ones(encoding: str, body: bytes) -> None:
    message = raw(body, b"Content-Type: text/plain; charset=utf-8", f"Content-Transfer-Encoding: {encoding}".encode())
    assert words(message).startswith("Größe")


def test_a_mail_that_is_cut_off_gives_what_is_there() -> None:
    message = mail("The words.")
    message.add_attachment(b"x" * 9000, maintype="application", subtype="pdf", filename="a.pdf")
    cut = message.as_bytes(policy=SMTP)[:-3000]
    assert words(cut) == "The words."
    assert len(attached(cut)["a.pdf"] or b"") > 5000


@cases(
    "body",
    [b"no boundary at all", b"--y\n\nanother boundary", b"--xx\n\nwords", b"--x", b""],
)
def test_boundaries_that_are_not_there(body: bytes) -> None:
    found = reading(raw(body, b"Content-Type: multipart/mixed; boundary=x"))
    assert found.text.startswith("From: a@example.com\n")


@cases("kind", ["multipart/mixed", "message/rfc822", "multipart/alternative", "text/plain"])
def test_types_without_what_belongs_to_them(kind: str) -> None:
    assert reading(raw(b"words", f"Content-Type: {kind}".encode())).text.startswith("From: a@example.com\n")


@cases(
    ("kind", "named"),
    [
        ('application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"', "S/MIME"),
        ("multipart/encrypted; boundary=x", "PGP"),
        ("application/ms-tnef; name=winmail.dat", "winmail.dat, which Outlook attached"),
        ('application/octet-stream; name="Winmail.dat"', "sent again with ordinary attachments"),
        ("message/external-body; access-type=URL", "not sent with it"),
    ],
)
def test_what_cannot_be_read_is_named(kind: str, named: str) -> None:
    (warning, *_) = reading(raw(b"--x\n\nwords\n--x--", f"Content-Type: {kind}".encode())).warnings
    assert named in warning


def test_a_mail_with_a_winmail_dat_gives_its_words_and_its_other_files() -> None:
    message = mail("See the files.")
    message.add_attachment(
        b"\x78\x9f\x3e\x22\x01\x00", maintype="application", subtype="ms-tnef", filename="winmail.dat"
    )
    message.add_attachment(b"the lease", maintype="text", subtype="plain", filename="lease.txt")
    data = message.as_bytes(policy=SMTP)
    assert (words(data), attached(data)) == ("See the files.", {"lease.txt": b"the lease"})
    (warning,) = reading(data).warnings
    assert warning == (
        "winmail.dat, which Outlook attached in a format of its own (TNEF), cannot be read: "
        "have the mail sent again with ordinary attachments."
    )


def test_a_signed_mail_is_read_and_its_signature_named() -> None:
    body = b"--x\n\nwords\n--x\nContent-Type: application/pkcs7-signature; name=smime.p7s\n\nMII=\n--x--"
    message = raw(body, b"Content-Type: multipart/signed; boundary=x")
    assert (words(message), attached(message)) == ("words", {})
    assert "signature was not checked" in reading(message).warnings[0]


def test_many_parts_and_deep_ones_are_bounded() -> None:
    header = b"Content-Type: multipart/mixed; boundary=x"
    many = reading(raw(b"--x\n\nwords\n" * 100_000 + b"--x--", header))
    assert many.text.count("words") == MOST_PARTS
    assert "too many parts" in many.warnings[0]
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(9000))
    assert "nested too deep" in reading(b"From: a\n" + deep + b"\nwords").warnings[0]


def test_mails_inside_mails_without_end_are_bounded() -> None:
    inner = b"From: a\n\nthe innermost"
    for _ in range(200):
        inner = b"From: a\nContent-Type: message/rfc822\n\n" + inner
    assert "the innermost" not in read_document(inner, ".eml").text


def test_headers_and_boundaries_without_end_are_bounded() -> None:
    brackets = b"From: a\r\nTo: =?a?q?b?= " + b"(" * 20_000 + b"\r\n\r\nwords"
    assert words(brackets) == "words"
    marks = raw(b"--x" * 300_000, b"Content-Type: multipart/mixed; boundary=x")
    assert reading(marks).text.startswith("From: a@example.com\n")


@cases("content", [b"", b"\n\n", b"words and words\n", b"\0\1\2", b"PK\x03\x04", b": nothing\n"])
def test_what_is_no_mail_says_so(content: bytes) -> None:
    with pytest.raises(Damaged, match="not a mail"):
        read(content)


def test_the_line_of_a_mailbox_and_empty_lines_before_the_headers_do_no_harm() -> None:
    assert words(b"From ada@example.com Wed May  1 10:00:00 2024\nFrom: ada\n\nwords") == "words"
    assert words(b"\r\n\r\nFrom: ada\r\n\r\nwords") == "words"


def test_a_date_that_is_none_stands_as_it_is() -> None:
    assert "Date: sometime in May\n" in reading(raw(b"", b"Date: sometime in May")).text


@pytest.mark.slow
@pytest.mark.nightly
def test_mutated_mails_raise_nothing_else() -> None:
    message = mail("Größe\n")
    message.add_alternative("<p>Größe</p>", subtype="html")
    message.add_attachment(mail("inner"))
    message.add_attachment("words", filename="ä.txt")
    good = message.as_bytes(policy=SMTP)
    for seed in range(3000):
        dice = random.Random(seed)
        data = bytearray(good)
        for _ in range(dice.randrange(1, 20)):
            at = dice.randrange(len(data))
            data[at : at + dice.randrange(3)] = bytes(dice.randrange(256) for _ in range(dice.randrange(3)))
        try:
            read_document(bytes(data), ".eml")
        except Damaged:
            continue


@cases(
    ("body", "parameters", "text"),
    [
        (b"One \r\nparagraph.\r\nAnother", b"", "One paragraph.\nAnother"),
        (b"> quoted \r\n> on\r\n>> deeper \r\n> back \r\nmine", b"", "> quoted on\n>> deeper \n> back \nmine"),
        (b"Bye \r\n-- \r\nHans", b"", "Bye \n-- \nHans"),
        (b" From \r\n > x", b"", "From > x"),
        (b"Vert \r\nrag", b"; delsp=yes", "Vertrag"),
    ],
)
def test_flowed_paragraphs_are_put_together(body: bytes, parameters: bytes, text: str) -> None:
    assert words(raw(body, b"Content-Type: text/plain; format=flowed" + parameters)) == text


def test_lines_of_other_texts_stay() -> None:
    assert words(raw(b"One \r\ntwo", b"Content-Type: text/plain")) == "One \ntwo"
