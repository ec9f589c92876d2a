"""What contracts state in ordinary form: parties, days, terms, notice, law, assignment, control, liability, price.

A finder takes a contract and returns what it states with the words that say so, or nothing: silence beats a wrong value.

Parties are the names before `between`, in definitions, or behind labels. Days and terms are when a contract was made,
applies from and ends, its renewal and its notice.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from typing import Any, Final, Literal

from pydantic import BaseModel

from storage.scores import Absence
from tasks.language.numbers import amounts
from tasks.table.columns import (
    OPENING,
    ORDINALS,
    PERPETUAL,
    Contract,
    Dated,
    Duration,
    Finder,
    FoundValue,
    Span,
    add_duration,
    clause_words,
    fills_line,
    find_all,
    find_dates,
    find_durations,
    heads_line,
    is_of_another,
    is_stamped,
    pattern,
    says,
    written,
)


def find_agreement_date(contract: Contract) -> FoundValue | None:
    """The day on which it was made: the one beside `dated`, `made as of`, `this 21st day of`."""
    best: FoundValue | None = None
    for match in find_all(contract, written("dated"), 5000):
        found = find_dates(contract.flat, match.end(), match.end() + 45)
        if not found or re.search(r"[.;]\s", contract.flat[match.end() : found[0].start]):
            continue
        clause = contract.clause(match.start(), found[0].end)
        before = contract.words(Span(clause.start, match.start()))
        if says("other_contract", before) or says("refers_to", before):
            continue
        made = FoundValue(found[0].day.isoformat(), (clause,), 0.85)
        if says("this", before) and "effective" not in match[0].casefold():
            return made
        best = best or made
    if best is not None:
        return best
    early = [one for one in find_dates(contract.flat, 0, 600) if not is_stamped(contract.flat, one)]
    early = [one for one in early if fills_line(contract.text, one)] or early
    if len({one.day for one in early}) == 1:
        clause = contract.clause(early[0].start, early[0].end)
        before = contract.words(Span(clause.start, early[0].start))
        if not any(says(name, before) for name in ("begins", "other_contract", "refers_to")):
            return FoundValue(early[0].day.isoformat(), (clause,), 0.65)
    return None


def find_effective_date(contract: Contract) -> FoundValue | None:
    """The day from which it applies: defined as the Effective Date, else stated, else the agreement's date."""
    return _find_named_day(contract) or _find_stated_day(contract)


def _find_named_day(contract: Contract) -> FoundValue | None:
    flat = contract.flat
    for match in find_all(contract, written("effective_name")):
        near = find_dates(flat, match.start() - 140, match.start())
        before = [one for one in near if not re.search(r"[.;]\s{1,3}[A-Z]", flat[one.end : match.start()])]
        behind = find_dates(flat, match.end(), match.end() + 60) if not before else []
        if before:
            return FoundValue(before[-1].day.isoformat(), (contract.clause(before[-1].start, match.end()),), 0.9)
        if behind and says("defines", flat[match.end() : match.end() + 20]):
            return FoundValue(behind[0].day.isoformat(), (contract.clause(match.start(), behind[0].end),), 0.85)
    return None


def _find_stated_day(contract: Contract) -> FoundValue | None:
    flat = contract.flat
    for match in find_all(contract, written("effective")):
        found = find_dates(flat, match.end(), match.end() + 40)
        if not found or not says("leads_to_day", flat[match.end() : found[0].start]):
            continue
        clause = contract.clause(match.start(), found[0].end)
        is_head = heads_line(contract.text, match) and contract.find("parties") is not None
        if (is_head or _is_own(contract, clause, match.start())) and not is_of_another(contract.text, match):
            return FoundValue(
                found[0].day.isoformat(), (Span(match.start(), found[0].end) if is_head else clause,), 0.8
            )
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
        if not says("ends_by_notice", words) or not says("ends_or_keeps", words):
            continue
        if says("notice_of_others", words) and not says("not_renewed", words):
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
    """Whether a duration is that of a notice, and not of a term or of a time that lies behind."""
    before = flat[max(clause.start, duration.start - 70) : duration.start]
    behind = flat[duration.end : min(clause.end, duration.end + 60)]
    if says("notice_behind", behind):
        return not says("looks_back", f"{before}\x00{behind}") or "noti" in flat[clause.start : clause.end]
    return says("notice_ahead", before) and (not says("term_ahead", before) or "least" in before)


