"""What is taken out of OLE compound files, and that hostile ones end."""

import random
import struct
from collections.abc import Callable
from datetime import date

import pytest

from tasks.errors import Damaged
from tasks.reading.ooxml.ole import Compound, unpack_document
from tests.cases import cases
from tests.tasks.reading.ooxml.compounds import END, NATIVE, SECTOR, compound, native

LARGE = bytes(range(256)) * 40


def test_streams_large_and_small_come_as_they_were_put_in() -> None:
    streams = {"large": LARGE, "small": b"a few bytes", "empty": b"", "half": b"x" * 4095}
    file = Compound(compound(streams))
    assert {name: file.stream(name) for name in streams} == streams
    assert file.has_stream("LARGE")
    assert not file.has_stream("another")


def test_an_office_file_lies_in_a_stream_named_package() -> None:
    assert unpack_document("oleObject1.bin", compound({"\x01Ole": b"", "Package": LARGE})) == ("oleObject1.bin", LARGE)


@cases(
    ("label", "path", "name"),
    [
        ("Budget.xlsx", "C:\\Users\\me\\Budget.xlsx", "Budget.xlsx"),
        ("C:\\Users\\me\\Budget.xlsx", "Budget.xlsx", "Budget.xlsx"),
        ("../../etc/passwd.txt", "", "passwd.txt"),
        ("Our budget", "C:\\Users\\me\\Budget.xlsx", "Budget.xlsx"),
        ("Our budget", "", "Our budget"),
        ("", "", "oleObject1.bin"),
        ("Prévisions.docx", "", "Prévisions.docx"),
    ],
)
@cases("wide", [True, False])
def test_a_packed_file_has_the_name_of_its_label_without_the_path(label: str, path: str, name: str, wide: bool) -> None:
    stream = native(label, path, LARGE, wide=wide)
    assert unpack_document("oleObject1.bin", compound({NATIVE: stream})) == (name, LARGE)


def test_a_name_in_any_script_comes_from_the_wide_form() -> None:
    stream = native("新建文本文档.txt", "C:\\新建文本文档.txt", b"text")
    assert unpack_document("oleObject1.bin", compound({NATIVE: stream})) == ("新建文本文档.txt", b"text")


def test_a_packed_file_without_names_is_all_that_follows_the_size() -> None:
    stream = struct.pack("<I", 9) + b"%PDF-1.7\n"
    assert unpack_document("oleObject1.bin", compound({NATIVE: stream})) == ("oleObject1.bin", b"%PDF-1.7\n")


@cases("cut", [0, 3, 5, 8, 30, 60, 400])
def test_a_packed_file_that_is_cut_off_is_no_failure(cut: int) -> None:
    stream = native("Budget.xlsx", "C:\\Budget.xlsx", LARGE)[:cut]
    name, data = unpack_document("oleObject1.bin", compound({NATIVE: stream}))
    assert (name, data) == ("oleObject1.bin", stream[4:])


def test_a_pdf_lies_in_a_stream_named_contents() -> None:
    contents = compound({"CONTENTS": b"\0\0\0%PDF-1.4 and so on"})
    assert unpack_document("oleObject2.bin", contents) == ("oleObject2.pdf", b"%PDF-1.4 and so on")
    assert unpack_document("oleObject2.bin", compound({"CONTENTS": LARGE})) == ("oleObject2.bin", None)


@cases(
    ("stream", "name"),
    [
        ("WordDocument", "oleObject3.doc"),
        ("Workbook", "oleObject3.xls"),
        ("BOOK", "oleObject3.xls"),
        ("PowerPoint Document", "oleObject3.ppt"),
    ],
)
def test_a_document_in_an_old_format_is_named_by_it(stream: str, name: str) -> None:
    document = compound({stream: LARGE})
    assert unpack_document("oleObject3.bin", document) == (name, document)


@pytest.mark.parametrize(("stream", "name"), [("Equation Native", "Equation"), ("something else", "oleObject3.bin")])
def test_what_no_reader_could_read_has_a_name_only(stream: str, name: str) -> None:
    assert unpack_document("oleObject3.bin", compound({stream: LARGE})) == (name, None)


def test_what_is_encrypted_or_no_compound_file_stays_as_it_is() -> None:
    encrypted = compound({"EncryptedPackage": LARGE, "EncryptionInfo": b""})
    for data in (encrypted, b"PK\3\4 a zip", b""):
        assert unpack_document("Budget.xlsx", data) == ("Budget.xlsx", data)


def table(data: bytearray) -> int:
    """Where the table of sectors begins."""
    return int(SECTOR * (1 + struct.unpack_from("<I", data, 76)[0]))


def entry(data: bytearray, name: str) -> int:
    """Where the directory speaks of a stream."""
    return data.index(name.encode("utf-16-le"))


def looped_list_of_tables(data: bytearray) -> None:
    """A sector that lists the first one 127 times, and itself as the next such list; there are said to be a million."""
    last = len(data) // SECTOR - 1
    data += struct.pack("<128I", *[0] * 127, last)
    struct.pack_into("<I", data, 44, 109 + 127_000_000)
    struct.pack_into("<II", data, 68, last, 1_000_000)


