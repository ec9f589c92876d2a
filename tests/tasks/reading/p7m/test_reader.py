"""Signed documents and mails are read through; what is encrypted stays shut, and says so."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from cryptography.x509.oid import NameOID

from tasks.errors import Damaged, PasswordProtected
from tasks.reading import read_document
from tasks.reading.detect import detect_format, is_known
from tasks.reading.mail.eml import signed_content
from tests.cases import cases

MAIL = b"Content-Type: text/plain\r\n\r\nRent is due.\r\n"
SMIME = b'From: a@b.example\nContent-Type: application/pkcs7-mime; name="smime.p7m"\n'
STREAMED = (
    b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x00"
    b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0\x80\x24\x80\x04\x05Rent \x04\x07is due." + bytes(14)
)
"""As programs write it that do not know how long the content becomes: a string in pieces, lengths left open."""


@cache
def signer() -> tuple[rsa.RSAPrivateKey, x509.Certificate]:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A. Signer")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(1))
    return key, made.sign(key, SHA256())


def signed(content: bytes, *options: pkcs7.PKCS7Options, encoding: Encoding = Encoding.DER) -> bytes:
    key, certificate = signer()
    builder = pkcs7.PKCS7SignatureBuilder().set_data(content).add_signer(certificate, key, SHA256())
    return builder.sign(encoding, [pkcs7.PKCS7Options.Binary, *options])


def encrypted(content: bytes) -> bytes:
    builder = pkcs7.PKCS7EnvelopeBuilder().set_data(content).add_recipient(signer()[1])
    return builder.encrypt(Encoding.DER, [pkcs7.PKCS7Options.Binary])


def test_a_signed_document_is_read_by_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "rents.csv.p7m"
    path.write_bytes(signed(b"Unit,Rent\nA,1200\n"))
    reading = read_document(path)
    assert reading.text == "Embedded document: rents.csv\nUnit\tRent\nA\t1200\n"
    assert reading.warnings[0] == "The document is signed; the signature was not checked."


@cases("named", ["", ".bin", ".pdf"])
def test_a_signed_document_is_told_by_its_content(named: str) -> None:
    for data in (signed(b"Unit,Rent\n" * 1000), STREAMED, encrypted(MAIL)):
        assert detect_format(data, named) == ".p7m"


def test_a_signature_alone_and_a_certificate_are_no_documents() -> None:
    alone = signed(MAIL, pkcs7.PKCS7Options.DetachedSignature)
    certificates = pkcs7.serialize_certificates([signer()[1]], Encoding.DER)
    for data in (alone, certificates, signer()[1].public_bytes(Encoding.DER), b"0\x80\x06\x09", b"0" * 5000):
        assert is_known(data) is None


@pytest.mark.parametrize(
    "data",
    [signed(MAIL), signed(MAIL, encoding=Encoding.PEM), SMIME + b"\n" + signed(MAIL)],
    ids=["a file", "in Base64", "a mail"],
)
def test_a_signed_mail_is_read(data: bytes) -> None:
    reading = read_document(data, ".eml" if data.startswith(SMIME) else ".p7m")
    assert "Rent is due." in reading.text
    assert "the signature was not checked" in reading.warnings[0]


def test_folded_headers_are_of_a_mail_only_with_a_text_below_them() -> None:
    folded = b"Subject: rent\r\n" + b" due\r\n" * 60
    mail = read_document(signed(folded + b"\r\nRent is due.\r\n"), ".p7m")
    assert mail.text.startswith("Embedded document: document.eml")
    other = read_document(signed(folded + b"Rent is due."), ".p7m")
    assert "no reader reads: document." in other.warnings[1]


def test_a_signature_that_was_written_in_a_stream_is_read() -> None:
    assert signed_content(STREAMED) == b"Rent is due."


def test_what_is_encrypted_stays_shut_and_says_so() -> None:
    with pytest.raises(PasswordProtected, match="encrypted for its receiver"):
        read_document(encrypted(MAIL), ".p7m")
    reading = read_document(SMIME + b"\n" + encrypted(MAIL), ".eml")
    assert "encrypted for its receiver" in reading.warnings[0]


@cases(
    ("data", "said"),
    [
        (signed(MAIL, pkcs7.PKCS7Options.DetachedSignature), "what it signs is not in it"),
        (b"", "not a signed document"),
        (b"Rent is due.", "not a signed document"),
        (STREAMED[:40], "not a signed document"),
        (b"\x30\x80" * 50_000, "not a signed document"),
        (b"\x30\x89" + b"\xff" * 40, "not a signed document"),
    ],
)
def test_what_is_no_signed_document_says_so(data: bytes, said: str) -> None:
    with pytest.raises(Damaged, match=said):
        read_document(data, ".p7m")
