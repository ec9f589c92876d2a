"""What contracts state in ordinary form: parties, days, terms, notice, law, assignment, control, liability, price.

A finder takes a text and returns what it states with the words that say so, or nothing: silence beats a wrong value.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel

from storage.scores import Absence
from tasks.figures.concepts import guess_language
from tasks.language.numbers import amounts, uses_decimal_comma
from tasks.table.spans import (
    Dated,
    Duration,
    Span,
    add_duration,
    clause_around,
    find_dates,
    find_durations,
    flatten,
)

_OPENING: Final = 6000
PERPETUAL: Final = "perpetual"


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8"))


def _written(name: str) -> str:
    """A pattern of `clauses.toml`: one of its lines matches."""
    return "|".join(_data()[name])


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value with the stretches of text that say so; without a value, `absence` says why there is none."""

    value: Any
    spans: tuple[Span, ...]
    sure: float = 0.8
    absence: Absence | None = None


@dataclass
class Contract:
    """A text for finders to look at."""

    text: str
    known: dict[str, FoundValue | None] = field(default_factory=dict)

    @cached_property
    def flat(self) -> str:
        """The text with spaces in place of line breaks."""
        return flatten(self.text)

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether it writes decimals with a comma."""
        return uses_decimal_comma(self.text, guess_language(self.text))

    def clause(self, start: int, end: int) -> Span:
        """The sentence around a stretch."""
        return clause_around(self.text, self.flat, start, end)

    def words(self, span: Span) -> str:
        """The words of a stretch, single-spaced."""
        return " ".join(self.flat[span.start : span.end].split())

    def find(self, name: str) -> FoundValue | None:
        """What a finder finds, cached."""
        if name not in self.known:
            self.known[name] = FINDERS[name](self)
        return self.known[name]


@cache
def _pattern(written: str) -> re.Pattern[str]:
    """A pattern in which a blank stands for any number of them."""
    return re.compile(written.replace(" ", r"\s+"), re.IGNORECASE)


def _all(contract: Contract, written: str, end: int | None = None) -> Iterator[re.Match[str]]:
    return _pattern(written).finditer(contract.flat, 0, len(contract.flat) if end is None else end)


# --- parties

_BETWEEN: Final = _written("between")
_LEGAL_END: Final = re.compile(_written("legal_end"), re.IGNORECASE)
_NAME_END: Final = re.compile(_written("name_end"))
_PARTY_BREAK: Final = re.compile(_written("party_break"), re.IGNORECASE)
_ALIAS: Final = re.compile(_written("alias"))
_DESCRIBED: Final = re.compile(_written("described"), re.IGNORECASE)
_THE: Final = re.compile(r"(?:\s*(?:the|der|die|dem|la|le|Frau|Herrn?|Mme|Mrs?\.?|Ms\.?) (?=[A-Z]\w+ [A-Z]))?")
_SMALL: Final = frozenset("of and the for de la di du y e und van der des für en et in".split())
_NO_PARTY: Final = re.compile(_written("no_party"), re.IGNORECASE)


def find_parties(contract: Contract) -> FoundValue | None:
    """The names of the parties: what follows `between`, each name up to its description."""
    flat = contract.flat
    best: list[tuple[str, Span]] = []
    for match in _all(contract, _BETWEEN, _OPENING):
        is_plain = match[0].strip().casefold() in {"by", "with"}
        names = list(_party_names(contract, match.end(), match.end() + 2000))
        has_aliases = all(_ALIAS.search(flat, span.end, span.end + 500) for _, span in names)
        is_pair = len({_plain_name(name) for name, _ in names}) == len(names) >= 2
        if is_pair and (has_aliases or (not is_plain and not best)):
            best = names
            if has_aliases:
                break
    best = best or _aliased_names(flat) or _labelled_names(contract.text[:_OPENING])
    if not best:
        return None
    first, last = best[0][1].start, best[-1][1].end
    spans = (Span(first, last),) if last - first < 900 else tuple(span for _, span in best)
    return FoundValue([name for name, _ in best], spans, 0.85)


_BEFORE_NAME: Final = re.compile(_written("before_name"))


def _aliased_names(flat: str) -> list[tuple[str, Span]]:
    """The first two names with a legal form that an alias in brackets follows."""
    found: dict[str, Span] = {}
    for alias in _ALIAS.finditer(flat, 0, _OPENING):
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


_LABELLED: Final = re.compile(_written("labelled"), re.IGNORECASE | re.MULTILINE)


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
        match = _NAME_END.search(flat, position, end)
        conjunction = _PARTY_BREAK.search(flat, position, end)
        stop = match.start() if match else end
        before_and = flat[position : conjunction.start()].rstrip(" ,") if conjunction else ""
        if conjunction and conjunction.start() < stop and _LEGAL_END.search(before_and):
            stop = conjunction.start()
        line = contract.text.find("\n", position, stop)
        if line >= 0 and _LEGAL_END.search(flat[position:line].rstrip(" ,")):
            stop = line
        comma = flat.find(",", position, stop)
        if (
            comma >= 0
            and _LEGAL_END.search(flat[position:comma])
            and not _LEGAL_END.search(flat[position:stop].strip(" ,"))
        ):
            stop = comma  # its seat follows
        name = " ".join(flat[position:stop].split()).strip(" ,")
        if flat[stop : stop + 1] == "." and _LEGAL_END.search(name):
            name, stop = f"{name}.", stop + 1
        alias = _ALIAS.search(flat, stop, min(end, stop + 450))
        if not _is_party(name, flat, stop, has_alias=alias is not None and alias.start() - stop < 3):
            return
        yield name, Span(position, stop)
        behind = alias.end() if alias else stop
        following = _PARTY_BREAK.search(flat, behind, end)
        if following is None or following.start() - behind > 250:
            return
        position = following.end()


def _is_party(name: str, flat: str, stop: int, *, has_alias: bool) -> bool:
    """Whether words are a name: they end in a legal form, or an alias or a description follows."""
    if not 2 < len(name) < 90 or name.count(" ") > 11 or _NO_PARTY.fullmatch(name):
        return False
    words = {word for word in name.split() if word.islower()} - _SMALL
    if words and not (len(words) == 1 and _LEGAL_END.search(name)):
        return False
    return bool(_LEGAL_END.search(name)) or has_alias or _DESCRIBED.match(flat, stop) is not None


# --- days

_DATED: Final = _written("dated")


_OTHER_CONTRACT: Final = re.compile(_written("other_contract"), re.IGNORECASE)


def find_agreement_date(contract: Contract) -> FoundValue | None:
    """The day on which it was made: the one beside `dated`, `made as of`, `this 21st day of`."""
    best: FoundValue | None = None
    for match in _all(contract, _DATED, 5000):
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


_EFFECTIVE_NAME: Final = _written("effective_name")
_EFFECTIVE: Final = _written("effective")
_SAME_DAY: Final = _written("same_day")


def find_effective_date(contract: Contract) -> FoundValue | None:
    """The day from which it applies: defined as the Effective Date, else stated, else the agreement's date."""
    flat = contract.flat
    for match in _all(contract, _EFFECTIVE_NAME):
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
    for match in _all(contract, _EFFECTIVE):
        found = find_dates(flat, match.end(), match.end() + 40)
        if not found or not re.fullmatch(
            r"[\s:,]*(?:the|as|of|on|is|from|upon|this|as of the)?[\s:,]*", flat[match.end() : found[0].start]
        ):
            continue
        clause = contract.clause(match.start(), found[0].end)
        if _is_own(contract, clause, match.start()):
            return FoundValue(found[0].day.isoformat(), (clause,), 0.8)
    made = contract.find("agreement_date")
    for match in _all(contract, rf"(?:{_EFFECTIVE})[^.;]{{0,25}}?(?:{_SAME_DAY})"):
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