def looped_stream(data: bytearray) -> None:
    """A stream whose first sector leads to itself, and that says to have 2 GB."""
    at = entry(data, "Package")
    (first,) = struct.unpack_from("<I", data, at + 116)
    struct.pack_into("<I", data, at + 120, 1 << 31)
    struct.pack_into("<I", data, table(data) + 4 * first, first)


def looped_small_streams(data: bytearray) -> None:
    """The same with the stream that holds the small ones."""
    at = entry(data, "Root Entry")
    (first,) = struct.unpack_from("<I", data, at + 116)
    struct.pack_into("<I", data, at + 120, 1 << 31)
    struct.pack_into("<I", data, table(data) + 4 * first, first)


def vast_table_of_small_sectors(data: bytearray) -> None:
    """A table of small sectors that says to have 2 TB and leads to itself."""
    (first,) = struct.unpack_from("<I", data, 60)
    struct.pack_into("<I", data, 64, END)
    struct.pack_into("<I", data, table(data) + 4 * first, first)


def huge_sectors(data: bytearray) -> None:
    """Sectors of 2^4096 bytes."""
    struct.pack_into("<H", data, 30, 4096)


@cases(
    "attack",
    [looped_list_of_tables, looped_stream, looped_small_streams, vast_table_of_small_sectors, huge_sectors],
)
def test_a_file_that_says_to_be_larger_than_it_is_is_refused(attack: Callable[[bytearray], None]) -> None:
    data = bytearray(compound({"Package": LARGE, "small": b"a few bytes"}))
    attack(data)
    with pytest.raises(Damaged):
        unpack_document("oleObject1.bin", bytes(data))


def test_a_directory_without_end_is_refused() -> None:
    deep = compound({f"stream {number}": b"" for number in range(3000)})  # each beside the one before: olefile recurses
    with pytest.raises(Damaged):
        unpack_document("oleObject1.bin", deep)


def test_a_directory_of_thousands_is_refused() -> None:
    data = bytearray(compound({f"stream {number}": b"" for number in range(5000)}))
    at = entry(data, "Root Entry")
    for number in range(1, 5001):  # a tree without depth: each has the two that follow its double below it
        below = [child if child <= 5000 else 0xFFFFFFFF for child in (2 * number, 2 * number + 1)]
        struct.pack_into("<II", data, at + 128 * number + 68, *below)
    with pytest.raises(Damaged):
        unpack_document("oleObject1.bin", bytes(data))


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 300), marks=pytest.mark.slow)], ids=["5", "295"])
def test_a_file_changed_at_random_ends_with_what_it_can_hold_or_as_damaged(seeds: range) -> None:
    for seed in seeds:
        assert _ends(seed), f"seed {seed}"


def _ends(seed: int) -> bool:
    """Whether taking out what a file changed at random holds ends as damaged, or with no more than the file."""
    chance = random.Random(seed)
    data = bytearray(compound({"Package": LARGE, NATIVE: native("a.txt", "a.txt", b"text"), "CONTENTS": b"%PDF-1.4"}))
    known = [*range(SECTOR), *range(len(data) - 5 * SECTOR, len(data))]  # the header, the directory and the tables
    for _ in range(chance.choice((1, 3, 10))):
        at = chance.choice(known)
        data[at : at + 4] = chance.choice((bytes(4), b"\xff" * 4, b"\xfe\xff\xff\xff", chance.randbytes(4)))
    del data[chance.choice((len(data), len(data), chance.randrange(len(data)))) :]
    try:
        _, found = unpack_document("oleObject1.bin", bytes(data))
    except Damaged:
        return True
    return len(found or b"") <= len(data)


def summary(*properties: tuple[int, int, int]) -> bytes:
    """A summary information of properties with their type and eight bytes of value ([MS-OLEPS] 2.21)."""
    first = 8 + 8 * len(properties)
    names = b"".join(struct.pack("<II", name, first + 12 * at) for at, (name, *_) in enumerate(properties))
    values = b"".join(struct.pack("<IQ", kind, value) for _, kind, value in properties)
    body = struct.pack("<II", 8 + len(names) + len(values), len(properties)) + names + values
    return bytes(44) + struct.pack("<I", 48) + body


def test_the_times_of_a_file_are_those_that_are_set() -> None:
    made = (date(2023, 2, 1) - date(1601, 1, 1)).days * 24 * 3600 * 10**7
    saved = made + 10 * 24 * 3600 * 10**7
    times = [
        (((12, 0x40, made), (13, 0x40, saved)), ("2023-02-01T00:00:00", "2023-02-11T00:00:00")),
        (((12, 0x40, made), (13, 0x40, 0)), ("2023-02-01T00:00:00", "")),
        (((12, 0x40, made), (13, 0x40, 2**63)), ("2023-02-01T00:00:00", "")),
        (((12, 0x1E, made), (2, 0x1000, 2**32 - 1)), ("", "")),  # a vector of thousands of millions is passed over
    ]
    for properties, expected in times:
        assert Compound(compound({"\x05SummaryInformation": summary(*properties)})).dates() == expected
    assert Compound(compound({"\x05SummaryInformation": b"\xfe\xff"})).dates() == ("", "")
    assert Compound(compound({"Workbook": b"a"})).dates() == ("", "")
