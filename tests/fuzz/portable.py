"""Mutations of PDFs: of objects, of what is in their streams, and of the table that finds them."""

import random
import re
import zlib
from collections.abc import Callable
from typing import Final

from tests.fuzz import plain

_NUMBERS: Final = (
    b"0", b"-1", b"1", b"2147483647", b"-2147483648", b"4294967296", b"9" * 30, b"1e10", b"0.0000000001", b"-0",
    b"+-1", b"1.2.3", b"99999",
)  # fmt: skip
_NAMES: Final = (
    b"/Type", b"/Page", b"/Pages", b"/Catalog", b"/Kids", b"/Count", b"/Parent", b"/Contents", b"/Resources",
    b"/Font", b"/XObject", b"/Form", b"/Annots", b"/AcroForm", b"/Fields", b"/Outlines", b"/First", b"/Next",
    b"/Prev", b"/Last", b"/Title", b"/Dest", b"/ObjStm", b"/XRef", b"/W", b"/Index", b"/Size", b"/Root",
    b"/Encrypt", b"/Filter", b"/FlateDecode", b"/LZWDecode", b"/ASCIIHexDecode", b"/ASCII85Decode",
    b"/RunLengthDecode", b"/Crypt", b"/DCTDecode", b"/JBIG2Decode", b"/JPXDecode", b"/CCITTFaxDecode",
    b"/DecodeParms", b"/Predictor", b"/Columns", b"/Length", b"/ToUnicode", b"/Encoding", b"/Identity-H", b"/Type0",
    b"/Type3", b"/CIDFontType2", b"/W2", b"/DW", b"/MediaBox", b"/Rotate", b"/UserUnit", b"/Names",
    b"/EmbeddedFiles", b"/F", b"/EF", b"/UF", b"/Widget", b"/FreeText", b"/Popup", b"/T", b"/V", b"/FT", b"/Tx",
    b"/Opt", b"/MK", b"/AP", b"/N", b"/", b"/#00", b"/" + b"A" * 3000,
)  # fmt: skip
_INSERTS: Final = (
    b"[" * 2000, b"<<" * 2000, b"(" * 500, b"<" * 100, b"/Kids [2 0 R 2 0 R]", b"/Prev 0", b"/Next 1 0 R",
    b"/Parent 1 0 R", b"/Extends 1 0 R", b"/Filter [/FlateDecode /FlateDecode /FlateDecode]", b"/Filter /LZWDecode",
    b"/Filter /JBIG2Decode",
    b"/DecodeParms << /Predictor 15 /Columns 2147483647 /Colors 32 /BitsPerComponent 16 >>", b"/Length 2147483647",
    b"/MediaBox [0 0 1e30 1e30]", b"/UserUnit 1e9", b"/Count 2147483647",
    b"/Encrypt << /Filter /Standard /V 5 /R 6 >>", b"/F (/etc/passwd)", b"/FFilter /FlateDecode", b"endobj",
    b"endstream endobj", b"\x00", b"\xfe\xff\xd8\x00", b"null", b"true", b"/W [1 2147483647 1]",
    b"/Index [0 2147483647]", b"/AcroForm << /Fields [1 0 R] /XFA (x) >>", b"/S /JavaScript /JS (x)",
)  # fmt: skip
_OPERATORS: Final = (
    b"q " * 5000, b"Q", b"BT", b"ET", b"BT /F1 1e30 Tf", b"0 0 0 0 0 0 Tm", b"1e38 0 0 1e38 0 0 cm",
    b"(\\000\\377\\376) Tj", b"<FEFFD800> Tj", b"[(A) -1e30 (B)] TJ", b"/X0 Do",
    b"BI /W 99999 /H 99999 /BPC 8 /CS /RGB ID x EI", b"BMC", b"/P <</MCID 0>> BDC", b"/ActualText", b"3 Tr",
    b"1 0 0 1 -2147483648 2147483647 Tm", b"/F1 Tf", b"99 Tz -99 TL T*",
    b"beginbfrange <0000> <FFFF> <0000> endbfrange", b"beginbfchar <41> <D800> endbfchar", b"begincodespacerange",
)  # fmt: skip
_LONG: Final = (
    b"\\(" * 30_000, b"(" * 30_000, b"(a)" * 20_000, b"\\" * 30_001, b"words " * 20_000,
    b"\xfe\xff" + b"\xd8\x00" * 20_000,
)  # fmt: skip
_STREAM: Final = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_OBJECT: Final = re.compile(rb"\b\d+ \d+ obj\b.*?\bendobj", re.DOTALL)


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The file with one to four changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(_ALL)(rng, data)
    return data


