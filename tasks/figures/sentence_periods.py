"""The period of a figure in a sentence, and what the sentence compares the figure with.

A sentence that names no time refers to that of the sentence before it in its paragraph, or of the heading above it. It
may compare a figure with that of another year, in brackets or in the words after it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import BEFORE, WORDS, Figure, either
from tasks.figures.table_labels import without_periods
from tasks.language.numbers import PERCENT, Amount, amounts, read_units
from tasks.language.periods import (
    MONTH,
    When,
    a_year_before,
    count_months,
    find_periods,
    header_period,
    last_day,
    make_day,
    months_back,
    spoken_span,
    without_spans,
)
from tasks.language.words import months

AND: Final = re.compile(rf"(?<!\w){either('and')}(?!\w)|/", re.IGNORECASE)
BREAK: Final = re.compile(rf"[,;]|{AND.pattern}", re.IGNORECASE)
"""Between an amount and a time: they need not go together."""
_LONG: Final = 60_000
"""Characters from which on headings stand over too much."""
_LONGEST_LEAD: Final = 100
_MOST_LINES: Final = 12
_MONTH: Final = 1
_TWO: Final = 2
_SMALL: Final = 1000
"""From here on an amount of a list is written out, and does not share the scale of the last."""
_LISTED: Final = re.compile(r"\s*(?:[•*\-–—]\s*)?(?:total |net )?", re.IGNORECASE)
_STATED_AT_ONCE: Final = re.compile(r"\s*:|\s(?=[$€£] ?\d)")
_BULLET: Final = re.compile(r"^\s*(?:[•\-–*]|\d{1,2}[.)])\s")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Spoken:
    """The time that a document refers to, tracked while its sentences are read one after the other."""

    def __init__(self, document: LedgerDocument) -> None:
        self._document = document
        self.start = 0
        self._end = -1
        self._before: When | None = None  # of the sentence before this one
        self._said: When | None = None  # of this one
        self.of_lists: set[int] = set()  # where sentences begin that have the document's own time

    def begin(self, start: int, end: int) -> None:
        """Go to the sentence at this place."""
        gap = self._document.text[self._end : start] if 0 <= self._end <= start else "\n"
        self._before = None if gap.strip() or "\n" in gap else self._said
        self._said = None
        self.start, self._end = start, end

    def hear(self, when: When) -> None:
        """Record the time of a figure in this sentence."""
        self._said = when

    def inherit(self, sentence: str, begin: int, end: int | None = None, *, instant: bool) -> When | None:
        """The time of a figure whose words begin here, in a sentence that names none; None if that is not certain.

        `end` is where its name ends: what an update lists has the update's time if nothing narrows the name.
        """
        if len(self._document.text) > _LONG or find_periods(sentence):
            return None
        if WORDS.time_another_time.search(sentence) or WORDS.said_plan.search(sentence):
            return None
        if any(word.lower() not in BEFORE for word in _WORD.findall(sentence[:begin])):
            return None
        before = self._before
        if before is None or not (_names_day(before) if instant else _names_duration(before)):
            is_listed = end is not None and _LISTED.fullmatch(sentence[:begin]) and _STATED_AT_ONCE.match(sentence, end)
            before = self._of_heading(instant=instant)
            if before is None and is_listed:
                before = self.own_time()
        is_part = before is not None and (before.part or before.months not in {None, 12})
        return None if is_part and WORDS.time_full_year.search(sentence) else before

    def own_time(self) -> When | None:
        """The document's own time, for a list under headings that speak of the company as a whole."""
        document, when = self._document, self._document.own_period
        headings = [_line_over(document.text, self.start), *document.headings(self.start)]
        if when is None or not all(_is_of_all(document, heading, when) for heading in filter(None, headings)):
            return None
        self.of_lists.add(self.start)
        return when

    def of_the_year(self, sentence: str, begin: int) -> When | None:
        """The year that ends on the date of the sentence before, for what is always measured over a year."""
        day = self.inherit(sentence, begin, instant=True) or self.inherit(sentence, begin, instant=False)
        if (
            day is None
            or day.months not in {None, 12}
            or day.end is None
            or self._document.calendar.year_end(day.end.year) != day.end
        ):
            return None
        return replace(day, months=12)

    def _of_heading(self, *, instant: bool) -> When | None:
        heading = _lead_over(self._document.text, self.start) or self._document.heading(self.start)
        over = _line_over(self._document.text, self.start) if self._document.is_listed(self.start) else ""
        if find_periods(heading) and spoken_span(over) and find_periods(over):
            # under the title of a release on a quarter: "Nine months ended September 30, 2024"
            heading = over if _is_on_company(over, spoken_span(over)) else ""
        if not heading or len(heading) > _LONGEST_LEAD or WORDS.of_plans.search(heading):
            return None
        found = [when for when in find_periods(heading) if when.dated]
        when = header_period(heading)
        if when is None or not found or when.forecast or len({(each.end, each.year) for each in found}) > 1:
            return None
        if when.part and WORDS.time_full_year.search(heading):
            return None  # "fourth quarter and full year results"
        if _names_duration(when):
            return when
        as_of = _names_day(when) and WORDS.as_of.search(heading[: found[0].start]) is not None
        return when if instant and as_of else None


