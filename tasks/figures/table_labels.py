"""What labels and titles of tables say: concept, period, units, basis, whose table it is, and which parts it lists."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.figures.figure import (
    SHORT_NAMES,
    WORDS,
    Basis,
    Meaning,
    Taxonomy,
    find_basis,
    plain_label,
    without_basis,
)
from tasks.figures.table_grids import Grid, join_titles
from tasks.language.numbers import Units, only_units, read_units, without_units
from tasks.language.periods import HINT, When, find_periods, without_spans

_BILINGUAL: Final = re.compile(r"\s[/|]\s")


@dataclass(frozen=True, slots=True)
class Label:
    """What the words of a row or column say: meaning, time, units, basis and part."""

    words: str
    meaning: Meaning | None
    when: When | None
    units: Units
    basis: Basis | None
    average: bool
    rest: str
    part: str | None = None


@dataclass(frozen=True, slots=True)
class RowWords:
    """What the words of a row say: its name, its meaning and period, and which of the following cells hold numbers."""

    name: str
    label: Label | None
    meaning: Meaning | None
    when: When | None
    numbers: list[int]

    def is_time(self, *, is_stock: bool = False) -> bool:
        """Whether the row's name is only a time; for a stock, it may also say "Balance at"."""
        name = WORDS.row_balance.sub("", self.name) if is_stock and WORDS.row_balance.match(self.name) else self.name
        return self.when is not None and self.when.dated and not without_dates(name)


class LabelReader:
    """Reads labels by a taxonomy; each label is read only once."""

    def __init__(self, taxonomy: Taxonomy, language: str) -> None:
        self._taxonomy = taxonomy
        self._short = SHORT_NAMES.get(language, {})
        self.codes = taxonomy.codes.get(language, {})
        self.read = lru_cache(maxsize=16384)(self._read)
        self.meaning = lru_cache(maxsize=65536)(self._meaning)

    def speaks(self, words: str) -> bool:
        """Whether a label has a meaning, if need be without its periods, units and basis."""
        return self.may_speak(words) and self.read(words).meaning is not None

    def law(self, words: str) -> Meaning | None:
        """The meaning of a label on two lines that a law or form has on one; weak meanings do not count."""
        meaning = self.meaning(words) if len(words) < LONGEST_LABEL else None
        return meaning if meaning and meaning.rank < WEAK else None

    def may_speak(self, words: str) -> bool:
        """Whether a label contains a word of any concept."""
        return self._may_speak(plain_label(_whole_words(words)))

    def _may_speak(self, plain: str) -> bool:
        if self._taxonomy.may_speak(plain):
            return True
        return bool(self._short) and not self._short.keys().isdisjoint(plain.split())

    def any_may_speak(self, labels: Iterable[str]) -> bool:
        """Whether one of these labels may have a meaning."""
        return self._may_speak(plain_label(" | ".join(map(_whole_words, labels))))

    def _meaning(self, words: str) -> Meaning | None:
        """The concept of a label as it is written, ignoring periods, units and basis."""
        words = WORDS.spaced_letters.sub(lambda match: match[0].replace(" ", ""), words)
        if noted := _NOTED.fullmatch(words):
            words = noted[1]
        plain = plain_label(words)
        cut = WORDS.label_part_cut_word.sub("", words)
        if cut != words and self._taxonomy.meaning(plain_label(cut)) is not None:  # a cell's line ends within a word
            plain = plain_label(cut)
        if self._taxonomy.meaning(plain) is None:
            plain = plain_label(_part_words(words))
        if not self._may_speak(plain):
            return None
        found = self._taxonomy.meaning(self._short.get(plain, plain))
        if found is None:
            enumerated = words
            unnumbered = WORDS.enumerated_sum.sub("", WORDS.enumerated_total.sub(r"\g<total> ", words))
            if unnumbered == words and (enumerator := WORDS.enumerator.match(words)):
                unnumbered = words[enumerator.end() :]
            if unnumbered != words:
                words, plain = unnumbered, plain_label(unnumbered)
                found = self._taxonomy.meaning(self._short.get(plain, plain))
            if found and WORDS.enumerated_sum.search(enumerated) and found.concept.id not in _ENUMERATED:
                found = None  # "Revenue I" is one of several
        if found is None and self.codes and (coded := WORDS.label_part_code_behind.fullmatch(words)):
            of_code, of_label = self.codes.get(coded["code"]), self._taxonomy.meaning(plain_label(coded["label"]))
            found = of_label if of_code and of_label and of_code.concept is of_label.concept else None
        if found is None and _BILINGUAL.search(words):
            found = next(
                filter(None, (self._taxonomy.meaning(plain_label(part)) for part in _BILINGUAL.split(words))), None
            )
        return found

    def _read(self, written: str) -> Label:
        meaning, words = self.meaning(written), written
        if meaning is None and (parted := _part_units(written)) and self.speaks(parted):
            words = parted
            meaning = self.meaning(words)
        rest, when = _part_time(words) if meaning is None or HINT.search(words) else (words, None)
        units, basis, part = read_units(rest), find_basis(rest), None
        if meaning is None:
            meaning, rest = self._read_rest(without_units(WORDS.label_part_in_percent.sub(" ", rest)), basis)
        of_part = WORDS.of_part.fullmatch(rest) if meaning is None else None
        if of_part and find_basis(of_part["part"]) is None and not WORDS.whole_company.match(of_part["part"]):
            meaning = self.meaning(of_part["what"])
            part = of_part["part"] if meaning is not None else None
        average = WORDS.table_average.search(words) is not None
        return Label(written, meaning, when, units, basis, average, rest.strip(" ,:–-"), part)

    def _read_rest(self, rest: str, basis: Basis | None) -> tuple[Meaning | None, str]:
        """The meaning of a label without its units, brackets or basis; and what remains of it."""
        meaning = self.meaning(rest)
        if meaning is None and (short := _SHORT_NAME.search(rest)):  # "Driftsresultat (EBITDA)"
            meaning = self.meaning(short[1])
        if meaning is None and "(" in rest:
            rest = " ".join(WORDS.brackets_aside.sub(" ", rest).split())
            meaning = self.meaning(rest)
        if meaning is None and "(" in rest:
            meaning = self.meaning(_BRACKETS.sub(" ", rest))
            meaning = meaning if meaning and "money" in meaning.concept.units else None
        if meaning is None and basis is not None:
            rest = without_basis(rest)
            meaning = self.meaning(rest)
        return meaning, rest


