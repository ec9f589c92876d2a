"""Changes of an XML part that leave its meaning as it is: another writer could have written the part so.

Each takes a random source and the part as pieces (tags and what stands between them), and gives pieces.
"""

import random
import re
from collections.abc import Callable
from typing import Final

from lxml import etree

from tests.fuzz.plain_readers.package import PREFIXES

_PIECE: Final = re.compile(
    r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|</?[^\s<>/]+(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL
)
_TAG: Final = re.compile(r"<(/?)([^\s<>/]+)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*?)(\s*/?)>", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"\s+([^\s=]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_TEXTS: Final = re.compile(
    r"(?:\w+:)?(?:t|v|f|instrText|delText|text|formula|fldChar|pt|oddHeader|oddFooter|evenHeader|evenFooter|firstHeader|firstFooter|definedName|formatCode)"
)
"""Elements whose white space is text."""

_MC: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_WRAPPED: Final = re.compile(r"(?:w:(?:p|r|tbl)|p:(?:sp|pic|graphicFrame)|a:r)")
_MOST: Final = 400
"""Tags that one change touches; the rest of a large part stays as it is."""

Pieces = list[str]


def pieces_of(text: str) -> Pieces:
    """Tags, comments, instructions and the text between them, in order."""
    pieces: Pieces = []
    at = 0
    for match in _PIECE.finditer(text):
        if match.start() > at:
            pieces.append(text[at : match.start()])
        pieces.append(match[0])
        at = match.end()
    return [*pieces, text[at:]] if at < len(text) else pieces


def changed(rng: random.Random, data: bytes, name: str) -> bytes:
    """The part with the change of that name; as it was where the change finds no place, or the part is no XML."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
        if b"<!DOCTYPE" in data:
            return data
        text = data.decode(str(root.getroottree().docinfo.encoding or "utf-8")).removeprefix("\ufeff")
        prolog = re.match(r"\s*<\?xml.*?\?>\s*", text, re.DOTALL)
        if name in _ENCODINGS:
            body = text[prolog.end() if prolog else 0 :]
            return _ENCODINGS[name](body)
        text = text[prolog.end() if prolog else 0 :]
        result = ('<?xml version="1.0" encoding="UTF-8"?>' + "".join(CHANGES[name](rng, pieces_of(text)))).encode()
        etree.fromstring(result, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, UnicodeError, LookupError, RecursionError):
        return data
    return result


_ENCODINGS: Final[dict[str, Callable[[str], bytes]]] = {
    "byte order mark": lambda body: b"\xef\xbb\xbf" + b'<?xml version="1.0" encoding="utf-8"?>' + body.encode(),
    "utf-16": lambda body: ('<?xml version="1.0" encoding="UTF-16"?>' + body).encode("utf-16"),
    "utf-16 big endian": lambda body: ('\ufeff<?xml version="1.0" encoding="utf-16"?>' + body).encode("utf-16-be"),
    "no prolog": lambda body: body.encode(),
    "standalone and white space": lambda body: (
        "<?xml version='1.0'\tencoding='UTF-8'  standalone=\"yes\" ?>\r\n\r\n<!-- made by hand -->\n"
        + body
        + "\n<!-- end -->\n"
    ).encode(),
    "latin-1": lambda body: (
        b"<?xml version='1.0' encoding='ISO-8859-1'?>" + body.encode("latin-1", "xmlcharrefreplace")
    ),
}


def _each_tag(rng: random.Random, pieces: Pieces, change: Callable[[re.Match[str]], str], share: float = 0.5) -> Pieces:
    """Change a random share of the tags."""
    pieces = list(pieces)
    tags = [number for number, piece in enumerate(pieces) if piece.startswith("<") and piece[1] not in "!?"]
    for number in rng.sample(tags, min(_MOST, max(1, int(len(tags) * share)))):
        match = _TAG.fullmatch(pieces[number])
        if match is not None:
            pieces[number] = change(match)
    return pieces


def _attributes(tag: re.Match[str]) -> list[tuple[str, str]]:
    """Names and values; values hold no double quotes."""
    return [(name, (double or single).replace('"', "&quot;")) for name, double, single in _ATTRIBUTE.findall(tag[3])]


def _with(tag: re.Match[str], attributes: str, end: str | None = None) -> str:
    return f"<{tag[1]}{tag[2]}{attributes}{tag[4] if end is None else end}>"


def _order(rng: random.Random, pieces: Pieces) -> Pieces:
    def change(tag: re.Match[str]) -> str:
        attributes = _attributes(tag)
        rng.shuffle(attributes)
        return _with(tag, "".join(f' {name}="{value}"' for name, value in attributes))

    return _each_tag(rng, pieces, change, 1)


def _quotes(rng: random.Random, pieces: Pieces) -> Pieces:
    def change(tag: re.Match[str]) -> str:
        attributes = [(name, value.replace("'", "&apos;")) for name, value in _attributes(tag)]
        return _with(tag, "".join(f" {name}='{value}'" for name, value in attributes))

    return _each_tag(rng, pieces, change, 1)


def _white_space(rng: random.Random, pieces: Pieces) -> Pieces:
    def space() -> str:
        return rng.choice((" ", "\n", "\t", "  ", "\r\n", "\n\t"))

    def change(tag: re.Match[str]) -> str:
        attributes = "".join(
            f'{space()}{name}{rng.choice(("", " "))}={rng.choice(("", space()))}"{value}"'
            for name, value in _attributes(tag)
        )
        return _with(tag, attributes, space() + tag[4].strip())

    return _each_tag(rng, pieces, change)


def _greater_than(rng: random.Random, pieces: Pieces) -> Pieces:
    """A `>` inside an attribute, of a name that nobody knows.

    Not in `w:tab`: within a run it has no attributes (part 1, 17.3.3.32), by which our reader tells it from a tab stop.
    """

    def change(tag: re.Match[str]) -> str:
        if tag[1] or "xmlns:odd" in tag[3] or tag[2].endswith(":tab"):
            return tag[0]
        odd = ' xmlns:odd="urn:odd" odd:note="a>b/>"'
        return _with(tag, odd + tag[3] if rng.random() < 0.5 else tag[3] + odd)

    return _each_tag(rng, pieces, change)


def _closed(rng: random.Random, pieces: Pieces) -> Pieces:
    """Empty elements closed by a tag of their own, and the other way round."""
    opened: Pieces = []
    for piece in pieces:
        match = _TAG.fullmatch(piece) if piece.endswith("/>") else None
        if match is not None and rng.random() < 0.5:
            opened += [f"<{match[2]}{match[3]}>", f"</{match[2]}>"]
        elif opened and piece.startswith("</") and rng.random() < 0.5:
            before = _TAG.fullmatch(opened[-1]) if opened[-1].startswith("<") else None
            if before is not None and not before[1] and not before[4].strip() and before[2] == piece[2:-1].strip():
                opened[-1] = f"<{before[2]}{before[3]}/>"
            else:
                opened.append(piece)
        else:
            opened.append(piece)
    return opened


def _comments(rng: random.Random, pieces: Pieces) -> Pieces:
    """Comments and instructions between tags and within text."""
    odd = ("<!-- <w:t>ghost</w:t> -->", "<?ghost <a:t>ghost</a:t>?>", "<!---->", "<!-- a > b -->")
    changed: Pieces = []
    for piece in pieces:
        if not piece.startswith("<") and len(piece) > 1 and rng.random() < 0.3:
            at = _cut(rng, piece)
            changed += [piece[:at], rng.choice(odd), piece[at:]]
        elif changed and piece.startswith("<") and rng.random() < 0.05:
            changed += [rng.choice(odd), piece]
        else:
            changed.append(piece)
    return changed


def _cut(rng: random.Random, text: str) -> int:
    """A place within text that is not within an entity."""
    at = rng.randrange(len(text) + 1)
    entity = text.rfind("&", 0, at)
    return entity if entity >= 0 and ";" not in text[entity:at] else at


def _character_data(rng: random.Random, pieces: Pieces) -> Pieces:
    """Text in character data sections, wholly or in part."""
    changed: Pieces = []
    for piece in pieces:
        is_text = not piece.startswith("<") and piece and rng.random() < 0.4
        changed.append(_in_section(piece, *sorted((_cut(rng, piece), _cut(rng, piece)))) if is_text else piece)
    return changed


def _in_section(text: str, start: int, end: int) -> str:
    inner = text[start:end]
    raw = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    if "]]" in raw or re.search("&(?!amp;|lt;|gt;|quot;)", inner):
        return text
    return f"{text[:start]}<![CDATA[{raw}]]>{text[end:]}"


def _references(rng: random.Random, pieces: Pieces) -> Pieces:
    """Characters as numbers, and `>` in the text as it is."""
    changed: Pieces = []
    for piece in pieces:
        at = _cut(rng, piece) if not piece.startswith("<") and piece.strip() and rng.random() < 0.4 else len(piece)
        if at < len(piece) and piece[at] not in "&\r\n\t ":
            form = rng.choice(("&#{};", "&#x{:x};", "&#x{:X};", "&#0{};"))
            text = piece[:at] + form.format(ord(piece[at])) + piece[at + 1 :]
            changed.append(text if "]]" in text else text.replace("&gt;", ">"))
        else:
            changed.append(piece)
    return changed


def _between(rng: random.Random, pieces: Pieces) -> Pieces:
    """White space between tags where it means nothing."""
    changed: Pieces = []
    for piece in pieces:
        if changed and piece.startswith("<") and changed[-1].startswith("<") and rng.random() < 0.3:
            before = _TAG.fullmatch(changed[-1])
            empty = before is not None and not before[1] and "/" not in before[4] and piece.startswith("</")
            if before is not None and not _TEXTS.fullmatch(before[2]) and not empty:
                changed.append(rng.choice(("\n", " ", "\n    ", "\r\n\t")))
        changed.append(piece)
    return changed


def _prefix(rng: random.Random, pieces: Pieces) -> Pieces:
    """A prefix by another name, in names, and where names of prefixes are values."""
    text = "".join(pieces)
    declared = [prefix for prefix in re.findall(r"xmlns:([\w.-]+)=", text) if prefix not in ("xml", "new")]
    if not declared or "xmlns:new" in text:
        return pieces
    prefix = rng.choice(declared)
    if rng.random() < 0.7:
        prefix = next(
            (usual for usual in ("w", "a", "p", "r", "mc") if usual in declared and rng.random() < 0.6), prefix
        )

    def renamed(tag: re.Match[str]) -> str:
        if prefix not in tag[0]:
            return tag[0]
        name = re.sub(rf"^{re.escape(prefix)}:", "new:", tag[2])
        attributes = re.sub(rf"(\sxmlns:){re.escape(prefix)}(\s*=)", r"\1new\2", tag[3])
        attributes = re.sub(rf"(\s){re.escape(prefix)}:(?=[\w.-]+\s*=)", r"\1new:", attributes)
        for listed in ("Ignorable", "Requires", "ProcessContent", "MustUnderstand"):
            attributes = re.sub(
                rf"((?:\w+:)?{listed}\s*=\s*[\"'])([^\"']*)",
                lambda value: value[1] + " ".join("new" if one == prefix else one for one in value[2].split()),
                attributes,
            )
        return f"<{tag[1]}{name}{attributes}{tag[4]}>"

    return [renamed(match) if (match := _TAG.fullmatch(piece)) and piece[1] not in "!?" else piece for piece in pieces]


def _declared_below(rng: random.Random, pieces: Pieces) -> Pieces:
    """A prefix declared not at the root but at each element that uses it."""
    roots = [number for number, piece in enumerate(pieces) if piece.startswith("<") and piece[1] not in "!?/"]
    root = _TAG.fullmatch(pieces[roots[0]]) if roots else None
    if root is None:
        return pieces
    declared = [
        (prefix, value)
        for prefix, value in re.findall(r"\sxmlns:([\w.-]+)=[\"']([^\"']*)[\"']", root[3])
        if not root[2].startswith(prefix + ":") and not re.search(rf"\s{re.escape(prefix)}:", root[3])
    ]
    used_as_value = set(" ".join(re.findall(r"(?:Ignorable|Requires)\s*=\s*[\"']([^\"']*)", "".join(pieces))).split())
    declared = [each for each in declared if each[0] not in used_as_value and each[0] != "xsi"]
    if not declared:
        return pieces
    prefix, uri = rng.choice(declared)
    changed = list(pieces)
    changed[roots[0]] = re.sub(rf"\sxmlns:{re.escape(prefix)}=(?:\"[^\"]*\"|'[^']*')", "", pieces[roots[0]])
    for number in roots[1:]:
        piece = changed[number]
        is_used = re.match(rf"<{re.escape(prefix)}:", piece) or re.search(rf"\s{re.escape(prefix)}:", piece)
        if is_used and not re.search(rf"\sxmlns:{re.escape(prefix)}\s*=", piece):
            changed[number] = re.sub(r"^(<[^\s/>]+)", rf'\1 xmlns:{prefix}="{uri}"', piece)
    return changed


def _default_namespace(rng: random.Random, pieces: Pieces) -> Pieces:
    """The default namespace by a prefix."""
    text = "".join(pieces)
    declared = re.findall(r"\sxmlns=", text)
    if len(declared) != 1 or "xmlns:dflt" in text:
        return pieces

    def named(tag: re.Match[str]) -> str:
        name = tag[2] if ":" in tag[2] else f"dflt:{tag[2]}"
        attributes = re.sub(r"(\sxmlns)(?==)", r"\1:dflt", tag[3])
        return f"<{tag[1]}{name}{attributes}{tag[4]}>"

    return [named(match) if (match := _TAG.fullmatch(piece)) and piece[1] not in "!?" else piece for piece in pieces]


def _alternative(rng: random.Random, pieces: Pieces) -> Pieces:
    """An element as the fallback of a choice that nobody understands, or as a choice that everybody does."""
    starts = [
        number
        for number, piece in enumerate(pieces)
        if (match := _TAG.fullmatch(piece)) and not match[1] and _WRAPPED.fullmatch(match[2])
    ]
    if not starts:
        return pieces
    start = rng.choice(starts)
    end = _end_of(pieces, start)
    ghost = _ghost("".join(pieces[start : end + 1]))
    begin = f'<mc:AlternateContent xmlns:mc="{_MC}">'
    if rng.random() < 0.6:
        open_, close = (
            f'{begin}<mc:Choice xmlns:u="urn:unknown" Requires="u">{ghost}</mc:Choice><mc:Fallback>',
            "</mc:Fallback>",
        )
    else:
        known = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
        open_ = f'{begin}<mc:Choice xmlns:k="{known}" Requires="k">'
        close = f"</mc:Choice><mc:Fallback>{ghost}</mc:Fallback>"
    return [*pieces[:start], open_, *pieces[start : end + 1], close + "</mc:AlternateContent>", *pieces[end + 1 :]]


def _ghost(text: str) -> str:
    """A copy of an element whose words are ghosts, as far as that is quickly made; else nothing."""
    return re.sub(r"(<(?:w|a):t(?:\s[^<>]*)?>)[^<]+", r"\1ghost", text) if len(text) < 20_000 else ""


def _end_of(pieces: Pieces, start: int) -> int:
    """Where the element ends that begins at `start`."""
    depth = 0
    for number in range(start, len(pieces)):
        piece = pieces[number]
        if piece.startswith("</"):
            depth -= 1
        elif piece.startswith("<") and piece[1] not in "!?" and not piece.endswith("/>"):
            depth += 1
        if depth == 0:
            return number
    return len(pieces) - 1


def strict(data: bytes) -> bytes:
    """A part with the namespaces and types of the strict form."""
    for uri in (uri for uri in PREFIXES if "/2006/" in uri and "markup" not in uri and "package" not in uri):
        data = data.replace(
            uri.encode(), uri.replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml").replace("/2006", "").encode()
        )
    return data


CHANGES: Final[dict[str, Callable[[random.Random, Pieces], Pieces]]] = {
    "order of attributes": _order,
    "single quotes": _quotes,
    "white space in tags": _white_space,
    "> in attributes": _greater_than,
    "empty elements": _closed,
    "comments and instructions": _comments,
    "character data sections": _character_data,
    "character references": _references,
    "white space between tags": _between,
    "another prefix": _prefix,
    "prefix declared below": _declared_below,
    "default namespace by a prefix": _default_namespace,
    "alternative content": _alternative,
}
NAMES: Final = (*CHANGES, *_ENCODINGS)