def _is_of_all(document: LedgerDocument, heading: str, when: When) -> bool:
    """Whether a heading names no other time than `when` and is the document's title or wholly on the company."""
    if WORDS.of_plans.search(heading) or WORDS.of_others.search(heading) or not _is_within(document, heading, when):
        return False
    period = document.calendar.resolve(when, instant=False)
    return document.is_title(heading) or _is_on_company(heading, count_months(period) if period else None)


def _is_on_company(heading: str, months: int | None) -> bool:
    """Whether a heading, but for its dates, has only words on the company as a whole and on so many months."""
    if spoken_span(heading) not in {None, months} or not all(when.dated for when in find_periods(heading)):
        return False
    words = WORDS.of_the_company.sub(" ", without_spans(without_periods(heading.lower())))
    return _WORD.search(re.sub(_LENGTHS.get(months or 0, r"\Z"), " ", words)) is None


_LENGTHS: Final = {1: r"\bmonth(?:ly)?\b", 3: r"\bquarter(?:ly)?\b", 6: r"\bhalf\b", 12: r"\byear\b"}
"""What a heading may call the time that its document is of: "the quarter at a glance"; not the full or last one."""


def _is_within(document: LedgerDocument, heading: str, when: When) -> bool:
    """Whether a heading names no other time than `when`, its last day, or the year that it ends in."""
    said, resolve = header_period(heading), document.calendar.resolve
    end = resolve(when, instant=True)
    if said is None or not said.dated or end is None or (said.is_bare_year and end.startswith(str(said.year))):
        return True
    is_day = _names_day(said)
    return resolve(said, instant=is_day) == (end if is_day else resolve(when, instant=False))


def _names_day(when: When) -> bool:
    return when.end is not None and when.months is None


def _names_duration(when: When) -> bool:
    """Whether a duration is named: a year, a quarter; a single month may only be the date of writing."""
    return when.year is not None or (when.months or _MONTH) > _MONTH


_KEY: Final = re.compile(r"\W*(?:date|datum|fecha|published|updated|author|from|to|subject)\b\W*:", re.IGNORECASE)
"""What begins the lines of a head that say nothing about what stands below it."""


def _line_over(text: str, start: int) -> str:
    """The line over the list around an offset, without its marks; "" where it is a sentence."""
    line = text.rfind("\n", 0, start) + 1
    over = (each for each in reversed(text[max(0, line - 4000) : line].split("\n")) if each.strip())
    words = next((each for each in over if not (_BULLET.match(each) or _KEY.match(each))), "").strip(" \t:*#•–->|_)")
    return "" if len(words) > _LONGEST_LEAD or words.endswith((".", "!", "?", ",")) else words


