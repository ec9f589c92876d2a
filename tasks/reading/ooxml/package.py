"""An Office file as a package: its parts, the relationships between them, and the documents embedded in it."""

import html
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, Protocol
from urllib.parse import unquote

from tasks.errors import Damaged, TooLarge
from tasks.reading.limits import keep_memory
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.xml import canonical
from tasks.reading.ooxml.zip import ZipEntry, ZipMembers
from tasks.reading.raised import with_raised_runs
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer

keep_memory()
PART_LIMIT: Final = 192 << 20
"""The most bytes one part read as a whole may inflate to; rewriting it takes several times as much."""

SCAN_LIMIT: Final = 96 << 20
"""The most bytes that are scanned of one document: tags alone, without words, take a second for 15 MB."""

STREAM_LIMIT: Final = 512 << 20
"""The most bytes one part read as a stream may inflate to."""

_LARGEST_PROPERTIES: Final = 1 << 20
_MOMENT: Final = re.compile(rb"<(?:\w+:)?(created|modified)\b[^<>]*+>([^<]*+)<")
CUT_OFF: Final = "The file is cut off or damaged: the text holds what could be saved."
_TAG: Final = re.compile(rb"<Relationship\s")
_RELATIONSHIP: Final = re.compile(r"""<Relationship\b|\s(Id|Type|Target|TargetMode)\s*=\s*["']([^"'<]*)""")

EMBEDDED_KINDS: Final = ("package", "oleObject", "aFChunk")
"""The kinds of relationships that lead to a document inside this one."""

MACROS: Final = "The file holds macros: they were neither run nor read."
_MACRO_KINDS: Final = {"vbaProject", "xlMacrosheet", "xlIntlMacrosheet"}
"""The kinds of relationships of a main part that lead to macros, those of Excel 4.0 among them."""

EMBEDDED_LIMIT: Final = 64 << 20
"""The most bytes of one of them that are handed on."""

EMBEDDED_TOTAL: Final = 128 << 20
"""The most bytes of all of them together."""


class Relationship(NamedTuple):
    """`kind` is the last part of the type's address, `target` the name of the target part."""

    id: str
    kind: str
    target: str


