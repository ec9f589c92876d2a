"""Encrypted Office files: Excel's own password opens, any other is said to be one."""

import struct
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from olefile import OleFileIO
from pptx import Presentation
from pptx.util import Inches

from tasks.errors import Damaged, PasswordProtected
from tasks.reading.embedded import read_with_embedded
from tasks.reading.ooxml.ole import DEFAULT_PASSWORD, decrypt_package
from tasks.reading.ooxml.package import CUT_OFF
from tests.cases import cases
from tests.tasks.reading.ooxml.compounds import ROUNDS, agile, compound, standard
from tests.written import saved, workbook_of

Encrypt = Callable[[bytes, str], bytes]


def workbook(rows: int = 1) -> bytes:
    return saved(workbook_of(*([f"Rent of flat {row}", 1200 + row] for row in range(rows)))[0])


def document() -> bytes:
    written = Document()
    written.add_paragraph("Clause one")
    return saved(written)


def deck() -> bytes:
    written = Presentation()
    slide = written.slides.add_slide(written.slide_layouts[6])
    slide.shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1)).text_frame.text = "A word"
    return saved(written)


def streams(data: bytes) -> dict[str, bytes]:
    """What an encrypted file is made of."""
    file = OleFileIO(BytesIO(data))
    return {name: file.openstream(name).read() for name in ("EncryptionInfo", "EncryptedPackage")}


@pytest.mark.parametrize("encrypt", [agile, standard])
@pytest.mark.parametrize(
    ("make", "extension", "text"),
    [(workbook, ".xlsx", "Rent of flat 0\t1200"), (document, ".docx", "Clause one"), (deck, ".pptx", "A word")],
)
def test_the_password_of_excel_opens_silently(
    tmp_path: Path, encrypt: Encrypt, make: Callable[[], bytes], extension: str, text: str
) -> None:
    path = tmp_path / f"a{extension}"
    path.write_bytes(encrypt(make(), DEFAULT_PASSWORD))
    reading = read_with_embedded(path)
    assert text in reading.text
    assert reading.warnings == []
    assert read_with_embedded(path.read_bytes(), extension) == reading


@cases("encrypt", [agile, standard])
@cases("extension", [".xlsx", ".docx", ".pptx"])
def test_another_password_is_said_to_be_one(encrypt: Encrypt, extension: str) -> None:
    with pytest.raises(PasswordProtected, match="only be opened with a password"):
        read_with_embedded(encrypt(workbook(), "another"), extension)


def test_a_large_package_comes_out_as_it_went_in() -> None:
    package = workbook(8_000)
    assert len(package) > 100_000
    for encrypt in (agile, standard):
        assert decrypt_package(encrypt(package, DEFAULT_PASSWORD)) == package


def test_what_is_left_of_a_package_that_is_cut_off_is_read() -> None:
    parts = streams(agile(workbook(2_000), DEFAULT_PASSWORD))
    parts["EncryptedPackage"] = parts["EncryptedPackage"][: 8 + 4096 * 8]
    reading = read_with_embedded(compound(parts), ".xlsx")
    assert "Rent of flat 0\t1200" in reading.text
    assert CUT_OFF in reading.warnings


@pytest.mark.parametrize("encrypt", [agile, standard])
def test_a_package_that_ends_within_a_block_is_damaged(encrypt: Encrypt) -> None:
    parts = streams(encrypt(workbook(), DEFAULT_PASSWORD))
    parts["EncryptedPackage"] = parts["EncryptedPackage"][:-3]
    with pytest.raises(Damaged):
        decrypt_package(compound(parts))


def test_rights_management_is_named() -> None:
    with pytest.raises(PasswordProtected, match="rights management"):
        decrypt_package(compound({"EncryptedPackage": workbook()}))


@pytest.mark.parametrize(
    "information",
    [
        struct.pack("<HHI", 3, 2, 4) + struct.pack("<9I", 32, 4, 0, 0x6801, 0x8004, 40, 1, 0, 0) + bytes(72),
        struct.pack("<HHI", 4, 3, 0) + bytes(200),
        struct.pack("<HHI", 1, 1, 0) + bytes(200),
        struct.pack("<HHI", 4, 4, 0x40) + b"<encryption/>",
        b"",
    ],
    ids=["RC4", "extensible", "unknown", "without a key", "nothing"],
)
def test_another_way_of_encryption_asks_for_a_copy_without_it(information: bytes) -> None:
    with pytest.raises(PasswordProtected, match="Save it without one"):
        decrypt_package(compound({"EncryptionInfo": information, "EncryptedPackage": workbook()}))


def test_a_password_that_takes_minutes_to_check_is_not_tried() -> None:
    parts = streams(agile(workbook(), DEFAULT_PASSWORD))
    parts["EncryptionInfo"] = parts["EncryptionInfo"].replace(b'spinCount="%d"' % ROUNDS, b'spinCount="9999999"')
    with pytest.raises(PasswordProtected) as refusal:
        decrypt_package(compound(parts))
    assert type(refusal.value.__cause__).__name__ == "DecryptionError"  # a wrong key has an error of its own


def test_an_entity_bomb_in_the_description_of_the_encryption_ends() -> None:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE e [<!ENTITY a0 "x">{entities}]><encryption>&a9;</encryption>'.encode()
    information = struct.pack("<HHI", 4, 4, 0x40) + bomb
    with pytest.raises(PasswordProtected):
        decrypt_package(compound({"EncryptionInfo": information, "EncryptedPackage": b""}))
    with pytest.raises(Damaged):
        decrypt_package(compound({"EncryptionInfo": information + b" " * (64 << 10), "EncryptedPackage": b""}))


def test_a_compound_file_of_no_known_format_asks_for_the_right_one() -> None:
    with pytest.raises(Damaged, match="old binary Office file"):
        read_with_embedded(compound({"anything": bytes(5000)}), ".xlsx")


def test_an_encrypted_file_that_is_cut_off_is_damaged() -> None:
    data = agile(workbook(), DEFAULT_PASSWORD)
    with pytest.raises(Damaged):
        decrypt_package(data[: len(data) // 2])


def test_what_decrypts_is_loaded_only_when_something_is_encrypted() -> None:
    code = (
        "import sys; from tasks.reading import formats; "
        "[formats.reader(each) for each in formats.list_supported()]; assert 'msoffcrypto' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
