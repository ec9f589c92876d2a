"""The days and terms of a contract: when it was made, applies from and ends, its renewal and its notice."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from tasks.table.contract import PERPETUAL, Contract, FoundValue, find_all, pattern, written
from tasks.table.spans import Dated, Duration, Span, add_duration, find_dates, find_durations

_DATED: Final = written("dated")


_OTHER_CONTRACT: Final = re.compile(written("other_contract"), re.IGNORECASE)


def find_agreement_date(contract: Contract) -> FoundValue | None:
    """The day on which it was made: the one beside `dated`, `made as of`, `this 21st day of`."""
    best: FoundValue | None = None
    for match in find_all(contract, _DATED, 5000):
        found = find_dates(contract.flat, match.end(), match.end() + 45)
        if not found or re.search(r"[.;]\s", contract.flat[match.end() : found[0].start]):
            continue
        clause = contract.clause(match.start(), found[0].end)
        before = contract.words(Span(clause.start, match.start()))
        if _OTHER_CONTRACT.search(before):
            continue
        made = FoundValue(found[0].day.isoformat(), (clause,), 0.85)
        if re.search(r"\bthis\b|^\W*$", before, re.IGNORECASE) and not re.search(r"effective", match[0], re.IGNORECASE):
            return made
        best = best or made
    if best is not None:
        return best
    early = find_dates(contract.flat, 0, 600)
    if len({one.day for one in early}) == 1:
        clause = contract.clause(early[0].start, early[0].end)
        before = contract.words(Span(clause.start, early[0].start))
        begins = re.search(r"\b(?:beg[iau]n|commenc|start|beginnt|débute)", before, re.IGNORECASE)
        if not begins and not _OTHER_CONTRACT.search(before):
            return FoundValue(early[0].day.isoformat(), (clause,), 0.65)
    return None


_EFFECTIVE_NAME: Final = written("effective_name")
_EFFECTIVE: Final = written("effective")
_SAME_DAY: Final = written("same_day")


def find_effective_date(contract: Contract) -> FoundValue | None:
    """The day from which it applies: defined as the Effective Date, else stated, else the agreement's date."""
    flat = contract.flat
    for match in find_all(contract, _EFFECTIVE_NAME):
        before = [
            one
            for one in find_dates(flat, match.start() - 140, match.start())
            if not re.search(r"[.;]\s{1,3}[A-Z]", flat[one.end : match.start()])
        ]
        behind = find_dates(flat, match.end(), match.end() + 60) if not before else []
        if before:
            return FoundValue(before[-1].day.isoformat(), (contract.clause(before[-1].start, match.end()),), 0.9)
        if behind and re.match(r"\s*(?:means?|shall mean|is|shall be|:)", flat[match.end() : match.end() + 20]):
            return FoundValue(behind[0].day.isoformat(), (contract.clause(match.start(), behind[0].end),), 0.85)
    for match in find_all(contract, _EFFECTIVE):
        found = find_dates(flat, match.end(), match.end() + 40)
        if not found or not re.fullmatch(
            r"[\s:,]*(?:the|as|of|on|is|from|upon|this|as of the)?[\s:,]*", flat[match.end() : found[0].start]
        ):
            continue
        clause = contract.clause(match.start(), found[0].end)
        if _is_own(contract, clause, match.start()):
            return FoundValue(found[0].day.isoformat(), (clause,), 0.8)
    made = contract.find("agreement_date")
    for match in find_all(contract, rf"(?:{_EFFECTIVE})[^.;]{{0,25}}?(?:{_SAME_DAY})"):
        clause = contract.clause(match.start(), match.end())
        if made is not None and _is_own(contract, clause, match.start()):
            return FoundValue(made.value, (clause, *made.spans), 0.7)
    return None


def _is_own(contract: Contract, clause: Span, end: int) -> bool:
    """Whether a clause speaks of this contract up to a place, and of no other one."""
    before = contract.words(Span(clause.start, end))
    if _OTHER_CONTRACT.search(before) or re.search(
        r"\bterminat|\bperiod\b|\bcalendar year|\binvoice|\bif\b", before, re.IGNORECASE
    ):
        return False
    return (
        bool(
            re.search(
                r"\b(?:this|the) [\w -]{0,40}(?:agreement|contract|lease|amendment|employment)|\bterm\b|Vertrag|verhältnis|contrat|bail",
                before,
                re.IGNORECASE,
            )
        )
        or len(before) < 20
    )


_TERM: Final = written("term")
_NO_TERM: Final = written("no_term")
_ENDS: Final = written("ends")
_RENEWS: Final = written("renews")
_OPEN_END: Final = written("open_end")
_START: Final = written("start")
_FROM: Final = r"\b(?:from|commencing(?: on)?|beginning(?: on)?|starting(?: on)?|ab(?: dem)?|à compter du) (?:the )?$"