def _part_units(words: str) -> str:
    """A label with the units at its end in brackets: "Revenue (EUR k)", "revenue (THB)" for "revenue_THB"; "" without a
    currency, and for "revenue_usd_m", which may be that of a month.
    """
    mark = " " if " " in words else "_"
    parts = words.split(mark)
    if len(words) > _SHORT_TITLE or read_units(" ".join(parts)).currency is None or (mark == "_" and "m" in parts):
        return ""
    for at in range(1, len(parts)):
        units = " ".join(parts[at:])
        units = units.lower() if words.isupper() else units  # in capitals "ALL" is no code
        if only_units(units) and read_units(units).currency:
            return f"{' '.join(parts[:at])} ({units})"
    return ""


_ENUMERATED: Final = frozenset({"total_assets", "current_assets", "equity", "total_liabilities", "current_liabilities"})
"""The sums of a balance sheet, which some laws number."""
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_NOTED: Final = re.compile(r"([^()]*[^\W\d]) ?\d{1,2}\)")
"""A label with the mark of a footnote behind it: "EBITDA 2)"."""
_SHORT_NAME: Final = re.compile(r"\(([A-Z]{3,8})\)")


def _part_time(words: str) -> tuple[str, When | None]:
    """The label without the only period that it names, and that period; a day without a year is removed."""
    periods = [when for when in find_periods(words) if when.dated]
    if len(periods) == 1:
        return _cut(words, periods[0]), periods[0]
    days = [when for when in find_periods(words) if when.month_day] if not periods else []
    return (_cut(words, days[0]) if len(days) == 1 else words), None


