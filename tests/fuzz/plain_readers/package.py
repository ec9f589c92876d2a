"""A package as ISO/IEC 29500-2 describes it: parts as trees, relationships, alternatives resolved."""

import posixpath
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Final, NamedTuple
from urllib.parse import unquote

from lxml import etree

_FAMILIES: Final = {
    "w": "wordprocessingml/{}main",
    "a": "drawingml/{}main",
    "c": "drawingml/{}chart",
    "dgm": "drawingml/{}diagram",
    "p": "presentationml/{}main",
    "s": "spreadsheetml/{}main",
    "m": "officeDocument/{}math",
    "r": "officeDocument/{}relationships",
}
PREFIXES: Final = {
    **{f"http://schemas.openxmlformats.org/{path.format('2006/')}": prefix for prefix, path in _FAMILIES.items()},
    **{f"http://purl.oclc.org/ooxml/{path.format('')}": prefix for prefix, path in _FAMILIES.items()},
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "urn:schemas-microsoft-com:vml": "v",
}
"""Short names of the namespaces, transitional (part 4) and strict (part 1)."""

_KNOWN: Final = (
    "http://schemas.microsoft.com/",
    "http://schemas.openxmlformats.org/",
    "http://purl.oclc.org/ooxml/",
)
"""A choice whose namespaces begin so is taken: our readers find its words where they always stand."""


class Related(NamedTuple):
    """A relationship inside the package: its id, the last part of its type, and the part that it leads to."""

    id: str
    kind: str
    target: str


def name_of(element: etree._Element) -> str:
    """The name of an element with its short prefix (`w:p`); `?:p` in a namespace that is not read."""
    return _short(element.tag) if isinstance(element.tag, str) else ""


def value_of(element: etree._Element, name: str) -> str | None:
    """An attribute by its name with a short prefix (`w:val`) or without one (`descr`)."""
    return next((str(value) for key, value in element.attrib.items() if _short(str(key)) == name), None)


@lru_cache(maxsize=4096)
def _short(tag: str) -> str:
    if not tag.startswith("{"):
        return tag
    uri, _, local = tag[1:].partition("}")
    return f"{PREFIXES.get(uri, '?')}:{local}"


class PlainPackage:
    """The parts of a package by name; upper and lower case are alike."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            self.parts = {name.lstrip("/").lower(): archive.read(name) for name in archive.namelist()}

    def tree(self, name: str) -> etree._Element | None:
        """A part with the alternatives resolved; None when there is no such part."""
        data = self.parts.get(name.lower())
        if not data:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        root = etree.fromstring(data, parser)
        _resolve(root)
        return root

    def main(self) -> str:
        """The name of the main part."""
        return next(related.target for related in self.related("") if related.kind == "officeDocument")

    def related(self, name: str) -> Iterator[Related]:
        """Where a part leads; external targets are left out."""
        folder, file = posixpath.split(name)
        root = self.tree(posixpath.join(folder, "_rels", file + ".rels"))
        for element in root if root is not None else ():
            target = element.get("Target") or ""
            if name_of(element) == "rel:Relationship" and element.get("TargetMode") != "External" and target:
                full = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
                full = full if full.lower() in self.parts else unquote(full)
                yield Related(element.get("Id") or "", (element.get("Type") or "").rpartition("/")[2], full)


def _resolve(root: etree._Element) -> None:
    """Put in the place of each alternative the first choice that is understood, else its fallback (part 3, 10.2)."""
    for alternative in [element for element in root.iter() if name_of(element) == "mc:AlternateContent"]:
        branches = [child for child in alternative if name_of(child) in ("mc:Choice", "mc:Fallback")]
        chosen = next((branch for branch in branches if _is_understood(branch)), None)
        for child in list(alternative):
            if child is not chosen:
                alternative.remove(child)


def _is_understood(branch: etree._Element) -> bool:
    if name_of(branch) == "mc:Fallback":
        return True
    uris = [branch.nsmap.get(prefix) for prefix in (branch.get("Requires") or "").split()]
    return all(uri is None or uri.startswith(_KNOWN) for uri in uris)
