"""Figures from tags: what inline XBRL says about the numbers on a page overrides their rows and columns.

A tag without dimensions concerns the company. Of those with one, segments are parts, and some say that the company
alone is meant without its group; the others break a total down differently and are no figures.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.figures.concepts import Concept, Taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import ACTUAL, PARENT, WORDS, Basis, Figure, Findings
from tasks.figures.measures import NEVER_NEGATIVE
from tasks.language.periods import months_back
from tasks.reading.places import Place
from tasks.reading.tags import Tag, parse_tag

_SEGMENTS: Final = re.compile(r"Segment|ProductOrService|ProductsAndServices|Geographical|MajorCustomer", re.IGNORECASE)
_GROUP: Final = re.compile(r"Consolidat|FinancialStatementsType|GroupCompany|LegalEntity", re.IGNORECASE)
_ALONE: Final = re.compile(r"Separate|Company|Single|Individual|Parent|NonConsolidated", re.IGNORECASE)
_WHOLE: Final = re.compile(r"^(?:Consolidated|Group)", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_OF_SUMMARY: Final = re.compile(r"(?:IFRS|US)?(?:SummaryOfBusinessResults)?$")
"""What Japanese taxonomies add to a name: the standard, and that the figure is one of a summary of five years."""

_PLANNED: Final = frozenset({"budget", "forecast"})
_FORECAST: Final = "ResultForecastAxis=ForecastMember"
_INSTANCES: Final = frozenset({".xbrl", ".xml"})
_UNITS: Final = {"pure": "count", "shares": "count"}
_YEARS: Final = {"prd=m1": 0, "prd=m2": 12}
"""Months by which the year that a member of the National Bank of Belgium's taxonomy names is earlier than its context
(https://www.nbb.be/en/central-balance-sheet-office, domain `prd`).
"""

_A_PART: Final = "numbers that their tags give to a part"
_OTHERWISE: Final = "numbers read otherwise than the tags say"


class _Told(NamedTuple):
    """A tagged number: its place and its figure; None if by its tag it belongs neither to the company nor to a part of
    it.
    """

    place: Place
    tag: Tag
    concept: str
    figure: Figure | None


def with_tags(document: LedgerDocument, taxonomy: Taxonomy, own: Sequence[Figure], findings: Findings) -> list[Figure]:
    """The figures from a document's tags, and those read from its words (`own`) that no tag contradicts."""
    of_group = any(WORDS.tags_says_group.search(place.label) for place in document.tags)
    told = [_read_tag(document, taxonomy, place, of_group=of_group) for place in document.tags]
    if not told:
        return list(own)
    for why in filter(None, (each.tag.broken for each in told if each.concept)):
        findings.leave_out(why)
    if document.format in _INSTANCES:  # their words are made of the tags
        own = ()
    starts = {each.place.start: each for each in told}
    tagged = [(figure, [at for at in range(figure.start, figure.end) if at in starts]) for figure in own]
    own_by_start = {at: figure for figure, places in tagged for at in places}
    names = [name.partition(" ")[0] for name in taxonomy.tags]
    found = filter(None, (_in_own_words(each, own_by_start) for each in _surest(told, names, findings)))
    read_so = _group(own)
    by_tags = [each for each in _name_parent(list(found), own_by_start) if not _lacks_sign(each, read_so)]
    read = [(figure, starts[places[0]] if places else None) for figure, places in tagged]
    return [*by_tags, *_keep_untold(by_tags, read, findings)]


def _keep_untold(
    by_tags: Sequence[Figure], read: Sequence[tuple[Figure, _Told | None]], findings: Findings
) -> Iterator[Figure]:
    """The figures that were read, each with the tag of its number, that no tag gives or contradicts."""
    known = _group(by_tags)
    without_concept = _group(figure for figure, of in read if of and not of.concept)
    differing = {key for key, group in without_concept.items() if len({figure.value for figure in group}) > 1}
    for figure, of in read:
        if of is not None and of.concept:
            _count(of, figure, findings)
        elif of is not None and (_key(figure) in differing or (figure.entity is None and of.tag.members)):
            findings.leave_out(_A_PART)
        elif _is_contradicted(figure, known):
            findings.leave_out(_OTHERWISE)
        else:
            yield figure


def _name_parent(by_tags: Sequence[Figure], own: Mapping[int, Figure]) -> Iterator[Figure]:
    """The figures of tags; values in the parent company's own statements are the parent's wherever they occur."""
    alone = {(*_key(figure), figure.value) for figure in by_tags if own.get(figure.start, figure).entity == PARENT}
    for figure in by_tags:
        yield replace(figure, entity=PARENT) if (*_key(figure), figure.value) in alone else figure


def _lacks_sign(figure: Figure, own: "Mapping[_Key, Sequence[Figure]]") -> bool:
    """Whether the words call a tag's number negative, and the tag does not: it may lack the sign of its brackets."""
    return figure.value > 0 and any(read.value == -figure.value for read in own.get(_key(figure), ()))


def _group(figures: Iterable[Figure]) -> "Mapping[_Key, Sequence[Figure]]":
    """The figures, grouped by concept, period, unit and entity."""
    groups: dict[_Key, list[Figure]] = defaultdict(list)
    for figure in figures:
        groups[_key(figure)].append(figure)
    return groups


_Key = tuple[str, str, str, str | None, bool]


def _key(figure: Figure) -> _Key:
    return figure.concept, figure.period, figure.unit, figure.entity, figure.basis in _PLANNED


def _is_contradicted(figure: Figure, known: Mapping[_Key, Sequence[Figure]]) -> bool:
    """Whether an actual figure differs from the tags of the whole company for the same concept and period."""
    is_whole = figure.entity is None and figure.basis in {None, *ACTUAL} and not figure.variant
    of_tags = known.get(_key(figure), ()) if is_whole else ()
    return bool(of_tags) and not any(_agree(figure, one) for one in of_tags)


def _count(told: _Told, figure: Figure, findings: Findings) -> None:
    """Count a figure read from a tagged number if it differs from what the tag says."""
    if told.tag.broken:
        return
    if told.figure is None:
        findings.leave_out(_A_PART)
    elif (told.figure.concept, told.figure.period, told.figure.value) != (figure.concept, figure.period, figure.value):
        findings.leave_out(_OTHERWISE)


def _read_tag(document: LedgerDocument, taxonomy: Taxonomy, place: Place, *, of_group: bool) -> _Told:
    tag = parse_tag(place.label)
    tag = tag._replace(name=_OF_SUMMARY.sub("", tag.name))
    members = tuple(member for member in tag.members if member not in _YEARS)
    concept = taxonomy.tags.get(" ".join((tag.name, *sorted(members))))
    members, concept = (() if concept else members), concept or taxonomy.tags.get(tag.name)
    period = _find_period(tag, concept)
    if concept is None or tag.value is None:
        return _Told(place, tag, concept.id if concept else "", None)
    entity = _entity(members)
    if entity is None and of_group and not members:
        entity = PARENT
    unit = _UNITS.get(tag.unit, tag.unit)
    is_stock = "/" not in period
    value = abs(tag.value) if concept.sign == "positive" else tag.value
    fits = is_stock == (concept.kind == "instant") or concept.kind == "either"
    of_unit = unit == "count" if "count" in concept.units else len(unit) == 3 and unit.isupper()
    if entity == "" or not fits or not of_unit or (value < 0 and concept.id in NEVER_NEGATIVE):
        return _Told(place, tag, concept.id, None)
    basis: Basis | None = "forecast" if _FORECAST in members else None
    line = document.text[document.text.rfind("\n", 0, place.start) + 1 : place.start]
    label = " ".join(line.partition("\t")[0].split())[:120] if "\t" in line else ""
    label = label if any(map(str.isalpha, label)) else " ".join(_WORDS.findall(tag.name))
    return _Told(place, tag, concept.id, Figure(
        concept.id, label, value, unit, "", tag.step, period, entity, basis, "", document.place(place.start, label),
        place.start, place.end,
    ))  # fmt: skip


def _find_period(tag: Tag, concept: Concept | None) -> str:
    """The period of a tag, which in the Belgian taxonomy is the last day of the year that a dimension names."""
    back = next((_YEARS[member] for member in tag.members if member in _YEARS), None)
    if back is None or tag.period < "0003" or "/" in tag.period:
        return tag.period
    end = months_back(date.fromisoformat(tag.period), back)
    if concept is None or concept.kind == "instant":
        return end.isoformat()
    return f"{(months_back(end, 12) + timedelta(days=1)).isoformat()}/{end.isoformat()}"


def _entity(members: Iterable[str]) -> str | None:
    """Whom a tag with these dimensions is about: None for the company, "" if nobody that has its own figures."""
    parts: list[str] = []
    for member in members:
        axis, _, value = member.partition("=")
        if _GROUP.search(axis) and _WHOLE.match(value):
            continue
        if axis.startswith("ResultForecast") and (value.startswith("Result") or value == "ForecastMember"):
            continue
        if _GROUP.search(axis) and _ALONE.search(value):
            parts.append(PARENT)
            continue
        if not _SEGMENTS.search(axis) or value == "typed":
            return ""
        parts.append(" ".join(_WORDS.findall(value.removesuffix("Member"))))
    return ", ".join(parts) or None


def _surest(told: Sequence[_Told], names: Sequence[str], findings: Findings) -> Iterator[_Told]:
    """For each concept, period and entity, the tags whose name comes first in `names`, if they agree."""
    groups: dict[_Key, list[_Told]] = defaultdict(list)
    for each in told:
        if each.figure is not None:
            groups[_key(each.figure)].append(each)
    for group in groups.values():
        first = min((each.tag.name for each in group), key=names.index)
        sure = [each for each in group if each.tag.name == first]
        if all(_agree(one, other) for one, other in pairwise(each.figure for each in sure if each.figure)):
            yield from sure
        else:
            findings.leave_out("tags that contradict each other", len(sure))


def _in_own_words(told: _Told, own: Mapping[int, Figure]) -> Figure | None:
    """A tag's figure, with the words that name the number in the text if it was read there."""
    read = own.get(told.place.start)
    return replace(told.figure, label=read.label, place=read.place) if told.figure and read else told.figure


def _agree(one: Figure, other: Figure) -> bool:
    """Whether two figures are equal within the rounding of the coarser one."""
    return abs(one.value - other.value) <= max(one.step, other.step)
