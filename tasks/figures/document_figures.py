"""All figures of one document, from its tables, sentences and tags, without those that it contradicts itself.

Figures are shown to be actual by the names of tables and documents, and by when they were written. A period that ends
after the file was last changed was not over, whatever the table says. In anything called a projection or model, and on
sheets whose columns run beyond that day, only periods that were over when the file was made are actual: saving or
opening the file again makes nothing in it true.

Tags of inline XBRL override what the rows and columns of numbers say. A tag without dimensions concerns the company. Of
those with one, segments are parts, and some say that the company alone is meant without its group; the others break a
total down differently and are no figures.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice, pairwise
from typing import Final, NamedTuple, cast

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import (
    ACTUAL,
    ALWAYS,
    PARENT,
    WORDS,
    Basis,
    Concept,
    Figure,
    Findings,
    Taxonomy,
    agree,
    agrees,
    find_basis,
    find_named_basis,
)
from tasks.figures.from_cells import cell_figures
from tasks.figures.from_sentences import find_founding_years, sentence_figures
from tasks.figures.statement_checks import DEBT_PARTS, OF_STATEMENTS, STATEMENT_WEIGHT, surest, without_unscaled
from tasks.figures.table_figures import NEVER_NEGATIVE, TableCandidate
from tasks.figures.table_labels import WEAK
from tasks.language.periods import header_period, last_day, months_back
from tasks.reading.text_writer import SHEET, Place, lowest_confidence, today
from tasks.reading.xbrl import Tag, parse_tag

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
_MOST_NOUGHTS: Final = 6


class _Told(NamedTuple):
    """A tagged number: its place and its figure; None if its tag gives it to nobody here."""

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
    values = [each.figure.value for each in told if each.figure]
    if len(values) >= _MOST_NOUGHTS and not any(values):  # a form that nobody filled in
        findings.leave_out("columns of noughts", len(values))
        return []
    starts = {each.place.start: each for each in told}
    tagged = [(figure, [at for at in range(figure.start, figure.end) if at in starts]) for figure in own]
    own_by_start = {at: figure for figure, places in tagged for at in places}
    names = [name.partition(" ")[0] for name in taxonomy.tags]
    found = filter(None, (_in_own_words(each, own_by_start) for each in _surest_tags(told, names, findings)))
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
    is_fraction = unit == "count" and 0 < value < 1  # written in another unit than the tag says
    if entity == "" or not fits or not of_unit or is_fraction or (value < 0 and concept.id in NEVER_NEGATIVE):
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
        if WORDS.tag_of_group.search(axis) and _WHOLE.match(value):
            continue
        if axis.startswith("ResultForecast") and (value.startswith("Result") or value == "ForecastMember"):
            continue
        if WORDS.tag_of_group.search(axis) and WORDS.tag_of_parent.search(value):
            parts.append(PARENT)
            continue
        if not WORDS.tag_of_segment.search(axis) or value == "typed":
            return ""
        parts.append(" ".join(_WORDS.findall(value.removesuffix("Member"))))
    return ", ".join(parts) or None


def _surest_tags(told: Sequence[_Told], names: Sequence[str], findings: Findings) -> Iterator[_Told]:
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


_A_MONTH: Final = 31
_IN_TABLE: Final = "row “"
_KINDS: Final = frozenset({None, *ACTUAL})


def show_actual(document: LedgerDocument, figures: Sequence[Figure], findings: Findings) -> list[Figure]:
    """The figures of a document, with the basis that its names and its file's dates give to those without another.

    Where the file's date cannot be and nothing else says what was over, they are left out, counted in `findings`.
    """
    run_on = {
        part
        for figure in figures
        if (part := document.part(figure.start)) and part.kind == SHEET and _is_ahead(document, figure)
    }
    furthest = max((last_day(figure.period) for figure in figures), default="")
    own = find_named_basis(document.name.rpartition(".")[0] or document.name)
    if own and WORDS.document_actual.search(document.text):  # it has columns of actual figures
        own = None
    settled = []
    for figure in figures:
        if figure.basis not in _KINDS:
            settled.append(figure)
            continue
        part = document.part(figure.start)
        named = next(filter(None, map(find_named_basis, _list_names(document, figure, part))), None) or own
        if named in {None, "except"} and _is_of_running_year(document, figure, furthest):
            findings.leave_out("years that may not have been over")
            continue
        basis = _find_basis(document, figure, named, of_plan=named == "forecast" or part in run_on)
        if basis == figure.basis and document.is_doubted and not _happened(figure):
            findings.leave_out("files whose date cannot be")
        else:
            settled.append(figure if basis == figure.basis else replace(figure, basis=basis))
    return _find_repeated(settled) if document.stores_numbers else settled


def _find_repeated(figures: Sequence[Figure]) -> list[Figure]:
    """The figures of a workbook; forecasts that repeat an actual one to the last digit are actual, in any sheet."""
    said = {_said(each) for each in figures if each.basis in _KINDS and each.value and _happened(each)}
    return [
        replace(each, basis="management")
        if each.basis == "forecast" and _said(each) in said and not find_basis(each.place.partition(_IN_TABLE)[2])
        else each
        for each in figures
    ]


def _said(figure: Figure) -> tuple[str, str, str, Decimal]:
    return figure.concept, figure.period, figure.unit, figure.value


def _list_names(document: LedgerDocument, figure: Figure, part: Place | None) -> Iterator[str]:
    """The headings, names and titles that say what a figure is; a sentence outside a list says it itself."""
    if _IN_TABLE in figure.place:
        yield document.heading(figure.start)
    elif document.is_listed(figure.start):
        yield from document.headings(figure.start)
    if part and part.kind == SHEET:
        yield part.label
    if _IN_TABLE in figure.place:
        yield document.title(figure.start)


def _find_basis(document: LedgerDocument, figure: Figure, named: str | None, *, of_plan: bool) -> Basis | None:
    """The basis of a figure that has none of its own: what its names say, or a forecast of what was not over."""
    if named in ALWAYS and WORDS.actual_heading.search(figure.place) is None:
        return cast("Basis", named)
    if _is_ahead(document, figure) or (_is_planned(document, figure, of_plan=of_plan) and not _happened(figure)):
        return "forecast"
    return figure.basis


def _happened(figure: Figure) -> bool:
    """Whether the words or the columns beside a figure say that it is an actual one."""
    return figure.basis in ACTUAL or WORDS.actual_heading.search(figure.place) is not None


def _is_ahead(document: LedgerDocument, figure: Figure) -> bool:
    """Whether a figure's period ended after its file was last changed, or has not ended yet."""
    return last_day(figure.period) > (document.file_dates(figure.start)[1] or today().isoformat())