def _cut(words: str, when: When) -> str:
    """A label without a time and the words that introduce it: "Headcount" for "Headcount at 31 December"."""
    return WORDS.date_tail.sub("", words[: when.start].rstrip(" ,(:–-")) + " " + words[when.stop :].lstrip(" ,):–-")


def _whole_words(words: str) -> str:
    """A label; also without a last word that its cell truncated, and with the words that a program joined apart."""
    cut = WORDS.label_part_cut_word.sub("", words) if words[-1:].islower() else words
    return " | ".join({words, cut, _part_words(words)})


def _part_words(words: str) -> str:
    """The words of a name that a program wrote: "cost Of Revenue" for "costOfRevenue"."""
    return _JOINED.sub(" ", words) if words.isalpha() else words


_JOINED: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=16)
def label_reader(taxonomy: Taxonomy, language: str = "") -> LabelReader:
    """The reader for a taxonomy and the short names of a language; documents of a room share many labels."""
    return LabelReader(taxonomy, language)


def label_in(title: str) -> str:
    """The label in a line above a table that is a sentence: "average number of employees"."""
    return WORDS.in_a_sentence.sub("", WORDS.in_a_sentence.sub("", title))


def without_dates(words: str) -> str:
    """What is left of a label without its periods and filler words."""
    return " ".join(WORDS.filler.sub(" ", without_periods(words)).split())


def without_periods(words: str, mark: str = " ") -> str:
    """Words in which a mark stands for each period."""
    periods = find_periods(words)
    starts = [0, *(when.stop for when in periods)]
    stops = [*(when.start for when in periods), len(words)]
    return mark.join(words[start:stop] for start, stop in zip(starts, stops, strict=True))


def is_date(words: str) -> bool:
    """Whether a line of one cell starts new columns: it is a period and nothing else."""
    if WORDS.label_part_of_shares.search(words):
        return False
    return len(words) < 60 and bool(find_periods(words)) and not without_dates(words)


def entity_named(text: str, label: Label) -> str | None:
    """The part of the company that a column's words name; None if they name the whole, or a concept."""
    rest = WORDS.other_calendar.sub(" ", without_basis(without_units(without_periods(without_spans(text)))))
    if label.meaning is not None or only_units(rest):
        return None
    plain = " ".join(WORDS.filler.sub(" ", rest).split())
    return (
        None
        if not _NAME.search(plain) or WORDS.whole_company.match(plain) or len(plain) > 60
        else " ".join(rest.split()).strip(" ,:()-–$€£'\"’0")
    )


_NAME: Final = re.compile(r"[^\W\d_]{3}|[A-Z]|[\u3040-\u9fff\uac00-\ud7af]")
"""What the name of a part has at least: "O2", "B", "日本"; a column "a" beside "b" is none."""
_BASIS_FIRST: Final = re.compile(
    r"(?:budget|plan|forecast|pro[- ]?forma|run[- ]?rate|annuali[sz]ed|projections?|prognose)(?= ?[(:]| v?\d)",
    re.IGNORECASE,
)
"""What begins a heading that says it of the whole table, whatever number follows: "Forecast 6+6", "Plan (12.3.)"."""
_A_YEAR: Final = re.compile(r"\b20\d\d\b")
WEAK: Final = 2
"""The rank of labels that mean a concept only where no surer one stands."""
LONGEST_LABEL: Final = 160
"""Characters of a line over a table that may be what its numbers are; a longer one is a sentence."""
_SHORT: Final = 25
"""Characters up to which a line over a table is a part of its header: "December", "31,", "(In thousands)"."""