def _lead_over(text: str, start: int) -> str:
    """The line ending in a colon above the list or paragraph around an offset; "" if there is none."""
    line = text.rfind("\n", 0, start) + 1
    listed = _BULLET.match(text[line : line + 4]) is not None
    blank = False
    for above in reversed(text[max(0, line - 4000) : line].split("\n")[-_MOST_LINES - 1 : -1]):
        if above.rstrip().endswith(":"):
            return above.strip(" :*#•–-")
        if not above.strip():
            if blank or not listed:
                return ""
            blank = True
        elif not (listed and _BULLET.match(above)):
            return ""
    return ""


_OWN: Final = re.compile(rf"{WORDS.time_full_year.pattern}|\b{either('own_year')}\b", re.IGNORECASE)


SEVERAL: Final = "several figures in one sentence"
"""Why an amount is left out of which it is not certain what it is of."""


class SeveralError(Exception):
    """Several times or amounts stand together, and it is not certain which belong together."""


@lru_cache(maxsize=64)
def times(sentence: str) -> tuple[Sequence[When], ...]:
    """The dated periods of a sentence in order, those of one list together: "31 March 2024 and 2023" is a list of two.

    A year in a list has the form of the list's first item: a day, a quarter. If a sentence mentions times of several
    lengths, each has the length that precedes it.
    """
    groups: list[list[When]] = []
    found = _find_dated(sentence)
    begins = [0, *(when.stop for when in found)]
    spans = [spoken_span(sentence[begin : when.stop]) for begin, when in zip(begins, found, strict=False)]
    several = len({span for span in spans if span}) > 1
    for when, span in zip(found, spans, strict=True):
        if groups and WORDS.between_listed.fullmatch(sentence, groups[-1][-1].stop, when.start):
            groups[-1].append(_of_year(groups[-1][0], when) if when.is_bare_year and when.year else when)
        else:
            groups.append([replace(when, months=span) if several and not when.part else when])
    # a comma alone joins nothing: "In 2024, 2023 …" has the word "and" before its last
    return tuple(
        part
        for group in groups
        for part in (
            [group]
            if len(group) < _TWO or AND.search(sentence[group[-2].stop : group[-1].start])
            else [[when] for when in group]
        )
    )


def _find_dated(sentence: str) -> list[When]:
    """The dated periods of a sentence in order, but for days of founding."""
    found = [
        when
        for when in find_periods(sentence)
        if when.dated and not WORDS.time_of_founding.search(sentence, 0, when.start)
    ]
    return [each for at, when in enumerate(found) if (each := _of_the_same_part(sentence, found[:at], when))]


def _of_the_same_part(sentence: str, before: Sequence[When], year: When) -> When | None:
    """A time; "the same period in 2023" is the part of 2023 that the time before it names, and None without one."""
    if not year.is_bare_year or not WORDS.same_part.search(sentence, 0, year.start):
        return year
    return _of_year(before[0], year) if before else None


def _of_year(first: When, year: When) -> When:
    """A year in a list, expanded like the list's first item: to the same day, or the same part of the year."""
    end = first.end and make_day(year.year or first.end.year, first.end.month, first.end.day)
    return replace(first, end=end, year=None if end else year.year, start=year.start, stop=year.stop)