def _is_of_running_year(document: LedgerDocument, figure: Figure, furthest: str) -> bool:
    """Whether a column names only the year in which its file was last changed, the furthest of the document: it may be
    a fiscal year that was over, the year so far, or a plan.
    """
    changed = document.file_dates(figure.start)[1] or ""
    if not changed[:4] == furthest[:4] == last_day(figure.period)[:4] or not _is_ahead(document, figure):
        return False
    when = header_period(figure.place.partition("column “")[2].rstrip("”"))
    names_year = when is not None and (
        when.is_bare_year or (when.end is not None and when.end.strftime("%m%d") == "0101")
    )
    return names_year and not document.calendar.said


def _is_planned(document: LedgerDocument, figure: Figure, *, of_plan: bool) -> bool:
    """Whether a period ended more than a month after the day that its document states, or, in a plan, was not over."""
    dated = document.calendar.dated
    if dated is not None and (date.fromisoformat(last_day(figure.period)) - dated).days > _A_MONTH:
        return True
    days = [day for day in (*document.file_dates(figure.start), dated.isoformat() if dated else None) if day]
    return of_plan and not (days and last_day(figure.period) <= min(days))


VERSION: Final = "ledger-48"
"""Changes whenever the same text would give other figures; stored ledgers of another version are built again."""
MOST_FIGURES: Final = 20_000  # of one document; the rest is counted as left out
_MOST_FOUNDED: Final = 20  # places of one document that say when the company was founded
_LEGIBLE: Final = 85
"""How sure recognition must be of a page, in percent, for its figures to count: see `tests/benchmarks/README.md`."""
_NAME_WORDS: Final = 9  # in a line: that is no company's name
_COARSE: Final = 1000  # units of its last digit: an amount of more is as good as an exact one
_TEMPLATE: Final = 5  # figures or more, all of them nought: of a form that nobody has filled in
_MANY: Final = 4  # amounts of one concept and period: of companies, cases or parts that nothing names apart
_LONGEST: Final = 300
_LONG: Final = 60_000
"""Characters of a document whose notes and prose speak of more than the company as a whole."""