@dataclass(frozen=True, slots=True)
class TableTitles:
    """The lines above a table, nearest last.

    Attributes:
        lines: all of them.
        titles: those that are no longer than a heading.
        is_consolidated: whether they call it the group's.
        is_parents: whether they call it the parent company's alone.
        is_statement: whether they head a statement of the accounts.
        is_skipped: whether it is of parts, shares or other companies.
    """

    lines: tuple[str, ...]
    titles: tuple[str, ...]
    is_consolidated: bool
    is_parents: bool
    is_statement: bool
    is_skipped: bool

    def find_basis(self, titles: Sequence[str]) -> Basis | None:
        """The basis that these headings give to the whole table."""
        short = [title for title in titles if len(title) < 60]
        plain = [
            title
            for title in short
            if not any(map(str.isdigit, _A_YEAR.sub("", without_periods(title)))) or _BASIS_FIRST.match(title)
        ]
        basis = find_basis(" ".join(plain)) if not self.is_statement else None
        return None if basis == "audited" or any(WORDS.actual_heading.search(title) for title in plain) else basis


def over_table(lines: Sequence[str]) -> TableTitles:
    """What these lines above a table say about it."""
    lines = join_titles(lines)
    titles = [line for line in lines if len(line) < 220]
    spoken = [line for line in lines if len(line) > _SHORT] or lines
    near = " ".join(line[-250:] for line in [*spoken[-3:], *lines[-3:]])
    is_statement = any(
        WORDS.statement_heading.search(title)
        for title in titles[-5:]
        if len(title) < LONGEST_LABEL and not WORDS.speaks_of_a_statement.search(title)
    )
    return TableTitles(
        tuple(lines),
        tuple(titles),
        is_consolidated=any(WORDS.table_consolidated.search(title) for title in titles[-5:]),
        is_parents=any(WORDS.parent_heading.search(title) for title in titles),
        is_statement=is_statement,
        is_skipped=WORDS.table_obligors.search(near) is not None
        or (WORDS.skipped_table.search(near) is not None and not is_statement),
    )


MOST_PARTS: Final = 500
"""Rows of a list of parts that is taken; a longer one is a ledger of transactions."""
_SHORT_TITLE: Final = 60
_MOST_ROWS_OF_A_PART: Final = 10
_LINES_BEHIND: Final = 3
_FIRST_PAGE: Final = 3000
"""Characters that name the company itself."""


def of_parts(title: str) -> str:
    """What the numbers of parts are: "Revenue" in "Revenue by segment"; other titles are returned unchanged."""
    match = WORDS.table_by_entity.match(title)
    return match["what"] if match else title


def parts_title(titles: Sequence[str], corner: str, reader: LabelReader) -> tuple[Meaning | None, bool]:
    """What the titles say about numbers of parts, and whether a title alone says that they are parts.

    "Revenue by segment" says so in one line above a corner without words, "Segment sales" above "Net sales" in two.
    """
    for title in reversed([*titles, corner][-4:]):
        if WORDS.table_by_entity.match(title):
            named = WORDS.entity_corner.search(title[len(of_parts(title)) :]) is not None
            return reader.read(of_parts(title)).meaning, named and (not corner or only_units(corner))
    over = titles[-1] if titles else ""
    if corner and len(over) < _SHORT_TITLE and WORDS.entity_corner.search(over):
        meaning = reader.read(corner).meaning
        return meaning, meaning is not None
    return None, False


def lists_parts(entities: str, titles: Sequence[str], *, titled: bool) -> bool:
    """Whether the rows are parts, according to the heading of their names or (`titled`) to the title."""
    over = f"{entities} {' '.join(titles[-1:])}"
    return (titled or WORDS.entity_corner.search(entities) is not None) and not WORDS.partial_list.search(over)


def part_told_behind(text: str, grid: Grid) -> str:
    """The segment that a small table concerns, by the prose below it; "" if that names no part of the company."""
    if len(grid.rows) > _MOST_ROWS_OF_A_PART:
        return ""
    before = text[: min(_FIRST_PAGE, grid.rows[0].start)]
    end = text.find("\n", grid.rows[-1].start)
    behind = [line for line in text[end + 1 : end + 600].split("\n") if line.strip()] if end >= 0 else []
    for line in behind[:_LINES_BEHIND]:
        told = WORDS.prose_of_a_segment.match(line.strip())
        if told and not WORDS.table_no_name.match(told["name"]) and told["name"] not in before:
            return told["name"]
    return ""
