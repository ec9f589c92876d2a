"""Figures from tags: what inline XBRL says of the numbers of a page counts, whatever their rows and columns say.

A tag without dimensions is of the company. Of those with one, segments are parts, some say that the company alone is
meant and not its group; the others break a total down in another way, and are no figures.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tasks.figures.concepts import Taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Figure, Findings
from tasks.figures.measures import NEVER_NEGATIVE
from tasks.reading.places import Place
from tasks.reading.tags import Tag, tag_of

_SEGMENTS: Final = re.compile(r"Segment|ProductOrService|ProductsAndServices|Geographical|MajorCustomer", re.IGNORECASE)
_GROUP: Final = re.compile(r"Consolidat|FinancialStatementsType|GroupCompany|LegalEntity", re.IGNORECASE)
_ALONE: Final = re.compile(r"Separate|Company|Single|Individual|Parent", re.IGNORECASE)
_WHOLE: Final = re.compile(r"^(?:Consolidated|Group)", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_UNITS: Final = {"pure": "count", "shares": "count"}
PARENT: Final = "parent company"

_A_PART: Final = "numbers that their tags give to a part"
_OTHERWISE: Final = "numbers read otherwise than the tags say"


class _Told(NamedTuple):
    """A tagged number: where it stands, and its figure; None where its tag makes it none of the company or a part."""

    place: Place
    tag: Tag
    concept: str
    figure: Figure | None


def with_tags(document: LedgerDocument, taxonomy: Taxonomy, own: Sequence[Figure], findings: Findings) -> list[Figure]:
    """The figures of a document by its tags, and those that were read from it (`own`) as far as no tag says otherwise."""
    told = [_told(document, taxonomy, place) for place in document.tags]
    if not told:
        return list(own)
    for each in told:
        if each.concept and (why := each.tag.broken):
            findings.leave_out(why)
    own_by_start = {figure.start: figure for figure in own}
    by_tags = [
        _in_own_words(each, own_by_start) for each in _surest(told, [name.partition(" ")[0] for name in taxonomy.tags])
    ]
    known: dict[tuple[str, str, str], set[Figure]] = defaultdict(set)
    for figure in by_tags:
        if figure.entity is None:
            known[figure.concept, figure.period, figure.unit].add(figure)
    kept = list(by_tags)
    starts = {each.place.start: each for each in told}
    for figure in own:
        each = next((starts[at] for at in range(figure.start, figure.end) if at in starts), None)
        if each is not None and each.concept:
            _count(each, figure, findings)
            continue
        if figure.entity is None and each is not None and each.tag.members:
            findings.leave_out(_A_PART)
            continue
        of_tags = known.get((figure.concept, figure.period, figure.unit)) if figure.entity is None else None
        if of_tags and not any(abs(one.value - figure.value) <= (one.step + figure.step) / 2 for one in of_tags):
            findings.leave_out(_OTHERWISE)
            continue
        kept.append(figure)
    return kept


def _count(told: _Told, figure: Figure, findings: Findings) -> None:
    """Count what was read of a tagged number, where its tag says something else."""
    if told.tag.broken:
        return
    if told.figure is None:
        findings.leave_out(_A_PART)
    elif (told.figure.concept, told.figure.period, told.figure.value) != (figure.concept, figure.period, figure.value):
        findings.leave_out(_OTHERWISE)


def _told(document: LedgerDocument, taxonomy: Taxonomy, place: Place) -> _Told:
    tag = tag_of(place.label)
    concept = taxonomy.tags.get(f"{tag.name} {' '.join(tag.members)}") if tag.members else None
    members, concept = (() if concept else tag.members), concept or taxonomy.tags.get(tag.name)
    if concept is None or tag.value is None:
        return _Told(place, tag, concept.id if concept else "", None)
    entity = _entity(members)
    unit = _UNITS.get(tag.unit, tag.unit)
    is_stock = "/" not in tag.period
    value = abs(tag.value) if concept.sign == "positive" else tag.value
    fits = is_stock == (concept.kind == "instant") or concept.kind == "either"
    of_unit = unit == "count" if "count" in concept.units else len(unit) == 3 and unit.isupper()
    if entity == "" or not fits or not of_unit or (value < 0 and concept.id in NEVER_NEGATIVE):
        return _Told(place, tag, concept.id, None)
    line = document.text[document.text.rfind("\n", 0, place.start) + 1 : place.start]
    label = " ".join(line.partition("\t")[0].split())[:120] or " ".join(_WORDS.findall(tag.name))
    return _Told(place, tag, concept.id, Figure(
        concept.id, label, value, unit, "", tag.step, tag.period, entity, None, "", document.place(place.start, label),
        place.start, place.end,
    ))  # fmt: skip


def _entity(members: Iterable[str]) -> str | None:
    """Of whom a tag with these dimensions is: None of the company, "" of none that has figures of its own."""
    parts: list[str] = []
    for member in members:
        axis, _, value = member.partition("=")
        if _GROUP.search(axis) and _WHOLE.match(value):
            continue
        if _GROUP.search(axis) and _ALONE.search(value):
            return PARENT
        if not _SEGMENTS.search(axis) or value == "typed":
            return ""
        parts.append(" ".join(_WORDS.findall(value.removesuffix("Member"))))
    return ", ".join(parts) or None


def _surest(told: Sequence[_Told], names: Sequence[str]) -> Iterator[_Told]:
    """Of tags of one concept, period and entity those of the name that comes first among these."""
    groups: dict[tuple[str, str, str | None, str], list[_Told]] = defaultdict(list)
    for each in told:
        if each.figure is not None:
            figure = each.figure
            groups[figure.concept, figure.period, figure.entity, figure.unit].append(each)
    for group in groups.values():
        first = min((each.tag.name for each in group), key=names.index)
        yield from (each for each in group if each.tag.name == first)


def _in_own_words(told: _Told, own: Mapping[int, Figure]) -> Figure:
    """A tag's figure, with the words that name the number where it was read."""
    assert told.figure is not None  # those without were left out
    read = own.get(told.place.start)
    return told.figure if read is None else replace(told.figure, label=read.label, place=read.place)