def find_figures(document: LedgerDocument, taxonomy: Taxonomy) -> Findings:
    """The figures of a document, the sums in it that do not add up, and how many numbers were left out, and why."""
    findings = Findings()
    in_tables, sums = _find_in_tables(document, taxonomy, findings)
    known = _group_values(in_tables) if len(document.text) > _LONG else {}

    def differs(figure: Figure) -> bool:
        said = known.get(_kind_key(figure), ()) if figure.entity is None else ()
        return _is_another_debt(figure, sums) or (bool(said) and not any(agree(figure, one) for one in said))

    sentences, differing = _part(sentence_figures(document, taxonomy, findings), differs)
    findings.leave_out("sentences that differ from the statements", len(differing))
    figures = with_tags(document, taxonomy, [*in_tables, *sentences], findings)
    figures.sort(key=lambda figure: figure.start)
    figures = _legible(document, figures, findings)
    figures = show_actual(document, figures, findings)
    figures = _without_roundings(_without_translations(document, figures, findings), findings)
    figures = _without_many(figures, findings)
    in_rows = sum(_IN_TABLE in figure.place for figure in figures)
    if (len(figures) >= _TEMPLATE or in_rows == len(figures) > 1) and not any(figure.value for figure in figures):
        findings.leave_out("noughts of a template", len(figures))
        figures = []
    findings.leave_out("more figures than a document may have", max(len(figures) - MOST_FIGURES, 0))
    findings.figures = figures[:MOST_FIGURES]
    findings.founded = list(islice(find_founding_years(document), _MOST_FOUNDED))
    return findings


def _without_translations(document: LedgerDocument, figures: list[Figure], findings: Findings) -> list[Figure]:
    """The figures without those in another currency than nearly all, where it translates some for its readers."""
    units = Counter(figure.unit for figure in figures if len(figure.unit) == len("EUR"))
    (usual, count), *others = units.most_common() or [("", 0)]
    if count < 2 * sum(number for _, number in others) or not WORDS.for_convenience.search(document.text):
        return figures
    kept, translated = _part(figures, lambda figure: figure.unit in units and figure.unit != usual)
    findings.leave_out("translations for the reader's convenience", len(translated))
    return kept


def _without_roundings(figures: list[Figure], findings: Findings) -> list[Figure]:
    """The figures without those of sentences, of two or three digits, that a table gives with more."""
    exact = _group(figure for figure in figures if _IN_TABLE in figure.place)

    def is_rounding(figure: Figure) -> bool:
        if _IN_TABLE in figure.place or figure.step * _COARSE <= abs(figure.value) or figure.variant:
            return False
        return any(one.step < figure.step and agree(one, figure) for one in exact.get(_key(figure), ()))

    kept, rounded = _part(figures, is_rounding)
    findings.leave_out("roundings of what a table gives", len(rounded))
    return kept


def _without_many(figures: list[Figure], findings: Findings) -> list[Figure]:
    """The figures without those of which the document gives four amounts or more for one concept and period.

    The amount stays that its tables agree on, where the others are of sentences.
    """
    said: dict[tuple[object, ...], list[Figure]] = defaultdict(list)

    def others(figure: Figure) -> list[Figure]:
        return said[_kind_key(figure), figure.basis not in _KINDS and figure.basis, figure.variant]

    amounts = [one for one in figures if one.entity is None and one.unit not in {"count", "percent", "ratio", "months"}]
    of_company = [each for each in amounts if each.concept not in DEBT_PARTS]
    # those of tables first, exact ones before what is rounded to them
    for figure in sorted(of_company, key=lambda each: (_IN_TABLE not in each.place, each.step)):
        if len(others(figure)) < _MANY and not any(agree(one, figure) for one in others(figure)):
            others(figure).append(figure)

    def is_of_tables(figure: Figure) -> bool:
        first, second = others(figure)[:2]
        return _IN_TABLE in first.place and _IN_TABLE not in second.place and agree(first, figure)

    many = [each for each in of_company if len(others(each)) >= _MANY]
    unsure = {id(each) for each in many if not is_of_tables(each)}
    findings.leave_out("not sure: the document gives four amounts or more", len(unsure))
    return [each for each in figures if id(each) not in unsure]