def find_period(sentence: str, mention: int, number: int, end: int) -> When | None:
    """The period nearest to an amount: after it in the same clause, between it and the concept, then before.

    Raises:
        SeveralError: it is one of a list of periods, and nothing says which.
    """
    groups = times(sentence)
    found = [group[0] for group in groups]
    within = [when for when in found if mention <= when.start < number]
    if len(within) > 1 and f"({sentence[within[-1].start : within[-1].stop]})" in sentence[within[-2].stop : number]:
        if "(" in sentence[within[-1].stop : number]:
            raise SeveralError  # the second of "EBITDA 2024 (2023): 9 (7)"
        within = within[:-1]
    before = [when for when in found if when.stop <= mention and not _is_set_aside(sentence[:mention], when)]
    behind = _find_behind(sentence, end, found, has_others=bool(within or before))
    if len(before) > 1 and WORDS.time_compared_with.search(sentence[before[-2].stop : before[-1].start]):
        before = before[:-1]  # "second quarter 2023 compared with second quarter 2022" speaks of the first
    for chosen in (behind[:1], within[-1:], before[-1:]):
        if chosen:
            if any(len(group) > 1 and group[0] is chosen[0] for group in groups):
                raise SeveralError
            return _widen(_of_named_part(sentence, chosen[0], mention, number), sentence)
    return None


def _find_behind(sentence: str, end: int, found: Sequence[When], *, has_others: bool) -> list[When]:
    """The periods behind an amount that may be its own; in another clause only where there are no others."""
    behind = [
        when
        for when in found
        if 0 <= when.start - end < _NEAR
        and not WORDS.time_elsewhere.search(sentence[end : when.start])
        and not _of_another_amount(sentence[end : when.start])
        and not (has_others and _breaks(sentence[end : when.start]))
    ]
    return behind or [
        when
        for when in found
        if WORDS.in_brackets.match(sentence[end : when.start]) and sentence[when.stop :].startswith(")")
    ]


_NEAR: Final = 60
"""Characters behind an amount in which its period begins."""
_ITS_PART: Final = re.compile(r"[\w-]+(?: [\w-]+)? (?:in|for|during|of)(?: the| its| our)? ", re.IGNORECASE)
"""From a concept to the part of a year that its amount is of."""


def _of_named_part(sentence: str, year: When, mention: int, number: int) -> When:
    """A year's quarter or half that is named between a concept and its amount, "in the fourth quarter was 4, and …"."""
    if not year.is_bare_year or mention <= year.start < number:
        return year
    named = [each for each in find_periods(sentence[:number]) if each.start >= mention and each.part and not each.dated]
    is_its = named and _ITS_PART.fullmatch(sentence[mention : named[0].start])
    if named and (year.start > number or len(named) > 1 or not is_its):
        raise SeveralError  # the year may be that of another amount, or the part: "revenue without the fourth quarter"
    return replace(year, part=named[0].part) if named else year


def _is_set_aside(ahead: str, when: When) -> bool:
    """Whether a time stands in brackets with what an amount before them is compared with: "(down 7.1% from FY23)"."""
    opened, closed = ahead.rfind("(", 0, when.start), ahead.find(")", when.stop)
    if opened < 0 or closed < 0 or ")" in ahead[opened : when.start]:
        return False
    return any(amount.unit or amount.scale for amount in amounts(ahead[opened:closed]))


def share_out(
    document: LedgerDocument, sentence: str, first: Amount, concepts: int
) -> list[tuple[Amount, When | None]]:
    """The amounts that stand together from the first on, each with its own time, or None for a single one.

    They are matched one by one with the times of a list ("in 2024 and 2023 … 9 and 7"), with several `concepts` at one
    time, or each with the time right beside it ("9 in 2024 and 7 in 2023", "in 2023 7, in 2024 9").

    Raises:
        SeveralError: it is not certain which goes with which.
    """
    groups = times(sentence)
    chain = _chain(document, sentence, first, groups)
    figures = [each for each in chain if isinstance(each, Amount)]
    ahead = [group for group in groups if group[-1].stop <= first.first]
    if len(figures) == 1 and concepts == 1:
        return [(first, None)]
    if len(figures) > 1 and chain[: len(figures)] == figures:
        behind = [group for group in groups if group[0].start >= figures[-1].end and group[0] in chain]
        shares = _share_together(figures, ahead, behind, concepts)
    else:
        single = [group[0] for group in groups if len(group) == 1]
        shares = _share_by_turns(sentence, chain, single, ahead) if concepts == 1 else None
    if shares is None:
        raise SeveralError
    return shares


