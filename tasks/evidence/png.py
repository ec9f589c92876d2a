"""Pictures of few colours as PNG, in a quarter of the time that Pillow's own writer takes (8 ms for a page of print).

The format: W3C, Portable Network Graphics (PNG) Specification, third edition.
"""

import struct
from itertools import chain
from typing import Final
from zlib import crc32

from PIL.Image import Image
from zlib_ng import zlib_ng

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_PALETTE: Final = 3
"""The colour type: each dot is the number of a colour."""
_UNFILTERED: Final = b"\0"
_LEVEL: Final = 4
"""zlib's: a page of print takes 1.9 ms and 74 KB, with 1 half the time and 105 KB."""


def packed(picture: Image) -> bytes:
    """A picture with a palette (Pillow's mode `P`) as the bytes of a PNG file; 4 bits a dot of up to 16 colours."""
    colours = bytes(picture.getpalette() or [])
    bits = 4 if len(colours) <= 3 * 16 else 8
    dots = picture.tobytes("raw", f"P;{bits}" if bits < 8 else "P")
    stride = (picture.width * bits + 7) // 8
    lines = (dots[start : start + stride] for start in range(0, len(dots), stride))
    rows = b"".join(chain.from_iterable((_UNFILTERED, line) for line in lines))
    header = struct.pack(">IIBBBBB", *picture.size, bits, _PALETTE, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib_ng.compress(rows, _LEVEL)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc32(name + content))