_Sums = Mapping[str, tuple[Decimal, Decimal]]
"""By day, the sum of a balance sheet's rows of debt and the step to which it is rounded."""


def _find_in_tables(document: LedgerDocument, taxonomy: Taxonomy, findings: Findings) -> tuple[list[Figure], _Sums]:
    """The figures of the tables without those that the statements contradict, and the statements' sums of debt."""
    tables = [
        [replace(each, table=number) for each in table]
        for number, table in enumerate(cell_figures(document, taxonomy, findings))
    ]
    if document.stores_numbers:
        tables = without_unscaled(tables, findings)
    candidates = [each for table in tables for each in table if each.figure.concept not in OF_STATEMENTS]
    in_tables, of_others = _without_contradictions(document, candidates, findings)
    own = [[each for each in table if (each.table, each.figure.period) not in of_others] for table in tables]
    of_statements = surest([[each for each in table if each.figure.concept in OF_STATEMENTS] for table in own])
    sums = _sum_debt(of_statements)
    in_tables, of_notes = _part(in_tables, lambda figure: _is_another_debt(figure, sums))
    findings.leave_out("notes that differ from the statements", len(of_notes))
    return [*in_tables, *(each.figure for each in of_statements)], sums


def _kind_key(figure: Figure) -> tuple[str, str, str, bool]:
    return figure.concept, figure.period, figure.unit, figure.basis in _KINDS


def _group_values(figures: Iterable[Figure]) -> Mapping[tuple[str, str, str, bool], Iterable[Figure]]:
    """The company's own figures, one for each value and rounding, by what sentences would say the same of."""
    known: dict[tuple[str, str, str, bool], dict[tuple[Decimal, Decimal], Figure]] = defaultdict(dict)
    for figure in figures:
        if figure.entity is None:
            known[_kind_key(figure)][figure.value, figure.step] = figure
    return {key: values.values() for key, values in known.items()}


def _part(figures: Iterable[Figure], is_left_out: Callable[[Figure], bool]) -> tuple[list[Figure], list[Figure]]:
    """Split the figures into those that are kept and those that are left out."""
    kept: list[Figure] = []
    left_out: list[Figure] = []
    for figure in figures:
        (left_out if is_left_out(figure) else kept).append(figure)
    return kept, left_out


def _legible(document: LedgerDocument, figures: list[Figure], findings: Findings) -> list[Figure]:
    """The figures, except those on scanned pages that text recognition was unsure of."""
    doubtful = [place for place in document.recognised if (lowest_confidence([place.label]) or 100) < _LEGIBLE]
    starts = [place.start for place in doubtful]
    ends = [0, *(place.end for place in doubtful)]
    kept = [figure for figure in figures if figure.start >= ends[bisect_right(starts, figure.start)]]
    findings.leave_out("scans that recognition is not sure of", len(figures) - len(kept))
    return kept


def _without_contradictions(
    document: LedgerDocument, candidates: list[TableCandidate], findings: Findings
) -> tuple[list[Figure], set[tuple[int, str]]]:
    """The figures of tables; if two differ, those in the main statements are kept and those in notes are left out.

    Also returns the tables that contradict the statements, by number and period: they are about another company.
    """
    groups: dict[tuple[str, str, str], list[TableCandidate]] = defaultdict(list)
    kept: list[Figure] = []
    for candidate in candidates:
        figure = candidate.figure
        if figure.entity is None and not figure.variant and figure.basis in _KINDS:
            groups[figure.concept, figure.period, figure.unit].append(candidate)
        else:
            kept.append(figure)
    of_notes: list[list[TableCandidate]] = []
    contradicting: set[tuple[int, str]] = set()
    for group in groups.values():
        first = _surest(group)
        if first.weight < STATEMENT_WEIGHT or (len(document.text) < _LONG and first.weight < 2 * STATEMENT_WEIGHT):
            of_notes.append(group)
            continue
        for candidate in group:
            if agree(candidate.figure, first.figure):
                kept.append(candidate.figure)
            else:
                findings.leave_out("notes that differ from the statements")
                contradicting.add((candidate.table, candidate.figure.period))
    for group in of_notes:
        own = [each for each in group if (each.table, each.figure.period) not in contradicting]
        if len(own) < len(group):  # a table of another company: what it says beside that is not ours either
            findings.leave_out("notes that differ from the statements", len(group) - len(own))
        kept.extend(_of_notes(document, own, findings))
    return kept, contradicting