_Shares = list[tuple[Amount, When | None]]


def _share_together(
    figures: list[Amount], ahead: Sequence[Sequence[When]], behind: Sequence[Sequence[When]], concepts: int
) -> _Shares | None:
    """Match consecutive amounts with a list of as many times before or after them, or with as many concepts."""
    if concepts == 1 and len(figures) == _TWO and ahead and len(ahead[-1]) == 1 and behind and len(behind[0]) == 1:
        return [(figures[0], None)]  # "in 2024 it was 5, and 4 in 2023": what compares it reads the other
    listed = (behind or ahead[-1:] or [[]])[0]
    if concepts == 1 and len(listed) == len(figures):
        return list(zip(figures, listed, strict=True))
    if concepts == len(figures) and len(listed) < _TWO:
        return [(figure, listed[0] if listed else None) for figure in figures]
    return None


def _share_by_turns(
    sentence: str, chain: Sequence[Amount | When], single: Sequence[When], ahead: Sequence[Sequence[When]]
) -> _Shares | None:
    """Match amounts and times that alternate, each time after its amount or before it."""
    figures = [each for each in chain[::2] if isinstance(each, Amount)]
    whens = [each for each in chain[1::2] if isinstance(each, When)]
    if len(figures) + len(whens) < len(chain) or any(when not in single for when in whens):
        return None
    joined = [_breaks(sentence[_end(one) : _begin(other)]) for one, other in pairwise(chain)]
    inner = joined[: 2 * len(figures) - 2]
    if any(own == following for own, following in zip(inner[::2], inner[1::2], strict=True)):
        return None
    if not any(inner[::2]):  # each time behind its amount
        return list(zip(figures, whens, strict=False))
    if all(inner[::2]) and ahead and len(ahead[-1]) == 1 and len(whens) < len(figures):
        return list(zip(figures, [ahead[-1][0], *whens], strict=True))
    return None


def _chain(
    document: LedgerDocument, sentence: str, first: Amount, groups: Sequence[Sequence[When]]
) -> list[Amount | When]:
    """The amounts of the same kind from the first one on, and the times among them, if nothing else is in between."""
    base = first.end
    later = (shift_amount(found, base) for found in amounts(sentence[base:], comma_decimal=document.comma_decimal))
    whens = [when for group in groups for when in group if when.start >= base]
    numbers = (each for each in later if not any(when.start <= each.start < when.stop for when in whens))
    chain: list[Amount | When] = [first]
    following: list[Amount | When] = [*whens, *numbers]
    for each in sorted(following, key=_begin):
        between = sentence[_end(chain[-1]) : _begin(each)]
        if not _goes_on(chain[-1], between, each, sentence[_end(each) :], first):
            break
        chain.append(each)
    shared = next((each for each in reversed(chain) if isinstance(each, Amount)), first)
    return [_like(each, first, shared) if isinstance(each, Amount) else each for each in chain]


def _goes_on(last: Amount | When, between: str, each: Amount | When, behind: str, first: Amount) -> bool:
    """Whether a time or an amount of the same kind follows the last one with nothing else in between."""
    if WORDS.said_light.sub("", between):
        return False
    if isinstance(each, When):
        return "(" not in between or behind.startswith(")")  # "(2023: 7.1 million)" is read as what it compares
    bare = each.unit is None and not each.scale
    if each.unit not in {None, first.unit or each.unit} or (bare and (first.unit or first.scale)):
        return False
    return isinstance(last, When) or "(" not in between


def _like(amount: Amount, first: Amount, last: Amount) -> Amount:
    """An amount in a list with the scale of the last one and the unit of the first: "EUR 9.4 and 7.1 million"."""
    amount = replace(amount, unit=amount.unit or first.unit)
    scale = read_units(last.scale).multiplier or 1
    if amount.scale or abs(amount.value) >= _SMALL:
        return amount
    return replace(amount, value=amount.value * scale, step=amount.step * scale, scale=last.scale)


