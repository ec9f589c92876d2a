"""The names of a .zip's members: what their bytes are, for there is no one encoding.

Names are UTF-8 where a flag or a field says so. Without it, macOS and Linux write UTF-8 as well, and Windows the code
page of the machine's country: all names of an archive are judged together.
"""

import struct
import unicodedata
from collections.abc import Sequence
from typing import Final
from zlib import crc32

_UTF_8: Final = 0x800
_UNICODE_PATH: Final = 0x7075
_SAMPLE: Final = 1 << 16
_BESIDE: Final = 0.5
"""The share of bytes beyond ASCII that stand beside another one in other scripts than Latin; in German it is near 0."""


def decoded_names(raw: Sequence[tuple[bytes, int, bytes]]) -> list[str]:
    """The names of members, given their bytes, flags and extra fields."""
    unknown = [name for name, flags, _ in raw if not name.isascii() and not flags & _UTF_8]
    encoding = _encoding(b"\n".join(unknown)[:_SAMPLE]) if unknown else "ascii"
    return [_name(name, flags, extra, encoding) for name, flags, extra in raw]


def _name(name: bytes, flags: int, extra: bytes, encoding: str) -> str:
    if name.isascii():
        return name.decode("ascii")
    if flags & _UTF_8:
        return name.decode("utf-8", "replace")
    return _unicode_path(name, extra) or name.decode(encoding, "replace")


def _unicode_path(name: bytes, extra: bytes) -> str | None:
    """The name in the field that Info-ZIP and WinZip write besides, if it belongs to this name."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        data = extra[at + 4 : at + 4 + size]
        if kind == _UNICODE_PATH and len(data) > 5 and struct.unpack_from("<L", data, 1)[0] == crc32(name):
            return data[5:].decode("utf-8", "replace")
        at += 4 + size
    return None


def _encoding(sample: bytes) -> str:
    """The encoding in which bytes beyond ASCII make sense."""
    if _decodes(sample, "utf-8"):
        return "utf-8"
    high = [at for at, byte in enumerate(sample) if byte >= 0x80]
    beside = sum(1 for at in high if sample[at - 1 : at] >= b"\x80" or sample[at + 1 : at + 2] >= b"\x80")
    if beside > _BESIDE * len(high) and not _is_latin(sample):
        for encoding, blocks in (
            ("cp932", ("HIRAGANA", "KATAKANA")),
            ("cp866", ("CYRILLIC",)),
            ("gb18030", ("CJK",)),
            ("cp949", ("HANGUL",)),
            ("cp932", ("CJK",)),
            ("cp1251", ("CYRILLIC",)),
        ):
            if _decodes(sample, encoding) and _of(sample.decode(encoding), blocks):
                return encoding
    return next(
        (page for page in ("cp437", "cp850", "cp1252") if _of(sample.decode(page, "replace"), ("LATIN",))), "cp437"
    )


def _is_latin(sample: bytes) -> bool:
    """Whether letters beyond ASCII that stand side by side make words of a Latin alphabet all the same: "Größe"."""
    # Loads a detector of encodings (16 ms), for few archives.
    from tasks.reading.txt.reader import code_page  # noqa: PLC0415

    return code_page(sample) in ("cp437", "cp850")


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _of(text: str, blocks: tuple[str, ...]) -> bool:
    """Whether most characters beyond ASCII are of these scripts, or for kana a good part."""
    names = [unicodedata.name(character, "") for character in text if character > "\x7f"]
    share = 0.2 if "HIRAGANA" in blocks else 0.9
    return sum(name.startswith(blocks) for name in names) >= share * len(names)