_BETWEEN: Final = written("between")
_LEGAL_END: Final = re.compile(written("legal_end"), re.IGNORECASE)
_NAME_END: Final = re.compile(written("name_end"))
_PARTY_BREAK: Final = re.compile(written("party_break"), re.IGNORECASE)
_ALIAS: Final = re.compile(written("alias"))
_NO_ALIAS: Final = re.compile(written("no_alias"), re.IGNORECASE)
_LISTED_NEXT: Final = re.compile(written("listed_next"))
_DESCRIBED: Final = re.compile(written("described"), re.IGNORECASE)
_THE: Final = re.compile(r"(?:\s*(?:the|der|die|dem|la|le|Frau|Herrn?|Mme|Mrs?\.?|Ms\.?) (?=[A-Z]\w+ [A-Z]))?")
_SMALL: Final = frozenset("of and the for de la di du y e und van der des für en et in".split())
_NO_PARTY: Final = re.compile(written("no_party"), re.IGNORECASE)
_BETWEEN_NAMES: Final = re.compile(written("between_names"))


def find_parties(contract: Contract) -> FoundValue | None:
    """The names of the parties: what follows `between`, each name up to its description."""
    flat = contract.flat
    best: list[tuple[str, Span]] = []
    for match in find_all(contract, _BETWEEN, OPENING):
        is_plain = match[0].strip().casefold() in {"by", "with"}
        names = list(_party_names(contract, match.end(), match.end() + 2000))
        has_aliases = all(_ALIAS.search(flat, span.end, span.end + 500) for _, span in names)
        is_pair = len({_plain_name(name) for name, _ in names}) == len(names) >= 2
        if is_pair and (has_aliases or (not is_plain and not best)):
            best = names
            if has_aliases:
                break
    best = best or _aliased_names(flat) or _labelled_names(contract.text[:OPENING])
    if not best:
        return None
    first, last = best[0][1].start, best[-1][1].end
    spans = (Span(first, last),) if last - first < 900 else tuple(span for _, span in best)
    return FoundValue([name for name, _ in best], spans, 0.85)


_BEFORE_NAME: Final = re.compile(written("before_name"))


def _aliased_names(flat: str) -> list[tuple[str, Span]]:
    """The first two names with a legal form that an alias in brackets follows."""
    found: dict[str, Span] = {}
    for alias in (one for one in _ALIAS.finditer(flat, 0, OPENING) if not _NO_ALIAS.search(one[0])):
        low = max(0, alias.start() - 300, max((span.end for span in found.values()), default=0))
        known = {_plain_name(name) for name in found}
        for start in (match.end() for match in _BEFORE_NAME.finditer(flat, low, alias.start())):
            end = _NAME_END.search(flat, start, alias.end())
            name = " ".join(flat[start : end.start()].split()).strip(" ,") if end else ""
            is_near = end is not None and not re.search(r"[a-z]\.\s", flat[end.end() : alias.start()])
            if (
                end
                and is_near
                and _LEGAL_END.search(name)
                and " " in name
                and _plain_name(name) not in known
                and _is_party(name, flat, end.start(), has_alias=False)
            ):
                dot = end.start() + (flat[end.start() : end.start() + 1] == ".")
                found.setdefault(" ".join(flat[start:dot].split()).strip(" ,"), Span(start, dot))
                break
        if len(found) == 2:
            return list(found.items())
    return []


_LABELLED: Final = re.compile(written("labelled"), re.IGNORECASE | re.MULTILINE)


def _labelled_names(text: str) -> list[tuple[str, Span]]:
    """The names of lines such as `Landlord: Alpha Ltd`, where there are two or more."""
    found = {
        _plain_name(match["name"]): (match["name"].strip(), Span(*match.span("name")))
        for match in _LABELLED.finditer(text)
    }
    return list(found.values()) if len(found) > 1 else []


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "", name.casefold())


