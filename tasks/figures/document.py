"""A document as the ledger sees it: its lines with their pages, and its calendar, currency and kind.

The kind of document (audited statements, a deck, management accounts) gives its figures their basis if no word beside
them says more, and gives the document its authority when two documents differ.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import PurePath
from typing import Final

from tasks.figures.document_currency import DocumentCurrency
from tasks.figures.figure import (
    WORDS,
    Basis,
    count_words,
    guess_language,
    holds,
    lower_text,
    matches,
    plain_blanks,
    spots,
    words_in,
)
from tasks.figures.fiscal_calendar import Calendar, learn_calendar, reports_on_quarter
from tasks.language.normalise import LEGAL_FORMS
from tasks.language.numbers import (
    GENERAL_WORDS,
    Units,
    only_units,
    read_leading_units,
    read_units,
    uses_decimal_comma,
)
from tasks.language.periods import When, find_periods, header_period, month_first, spell_months
from tasks.language.words import (
    alternation,
)
from tasks.reading import text_writer as kinds
from tasks.reading.text_writer import DOUBTED, Place

Places = Sequence[tuple[int, int, str, str] | Sequence[int | str]]
"""As storage keeps them: start, end, kind, label."""
_STALE: Final = 730
"""Days."""
_HEAD_OF_A_PART: Final = 4000
_MOST_HEADED: Final = 50
_HEAD: Final = 1000
"""Characters in which an update or a report says which time it is of."""
_LONGEST_TITLE: Final = 100
_ITEM: Final = re.compile(r"[ \t]*(?:[•*\-–]|\d{1,2}[.)])\s")
_NUMBERED_LINE: Final = re.compile(r"(?m)^[#* ]{0,4}(\d\d?)([.)]?)[^\S\n]+((?![a-z])[^\W\d_][\w-]*)")
_BULLETS: Final = re.compile(r"[●▪◦‣►➢➤◆](?:(?<=\n.)|(?<=\n .)|(?<=\A.))(?=\s)")
"""Other marks of an item at the beginning of a line."""
_LEVEL: Final = re.compile("#*")
_ESCAPE: Final = re.compile(r"\\(?=[^\w\s*\\|])")
"""What parts a mark of Markdown from its meaning: "\\$150,000". An escaped pipe stays, as a bare one parts cells."""
_TAG: Final = re.compile(r"</?[a-zA-Z][a-zA-Z\d]{0,9}(?: [^<>\n]{0,300})?/?>")
"""A tag of HTML, which Markdown may have anywhere."""
_ESCAPED_NUMBER: Final = re.compile(r"(?<!\d)\d+(?:\\?[.,]\d+)+")
_NAMED: Final = re.compile(r"(?<=[a-z,] )([A-Z][\w.&’-]+(?: [A-Z][\w.&’-]+){0,3})")
_LOOKED_AT: Final = 60_000
"""Characters of a document in which names are looked for."""
_LONGEST_HEAD: Final = 60
"""Characters of a page and of its lines that may say what time all its tables are of, and how many pages are asked."""
_YEAR: Final = re.compile(r"\d\d(?!\d)")
_GAP: Final = re.compile(r" {3,}")
_SLIDES: Final = frozenset({".pptx", ".ppt", ".odp"})
_MARKED: Final = frozenset({".md", ".markdown"})
_WHOLE_LINES: Final = frozenset({*_SLIDES, ".docx", ".html"})
_SHEETS: Final = frozenset({".xlsx", ".xls", ".xlsb", ".ods", ".csv"})
_STORED: Final = _SHEETS - {".csv"}
_GENERAL_UNITS: Final = re.compile(
    rf"\b(?:{alternation(GENERAL_WORDS)})\b[^.\n]{{0,40}}\b(?:in|en|em|i|w|v|×|x)\b[^\n]{{1,60}}", re.IGNORECASE
)
_UNITS_FOLLOW: Final = re.compile(r"\b(?:in|en|em|i|w|v|x|×)\b ?", re.IGNORECASE)
_SCALES: Final = {"thousands": 1000, "millions": 10**6, "billions": 10**9}


@dataclass(frozen=True, slots=True)
class ReportKind:
    """What a document is.

    Attributes:
        basis: what its figures are where no word beside them says more.
        deck: it is a presentation made to convince.
    """

    basis: Basis
    deck: bool


def kind_by_name(name: str, ending: str = "") -> ReportKind | None:
    """What a document is by its name and format alone; None if they do not tell."""
    unaudited = holds(name.lower(), "unaudited") or WORDS.management_name.search(name)
    if ending in _SLIDES or WORDS.deck_name.search(name):
        return ReportKind("management" if unaudited else "reported", deck=True)
    if not unaudited and holds(name.lower(), "audit_name"):
        return ReportKind("audited", deck=False)
    if ending in _SHEETS:
        return ReportKind("reported" if WORDS.report_name.search(name) and not unaudited else "management", deck=False)
    return ReportKind("management", deck=False) if unaudited else None


def find_document_kind(name: str, text: str, document_format: str = "") -> ReportKind:
    """What a document is by its name, format and words."""
    named = kind_by_name(name, document_format or PurePath(name).suffix.lower())
    if named is not None:
        return named
    lower = lower_text(text)
    head = lower[:4000]
    if holds(head[:1500], "unaudited"):
        return ReportKind("management", deck=False)
    is_report = WORDS.report_name.search(name) or holds(head, "report_text") or holds(head[:600], "audit_name")
    if is_report or len(text) > 100_000:
        speaks = any(matches(WORDS.audit, text, spots(lower, words_in("audit_words"))))
        speaks = speaks and "form 10-q" not in head and "quarterly report" not in head
    else:
        speaks = holds(lower, "auditors_words")
    return ReportKind("audited" if speaks else "reported" if is_report else "management", deck=False)


_RUN_TOGETHER: Final = re.compile(r"(?<![\d ])\d{1,3}(?: \d{3})+ \d{1,2}(?: \d{3})+(?![\d ])")


class LedgerDocument:
    """A text with its places, and what the document as a whole says about the figures in it."""

    def __init__(
        self, text: str, places: Places, name: str = "", document_format: str = "", calendar: Calendar | None = None
    ) -> None:
        """`name` is the document's file name, `document_format` the extension of its format (".pdf").

        `calendar` is the calendar for the years it mentions, if its own words are not to determine it.
        """
        self._calendar = calendar
        self.format = document_format or PurePath(name).suffix.lower()
        self.text = _BULLETS.sub("•", plain_blanks(kinds.shown_text(text, places)))
        if self.format in _MARKED:
            self.text = _ESCAPED_NUMBER.sub(lambda match: match[0].replace("\\", "").ljust(len(match[0])), self.text)
            self.text = _ESCAPE.sub(" ", self.text)
            self.text = _TAG.sub(lambda match: " " * len(match[0]), self.text)
            self.text = WORDS.document_emphasis.sub(
                lambda match: match[0].replace(match[1], " " * len(match[1])), self.text
            )
        self.name = name
        self._parts: list[Place] = []
        self._blocks: list[Place] = []
        self._headings: list[Place] = []
        self._files: list[Place] = []
        self._heads: dict[int, list[tuple[When, str]]] = {}
        self.tags: list[Place] = []
        self.recognised: list[Place] = []
        lists = dict.fromkeys((kinds.PAGE, kinds.SLIDE, kinds.SHEET, kinds.ATTACHMENT), self._parts) | {
            kinds.HEADING: self._headings, kinds.TAGGED: self.tags, kinds.FILE_DATES: self._files,
            kinds.CELLS: self._blocks, kinds.OCR: self.recognised,
        }  # fmt: skip
        for start, end, kind, label in places:
            if kind in lists:
                lists[str(kind)].append(Place(int(start), int(end), str(kind), str(label)))
        self._part_starts = [part.start for part in self._parts]
        self._block_starts = [block.start for block in self._blocks]

    @cached_property
    def is_of_a_quarter(self) -> bool:
        """Whether it reports on a quarter, so that a bare year over its columns may mean the quarter."""
        return reports_on_quarter(self.text, self.name)

    @property
    def of_pages(self) -> bool:
        """Whether its parts are pages, rather than sheets or slides."""
        return all(part.kind == kinds.PAGE for part in self._parts)

    @property
    def sheets(self) -> list[int]:
        """Where its sheets begin."""
        return [part.start for part in self._parts if part.kind == kinds.SHEET]

    @property
    def wraps(self) -> bool:
        """Whether its lines may be wrapped at the width of a page or mail; those of slides and
        letters are paragraphs.
        """
        return self.format not in _WHOLE_LINES

    @cached_property
    def _head(self) -> str:
        """The beginning of the text, which is searched for what applies to the whole document."""
        return self.text[:600_000]

    @cached_property
    def _lower(self) -> str:
        return lower_text(self._head)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    @cached_property
    def _learnt(self) -> Calendar:
        return self._calendar or learn_calendar(self.text, self.name)

    @cached_property
    def runs_together(self) -> bool:
        """Whether some cells contain the numbers of two columns: "2 812 300 2 105 700"."""
        return _RUN_TOGETHER.search(self.text) is not None

    @cached_property
    def calendar(self) -> Calendar:
        """When its fiscal years end, and its own date, which is never later than its file's last change."""
        stated, changed = self._learnt.dated, self.file_dates()[1]
        if stated is None or changed is None:
            return self._learnt
        return replace(self._learnt, dated=min(stated, date.fromisoformat(changed)))

    @cached_property
    def month_first(self) -> bool | None:
        """Whether it writes 12/31/2024 rather than 31/12/2024; None if that is not certain."""
        return month_first(self._head)

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether it writes decimals with a comma."""
        return uses_decimal_comma(self.text, "" if self.stores_numbers else self.language)

    @property
    def stores_numbers(self) -> bool:
        """Whether its cells are stored as numbers, in which a point is always the decimal point."""
        return self.format in _STORED

    @cached_property
    def kind(self) -> ReportKind:
        """What it is."""
        return find_document_kind(self.name, self.text, self.format)

    @cached_property
    def currency(self) -> DocumentCurrency:
        """The currencies that it is in."""
        return DocumentCurrency(self._head, self._lower, self.language, is_of_sheets=self.format in _SHEETS)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words with capitals, up to four in a row, that stand inside the sentences of its beginning."""
        runs = [match[1].replace("’s", "").split(" ") for match in _NAMED.finditer(self.text[:_LOOKED_AT])]
        return frozenset(" ".join(run[:end]).rstrip(".&-") for run in runs for end in range(1, len(run) + 1))

    @cached_property
    def language(self) -> str:
        """The language that it is written in; "" if that is not certain."""
        return guess_language(self.text)

    @cached_property
    def general_multiplier(self) -> int | None:
        """The scale of the whole document ("all amounts in thousands of euros unless stated")."""
        stated = [
            units
            for match in matches(_GENERAL_UNITS, self._head, spots(self._lower, GENERAL_WORDS))
            for words in _UNITS_FOLLOW.split(match.group())[1:]
            if (units := read_leading_units(words)) != Units() or read_units(words).currency
        ]
        scales = [units.multiplier for units in stated if units.multiplier]
        # "All amounts in SAR" on every page counts against "in thousands" over a few tables.
        return scales[0] if len(set(scales)) == 1 and 2 * len(scales) > len(stated) else None

    @cached_property
    def sheets_multiplier(self) -> int | None:
        """The scale that a workbook's list of facts gives to its sheets ("Reporting units | thousands")."""
        stated = WORDS.stated_scale.search(self._head) if self.stores_numbers else None
        return read_units(stated["units"]).multiplier if stated and only_units(stated["units"]) else None

    @cached_property
    def usual_multiplier(self) -> int:
        """The scale of most of its tables, 1 if they give none."""
        counts = {
            scale: sum(
                count_words(self._lower, words)
                for words in (*(f"{mark}in {word}" for mark in "(, "), *(f"{mark}{word} of" for mark in "(\t\n"))
            )
            for word, scale in _SCALES.items()
        }
        best = max(counts, key=lambda scale: counts[scale])
        return best if counts[best] >= 3 else 1

    def part(self, offset: int) -> Place | None:
        """The page, slide, sheet or attachment around an offset."""
        at = bisect_right(self._part_starts, offset) - 1
        return self._parts[at] if at >= 0 and offset < self._parts[at].end else None

    def file_dates(self, offset: int = 0) -> tuple[str | None, str | None]:
        """The days (ISO) on which the file around an offset was made and last changed, where they are certain.

        An embedded file is no newer than the one around it. If the file dates are years older than the document's own
        date, they belong to a file that it was made from.
        """
        labels = [
            place.label.strip(DOUBTED).partition("/") for place in self._files if place.start <= offset < place.end
        ]
        changed = min((last for _, _, last in labels if last), default=None)
        stated = self._learnt.dated
        if changed and stated and (stated - date.fromisoformat(changed)).days > _STALE:
            return None, None
        made = labels[-1][0] if labels else ""
        return made or None, changed

    @property
    def is_doubted(self) -> bool:
        """Whether its file gives a day that cannot be, and its words no other: nothing says what was over by then."""
        return self._learnt.dated is None and any(place.label == DOUBTED for place in self._files)

    @cached_property
    def numbered_lines(self) -> dict[int, set[str]]:
        """The numbers below 100 that lines with a capital begin with, and the first words behind each without a dot."""
        lines: dict[int, set[str]] = defaultdict(set)
        for number, dot, word in _NUMBERED_LINE.findall(self.text):
            lines[int(number)].update([] if dot else [word])
        return lines

    def heading(self, offset: int) -> str:
        """The first line of the slide around an offset, otherwise the nearest heading; "" without one."""
        part = self.part(offset)
        if part is not None and part.kind == kinds.SLIDE:
            title = self.text[part.start : part.end].strip().partition("\n")[0]
            return title if offset >= part.start + len(title) else ""
        at = bisect_right(self._headings, offset, key=lambda place: place.start) - 1
        return self._headings[at].label if at >= 0 and offset < self._headings[at].end else ""

    def title(self, offset: int) -> str:
        """The first line of the sheet around an offset, or of a text without headings, behind a company's name in it;
        "" if it is no title, or that of a report.
        """
        part = self.part(offset)
        of_sheet = part is not None and part.kind == kinds.SHEET
        if self._headings or not (of_sheet or self.of_pages):
            return ""
        head = (
            self.text[part.start : part.start + _HEAD].removeprefix(part.label) if part and of_sheet else self._opening
        )
        line = head.strip().partition("\n")[0]
        words = [word.strip(",.:;") for word in line.split(" ")]
        last = max((at for at, word in enumerate(words) if word.lower() in LEGAL_FORMS), default=-1)
        title = " ".join(words[last + 1 :])
        is_none = "\t" in line or len(line) > _LONGEST_HEAD or line[-1:] in {".", ":", ","}
        return "" if is_none or WORDS.report_name.search(title) or WORDS.not_of_plan.search(title) else title

    def headings(self, offset: int) -> list[str]:
        """The heading around an offset and, in Markdown, those of higher levels over it, nearest first."""
        over = [heading] if (heading := self.heading(offset)) else []
        if not over or self.format not in _MARKED:
            return over
        at = self._headings_over[bisect_right(self._headings, offset, key=lambda place: place.start) - 1]
        while at is not None:
            over.append(self._headings[at].label)
            at = self._headings_over[at]
        return over

    @cached_property
    def _headings_over(self) -> list[int | None]:
        """For each heading of Markdown, which one of a higher level it stands under."""
        over: list[int | None] = []
        under: list[tuple[int, int]] = []  # the levels and numbers of the headings that the next one may stand under
        for number, place in enumerate(self._headings):
            level = len(_LEVEL.match(self.text, place.start)[0])  # type: ignore[index]  # it matches nothing too
            while under and under[-1][0] >= level:
                under.pop()
            over.append(under[-1][1] if under else None)
            under.append((level, number))
        return over

    @cached_property
    def own_period(self) -> When | None:
        """The time that an update or a report says it is of: "Acme update, March 2025", "Reporting period: Q3 2025"."""
        named = {self.calendar.resolve(when, instant=False) or when: when for when in self._own_titles.values()}
        when = next(iter(named.values())) if len(named) == 1 else None
        is_day = when is not None and when.end is not None and when.months is None and not when.part
        return None if is_day else when  # a day alone may be that of writing

    @cached_property
    def _own_titles(self) -> dict[str, When]:
        """The first lines that say which time it is of, each with that time."""
        lines = (line.strip(" *_#>|)\t") for line in self._opening.split("\n"))
        titles = [line for line in lines if len(line) < _LONGEST_TITLE]
        return {line: replace(when, start=0, stop=0) for line in titles if (when := self._title_period(line))}

    @cached_property
    def _opening(self) -> str:
        """The beginning of the text, without long gaps."""
        return _GAP.sub("  ", self.text[: 4 * _HEAD])[:_HEAD]

    def is_title(self, heading: str) -> bool:
        """Whether a heading is the document's own: its first, or one that says which time it is of."""
        begins = self._headings[0].label if self._headings else self._opening.lstrip("# *_")
        return heading in self._own_titles or begins.startswith(heading)

    def _title_period(self, line: str) -> When | None:
        """The time behind "Reporting period:" or at the end of an update's title, or the month before "recap"."""
        if WORDS.own_period_name.match(line) and line == line.rstrip(".!?"):
            return header_period(spell_months(line, self.month_first))
        dated = [when for when in find_periods(line) if when.dated]
        if (
            len(dated) == 1
            and dated[0].stop == len(line)
            and not (WORDS.of_plans.search(line) or WORDS.of_others.search(line))
        ):
            return dated[0] if WORDS.update.search(line[: dated[0].start]) else None
        named = WORDS.recap.match(line)
        day = self.calendar.dated
        if named is None or day is None:
            return None
        ends = [
            when.end
            for year in (day.year, day.year - 1)
            for when in find_periods(f"{named['month']} {year}")
            if when.end
        ]
        return next((When(end=end, months=1) for end in ends if end <= day), None)

    def heading_period(self, offset: int) -> When | None:
        """The only period that short lines of the page, slide or sheet around an offset name, if one heads a statement.

        If they name none, the only year, or part of one, that such lines of the whole document name, if one heads its
        accounts.
        """
        part = self.part(offset)
        if part is None:
            return None
        if part.start not in self._heads:
            self._heads[part.start] = self._find_heads(part)
        heads, heading = self._heads[part.start], WORDS.dated_statement
        if not heads:
            heads, heading = self._heads_of_all, WORDS.dated_accounts
        told = len({when for when, _ in heads}) == 1 and any(heading.fullmatch(words) for _, words in heads)
        return heads[0][0] if told else None

    @cached_property
    def _heads_of_all(self) -> list[tuple[When, str]]:
        heads = [head for part in self._parts[:_MOST_HEADED] for head in self._find_heads(part)]
        return heads if all(when.end is None for when, _ in heads) else []

    def _find_heads(self, part: Place) -> list[tuple[When, str]]:
        """The periods that short lines name, each with its line, in which # stands for days and years."""
        found = []
        for line in self.text[part.start : min(part.end, part.start + _HEAD_OF_A_PART)].split("\n"):
            head = line.strip()
            if (
                len(head) <= _LONGEST_HEAD
                and _YEAR.search(head)
                and "\t" not in head
                and head[-1] != "."
                and not WORDS.day_of_print.match(head)
            ):
                head = spell_months(head, self.month_first)
                when = header_period(head)
                if when is not None and when.dated:
                    for each in reversed(find_periods(head)):
                        head = f"{head[: each.start]}{'period' if each.part else '#'}{head[each.stop :]}"
                    found.append((replace(when, start=0, stop=0), head))
        return found

    def is_behind_a_name(self, offset: int) -> bool:
        """Whether something stands in a cell before this one in its row, such as the name of another company."""
        return bool(self.text[self.text.rfind("\n", 0, offset) + 1 : offset].rpartition("\t")[0].strip())

    def is_listed(self, offset: int) -> bool:
        """Whether the line around an offset is an item of a list."""
        return _ITEM.match(self.text, self.text.rfind("\n", 0, offset) + 1) is not None

    def place(self, offset: int, row: str = "", column: str = "") -> str:
        """Where a number is, in words: `page 3, row “Revenue”, column “2024”`."""
        part = self.part(offset)
        words = []
        if part is not None:
            words.append(f"in “{part.label}”" if part.kind == kinds.ATTACHMENT else f"{part.kind} {part.label}")
            if part.kind == kinds.SHEET:
                at = bisect_right(self._block_starts, offset) - 1
                if at >= 0 and offset < self._blocks[at].end:
                    words.append(self._blocks[at].label)
        else:
            words.append(f"line {bisect_left(self._line_ends, offset) + 1}")
        label = kinds.cell_label(" ".join(row.split()), " ".join(column.split()))
        return ", ".join([*words, label] if label else words)
