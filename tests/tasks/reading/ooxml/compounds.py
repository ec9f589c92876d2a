"""Builds OLE compound files, which olefile can only read, and Office files encrypted as Office 2007 does."""

import struct
from collections.abc import Mapping
from hashlib import sha1
from io import BytesIO
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from msoffcrypto.method.ecma376_agile import ECMA376Agile
from msoffcrypto.method.ecma376_standard import ECMA376Standard

from tasks.reading.ooxml.ole import MAGIC

FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
SECTOR, SMALL = 512, 64
NATIVE = "\x01Ole10Native"


Streams = Mapping[str, "bytes | Streams"]
"""What a folder of a compound file holds: streams, and folders."""


def compound(streams: Streams) -> bytes:
    """A compound file of at most 6.8 MB with these streams and folders."""
    body, table = bytearray(), list[int]()
    small, small_table = bytearray(), list[int]()
    made: list[bytes] = []

    def put(below: Streams) -> int:
        """Add what a folder holds; gives the number of its first entry."""
        numbers = range(len(made) + 1, len(made) + 1 + len(below))
        made.extend([b""] * len(below))
        for number, (name, content) in zip(numbers, below.items(), strict=True):
            right = number + 1 if number + 1 in numbers else FREE
            if isinstance(content, bytes):
                width, *where = (SMALL, small, small_table) if len(content) < 4096 else (SECTOR, body, table)
                made[number - 1] = _entry(name, 2, _put(content, width, *where), len(content), right=right)  # type: ignore[arg-type]
            else:
                made[number - 1] = _entry(name, 1, 0, 0, right=right, child=put(content))
        return numbers[0] if numbers else FREE

    child = put(streams)
    entries = b"".join(made)
    root = _entry("Root Entry", 5, _put(small, SECTOR, body, table), len(small), child=child)
    small_table += [FREE] * (-len(small_table) % 128)
    small_first = _put(struct.pack(f"<{len(small_table)}I", *small_table), SECTOR, body, table)
    directory = _put(root + entries, SECTOR, body, table)
    start, count = len(table), 1
    while count * 128 < start + count:
        count += 1
    table += [TABLE] * count
    table += [FREE] * (-len(table) % 128)
    body += struct.pack(f"<{len(table)}I", *table)
    numbers = (count, directory, 0, 4096, small_first, len(small_table) // 128, END, 0)
    header = MAGIC + bytes(16) + struct.pack("<5H6x4x8I", 0x3E, 3, 0xFFFE, 9, 6, *numbers)
    return header + struct.pack("<109I", *(start + n if n < count else FREE for n in range(109))) + bytes(body)


def _put(data: bytes | bytearray, width: int, body: bytearray, table: list[int]) -> int:
    """Append data in sectors of that width; gives the first one's number."""
    first, count = len(table), -(-len(data) // width)
    body += data.ljust(count * width, b"\0")
    table += [*range(first + 1, first + count), END][:count]
    return first if count else END


def _entry(name: str, kind: int, first: int, size: int, *, right: int = FREE, child: int = FREE) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    return raw.ljust(64, b"\0") + struct.pack("<HBB3I36xIQ", len(raw), kind, 1, FREE, right, child, first, size)


def native(label: str, path: str, data: bytes, *, wide: bool = True) -> bytes:
    r"""A `\x01Ole10Native` stream as Windows' packager writes it; before 2000 without its names in UTF-16."""
    zero_ended = b"".join(text.encode("cp1252", "replace") + b"\0" for text in (label, path))
    temporary = "C:\\TEMP\\x.tmp"
    content = b"\2\0" + zero_ended + b"\0\0\3\0" + _sized(temporary.encode() + b"\0") + _sized(data)
    if wide:
        for text in (temporary, label, path):
            content += struct.pack("<I", len(text)) + text.encode("utf-16-le")
    return _sized(content)


def _sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


ROUNDS: Final = 100
"""By which `agile` makes a key of a password: Office has 100,000, which take 0.1 s."""


def agile(package: bytes, password: str) -> bytes:
    """An Office file encrypted as Office 2010 and later do, but for the rounds."""
    encrypted: bytes = ECMA376Agile.encrypt(password, BytesIO(package), spin_count=ROUNDS)
    return encrypted


def standard(package: bytes, password: str) -> bytes:
    """An Office file encrypted as Office 2007 does ([MS-OFFCRYPTO] 2.3.4.4 to 2.3.4.9): AES with 128 bits."""
    salt, verifier = bytes(range(16)), bytes(range(16, 32))
    key = bytes(ECMA376Standard.makekey_from_password(password, 0x660E, 0x8004, 24, 128, len(salt), salt))

    def hidden(data: bytes) -> bytes:
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        return encryptor.update(data.ljust(-(-len(data) // 16) * 16, b"\0")) + encryptor.finalize()

    header = struct.pack("<8I", 0x24, 0, 0x660E, 0x8004, 128, 24, 0, 0) + "AES\0".encode("utf-16-le")
    proof = struct.pack("<I", 16) + salt + hidden(verifier) + struct.pack("<I", 20) + hidden(sha1(verifier).digest())
    information = struct.pack("<HHI", 3, 2, 0x24) + _sized(header) + proof
    return compound(
        {"EncryptionInfo": information, "EncryptedPackage": struct.pack("<Q", len(package)) + hidden(package)}
    )
