"""Archives for tests, harmless and hostile."""

import struct
import zipfile
from collections.abc import Mapping
from io import BytesIO
from zlib import crc32

Content = bytes | str


def zipped(members: Mapping[str, Content], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A .zip of these members, by their paths; one that ends with `/` is a folder."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2024, 5, 1, 10, 20, 30)), content, method)
    return file.getvalue()


def with_attributes(name: str, content: bytes, mode: int, *, flags: int = 0, method: int = 0) -> bytes:
    """A .zip of one stored member with that Unix mode and those flags."""
    return made([(name.encode(), content, mode, flags, method, None)])


def made(members: list[tuple[bytes, bytes, int, int, int, int | None]]) -> bytes:
    """A .zip byte by byte: name, content, Unix mode, flags, method, and the size that the directory claims."""
    body, directory = b"", b""
    for name, content, mode, flags, method, claimed in members:
        size = len(content) if claimed is None else claimed
        common = struct.pack("<HHHHLLLHH", flags, method, 0, 0x58A1, crc32(content), len(content), size, len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<HH", 0x0314, 20) + common
        directory += struct.pack("<HHHLL", 0, 0, 0, mode << 16, len(body)) + name
        body += b"PK\x03\x04" + struct.pack("<H", 20) + common + name + content
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + end