_TERM: Final = _written("term")
_NO_TERM: Final = _written("no_term")
_ENDS: Final = _written("ends")
_RENEWS: Final = _written("renews")
_OPEN_END: Final = _written("open_end")
_START: Final = _written("start")
_FROM: Final = r"\b(?:from|commencing(?: on)?|beginning(?: on)?|starting(?: on)?|ab(?: dem)?|à compter du) (?:the )?$"


def find_expiry(contract: Contract) -> FoundValue | None:
    """The last day of the first term: stated, or computed from its beginning; `perpetual` if it has no end."""
    flat = contract.flat
    open_ended: FoundValue | None = None
    for match in _terms(contract):
        clause = contract.clause(match.start(), match.end())
        if _pattern(_NO_TERM).search(flat, clause.start, match.end()):
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
_EITHER: Final = re.compile(_written("either"), re.IGNORECASE)


def _terms(contract: Contract) -> Iterator[re.Match[str]]:
    """Where a sentence speaks of the term, or of how long the contract holds."""
    position = 0
    while match := _pattern(_TERM).search(contract.flat, position):
        if _UNDER.search(contract.flat, max(0, match.start() - 20), match.start()):
            position = match.start() + 4  # the subject may come behind: "subject to this Agreement, the term shall"
        else:
            position = match.end()
            yield match


