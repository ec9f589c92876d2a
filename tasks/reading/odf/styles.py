"""What a text depends on beside its words: styles of headings and lists, what is hidden, changes and their authors."""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from lxml import etree

from tasks.language.normalise import one_line
from tasks.reading.odf.numbering import OdfListLevel, levels_of
from tasks.reading.odf.package import name
from tasks.reading.places import label_of

_NAME: Final = name("style:name")
_FAMILY: Final = name("style:family")
_STYLE: Final = name("style:style")
_MOST_BASES: Final = 20
"""Styles may be based on each other in a circle."""

_MOST_CHANGES: Final = 100_000
_MOST_NAMED: Final = 20
"""Authors and dates that a warning names."""


class OdfStyles:
    """The styles of some trees: of the content, which has the automatic ones, and of the part of styles."""

    def __init__(self, *trees: etree._Element | None) -> None:
        self._trees = [tree for tree in trees if tree is not None]
        self._list_levels: dict[str, dict[int, OdfListLevel]] = {}

    def list_levels(self, style: str) -> dict[int, OdfListLevel]:
        """The levels of a list style; none where there is no such style."""
        if style not in self._list_levels:
            element = self._list_styles.get(style)
            self._list_levels[style] = {} if element is None else levels_of(element)
        return self._list_levels[style]

    @cached_property
    def outline_levels(self) -> dict[int, OdfListLevel]:
        """How headings are numbered."""
        found = (element for tree in self._trees for element in tree.iter(name("text:outline-style")))
        outline = next(found, None)
        return {} if outline is None else levels_of(outline)

    def is_title(self, style: str) -> bool:
        """Whether paragraphs of a style are the document's title: by its name, or one that it is based on."""
        for _ in range(_MOST_BASES):
            if style in ("Title", ""):
                return style == "Title"
            element = self._styles.get(("paragraph", style))
            style = "" if element is None else element.get(name("style:parent-style-name"), "")
        return False

    def is_unnumbered(self, style: str) -> bool:
        """Whether a paragraph style takes its paragraphs out of all lists."""
        element = self._styles.get(("paragraph", style))
        if element is None:
            return False
        enabled = self.property("paragraph", style, "style:paragraph-properties", "text:enable-numbering")
        return enabled == "false" or element.get(name("style:list-style-name")) == ""

    def property(self, family: str, style: str, properties: str, attribute: str) -> str:
        """A property of an automatic style, as "table", "ta1", "style:table-properties", "table:display"."""
        element = self._styles.get((family, style))
        of_kind = None if element is None else element.find(name(properties))
        return "" if of_kind is None else of_kind.get(name(attribute), "")

    def master_parts(self, *kinds: str) -> Iterator[etree._Element]:
        """The headers or footers (`style:header`, …) of all master pages that are shown."""
        masters = (master for tree in self._trees for master in tree.iter(name("style:master-page")))
        for master in masters:
            for kind in kinds:
                yield from (
                    part for part in master.iterchildren(name(kind)) if part.get(name("style:display")) != "false"
                )

    @cached_property
    def _styles(self) -> dict[tuple[str, str], etree._Element]:
        return {
            (element.get(_FAMILY, ""), element.get(_NAME, "")): element
            for tree in reversed(self._trees)
            for element in tree.iter(_STYLE)
        }

    @cached_property
    def _list_styles(self) -> dict[str, etree._Element]:
        kind = name("text:list-style")
        return {element.get(_NAME, ""): element for tree in reversed(self._trees) for element in tree.iter(kind)}


class TrackedChange(NamedTuple):
    """A tracked change: whether text was inserted (else deleted), by whom and when: "A. Author, 2024-05-01"."""

    inserted: bool
    label: str


def changes_in(tree: etree._Element) -> dict[str, TrackedChange]:
    """The insertions and deletions that a document keeps, by the id with which its text refers to them."""
    changes: dict[str, TrackedChange] = {}
    for region in islice(tree.iter(name("text:changed-region")), _MOST_CHANGES):
        for kind in ("insertion", "deletion"):
            change = region.find(name(f"text:{kind}"))
            if change is None:
                continue
            id_ = region.get(name("text:id")) or region.get(name("xml:id")) or f" {len(changes)}"
            changes[id_] = TrackedChange(kind == "insertion", author_and_date(change.find(name("office:change-info"))))
    return changes


def author_and_date(element: etree._Element | None) -> str:
    """Who wrote a remark or made a change, and when, as far as it is known."""
    if element is None:
        return ""
    author = element.findtext(name("dc:creator")) or ""
    date = (element.findtext(name("dc:date")) or "").partition(".")[0]
    return label_of(author, date)


def deletions_warning(changes: dict[str, TrackedChange]) -> str | None:
    """The sentence that names who deleted text, and when; None where nobody did."""
    deletions = [change.label for change in changes.values() if not change.inserted]
    if not deletions:
        return None
    named = list(dict.fromkeys(filter(None, map(one_line, deletions))))
    who = "; ".join(named[:_MOST_NAMED]) + ("; and others" if len(named) > _MOST_NAMED else "")
    return f"Deleted text that is still in the file was left out{f' ({who})' if who else ''}."
