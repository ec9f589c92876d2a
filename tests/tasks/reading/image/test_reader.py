"""Pictures: their text page by page, upright, and what becomes of hostile ones."""

import struct
import time
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from storage import database
from storage.texts import Outcome
from tasks.documents import texts
from tasks.documents.drive.registry import open_drive
from tasks.documents.texts import document_text
from tasks.errors import Damaged, TooLarge
from tasks.reading import read_document
from tasks.reading.embedded import read_with_embedded
from tests.cases import cases
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract, picture

WORDS = CLAUSE.split()


@pytest.fixture
def _recognising(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    data = BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


@needs_tesseract
@pytest.mark.usefixtures("_recognising")
@pytest.mark.parametrize(
    ("kind", "mode", "extension"),
    [
        ("PNG", "L", ".png"),
        pytest.param("PNG", "RGBA", ".png", marks=pytest.mark.slow),
        pytest.param("PNG", "P", ".png", marks=pytest.mark.slow),
        ("PNG", "I;16", ".png"),
        pytest.param("JPEG", "RGB", ".jpg", marks=pytest.mark.slow),
        pytest.param("TIFF", "1", ".tif", marks=pytest.mark.slow),
        ("TIFF", "CMYK", ".tiff"),
    ],
)
def test_the_text_of_a_picture_is_recognised(kind: str, mode: str, extension: str) -> None:
    page = picture(CLAUSE)
    page = page.convert("I").point(lambda value: value * 256).convert("I;16") if mode == "I;16" else page.convert(mode)
    reading = read_document(saved(page, kind), extension)
    assert reading.text.split() == WORDS
    assert [place.kind for place in reading.places] == ["page", "ocr"]
    assert reading.warnings == ["Scans, whose text was recognised (OCR) and may be wrong: page 1."]


@needs_tesseract
@pytest.mark.usefixtures("_recognising")
def test_a_photograph_is_turned_as_its_camera_says_and_a_screenshot_enlarged() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned to the left
    turned = picture(CLAUSE).rotate(90, expand=True)
    assert read_document(saved(turned, "JPEG", exif=exif), ".jpeg").text.split() == WORDS
    assert read_document(saved(picture(CLAUSE, dots_an_inch=90)), ".png").text.split() == WORDS


@needs_tesseract
@pytest.mark.usefixtures("_recognising")
def test_pages_of_a_tiff_are_pages_and_empty_ones_are_named() -> None:
    pages = [picture(CLAUSE), Image.new("L", (800, 800), 255), picture("Signed in Aarhus for the bank.\n")]
    reading = read_document(saved(pages[0], "TIFF", save_all=True, append_images=pages[1:]), ".tif")
    assert [page.split() for page in reading.text.split("\f")] == [
        WORDS,
        [],
        ["Signed", "in", "Aarhus", "for", "the", "bank."],
    ]
    assert reading.warnings == [
        "Scans, whose text was recognised (OCR) and may be wrong: pages 1, 3.",
    ]


@needs_tesseract
def test_a_picture_is_read_again_when_recognition_comes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room/page.png").write_bytes(saved(picture(CLAUSE)))
    time.sleep(0.1)  # what is read within 50 ms of a change is read again the next time
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "room"))
    drive = open_drive()
    (document,) = drive.list_folder(drive.find_folder("root"), recursive=False).documents
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    assert document_text(document.id).text == ""
    monkeypatch.delenv("DILIGENCE_OCR")
    assert document_text(document.id).text.split() == WORDS
    assert texts.find_known_texts(drive, [document])[document.id].outcome is Outcome.READ
    assert database.url()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, data: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@cases("extension", [".png", ".jpg", ".tiff"])
def test_what_is_no_picture_is_damaged(extension: str) -> None:
    for data in (b"", b"junk", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0" + bytes(100), b"GIF89a" + bytes(50)):
        with pytest.raises(Damaged):
            read_with_embedded(data, extension)


def test_a_picture_that_unpacks_to_gigabytes_is_too_large() -> None:
    with pytest.raises(TooLarge, match="100,000"):
        read_with_embedded(png(100_000, 100_000, zlib.compress(bytes(1000))), ".png")


def test_a_tiff_whose_pages_lead_in_a_circle_ends() -> None:
    entries = [
        (256, 3, 1, 8),
        (257, 3, 1, 8),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, 1, 8),
        (279, 4, 1, 64),
    ]
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    circle = b"II*\0" + struct.pack("<I", 8) + directory + struct.pack("<I", 8) + bytes(64)
    assert read_with_embedded(circle, ".tif").pages is not None


@needs_tesseract
@pytest.mark.usefixtures("_recognising")
def test_a_picture_that_breaks_off_gives_what_is_there() -> None:
    whole = saved(picture(CLAUSE), "JPEG", quality=90)
    reading = read_document(whole[: len(whole) // 2], ".jpg")
    assert "lender" in reading.text
    assert any("cut off" in warning for warning in reading.warnings)