def _party_names(contract: Contract, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The names between two places, each with where it stands, up to the first that is none.

    A line that ends in a legal form ends a name: an address, or the rest of a title page, follows.
    """
    flat = contract.flat
    position = start
    while position < end:
        position += len(_THE.match(flat[position : position + 60])[0])  # type: ignore[index] # it may be empty
        stop = _name_end(contract, position, end)
        name = " ".join(flat[position:stop].split()).strip(" ,*-•")
        if flat[stop : stop + 1] == "." and _LEGAL_END.search(name):
            name, stop = f"{name}.", stop + 1
        alias = _ALIAS.search(flat, stop, min(end, stop + 450))
        if alias and _NO_ALIAS.search(alias[0]):
            return
        if not _is_party(name, flat, stop, has_alias=alias is not None and not flat[stop : alias.start()].strip()):
            return
        yield name, Span(position, stop)
        behind = alias.end() if alias else stop
        following = (_listed_next(flat, behind, end) if alias else None) or _PARTY_BREAK.search(flat, behind, end)
        if following is None or not _BETWEEN_NAMES.fullmatch(flat, behind, following.start()):
            return
        position = following.end()


def _name_end(contract: Contract, position: int, end: int) -> int:
    """Where the name ends that begins at a place: before a bracket, a conjunction, another line or its seat."""
    flat = contract.flat
    match = _NAME_END.search(flat, position, end)
    conjunction = _PARTY_BREAK.search(flat, position, end)
    stop = match.start() if match else end
    before_and = flat[position : conjunction.start()].rstrip(" ,") if conjunction else ""
    if conjunction and conjunction.start() < stop and _LEGAL_END.search(before_and):
        stop = conjunction.start()
    line = contract.text.find("\n", position, stop)
    goes_on = _LEGAL_END.match(flat[line + 1 : stop].split(" ")[0].strip(","))
    if line >= 0 and not goes_on and _LEGAL_END.search(flat[position:line].rstrip(" ,")):
        stop = line
    comma = flat.find(",", position, stop)
    is_whole = _LEGAL_END.search(flat[position:stop].strip(" ,"))
    return comma if comma >= 0 and _LEGAL_END.search(flat[position:comma]) and not is_whole else stop


def _listed_next(flat: str, start: int, end: int) -> re.Match[str] | None:
    """The comma before another party of a list: one with a legal form, and an alias or a description behind it.

    Without these it may be the seat or the register of the party before.
    """
    match = _LISTED_NEXT.match(flat, start, end)
    if match is None or " and " in match["name"] or not _LEGAL_END.search(match["name"]):
        return None
    return None if match["name"].split()[-1].islower() else match


def _is_party(name: str, flat: str, stop: int, *, has_alias: bool) -> bool:
    """Whether words are a name: they end in a legal form, or an alias or a description follows."""
    if (
        not 2 < len(name) < 90
        or name.count(" ") > 11
        or _NO_PARTY.fullmatch(name)
        or re.search(r"[|#]| - |\d{5}", name)
    ):
        return False
    words = {word for word in name.split() if word.islower()} - _SMALL
    if words and not (len(words) == 1 and _LEGAL_END.search(name)):
        return False
    return bool(_LEGAL_END.search(name)) or has_alias or _DESCRIBED.match(flat, stop) is not None


_LAW: Final = re.compile(written("law"))
_PLACE_HEAD: Final = re.compile(written("place_head"), re.IGNORECASE)
_PLACE_TAIL: Final = re.compile(written("place_tail"))
_STATE_BESIDE: Final = re.compile(
    r"(?:the )?United States(?: of America)?,? and(?:,[^.;,]{0,60},)? (?:by |of )?(?:the )?(?:(?:internal |substantive )?laws? of )?"
    r"(?:the )?(?:State|Commonwealth) of ([A-Z]\w+(?: [A-Z]\w+)?)"
)
"""The state whose law governs beside that of the United States."""


def find_governing_law(contract: Contract) -> FoundValue | None:
    """The place whose law governs it: a state, a province or a country."""
    for match in _LAW.finditer(contract.flat):
        if says("no_law", contract.flat[max(0, match.start() - 30) : match.end()]):
            continue
        start = match.start(match.lastgroup or 0)
        written = re.split(r"\.\s", match[match.lastgroup or 0])[0]
        end = start + len(written)
        if says("in_part", contract.flat[end : end + 60]):
            continue
        place = " ".join(written.split())
        if state := _STATE_BESIDE.match(contract.flat, start):
            place = state[1]
        place = _PLACE_TAIL.sub("", _PLACE_HEAD.sub("", place)).strip(" ,.")
        place = clause_words()["adjectives"].get(place, place)
        if place and not says("no_place", place):
            named = (
                place.title().replace(" Of ", " of ").replace(" And ", " and ")
                if place.isupper() and len(place) > 4
                else place
            )
            return FoundValue(named, (contract.clause(start, end),), 0.9)
    return None


def find_assignment(contract: Contract) -> FoundValue | None:
    """Whether a party may assign it: freely, with consent, or not."""
    freely: FoundValue | None = None
    for match in find_all(contract, written("assign")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if not says("of_contract", words) or says("of_other_things", words[:500]) or says("free_to_assign", words):
            continue
        if says("of_other_object", contract.words(Span(match.end(), clause.end))):
            continue
        if says("not_assigned", words) and says("with_consent", words):
            return FoundValue("consent", (clause,), 0.85)
        if says("may_not_assign", words):
            return FoundValue("forbidden", (clause,), 0.7)
        if freely is None and says("may_assign", words):
            freely = FoundValue("free", (clause,), 0.65)
    return freely


_CONTROL_RIGHT: Final = re.compile(written("control_right"), re.IGNORECASE)


def find_change_of_control(contract: Contract) -> FoundValue | None:
    """Whether a change of control gives the other party a right: to terminate, or to be asked."""
    best: FoundValue | None = None
    is_denied = False
    for match in find_all(contract, written("control")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        right = _CONTROL_RIGHT.search(words)
        if right and says("denied_right", words):
            is_denied = True
        elif right and says("may_terminate", right[0]):
            return FoundValue(True, (clause,), 0.75)
        elif right and not says("no_right", words):
            best = best or FoundValue(True, (clause,), 0.75)
    return None if is_denied else best


def find_liability_cap(contract: Contract) -> FoundValue | None:
    """Whether a party's liability is capped."""
    for match in find_all(contract, written("cap")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if says("whole_liability", words) or not says("other_limit", words):
            return FoundValue(True, (clause,), 0.8)
    return None


# --- what one clause states: an amount, a duration, or that it is so


_BEHIND: Final = 6
"""Characters behind a value that belong to it: `DKK 3,334 each`."""


class _Stated(BaseModel):
    """How clauses state one thing, as listed in `clauses.toml` under `stated`.

    They contain one of `says`, and its value at most `within` characters after it, or else before it. A clause with one
    of `no` says that there is no such thing; one with one of `unless`, up to its value, is about something else.
    """

    type: Literal["money", "duration", "yes_no"]
    says: list[str]
    no: list[str] = []
    unless: list[str] = []
    within: int = 60
    before: int = 0
    sure: float = 0.65


def _find_stated(stated: _Stated, contract: Contract) -> FoundValue | None:
    says, no, unless = "|".join(stated.says), "|".join(stated.no), "|".join(stated.unless)
    for match in find_all(contract, says):
        clause = contract.clause(match.start(), match.end())
        if no and pattern(no).search(contract.flat, clause.start, clause.end):
            is_plain = stated.type == "yes_no"
            return FoundValue(False if is_plain else None, (clause,), stated.sure, None if is_plain else Absence.NONE)
        found = _stated_value(stated, contract, match, clause)
        if found is None:
            continue
        value, end = found
        if not unless or not pattern(unless).search(contract.flat, clause.start, max(match.end(), end + _BEHIND)):
            return FoundValue(value, (Span(clause.start, max(clause.end, end)),), stated.sure)
    return None


def _stated_value(stated: _Stated, contract: Contract, match: re.Match[str], clause: Span) -> tuple[Any, int] | None:
    """The value that a clause states, and where its words end; None if it states none."""
    if stated.type == "yes_no":
        return True, clause.end
    flat = contract.flat
    behind = Span(match.end(), match.end() + stated.within)
    before = Span(max(clause.start, match.start() - stated.before), match.start())
    for stretch in (behind, before) if stated.before else (behind,):
        if stated.type == "money":
            words = flat[stretch.start : stretch.end]
            listed = amounts(words, comma_decimal=contract.comma_decimal)
            found = [one for one in listed if one.unit and len(one.unit) == 3 and one.value > 0]
            if found and not re.search(r"[.;]\s[A-Z]", words[: found[0].start]):
                value = {"value": f"{found[0].value.normalize():f}", "unit": found[0].unit}
                return value, stretch.start + found[0].stop
        else:
            within = min(stretch.end, clause.end)
            durations = [one for one in find_durations(flat, stretch.start, within) if not is_notice(flat, one, clause)]
            if durations:
                return durations[0].value, durations[0].end
    return None


_STATED: Final = {name: _Stated.model_validate(rule) for name, rule in clause_words()["stated"].items()}

FINDERS: Final[Mapping[str, Finder]] = {
    "parties": find_parties,
    "agreement_date": find_agreement_date,
    "effective_date": find_effective_date,
    "expiry": find_expiry,
    "renewal": find_renewal,
    "notice": find_notice,
    "governing_law": find_governing_law,
    "assignment": find_assignment,
    "change_of_control": find_change_of_control,
    "liability_cap": find_liability_cap,
    **{name: partial(_find_stated, stated) for name, stated in _STATED.items()},
}
"""What can be found without a model, by the name that a column gives."""
