"""Mutations of an XML part: each takes a random source and the part, and gives the part changed."""

import random
import re
from collections.abc import Callable
from typing import Final

NUMBERS: Final = (
    b"0", b"-1", b"1", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967296", b"18446744073709551616",
    b"9" * 40, b"1e308", b"1e999", b"-1e-400", b"NaN", b"INF", b"0x7f", b"1.5", b"", b" ", b"\xd9\xa1\xd9\xa2",
    b"\xc2\xb2",
)  # fmt: skip
TARGETS: Final = (
    b"NULL", b"#fragment", b"", b".", b"..", b"/", b"../../../../etc/passwd", b"/etc/passwd", b"file:///etc/passwd",
    b"http://127.0.0.1:9/x", b"%2e%2e/%2e%2e/etc/passwd", b"%00", b"%ff%fe", b"..\\..\\x", b"C:\\x", b"media/",
    b"document.xml", b"slides/slide1.xml", b"worksheets/sheet1.xml", b"/word/document.xml", b"/ppt/presentation.xml",
    b"_rels/.rels", b"[trash]/0000.dat", b"\xc3\xa9\xcc\x81", b"a" * 5000, b"mailto:x", b"?query", b"//host/share",
)  # fmt: skip
_REFERENCES: Final = (
    b"&#0;", b"&#1;", b"&#xD800;", b"&#xFFFE;", b"&#x110000;", b"&#99999999999999999999;", b"&#x;", b"&;", b"&",
    b"&amp", b"&nosuch;", b"&lt;w:t&gt;", b"&#10;&#13;", b"&#x1F600;", b"_x0000_", b"_xD800_", b"_xFFFF_",
    b"_x005F_x0041_",
)  # fmt: skip
_PIECES: Final = (
    b"<!-- <w:t>hidden</w:t> -->", b"<![CDATA[<w:t>raw</w:t>]]>", b"<?xml version='1.0'?>", b"<?pi x?>",
    b"<!DOCTYPE a>", b"]]>", b"<", b">", b"</", b"/>", b"<>", b"<w:t", b"\x00", b"\x0c", b"\x1b", b"\xff\xfe",
    b"\xed\xa0\x80", b"\xc3", b"\xf4\x90\x80\x80", b"\xef\xbf\xbe", b"<w:br/>", b"<w:tab/>", b"<a:br/>",
    b"<w:t xml:space='preserve'>", b"<mc:AlternateContent>", b"</mc:Choice>", b"<mc:Fallback>", b"</w:tbl>",
    b"<w:tr><w:tc>", b"<w:footnoteReference w:id='1'/>", b"<w:instrText>", b"<w:del>", b"<w:delText>x</w:delText>",
    b"<c><v>1</v></c>", b"<c r='XFD1048576'><v>1</v></c>", b"<c t='s'><v>0</v></c>", b"<row r='99999999'>",
    b"<f t='shared' si='0'/>", b"<is><t>x</t></is>", b"<a:tbl><a:tr>", b"<p:grpSp>", b"<m:oMath><m:f>",
    b"<w:txbxContent>", b"<dgm:relIds r:dm='rId1'/>", b"<c:chart r:id='rId1'/>",
)  # fmt: skip
_ENCODINGS: Final = (
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "shift_jis", "utf-7", "ascii",
    "gb18030", "cp037", "no-such", "UTF8", "iso-8859-1",
)  # fmt: skip
_DOCTYPES: Final = (
    b'<!DOCTYPE x [<!ENTITY e "words">]>',
    b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY e "words">]>',
    b'<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p; <!ENTITY e "w">]>',
    b'<!DOCTYPE x [<!ENTITY e "&e;">]>',
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY e "&b;&b;&b;&b;&b;">]>',
    b'<!DOCTYPE x [<!ATTLIST t a CDATA "default">]>',
    b"<!DOCTYPE x [",
)
_TAG: Final = re.compile(rb"<(/?)([\w:.-]+)([^<>]{0,3000})>")
_VALUE: Final = re.compile(rb"""=\s*(["'])([^"'<]*)\1""")
_LARGEST: Final = 20_000
"""Bytes: larger elements are not copied."""


def mutate(rng: random.Random, part: bytes) -> bytes:
    """The part with one change."""
    return rng.choice(_ALL)(rng, part)


def _near(rng: random.Random, pattern: re.Pattern[bytes], part: bytes) -> re.Match[bytes] | None:
    """A match behind a random place, else the first one."""
    return pattern.search(part, rng.randrange(len(part) + 1)) or pattern.search(part)


def _drop_tag(rng: random.Random, part: bytes) -> bytes:
    tag = _near(rng, _TAG, part)
    return part[: tag.start()] + part[tag.end() :] if tag else part


def _swap_tags(rng: random.Random, part: bytes) -> bytes:
    one, other = _near(rng, _TAG, part), _near(rng, _TAG, part)
    if one is None or other is None or one.start() == other.start():
        return part
    first, last = (one, other) if one.start() < other.start() else (other, one)
    return part[: first.start()] + last[0] + part[first.end() : last.start()] + first[0] + part[last.end() :]


def _rename_tag(rng: random.Random, part: bytes) -> bytes:
    one, other = _near(rng, _TAG, part), _near(rng, _TAG, part)
    return part[: one.start(2)] + other[2] + part[one.end(2) :] if one and other else part


def _element(rng: random.Random, part: bytes) -> tuple[int, int] | None:
    """From a random tag to the first end tag of its name."""
    tag = _near(rng, _TAG, part)
    if tag is None or tag[1]:
        return None
    if tag[3].endswith(b"/"):
        return tag.span()
    end = part.find(b"</" + tag[2] + b">", tag.end())
    return (tag.start(), end + len(tag[2]) + 3) if 0 <= end - tag.start() < _LARGEST else None