def shift_amount(amount: Amount, by: int) -> Amount:
    """An amount found in a part of a text, with its offset in the text."""
    places = (amount.start + by, amount.end + by, amount.first + by, amount.stop + by)
    return Amount(amount.value, amount.step, amount.unit, amount.scale, *places, amount.shown_in)


def _breaks(between: str) -> bool:
    """Whether words between an amount and a time separate them; "en 2024" is not "and 2024"."""
    return between.strip() != "en" and BREAK.search(between) is not None


def _begin(each: Amount | When) -> int:
    return each.first if isinstance(each, Amount) else each.start


def _end(each: Amount | When) -> int:
    return each.end if isinstance(each, Amount) else each.stop


def _of_another_amount(between: str) -> bool:
    """Whether a clause with its own amount stands between an amount and a period."""
    return any(
        amount.unit not in {None, PERCENT} and WORDS.another_clause.search(between[: amount.start])
        for amount in amounts(between)
    )


def _widen(when: When, sentence: str) -> When:
    lead = sentence[max(0, when.start - 40) : when.start]
    if when.end is not None and re.search(r"second half of\s*$", lead, re.IGNORECASE):
        return replace(when, months=6)
    return replace(when, to_date=True) if _is_up_to(lead, when) else when


def _is_up_to(lead: str, when: When) -> bool:
    """Whether a month or quarter ends a span that began with the fiscal year; not in "from May until June"."""
    if (when.months or 1) > 1 and not when.part:
        return False  # "nine months to the end of September 2024" says its own length
    up_to = WORDS.time_up_to.search(lead) or WORDS.bare_to.search(lead)
    return up_to is not None and not re.search(rf"\b(?:{MONTH})(?: \d{{4}})? *$", lead[: up_to.start()], re.IGNORECASE)


def own_period(document: LedgerDocument, sentence: str, mention: int, end: int) -> When | None:
    """The last month with a given name, or the document's own fiscal year if a sentence mentions "the year".

    Only words between the semicolons around the amount count: "churn in the year was 20 %; the loss in February
    weighs".
    """
    clause = sentence[sentence.rfind(";", 0, mention) + 1 : end] + sentence[end:].partition(";")[0]
    month = WORDS.bare_month.search(clause)
    dated = document.calendar.dated
    if month is not None and dated is not None and len(document.text) <= _LONG:
        name = month[1].rstrip(".").lower()
        number = months()[name]
        last = make_day(dated.year, number, 31)
        last = last if months_back(last, 1) < dated else make_day(dated.year - 1, number, 31)
        return When(end=last, months=1, to_date=_is_up_to(clause[: month.start(1)], When()))
    is_bare = len(sentence[:mention].split()) < 2 and not sentence[end:].strip(" .")  # a line of accounts of one year
    is_of_the_year = is_bare and len(document.calendar.ends) == 1 and document.kind.basis in {"audited", "reported"}
    own = _OWN.search(clause)
    if not document.calendar.ends or not (is_of_the_year or own):
        return None
    if own and "period" in own.group().lower() and document.is_of_a_quarter:
        return None  # a half-year's
    if len(document.text) > 60_000 or document.kind.deck:
        return None
    dated = document.calendar.dated
    ends = [end for end in document.calendar.ends.values() if dated is None or end <= dated]
    return When(end=max(ends), months=12) if ends else None


_FAR: Final = 60
"""Characters between two amounts that are compared."""


def read_compared_year(match: re.Match[str]) -> int | None:
    """The year of a bracket that `WORDS.compared_in_brackets` found: 2023 of "(2023: …" and of "(FY23: …"."""
    digits = (match["later"] or match["year"] or "").lstrip("'’")
    return None if not digits else int(digits) + (2000 if int(digits) < 100 else 0)