class Package(AbstractContextManager["Package", None]):
    """The parts of an Office file, by name (in any case).

    Raises:
        Damaged: the file is no zip, or nothing is left of it.
        PasswordProtected: it is encrypted, and not with the password that Excel sets by itself.
    """

    def __init__(self, source: Source) -> None:
        self._archive = ZipMembers(source)
        if self._archive.empty:
            raise Damaged("The file is empty (0 bytes). Ask for it again.")
        self._relationships: dict[str, list[Relationship]] = {}
        self._broken = False
        self._scanned = 0
        if self._archive.starts_with(ole.MAGIC):
            self._archive.close()
            self._archive = ZipMembers(ole.decrypt_package(source))
        self._entries = {_key(entry.name): entry for entry in self._archive.entries()}
        if not self._entries:
            raise Damaged("The file is not an Office document: it is not a zip package. Ask for it again.")

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def damaged(self) -> bool:
        """Whether anything read so far was missing or wrong."""
        return self._broken or self._archive.damaged

    def note_damage(self) -> None:
        """Record that something the package refers to does not exist."""
        self._broken = True

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def chunks(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        """A part in pieces as it is inflated, up to `limit` bytes. If it is truncated the pieces end, and `damaged` is
        set.

        Raises:
            KeyError: there is no such part.
            TooLarge: it inflates beyond the limit.
        """
        entry = self._find(name)
        if entry is None:
            raise KeyError(name)
        return self._archive.inflate(entry, limit)

    def _find(self, name: str) -> ZipEntry | None:
        return self._entries.get(_key(name))

    def attachment(self, name: str, limit: int) -> bytes | None:
        """A part that is a document of its own, as far as it exists; None if it is lost or larger than `limit` bytes.

        If it is truncated, that document is damaged, and not this one.
        """
        damaged = self._archive.damaged
        try:
            return b"".join(self.chunks(name, limit))
        except (KeyError, TooLarge):
            return None
        finally:
            self._archive.damaged = damaged

    def scan(self, name: str) -> bytes:
        """A part in the form for scanners (see `canonical`); b"" if there is no such part or it contains no XML.

        Raises:
            TooLarge: it inflates beyond PART_LIMIT, or all that was scanned so far to more than SCAN_LIMIT.
        """
        entry = self._find(name)
        if entry is None:
            return b""
        data = self._archive.read(entry, PART_LIMIT)
        self._scanned += len(data)
        if self._scanned > SCAN_LIMIT:
            raise TooLarge("The document holds more than can be read at once. Split it.")
        data, complete = canonical(data)
        if not complete:
            self.note_damage()
        return with_raised_runs(data)

    def relationships(self, name: str) -> list[Relationship]:
        """The relationships of a part to others in the package, in order; the package itself has the name ""."""
        if name not in self._relationships:
            self._relationships[name] = self._read_relationships(name)
        return self._relationships[name]

    def _read_relationships(self, name: str) -> list[Relationship]:
        folder, _, file = name.rpartition("/")
        inside = folder + "/" if folder else ""
        part = f"{inside}_rels/{file}.rels"
        entry = self._find(part)
        if entry is None:
            return []
        data = self._archive.read(entry, PART_LIMIT)
        if b"!" in data or b"\0" in data or _TAG.search(data) is None:
            data = self.scan(part)
        return list(self._list_inside(data.decode("utf-8", "replace"), f"/{inside}"))

    def _list_inside(self, rels: str, inside: str) -> Iterator[Relationship]:
        """The relationships of a part in the folder `inside` whose targets are in the package."""
        for id_, kind, reference, mode in _in_any_order(rels):
            target = html.unescape(reference).replace("\\", "/").partition("#")[0]
            if not target or target == "NULL" or "://" in target or mode == "External":
                continue
            full = posixpath.normpath(posixpath.join(inside, target)).lstrip("/")
            if "%" in full and full not in self and unquote(full) in self:
                full = unquote(full)
            yield Relationship(id_, kind.rpartition("/")[2], full)

    def dates(self) -> tuple[str, str]:
        """The times at which the file says it was created and last changed; "" for none.

        They are `dcterms:created` and `dcterms:modified` of its core properties (ECMA-376-2, 11).
        """
        part = next((item.target for item in self.relationships("") if item.kind == "core-properties"), "")
        core = self.attachment(part, _LARGEST_PROPERTIES) or b""
        found = {match[1]: match[2].decode("ascii", "replace") for match in _MOMENT.finditer(core)}
        return found.get(b"created", ""), found.get(b"modified", "")

    def main_part(self, usual: str) -> str:
        """The name of the part with the document; `usual` is its name in most files.

        Raises:
            Damaged: there is none.
        """
        for relationship in self.relationships(""):
            if relationship.kind == "officeDocument" and relationship.target in self:
                return relationship.target
        if usual in self:
            return usual
        raise Damaged("The file has lost its main part: nothing can be read from it. Ask for it again.")

    def has_macros(self) -> bool:
        """Whether the document comes with macros."""
        mains = [item.target for item in self.relationships("") if item.kind == "officeDocument"]
        return any(not _MACRO_KINDS.isdisjoint([item.kind for item in self.relationships(main)]) for main in mains)


class PackageStory(Protocol):
    """The content of a package: `write` writes it to `writer`, which belongs to it."""

    writer: Writer

    def write(self) -> None: ...


def read_package(story_of: Callable[[Package], PackageStory], source: Source) -> Reading:
    """The reading of the package in `source`, with a warning if something or everything is missing.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with Package(source) as package:
        story = story_of(package)
        story.write()
        story.writer.date(*package.dates())
        if package.damaged:
            story.writer.warn(CUT_OFF)
        if not story.writer.written:
            story.writer.warn(NO_TEXT)
        return story.writer.reading()


def attach_embedded(package: Package, names: Iterable[str], writer: Writer) -> None:
    """Pass the parts with these names to `writer`, each once; for those lost or too large only the name.

    Macros are not passed on: a warning says that there are some.
    """
    if package.has_macros():
        writer.warn(MACROS)
    left = EMBEDDED_TOTAL
    for name in dict.fromkeys(names):
        data = package.attachment(name, min(left, EMBEDDED_LIMIT))
        left -= len(data or b"")
        writer.attach(posixpath.basename(name), data)


def _key(name: str) -> str:
    key = name.lower()
    return key.replace("\\", "/").lstrip("/") if "\\" in key or key[:1] == "/" else key


def _in_any_order(rels: str) -> Iterator[tuple[str, ...]]:
    values: dict[str, str] = {}
    for name, value in [*_RELATIONSHIP.findall(rels), ("", "")]:
        if name:
            values[name] = value
        elif values:
            yield tuple(values.get(attribute, "") for attribute in ("Id", "Type", "Target", "TargetMode"))
            values = {}