def find_expiry(contract: Contract) -> FoundValue | None:
    """The last day of the first term: stated, or computed from its beginning; `perpetual` if it has no end."""
    flat = contract.flat
    open_ended: FoundValue | None = None
    for match in _terms(contract):
        clause = contract.clause(match.start(), match.end())
        if pattern(_NO_TERM).search(flat, clause.start, match.end()):
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
    if len(begun) != 1 or not re.search(_FROM, contract.flat[term.spans[0].start : begun[0].start], re.IGNORECASE):
        return None
    return FoundValue(add_duration(begun[0].day, term.value).isoformat(), term.spans, 0.7)


_UNDER: Final = re.compile(r"\b(?:under|pursuant to|by|in|to|with|out of|of|against|from|and) +$", re.IGNORECASE)
_EITHER: Final = re.compile(written("either"), re.IGNORECASE)


def _terms(contract: Contract) -> Iterator[re.Match[str]]:
    """Where a sentence speaks of the term, or of how long the contract holds."""
    position = 0
    while match := pattern(_TERM).search(contract.flat, position):
        if _UNDER.search(contract.flat, max(0, match.start() - 20), match.start()):
            position = match.start() + 4  # the subject may come behind: "subject to this Agreement, the term shall"
        else:
            position = match.end()
            yield match


def _is_open_ended(contract: Contract, match: re.Match[str], clause: Span) -> bool:
    end = min(clause.end, match.end() + 160)
    said = pattern(_OPEN_END).search(contract.flat, match.start(), end)
    if said is None or re.search(r"licen[sc]e|held|invalid|royalty", contract.flat[match.start() : end], re.IGNORECASE):
        return False
    return not list(find_durations(contract.flat, match.start(), said.end()))


def _named_end(contract: Contract, clause: Span) -> Dated | None:
    for match in pattern(_ENDS).finditer(contract.flat, clause.start, clause.end):
        found = find_dates(contract.flat, match.end(), min(clause.end, match.end() + 40))
        begins = re.search(r"\b(?:commenc|beg[iau]n|start|made|dated|entered|beginnt)", match[0], re.IGNORECASE)
        if found and not begins and not re.search(r"\d|renew", contract.flat[match.end() : found[0].start]):
            return found[0]
    return None


def _reckoned_end(contract: Contract, match: re.Match[str], clause: Span) -> FoundValue | None:
    flat = contract.flat
    for duration in find_durations(flat, match.start(), min(clause.end, match.end() + 320)):
        before = flat[match.start() : duration.start]
        near = flat[max(clause.start, duration.start - 70) : duration.start]
        behind = flat[duration.end : min(clause.end, duration.end + 120)]
        if duration.value[-1] == "D" or pattern(_NO_TERM).search(before) or _EITHER.search(before):
            continue
        begins = re.search(r"commenc|begin|effective|from", before, re.IGNORECASE)
        if re.search(
            rf"{_RENEWS.replace('|thereafter', '') if begins else _RENEWS}|notice|prior|within|every|least|terminat\w+ (?:by|up)",
            near,
            re.IGNORECASE,
        ):
            continue
        if re.match(
            r"[\s,'’)]*(?:prior|notice|written|before|advance|after (?:the )?(?:termination|expir)|following (?:the )?(?:termination|expir))",
            behind,
            re.IGNORECASE,
        ):
            continue
        if not re.search(
            r"\b(?:for|of|is|be|period|term|to|Laufzeit|durée|until|lasts?|auf|von)\b[^.;]{0,40}$", near, re.IGNORECASE
        ):
            continue
        if re.match(r"[\s,'’)]*thereafter", behind) and not begins:
            continue
        started = _start_of_term(contract, clause, duration)
        if started is not None:
            day, spans = started
            return FoundValue(add_duration(day, duration.value).isoformat(), (clause, *spans), 0.75)
    return None


_ORDINALS: Final = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
} | {"fifteenth": 15, "twentieth": 20}


def _anniversary(contract: Contract, match: re.Match[str], clause: Span) -> FoundValue | None:
    """The end of a term that lasts up to an anniversary of its beginning."""
    expression = rf"\b(?P<word>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)) (?:\([^)]*\) )?(?:year )?anniversary of (?:the |this )?(?:date|effective|commencement|execution|signing)"
    named = pattern(expression).search(contract.flat, match.start(), min(clause.end, match.end() + 320))
    begun = contract.find("effective_date") or contract.find("agreement_date")
    if named is None or begun is None:
        return None
    years = _ORDINALS.get(named["word"].casefold()) or int(re.sub(r"\D", "", named["word"]))
    day = add_duration(date.fromisoformat(begun.value), f"P{years}Y")
    return FoundValue(day.isoformat(), (clause, *begun.spans), 0.75)