def in_brackets(document: LedgerDocument, figure: Figure, match: re.Match[str], offset: int) -> Figure | None:
    """The figure of the year before, given in brackets: "38.0 % of revenue (2023: 40.0 %)"."""
    year = read_compared_year(match)
    if year is None:
        period = a_year_before(figure.period) if WORDS.time_year_before.search(match.group()) else None
    else:  # beside a month or a day within the year, a bare year may mean the same of that year
        months, calendar = count_months(figure.period), document.calendar
        is_whole = months == 12 or (not months and int(figure.period[5:7]) == calendar.month)
        period = calendar.resolve(When(year=year), instant=not months) if is_whole else None
    found = next(iter(amounts(match["rest"], comma_decimal=document.comma_decimal)), None)
    if period is None or found is None or not _has_own_unit(document, figure, found):
        return None
    return _other(figure, found, offset + match.start("rest"), period)


def behind_it(document: LedgerDocument, figure: Figure, rest: str, offset: int) -> Figure | None:
    """The figure of another time in the same clause: "and € 58.1 million in 2023", "against € 2.1 million a year ago".

    `rest` is the text after the figure's own amount, which begins at `offset`.
    """
    passed = 0
    for found in amounts(rest[: 2 * _FAR], comma_decimal=document.comma_decimal):
        if found.start > passed + _FAR:
            return None
        if not _has_own_unit(document, figure, found):
            continue
        lead = rest[passed : found.start]
        lead = WORDS.said_currency_last.sub("", lead.rstrip() + " ") if found.unit else lead
        if WORDS.said_change.search(lead):  # "a decrease of 1.5 million compared to"
            passed = found.end
            continue
        below = WORDS.said_negative.search(lead)
        lead = WORDS.time_an.sub("", lead[: below.start()]) if below else lead
        beside = WORDS.time_beside.search(lead.rstrip() + " ")
        if beside is None or not _speaks_of_time_alone(lead[: beside.start()]):
            return None
        period = _period_behind(document, figure, rest[found.end : found.end + _FAR])
        if period is None or period == figure.period:
            return None
        planned = figure.basis in {"budget", "forecast"}
        found = replace(found, value=-abs(found.value)) if below else found  # noqa: PLW2901 - the same with its sign
        other = _other(figure, found, offset, period)
        return replace(other, basis=None) if planned else other
    return None


def _period_behind(document: LedgerDocument, figure: Figure, behind: str) -> str | None:
    if WORDS.time_the_year_before.match(behind):
        return a_year_before(figure.period)
    when = next((when for when in find_periods(behind) if when.dated), None)
    if when is None or "." in behind[: when.start]:
        return None
    if not _speaks_of_time_alone(WORDS.same_part.sub("", without_spans(behind[: when.start]))):
        return None
    if when.is_bare_year and WORDS.same_part.search(behind, 0, when.start):
        before = a_year_before(figure.period)
        return before if last_day(before).startswith(str(when.year)) else None
    if when.end is not None and when.months is None:
        when = replace(when, months=spoken_span(behind[: when.stop]))
    return document.calendar.resolve(when, instant="/" not in figure.period)


def _speaks_of_time_alone(words: str) -> bool:
    """Whether words are only about times and changes, and name nothing else that an amount could be of."""
    return not WORDS.time_of_time.sub("", without_periods(words))


def _has_own_unit(document: LedgerDocument, figure: Figure, found: Amount) -> bool:
    return figure.unit in {found.unit or "count", document.currency.resolve(found.unit or "")}


def _other(figure: Figure, found: Amount, offset: int, period: str) -> Figure:
    loss = figure.value < 0 < found.value and WORDS.said_loss.search(figure.label)
    at = offset + found.start
    return replace(
        figure, value=-found.value if loss else found.value, step=found.step, scale=found.scale, period=period,
        start=at, end=offset + found.end,
    )  # fmt: skip
