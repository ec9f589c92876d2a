"""The days and terms of a contract: when it was made, applies from and ends, its renewal and its notice."""

import re
from collections.abc import Iterator
from datetime import date

from tasks.table.contract import PERPETUAL, Contract, FoundValue, find_all, pattern, says, written
from tasks.table.spans import ORDINALS, Dated, Duration, Span, add_duration, find_dates, find_durations


def find_agreement_date(contract: Contract) -> FoundValue | None:
    """The day on which it was made: the one beside `dated`, `made as of`, `this 21st day of`."""
    best: FoundValue | None = None
    for match in find_all(contract, written("dated"), 5000):
        found = find_dates(contract.flat, match.end(), match.end() + 45)
        if not found or re.search(r"[.;]\s", contract.flat[match.end() : found[0].start]):
            continue
        clause = contract.clause(match.start(), found[0].end)
        before = contract.words(Span(clause.start, match.start()))
        if says("other_contract", before):
            continue
        made = FoundValue(found[0].day.isoformat(), (clause,), 0.85)
        if says("this", before) and "effective" not in match[0].casefold():
            return made
        best = best or made
    if best is not None:
        return best
    early = find_dates(contract.flat, 0, 600)
    early = [one for one in early if _fills_line(contract.text, one)] or early
    if len({one.day for one in early}) == 1:
        clause = contract.clause(early[0].start, early[0].end)
        before = contract.words(Span(clause.start, early[0].start))
        if not says("begins", before) and not says("other_contract", before):
            return FoundValue(early[0].day.isoformat(), (clause,), 0.65)
    return None


def _fills_line(text: str, dated: Dated) -> bool:
    """Whether a day stands alone on its line, as over a letter."""
    around = text[: dated.start].rpartition("\n")[2] + text[dated.end :].partition("\n")[0]
    return not around.strip()


def find_effective_date(contract: Contract) -> FoundValue | None:
    """The day from which it applies: defined as the Effective Date, else stated, else the agreement's date."""
    flat = contract.flat
    for match in find_all(contract, written("effective_name")):
        before = [
            one
            for one in find_dates(flat, match.start() - 140, match.start())
            if not re.search(r"[.;]\s{1,3}[A-Z]", flat[one.end : match.start()])
        ]
        behind = find_dates(flat, match.end(), match.end() + 60) if not before else []
        if before:
            return FoundValue(before[-1].day.isoformat(), (contract.clause(before[-1].start, match.end()),), 0.9)
        if behind and says("defines", flat[match.end() : match.end() + 20]):
            return FoundValue(behind[0].day.isoformat(), (contract.clause(match.start(), behind[0].end),), 0.85)
    for match in find_all(contract, written("effective")):
        found = find_dates(flat, match.end(), match.end() + 40)
        if not found or not says("leads_to_day", flat[match.end() : found[0].start]):
            continue
        clause = contract.clause(match.start(), found[0].end)
        if _is_own(contract, clause, match.start()):
            return FoundValue(found[0].day.isoformat(), (clause,), 0.8)
    made = contract.find("agreement_date")
    for match in find_all(contract, rf"(?:{written('effective')})[^.;]{{0,25}}?(?:{written('same_day')})"):
        clause = contract.clause(match.start(), match.end())
        if made is not None and _is_own(contract, clause, match.start()):
            return FoundValue(made.value, (clause, *made.spans), 0.7)
    return None


def _is_own(contract: Contract, clause: Span, end: int) -> bool:
    """Whether a clause speaks of this contract up to a place, and of no other one."""
    before = contract.words(Span(clause.start, end))
    if says("other_contract", before) or says("other_day", before):
        return False
    return says("own_contract", before) or len(before) < 20


def find_expiry(contract: Contract) -> FoundValue | None:
    """The last day of the first term: stated, or computed from its beginning; `perpetual` if it has no end."""
    flat = contract.flat
    open_ended: FoundValue | None = None
    for match in _terms(contract):
        clause = contract.clause(match.start(), match.end())
        if pattern(written("no_term")).search(flat, clause.start, match.end()):
            continue
        named = _named_end(contract, Span(match.start(), clause.end))
        if named is not None:
            return FoundValue(named.day.isoformat(), (clause,), 0.85)
        reckoned = _reckoned_end(contract, match, clause) or _anniversary(contract, match, clause)
        if reckoned is not None:
            return reckoned
        if open_ended is None and _is_open_ended(contract, match, clause):
            open_ended = FoundValue(PERPETUAL, (clause,), 0.7)
    return open_ended or _end_of_stated_term(contract)


def _end_of_stated_term(contract: Contract) -> FoundValue | None:
    """The end of a term that is stated with the day on which it begins: let for five years from 1 April 2024."""
    term = contract.find("term")
    if term is None or term.value is None:
        return None
    begun = find_dates(contract.flat, *term.spans[0])
    if len(begun) != 1 or not says("from", contract.flat[term.spans[0].start : begun[0].start]):
        return None
    return FoundValue(add_duration(begun[0].day, term.value).isoformat(), term.spans, 0.7)


def _terms(contract: Contract) -> Iterator[re.Match[str]]:
    """Where a sentence speaks of the term, or of how long the contract holds."""
    position = 0
    while match := pattern(written("term")).search(contract.flat, position):
        if says("under", contract.flat[max(0, match.start() - 20) : match.start()]):
            position = match.start() + 4  # the subject may come behind: "subject to this Agreement, the term shall"
        else:
            position = match.end()
            yield match


