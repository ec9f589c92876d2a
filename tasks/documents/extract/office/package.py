"""An Office file as a package: its parts, as bytes, stream or tree, and the relationships between them."""

import html
import posixpath
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Self
from urllib.parse import unquote

from lxml import etree

from tasks.documents.extract.office import compound, encrypted, ooxml
from tasks.documents.extract.office.archive import Archive, Entry
from tasks.documents.extract.office.canonical import canonical
from tasks.documents.extract.reading import Source
from tasks.errors import Damaged, TooLarge

PART_LIMIT: Final = 192 << 20
"""The most bytes one part read as a whole may inflate to; its tree takes several times as much."""

SCAN_LIMIT: Final = 96 << 20
"""The most bytes that are scanned of one document: tags alone, without words, take a second for 15 MB."""

STREAM_LIMIT: Final = 512 << 20
"""The most bytes one part read as a stream may inflate to."""

CUT_OFF: Final = "The file is cut off or damaged: the text holds what could be saved."

_USUAL: Final = re.compile(
    r'<Relationship Id="([^"<]*)" Type="([^"<]*)" Target="([^"<]*)"(?: TargetMode="([^"<]*)")?\s?/>'
)
"""A relationship as Office writes it: all of a part are found in a third of the time that any order takes."""
_RELATIONSHIP: Final = re.compile(r"""<Relationship\b|\s(Id|Type|Target|TargetMode)\s*=\s*["']([^"'<]*)""")


class Relationship(NamedTuple):
    """`kind` is the last part of the type's address, `target` the name of the part it leads to."""

    id: str
    kind: str
    target: str