def _drop_element(rng: random.Random, part: bytes) -> bytes:
    span = _element(rng, part)
    return part[: span[0]] + part[span[1] :] if span else part


def _repeat_element(rng: random.Random, part: bytes) -> bytes:
    span = _element(rng, part)
    if span is None:
        return part
    times = rng.choice((2, 3, 10, 100, 1000))
    return part[: span[1]] + part[span[0] : span[1]] * min(times, 500_000 // (span[1] - span[0])) + part[span[1] :]


def _move_element(rng: random.Random, part: bytes) -> bytes:
    span = _element(rng, part)
    if span is None:
        return part
    piece, rest = part[span[0] : span[1]], part[: span[0]] + part[span[1] :]
    tag = _near(rng, _TAG, rest)
    at = tag.end() if tag else 0
    return rest[:at] + piece + rest[at:]


def _nest(rng: random.Random, part: bytes) -> bytes:
    """An element within itself, so many times deep."""
    tag = _near(rng, _TAG, part)
    if tag is None or tag[1] or tag[3].endswith(b"/"):
        return part
    closing = b"</" + tag[2] + b">"
    end = part.find(closing, tag.end())
    if end < 0:
        return part
    depth = rng.choice((2, 5, 50, 300, 3000))
    closed = closing * (depth if rng.random() < 0.7 else 0)
    return part[: tag.start()] + tag[0] * depth + part[tag.start() : end] + closed + part[end:]


def _attribute(rng: random.Random, part: bytes) -> bytes:
    value = _near(rng, _VALUE, part)
    if value is None:
        return part
    kind = rng.randrange(6)
    new = (
        rng.choice(NUMBERS),
        rng.choice(TARGETS),
        rng.choice(_REFERENCES),
        (_near(rng, _VALUE, part) or value)[2],
        value[2] * 2,
        rng.choice(
            (b"XFD1048576", b"A0", b"ZZZZZZZZ9999999999", b"1A", b"$A$1", b"A-1", b"rId1", b"rId2", b"a" * 70_000)
        ),
    )[kind]
    return part[: value.start(2)] + new + part[value.end(2) :]


def _drop_attribute(rng: random.Random, part: bytes) -> bytes:
    found = _near(rng, re.compile(rb"""\s[\w:.-]+=(?:"[^"<]*"|'[^'<]*')"""), part)
    return part[: found.start()] + part[found.end() :] if found else part


def _text(rng: random.Random, part: bytes) -> bytes:
    found = _near(rng, re.compile(rb">([^<>]+)<"), part)
    if found is None:
        return part
    new = rng.choice((rng.choice(_REFERENCES), rng.choice(NUMBERS), found[1] * 50, b"\xf0\x9f\x98\x80", b""))
    return part[: found.start(1)] + new + part[found.end(1) :]


def _insert(rng: random.Random, part: bytes) -> bytes:
    at = rng.randrange(len(part) + 1) if rng.random() < 0.3 else _behind_tag(rng, part)
    return part[:at] + rng.choice(_PIECES + _REFERENCES) + part[at:]


def _doctype(rng: random.Random, part: bytes) -> bytes:
    root = re.search(rb"<[\w:]", part)
    start = root.start() if root else 0
    part = part[:start] + rng.choice(_DOCTYPES) + part[start:]
    for _ in range(rng.randrange(4)):
        at = _behind_tag(rng, part)
        part = part[:at] + b"&e;" + part[at:]
    return part


def _encoding(rng: random.Random, part: bytes) -> bytes:
    """Another encoding, declared rightly, wrongly or not at all."""
    body = re.sub(rb"^\s*(?:\xef\xbb\xbf)?<\?xml[^>]*\?>", b"", part)
    encoding, declared = rng.choice(_ENCODINGS), rng.choice(_ENCODINGS)
    if rng.random() < 0.5:
        declared = encoding
    prolog = f'<?xml version="1.0" encoding="{declared}"?>' if rng.random() < 0.8 else ""
    try:
        return (prolog + body.decode("utf-8", "replace")).encode(encoding, "xmlcharrefreplace")
    except LookupError:
        return prolog.encode() + body


def _namespace(rng: random.Random, part: bytes) -> bytes:
    declared = _near(rng, re.compile(rb'xmlns:(\w+)="([^"]*)"'), part)
    if declared is None:
        return part
    kind, prefix = rng.randrange(5), declared[1]
    if kind == 0:  # another prefix everywhere
        return re.sub(rb"(?<=[<\s/:])" + prefix + rb"(?=[:=])", b"other", part)
    if kind == 1:  # declared otherwise, used as before
        return part.replace(declared[0], b'xmlns:other="' + declared[2] + b'"', 1)
    if kind == 2:  # the default one
        return (
            part.replace(b"xmlns:" + prefix + b"=", b"xmlns=", 1)
            .replace(b"<" + prefix + b":", b"<")
            .replace(b"</" + prefix + b":", b"</")
        )
    if kind == 3:
        return part.replace(b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/")
    return part.replace(declared[2], b"urn:other", 1)


def _cut(rng: random.Random, part: bytes) -> bytes:
    return part[: rng.randrange(len(part) + 1)]


def _behind_tag(rng: random.Random, part: bytes) -> int:
    return part.find(b">", rng.randrange(len(part) + 1)) + 1


_ALL: Final[tuple[Callable[[random.Random, bytes], bytes], ...]] = (
    _drop_tag, _drop_tag, _swap_tags, _rename_tag, _rename_tag, _drop_element, _repeat_element, _move_element, _nest,
    _attribute, _attribute, _attribute, _attribute, _drop_attribute, _text, _text, _insert, _insert, _insert, _doctype,
    _encoding, _namespace, _cut,
)  # fmt: skip