def _is_open_ended(contract: Contract, match: re.Match[str], clause: Span) -> bool:
    end = min(clause.end, match.end() + 160)
    said = _pattern(_OPEN_END).search(contract.flat, match.start(), end)
    if said is None or re.search(r"licen[sc]e|held|invalid|royalty", contract.flat[match.start() : end], re.IGNORECASE):
        return False
    return not list(find_durations(contract.flat, match.start(), said.end()))


def _named_end(contract: Contract, clause: Span) -> Dated | None:
    for match in _pattern(_ENDS).finditer(contract.flat, clause.start, clause.end):
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
        if duration.value[-1] == "D" or _pattern(_NO_TERM).search(before) or _EITHER.search(before):
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
    pattern = rf"\b(?P<word>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)) (?:\([^)]*\) )?(?:year )?anniversary of (?:the |this )?(?:date|effective|commencement|execution|signing)"
    named = _pattern(pattern).search(contract.flat, match.start(), min(clause.end, match.end() + 320))
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


_RENEWAL: Final = _written("renewal")
_FIRST_TERM: Final = _written("first_term")


def find_renewal(contract: Contract) -> FoundValue | None:
    """The length of one further term."""
    flat = contract.flat
    for match in _all(contract, _RENEWAL):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if re.search(
            r"patent|insurance|trademark|domain|permit|certificat|copyright|lien|warranty|calendar quarter|contract year|during the term|conversion|half a year|\baudit|confidential|force majeure|(?:commencement|completion) date|compet(?:e|ing)\b",
            words,
            re.IGNORECASE,
        ):
            continue
        if re.search(
            _pattern(r"(?:not|no right|never) (?:be )?(?:automatically )?(?:to )?(?:renew|extend)|keine? verlängerung"),
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


_NOTICE: Final = _written("notice")


_NOTICE_BEHIND: Final = r"[\s,'’]*(?!(?:by|on|upon|with|without|after) )(?:\(?\w*\)?\s*)?(?:prior|advance|written|notice|before|in advance|previous|vor|zum|de préavis)"


def find_notice(contract: Contract) -> FoundValue | None:
    """The notice period for ending it, or for not renewing: first the one beside a renewal, then
    the one without cause.
    """
    flat = contract.flat
    best: FoundValue | None = None
    for match in _all(contract, _NOTICE):
        clause = contract.clause(match.start(), match.end())
        words = flat[clause.start : clause.end]
        if not re.search(r"terminat|renew|cancel|extend|not to|expir|kündig|résili|end of", words, re.IGNORECASE):
            continue
        durations = [one for one in find_durations(flat, clause.start, clause.end) if _is_notice(flat, one, clause)]
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


def _is_notice(flat: str, duration: Duration, clause: Span) -> bool:
    """Whether a duration is that of a notice, and not of a term."""
    behind = flat[duration.end : min(clause.end, duration.end + 60)]
    before = flat[max(clause.start, duration.start - 70) : duration.start]
    if re.match(_NOTICE_BEHIND, behind, re.IGNORECASE):
        return True
    is_term = re.search(r"(?:renew|term|period|extend)[^.;]{0,25}$", before, re.IGNORECASE)
    says = r"(?:notice|prior|advance|Frist von|préavis de)[^.;]{0,50}$"
    return re.search(says, before, re.IGNORECASE) is not None and (is_term is None or "least" in before)


# --- law, assignment, control, liability

_PLACE: Final = _written("place")
_LAW: Final = re.compile(_written("law"))
_ADJECTIVES: Final = {
    "English": "England", "Spanish": "Spain", "Dutch": "Netherlands", "German": "Germany", "French": "France", "Swiss": "Switzerland",
    "Italian": "Italy", "Austrian": "Austria", "Belgian": "Belgium", "Swedish": "Sweden", "Danish": "Denmark", "Norwegian": "Norway",
    "Finnish": "Finland", "Irish": "Ireland", "Scottish": "Scotland", "Chinese": "China", "Japanese": "Japan", "Israeli": "Israel",
    "Canadian": "Canada", "Indian": "India", "Polish": "Poland", "Portuguese": "Portugal", "deutsch": "Germany", "schweizerisch": "Switzerland",
    "österreichisch": "Austria", "français": "France", "belge": "Belgium", "suisse": "Switzerland", "luxembourgeoise": "Luxembourg",
}  # fmt: skip
_NO_LAW: Final = re.compile(_written("no_law"), re.IGNORECASE)
_NO_PLACE: Final = re.compile(_written("no_place"), re.IGNORECASE)
_PLACE_TAIL: Final = re.compile(_written("place_tail"))


def find_governing_law(contract: Contract) -> FoundValue | None:
    """The place whose law governs it: a state, a province or a country."""
    for match in _LAW.finditer(contract.flat):
        if _NO_LAW.search(match[0]):
            continue
        written = re.split(r"\.\s", match[match.lastgroup or 0])[0]
        end = match.start(match.lastgroup or 0) + len(written)
        place = " ".join(written.split())
        rest = contract.flat[match.end() : match.end() + 80]
        if re.match(r"United States", place) and (
            state := re.match(
                r"(?: of America)? and (?:of )?the (?:State|Commonwealth) of ([A-Z]\w+(?: [A-Z]\w+)?)", rest
            )
        ):
            place = state[1]
        place = re.sub(
            r"^(?:(?:the )?(?:state|commonwealth|province) of )(?:the )?|^the ", "", place, flags=re.IGNORECASE
        )
        place = _PLACE_TAIL.sub("", place).strip(" ,.")
        place = _ADJECTIVES.get(place, place)
        if place and not _NO_PLACE.match(place):
            named = (
                place.title().replace(" Of ", " of ").replace(" And ", " and ")
                if place.isupper() and len(place) > 4
                else place
            )
            return FoundValue(named, (contract.clause(match.start(), end),), 0.9)
    return None


_ASSIGN: Final = _written("assign")
_OF_CONTRACT: Final = _written("of_contract")


def find_assignment(contract: Contract) -> FoundValue | None:
    """Whether a party may assign it: freely, with consent, or not."""
    freely: FoundValue | None = None
    for match in _all(contract, _ASSIGN):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if not re.search(_OF_CONTRACT, words, re.IGNORECASE) or re.search(
            r"\binventions?|work product|hereby assigns?|assigns all|to whom|invoices?", words[:500], re.IGNORECASE
        ):
            continue
        has_no = re.search(
            r"\b(?:not|neither|no(?:r)?|without|shall not|may not|cannot|prohibit\w*|null|void|nicht|keine|ne peut)\b",
            words,
            re.IGNORECASE,
        )
        if has_no and re.search(
            r"consent|approv|permission|Zustimmung|accord|agreement in writing|authori[sz]ation", words, re.IGNORECASE
        ):
            return FoundValue("consent", (clause,), 0.85)
        if re.search(
            r"(?:may|shall|can) not (?:be )?(?:assign|transfer|sublicen|delegat)|not (?:be )?(?:assignable|transferable)|(?:non|not)-?assignable|neither party (?:may|shall) assign",
            words,
            re.IGNORECASE,
        ):
            return FoundValue("forbidden", (clause,), 0.7)
        if freely is None and re.search(
            r"may (?:freely )?(?:assign|transfer)|freely assign|shall be (?:freely )?assignable", words, re.IGNORECASE
        ):
            freely = FoundValue("free", (clause,), 0.65)
    return freely


_CONTROL: Final = _written("control")
_NO_RIGHT: Final = re.compile(_written("no_right"), re.IGNORECASE)
_CONTROL_RIGHT: Final = re.compile(_written("control_right"), re.IGNORECASE)


def find_change_of_control(contract: Contract) -> FoundValue | None:
    """Whether a change of control gives the other party a right: to terminate, or to be asked."""
    for match in _all(contract, _CONTROL):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        right = _CONTROL_RIGHT.search(words)
        is_plain = right is not None and re.search(r"\bmay terminate|right to terminate", right[0], re.IGNORECASE)
        if right and (is_plain or not _NO_RIGHT.search(words)):
            return FoundValue(True, (clause,), 0.75)
    return None


_CAP: Final = _written("cap")


def find_liability_cap(contract: Contract) -> FoundValue | None:
    """Whether a party's liability is capped."""
    for match in _all(contract, _CAP):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if re.search(
            r"insurance (?:coverage|polic)|policy limits?|per occurrence|limited liability|assets|borrow|indebtedness",
            words,
            re.IGNORECASE,
        ) and not re.search(r"aggregate liability|total liability|in no event|maximum", words, re.IGNORECASE):
            continue
        return FoundValue(True, (clause,), 0.8)
    return None


# --- what one clause states: an amount, a duration, or that it is so


class _Stated(BaseModel):
    """How clauses state one thing, as `clauses.toml` has it under `stated`.

    One of `says` stands in them, and its value `within` so many characters behind, else before. A clause with one of
    `no` says that there is no such thing; one with one of `unless`, up to its value, is about another thing.
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
    for match in _all(contract, says):
        clause = contract.clause(match.start(), match.end())
        if no and _pattern(no).search(contract.flat, clause.start, clause.end):
            is_plain = stated.type == "yes_no"
            return FoundValue(False if is_plain else None, (clause,), stated.sure, None if is_plain else Absence.NONE)
        found = _stated_value(stated, contract, match, clause)
        if found is None:
            continue
        value, end = found
        if not unless or not _pattern(unless).search(contract.flat, clause.start, max(match.end(), end)):
            return FoundValue(value, (Span(clause.start, max(clause.end, end)),), stated.sure)
    return None


def _stated_value(stated: _Stated, contract: Contract, match: re.Match[str], clause: Span) -> tuple[Any, int] | None:
    """The value of a clause, and where its words end."""
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
            durations = [
                one for one in find_durations(flat, stretch.start, within) if not _is_notice(flat, one, clause)
            ]
            if durations:
                return durations[0].value, durations[0].end
    return None


_STATED: Final = {name: _Stated.model_validate(rule) for name, rule in _data()["stated"].items()}

FINDERS: Final[Mapping[str, Callable[[Contract], FoundValue | None]]] = {
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