def _one(rng: random.Random, pattern: bytes, data: bytes) -> re.Match[bytes] | None:
    """A match behind a random place outside the streams' data, as far as that can be told, else the first one."""
    compiled = re.compile(pattern)
    objects = [found.start() for found in re.finditer(rb"\b\d+ \d+ obj\b|\btrailer\b|\bxref\b", data)] or [0]
    start = rng.choice(objects)
    return compiled.search(data, start + rng.randrange(200)) or compiled.search(data)


def _put(data: bytes, found: re.Match[bytes] | None, new: bytes) -> bytes:
    return data[: found.start()] + new + data[found.end() :] if found else data


def _number(rng: random.Random, data: bytes) -> bytes:
    return _put(data, _one(rng, rb"(?<=[\s\[(])-?\d+(?:\.\d+)?\b", data), rng.choice(_NUMBERS))


def _name(rng: random.Random, data: bytes) -> bytes:
    return _put(data, _one(rng, rb"/[A-Za-z0-9]+", data), rng.choice(_NAMES))


def _reference(rng: random.Random, data: bytes) -> bytes:
    """A reference to another object, so that trees become loops."""
    numbers = re.findall(rb"\b(\d+) \d+ obj\b", data) or [b"1"]
    return _put(data, _one(rng, rb"\b\d+ \d+ R\b", data), rng.choice(numbers) + b" 0 R")


def _insert(rng: random.Random, data: bytes) -> bytes:
    found = _one(rng, rb"<<|\[|>>", data)
    at = found.end() if found else 0
    return data[:at] + b" " + rng.choice(_INSERTS) + b" " + data[at:]


def _objects(rng: random.Random, data: bytes) -> bytes:
    """An object left out, repeated, or under another's number."""
    found = list(_OBJECT.finditer(data))
    if not found:
        return data
    one, other = rng.choice(found), rng.choice(found)
    kind = rng.randrange(3)
    if kind == 0:
        return _put(data, one, b"")
    if kind == 1:
        return data[: one.end()] + b"\n" + other[0] + data[one.end() :]
    return _put(data, one, one[0].split(b" ", 1)[0] + b" " + other[0].split(b" ", 1)[1])


def _often(rng: random.Random, data: bytes) -> bytes:
    """An element of an array that many follow: the same page, note, font or title."""
    found = _one(rng, rb"\[\s*(\d+ \d+ R\b)", data)
    times = rng.choice((10, 1000, 20_000))
    return _put(data, found, found[0] + (b" " + found[1]) * times) if found else data


def _long(rng: random.Random, data: bytes) -> bytes:
    """A string that is long, or does not end."""
    found = _one(rng, rb"\((?:[^()\\]|\\.){0,500}\)", data)
    return _put(data, found, b"(" + rng.choice(_LONG) + rng.choice((b")", b")", b"")))


def _stream(rng: random.Random, data: bytes) -> bytes:
    """What is in a stream changed, and packed again as it was."""
    found = list(_STREAM.finditer(data))
    if not found:
        return data
    chosen = rng.choice(found)
    packed = chosen[1]
    try:
        content = zlib.decompress(packed)
    except zlib.error:
        new = plain.mutate(rng, packed)
    else:
        for _ in range(rng.choice((1, 1, 3))):
            kind = rng.random()
            at = rng.randrange(len(content) + 1)
            if kind < 0.05:
                content = _long(rng, content)
            elif kind < 0.4:
                content = content[:at] + b" " + rng.choice(_OPERATORS) + b" " + content[at:]
            elif kind < 0.6:
                content = _number(rng, content)
            elif kind < 0.65:
                content *= min(200, 2_000_000 // (len(content) + 1))
            else:
                content = plain.mutate(rng, content)
        new = zlib.compress(content, 1)
    return data[: chosen.start(1)] + new + data[chosen.end(1) :]


def _table(rng: random.Random, data: bytes) -> bytes:
    """The cross-reference table damaged, lost, or in a circle."""
    kind = rng.randrange(6)
    at = data.rfind(b"startxref")
    if kind == 0:
        return _put(data, _one(rng, rb"\d{10} \d{5} [nf]", data), b"%010d 00000 n" % rng.randrange(len(data) + 1))
    if kind == 1:
        return data[: data.rfind(b"xref", 0, at)]
    if kind == 2:
        return data.replace(b"startxref", b"startxrex")
    if kind == 3:
        return re.sub(rb"startxref\s+\d+", b"startxref\n%d" % rng.randrange(2 * len(data) + 1), data)
    if kind == 4:
        return re.sub(rb"trailer\s*<<", b"trailer << /Prev %d " % data.rfind(b"xref", 0, at), data)
    return data[: rng.randrange(len(data) + 1)] + data[at:]


_ALL: Final[tuple[Callable[[random.Random, bytes], bytes], ...]] = (
    _number, _number, _name, _name, _reference, _reference, _insert, _insert, _objects, _stream, _stream, _stream,
    _often, _long, _table, plain.mutate,
)  # fmt: skip