def _surest(group: Sequence[TableCandidate]) -> TableCandidate:
    """The most reliable candidate for a concept and period: one from the main statements, if there is one."""
    main = [each for each in group if each.consolidated and each.weight >= STATEMENT_WEIGHT] or group
    # A plain label in a main statement ranks above a weak one.
    first = max(main, key=lambda each: (each.weight >= STATEMENT_WEIGHT and each.rank < 2, each.weight, -each.rank))
    votes = Counter(candidate.figure.value for candidate in group)
    value, most = votes.most_common(1)[0]
    if most > 2 and most >= 2 * votes[first.figure.value]:  # accounts of another company stand in it too
        often = [each for each in group if each.figure.value == value and each.weight >= STATEMENT_WEIGHT]
        first = (often or [first])[0]
    return first


def _of_notes(document: LedgerDocument, group: Sequence[TableCandidate], findings: Findings) -> Iterator[Figure]:
    """The figures that only notes have for a concept and period: those that most of them agree with, none of two that
    are given as often.

    In a short document all of them, if they have two values at most, as they contradict each other; none of two values
    below the names of two companies. All of them in a short workbook, whose sheets may also be versions of a plan.
    """
    is_long = len(document.text) > _LONG
    if document.stores_numbers and not is_long:
        yield from (candidate.figure for candidate in group)
        return
    named = [each for each in group if not is_long or each.rank < WEAK or each.figure.concept != "equity"]
    findings.leave_out("names in notes that may be of a part", len(group) - len(named))  # "Equity" may be that of one
    figures = [each.figure for each in named]
    votes = Counter((figure.value, figure.step) for figure in figures)
    agreeing = {one: sum(count for other, count in votes.items() if agrees(*one, *other)) for one in votes}
    most = [one for one in votes if agreeing[one] == max(agreeing.values())]
    apart = [one for one in votes if not agrees(*one, *most[0])]
    if not is_long and all(agrees(*one, *apart[0]) for one in apart):
        companies = {_company_over(document.text, each.row) for each in named} - {""}
        most = most if apart and len(companies) > 1 else []
    same = [figure for figure in figures if all(agrees(figure.value, figure.step, *one) for one in most)]
    findings.leave_out("tables that differ from each other", len(figures) - len(same))
    yield from same


def _company_over(text: str, start: int) -> str:
    """The name of a company that is a line shortly above a row; "" if there is none."""
    lines = (line.split() for line in reversed(text[max(0, start - _LONGEST) : start].split("\n")))
    names = (
        line for line in lines if 1 < len(line) < _NAME_WORDS and WORDS.company_name.fullmatch(line[-1].strip(".,"))
    )
    return " ".join(next(names, []))


def _sum_debt(of_statements: Iterable[TableCandidate]) -> _Sums:
    """The sum of a balance sheet's rows of debt by day, and the step to which it is rounded."""
    sums: dict[str, tuple[Decimal, Decimal]] = {}
    for each in of_statements:
        if each.figure.concept in DEBT_PARTS:
            value, step = sums.get(each.figure.period, (Decimal(0), Decimal(0)))
            sums[each.figure.period] = (value + each.figure.value, step + each.figure.step)
    return sums


def _is_another_debt(figure: Figure, sums: _Sums) -> bool:
    """Whether a figure is a total of debt that differs from the sum of the balance sheet's rows."""
    if figure.concept != "debt" or figure.entity is not None or figure.basis not in _KINDS:
        return False
    return figure.period in sums and not agrees(figure.value, figure.step, *sums[figure.period])