def _is_open_ended(contract: Contract, match: re.Match[str], clause: Span) -> bool:
    end = min(clause.end, match.end() + 160)
    said = pattern(written("open_end")).search(contract.flat, match.start(), end)
    if said is None or says("no_open_end", contract.flat[match.start() : end]):
        return False
    return not list(find_durations(contract.flat, match.start(), said.end()))


def _named_end(contract: Contract, clause: Span) -> Dated | None:
    for match in pattern(written("ends")).finditer(contract.flat, clause.start, clause.end):
        found = find_dates(contract.flat, match.end(), min(clause.end, match.end() + 40))
        if (
            found
            and not says("begins_or_made", match[0])
            and not says("renewed_or_figure", contract.flat[match.end() : found[0].start])
        ):
            return found[0]
    return None


def _reckoned_end(contract: Contract, match: re.Match[str], clause: Span) -> FoundValue | None:
    flat = contract.flat
    for duration in find_durations(flat, match.start(), min(clause.end, match.end() + 320)):
        before = flat[match.start() : duration.start]
        near = contract.words(Span(clause.start, duration.start))[-70:]
        behind = flat[duration.end : min(clause.end, duration.end + 120)]
        if duration.value[-1] == "D" or pattern(written("no_term")).search(before) or says("either", before):
            continue
        begins = says("begins_term", before)
        if says("renews", near) or ("thereafter" in near.lower() and not begins) or says("no_duration_of_term", near):
            continue
        if says("no_term_behind", behind) or not says("leads_to_term", near):
            continue
        if says("thereafter_behind", behind) and not begins:
            continue
        if says("goes_on", behind):
            return None  # five years and six weeks are not read
        started = _start_of_term(contract, clause, duration)
        if started is not None:
            day, spans = started
            return FoundValue(add_duration(day, duration.value).isoformat(), (clause, *spans), 0.75)
    return None


def _anniversary(contract: Contract, match: re.Match[str], clause: Span) -> FoundValue | None:
    """The end of a term that lasts up to an anniversary of its beginning."""
    expression = rf"\b(?P<word>{'|'.join(ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)) (?:\([^)]*\) )?(?:year )?anniversary of (?:the |this )?(?:date|effective|commencement|execution|signing)"
    named = pattern(expression).search(contract.flat, match.start(), min(clause.end, match.end() + 320))
    begun = contract.find("effective_date") or contract.find("agreement_date")
    if named is None or begun is None or says("not_before", contract.flat[match.start() : named.start()][-40:]):
        return None
    years = ORDINALS.get(named["word"].casefold()) or int(re.sub(r"\D", "", named["word"]))
    day = add_duration(date.fromisoformat(begun.value), f"P{years}Y")
    return FoundValue(day.isoformat(), (clause, *begun.spans), 0.75)


def _start_of_term(contract: Contract, clause: Span, duration: Duration) -> tuple[date, tuple[Span, ...]] | None:
    """The day from which a term counts, with where else it stands: a day of the clause, else the effective date."""
    flat = contract.flat
    near = find_dates(flat, clause.start, clause.end)
    if near:
        return near[0].day, ()
    words = flat[clause.start : clause.end]
    if not says("start", words) and says("counts_from", flat[duration.end : duration.end + 60]):
        return None
    if says("start_to_come", words):
        return None
    known = contract.find("effective_date") or contract.find("agreement_date")
    return (date.fromisoformat(known.value), known.spans) if known is not None and known.value else None


def find_renewal(contract: Contract) -> FoundValue | None:
    """The length of one further term."""
    flat = contract.flat
    for match in find_all(contract, written("renewal")):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if says("renewal_of_others", words) or pattern(written("no_renewal")).search(words):
            continue
        if says("renewal_to_agree", words) and not says("automatic", words):
            continue
        for duration in find_durations(flat, match.start(), clause.end):
            before, behind = flat[match.start() : duration.start], flat[duration.end : duration.end + 60]
            if says("notice_behind_renewal", behind) or says("notice_before", before[-70:]):
                continue
            if says("first_term", f"{before[-90:]}\0{behind}"):
                continue
            if duration.value[-1] == "D" or not says("leads_to_renewal", before[-80:]):
                continue
            return FoundValue(duration.value, (clause,), 0.85)
        if says("renews_each_year", words):
            return FoundValue("P1Y", (clause,), 0.75)
    return None


def find_notice(contract: Contract) -> FoundValue | None:
    """The notice period for ending it, or for not renewing: first the one beside a renewal, then
    the one without cause.
    """
    flat = contract.flat
    best: FoundValue | None = None
    for match in find_all(contract, written("notice")):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if not says("ends_by_notice", words):
            continue
        durations = [one for one in find_durations(flat, clause.start, clause.end) if is_notice(flat, one, clause)]
        if not durations:
            continue
        if says("renews_by_notice", words) and not says("for_a_breach", words):
            return FoundValue(durations[0].value, (clause,), 0.85)
        if best is None and says("at_will", words) and not says("for_a_cause", words):
            best = FoundValue(durations[0].value, (clause,), 0.7)
    return best


def is_notice(flat: str, duration: Duration, clause: Span) -> bool:
    """Whether a duration is that of a notice, and not of a term."""
    before = flat[max(clause.start, duration.start - 70) : duration.start]
    if says("notice_behind", flat[duration.end : min(clause.end, duration.end + 60)]):
        return True
    return says("notice_ahead", before) and (not says("term_ahead", before) or "least" in before)