def _start_of_term(contract: Contract, clause: Span, duration: Duration) -> tuple[date, tuple[Span, ...]] | None:
    """The day from which a term counts, with where else it stands: a day of the clause, else the effective date."""
    flat = contract.flat
    near = find_dates(flat, clause.start, clause.end)
    if near:
        return near[0].day, ()
    words = flat[clause.start : clause.end]
    if not re.search(_START, words, re.IGNORECASE) and re.search(
        r"\bfrom\b|\bafter\b|\bfollowing\b", flat[duration.end : duration.end + 60]
    ):
        return None
    if re.search(
        r"launch|delivery|first commercial|opening|acceptance|approval|go-live|completion|closing date|operational|deliver|in-service",
        words,
        re.IGNORECASE,
    ):
        return None
    known = contract.find("effective_date") or contract.find("agreement_date")
    return (date.fromisoformat(known.value), known.spans) if known is not None and known.value else None


_RENEWAL: Final = written("renewal")
_FIRST_TERM: Final = written("first_term")


def find_renewal(contract: Contract) -> FoundValue | None:
    """The length of one further term."""
    flat = contract.flat
    for match in find_all(contract, _RENEWAL):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if re.search(
            r"patent|insurance|trademark|domain|permit|certificat|copyright|lien|warranty|calendar quarter|contract year|during the term|conversion|half a year|\baudit|confidential|force majeure|(?:commencement|completion) date|compet(?:e|ing)\b",
            words,
            re.IGNORECASE,
        ):
            continue
        if re.search(
            pattern(r"(?:not|no right|never) (?:be )?(?:automatically )?(?:to )?(?:renew|extend)|keine? verlängerung"),
            words,
        ):
            continue
        for duration in find_durations(flat, match.start(), clause.end):
            before, behind = flat[match.start() : duration.start], flat[duration.end : duration.end + 60]
            if re.match(
                r"[\s,]*(?:prior|notice|written|before|in advance|advance|vor)", behind, re.IGNORECASE
            ) or re.search(r"notice|least|within|prior", before[-70:], re.IGNORECASE):
                continue
            if re.search(_FIRST_TERM, f"{before[-90:]}\0{behind}", re.IGNORECASE):
                continue
            if duration.value[-1] == "D" or not re.search(
                r"for|period|term|successive|additional|by|of|um|durée|another|further|on an?|each",
                before[-80:],
                re.IGNORECASE,
            ):
                continue
            return FoundValue(duration.value, (clause,), 0.85)
        if re.search(
            r"year[- ]to[- ]year|annual(?:ly)? (?:basis|terms?)|yearly basis|for successive annual",
            words,
            re.IGNORECASE,
        ):
            return FoundValue("P1Y", (clause,), 0.75)
    return None


_NOTICE: Final = written("notice")


_NOTICE_BEHIND: Final = r"[\s,'’]*(?!(?:by|on|upon|with|without|after) )(?:\(?\w*\)?\s*)?(?:prior|advance|written|notice|before|in advance|previous|vor|zum|de préavis)"


def find_notice(contract: Contract) -> FoundValue | None:
    """The notice period for ending it, or for not renewing: first the one beside a renewal, then
    the one without cause.
    """
    flat = contract.flat
    best: FoundValue | None = None
    for match in find_all(contract, _NOTICE):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if not re.search(r"terminat|renew|cancel|extend|not to|expir|kündig|résili|end of", words, re.IGNORECASE):
            continue
        durations = [one for one in find_durations(flat, clause.start, clause.end) if is_notice(flat, one, clause)]
        if not durations:
            continue
        renews = re.search(r"renew|extend|extension|verlänger|reconduct", words, re.IGNORECASE)
        if renews and not re.search(r"breach|default|fail", words, re.IGNORECASE):
            return FoundValue(durations[0].value, (clause,), 0.85)
        at_will = re.search(
            r"without cause|for convenience|any reason|no reason|at any time|either party may terminate|sole discretion|ohne Angabe|kündig|résili",
            words,
            re.IGNORECASE,
        )
        if (
            best is None
            and at_will
            and not re.search(r"breach|default|fail|insolven|cure|remed|event|if\b", words, re.IGNORECASE)
        ):
            best = FoundValue(durations[0].value, (clause,), 0.7)
    return best


def is_notice(flat: str, duration: Duration, clause: Span) -> bool:
    """Whether a duration is that of a notice, and not of a term."""
    behind = flat[duration.end : min(clause.end, duration.end + 60)]
    before = flat[max(clause.start, duration.start - 70) : duration.start]
    if re.match(_NOTICE_BEHIND, behind, re.IGNORECASE):
        return True
    is_term = re.search(r"(?:renew|term|period|extend)[^.;]{0,25}$", before, re.IGNORECASE)
    says = r"(?:notice|prior|advance|Frist von|préavis de)[^.;]{0,50}$"
    return re.search(says, before, re.IGNORECASE) is not None and (is_term is None or "least" in before)


# --- law, assignment, control, liability