class Package:
    """The parts of an Office file, by name (upper and lower case alike).

    Raises:
        Damaged: the file is no zip, or nothing is left of it.
        PasswordProtected: it is encrypted, and not with the password that Excel sets by itself.
    """

    def __init__(self, source: Source) -> None:
        if (len(source) if isinstance(source, bytes) else source.stat().st_size) == 0:
            raise Damaged("The file is empty (0 bytes). Ask for it again.")
        self._archive = Archive(source)
        self._relationships: dict[str, list[Relationship]] = {}
        self._broken = False
        self._scanned = 0
        if self._archive.starts_with(compound.MAGIC):
            self._archive.close()
            self._archive = Archive(encrypted.decrypted(source))
        self._listed = self._archive.listed()
        self._entries: dict[str, Entry] = {}
        if not self._listed:
            self._entries = {_key(entry.name): entry for entry in self._archive.entries()}
        if not self._listed and not self._entries:
            raise Damaged("The file is not an Office document: it is no zip package. Ask for it again.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def damaged(self) -> bool:
        """Whether something was found to be missing or wrong in what was read so far."""
        return self._broken or self._archive.damaged

    def note_damage(self) -> None:
        """Something that the package refers to is not there."""
        self._broken = True

    def __contains__(self, name: str) -> bool:
        key = _key(name)
        return key in self._listed or key in self._entries

    def part(self, name: str) -> bytes:
        """The whole of a part. What is missing of a damaged one is left out, and `damaged` set.

        Raises:
            KeyError: there is no such part.
            TooLarge: it inflates beyond PART_LIMIT.
        """
        return self._archive.whole(self._entry(name), PART_LIMIT)

    def chunks(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        """A part in pieces of up to 1 MB, while it is inflated up to `limit` bytes.

        Raises:
            KeyError: there is no such part.
            TooLarge: it inflates beyond the limit.
        """
        return self._archive.inflate(self._entry(name), limit)

    def _entry(self, name: str) -> Entry:
        key = _key(name)
        if key not in self._entries:
            self._entries[key] = self._archive.entry(self._listed[key])
        return self._entries[key]

    def elements(self, name: str, *tags: str, limit: int = STREAM_LIMIT) -> Iterator[etree._Element]:
        """The elements with these local names of a part that is inflated, up to `limit` bytes, while it is read.

        Each is complete when it comes, and gone when the next one does. Where the part breaks off, they end.

        Raises:
            KeyError: there is no such part.
            TooLarge: it inflates beyond the limit.
        """
        stream = _PartStream(self._archive.inflate(self._entry(name), limit))
        found = etree.iterparse(
            stream,
            tag=[f"{{*}}{tag}" for tag in tags],
            resolve_entities=False,
            no_network=True,
            recover=True,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            for _, element in found:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError:
            self.note_damage()

    def xml(self, name: str) -> etree._Element | None:
        """The root of a part's tree, in the usual namespaces; None when there is no such part or no XML in it."""
        if name not in self:
            return None
        data = ooxml.usual_namespaces(self.part(name))
        root: etree._Element | None
        try:
            root = etree.fromstring(data, ooxml.parser())
        except etree.XMLSyntaxError:
            self.note_damage()
            try:
                root = etree.fromstring(data, ooxml.parser(recover=True))
            except etree.XMLSyntaxError:
                return None
        if root is not None:
            ooxml.drop_fallbacks(root)
        return root

    def scan(self, name: str) -> bytes:
        """A part as scanners take it (see `canonical`); b"" when there is no such part or no XML in it.

        Raises:
            TooLarge: it inflates beyond PART_LIMIT, or all that was scanned so far to more than SCAN_LIMIT.
        """
        if name not in self:
            return b""
        data = self.part(name)
        self._scanned += len(data)
        if self._scanned > SCAN_LIMIT:
            raise TooLarge("The document holds more than can be read at once. Split it.")
        data, whole = canonical(data)
        if not whole:
            self.note_damage()
        return data

    def relationships(self, name: str) -> list[Relationship]:
        """Where a part leads inside the package, in order; the package itself has the name ""."""
        if name not in self._relationships:
            self._relationships[name] = list(self._read_relationships(name))
        return self._relationships[name]

    def _read_relationships(self, name: str) -> Iterator[Relationship]:
        folder, _, file = name.rpartition("/")
        inside = f"/{folder}/" if folder else "/"
        outside = inside[: inside.rfind("/", 0, -1) + 1] or "/"
        for id_, kind, given, mode in self._given(f"{inside[1:]}_rels/{file}.rels"):
            target = html.unescape(given) if "&" in given else given
            if "\\" in target or "#" in target:
                target = target.replace("\\", "/").partition("#")[0]
            if not target or target == "NULL" or "://" in target or mode == "External":
                continue
            full = outside + target[3:] if target.startswith("../") else target if target[0] == "/" else inside + target
            if "./" in full or "//" in full:
                full = posixpath.normpath(posixpath.join(inside, target))
            full = full.lstrip("/")
            if "%" in full and full not in self and unquote(full) in self:
                full = unquote(full)
            yield Relationship(id_, kind.rpartition("/")[2], full)

    def _given(self, name: str) -> list[tuple[str, ...]]:
        """The id, type, target and mode of each relationship in a part of them; "" for what it lacks."""
        data = self.part(name) if name in self else b""
        if b"!" in data or b"\0" in data or b"<Relationship " not in data:
            data = self.scan(name)
        rels = data.decode("utf-8", "replace")
        usual = _USUAL.findall(rels)
        return usual if len(usual) == rels.count("<Relationship ") else list(_in_any_order(rels))

    def main_part(self, usual: str) -> str:
        """The name of the part that holds the document; `usual` is where it stands in most files.

        Raises:
            Damaged: there is none.
        """
        for relationship in self.relationships(""):
            if relationship.kind == "officeDocument" and relationship.target in self:
                return relationship.target
        if usual in self:
            return usual
        raise Damaged("The file has lost its main part: nothing can be read from it. Ask for it again.")


class _PartStream:
    """A part as the file that lxml's iterparse reads from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _size: int = -1) -> bytes:
        """The next chunk, of up to 1 MB, whatever size was asked for; b"" at the end."""
        return next(self._chunks, b"")


def _key(name: str) -> str:
    key = name.lower()
    return key.replace("\\", "/").lstrip("/") if "\\" in key or key[:1] == "/" else key


def _in_any_order(rels: str) -> Iterator[tuple[str, ...]]:
    given: dict[str, str] = {}
    for name, value in [*_RELATIONSHIP.findall(rels), ("", "")]:
        if name:
            given[name] = value
        elif given:
            yield tuple(given.get(attribute, "") for attribute in ("Id", "Type", "Target", "TargetMode"))
            given = {}
