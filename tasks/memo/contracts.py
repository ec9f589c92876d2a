"""What a memo says of a contract's terms, checked against the values that the room's contracts state.

The finders of `tasks.table` read a statement as they read a contract: "either party may terminate on 90 days' notice"
has a notice of 90 days. It is checked against the one contract that it can mean: the one that it names, else the
room's only one. Where the statement has words that the contract's clause has not, nothing is said.

A sentence of a contract speaks of "this Agreement" and "the Supplier", a memo of "the supply agreement" and "Alder
Steel". A statement is retold in the words of the contract that it names before it is compared with the sentences there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, NamedTuple

from tasks.figures.ledger import LedgerText
from tasks.language.words import stem
from tasks.rooms import stretch
from tasks.statements.figures import StatedFigure, figures, same
from tasks.statements.reading import ALIKE, Limit, ParsedSentence, nearness, read
from tasks.table.cells import find_text_cells
from tasks.table.clauses import FINDERS, is_notice
from tasks.table.columns import (
    OPENING,
    PERPETUAL,
    Column,
    ColumnSet,
    Contract,
    Span,
    clause_around,
    clause_words,
    find_dates,
    find_durations,
    flatten,
    says,
)

_FEWEST: Final = 2
"""Cells from which on a document is taken for a contract."""
_TITLE_LINES, _TITLE = 12, 60
"""Lines at the beginning of a contract that may say what it is, and characters of such a line at most."""
_BLOCK: Final = 1200
"""Characters at the beginning of a contract in which its parties are named, where nothing reads who they are."""
_TO_TERM: Final = 400
"""Characters behind a party's name in which the contract says what it is called."""
_BEHIND: Final = 300
"""Characters behind a term in which an option to extend it stands, where nothing reads it."""
_PERSON: Final = 4
"""Words of a name from which on its last word alone names nobody."""
_SURE: Final = 0.7
"""How sure a statement's own value must be."""
_OF_ONE: Final = frozenset({"notice", "assignment"})
"""Terms that may be another party's."""
_PAID: Final = frozenset({"rent", "deposit", "salary"})
"""Terms that one party pays and another receives."""
_HELD: Final = (
    "agreement_date", "effective_date", "expiry", "term", "renewal", "notice", "probation", "governing_law", "parties",
    "rent", "deposit", "salary", "assignment",
)  # fmt: skip
_HARMLESS: Final = frozenset({None, Limit.POSSIBLE, Limit.REQUIRED, Limit.ANY, Limit.ALL, Limit.NEGATION})
_WHOLES: Final = frozenset({"united states", "united states of america", "united kingdom", "canada", "australia"})
"""Countries whose parts have laws of their own: "New York" does not contradict "the United States"."""
_STATE_OF: Final = re.compile(
    r"^(?:the )?(?:(?:federal )?republic of |(?:state|commonwealth|province|kingdom) of )?(?:the )?"
)
"""What may stand before the name of a country or state: "the Republic of India"."""
_LASTS: Final = re.compile(
    r"\b(?:remains?|continues?|stays?|runs|lasts)\s(?:in (?:full )?(?:effect|force)|effective|valid)?\s?"
    r"for (?:a (?:period|term) of )?$|\b(?:gilt|läuft) (?:zunächst )?(?:für )?$",
    re.IGNORECASE,
)
_WHOLLY: Final = re.compile(r"\W*(?:from (?:its|the) effective date\W*)?$", re.IGNORECASE)
"""How a statement says how long a contract lasts."""
_MOST_PARTS: Final = 52
"""Parts of a year, at most, for which a rent or salary is stated."""
_DURATION: Final = re.compile(r"P(\d+)([DWMY])")
_IN_MONTHS_OR_DAYS: Final = {"D": 1, "W": 7, "M": 1, "Y": 12}


def _name_stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, re.findall(r"[^\W\d_]{2,}", words.replace("icence", "icense"))))


_ROLES: Final = _name_stems(
    "landlord tenant lessor lessee employer employee seller buyer vendor purchaser supplier customer client company"
    " contractor consultant licensor licensee provider sponsor lender borrower vermieter mieter verpächter pächter"
    " arbeitgeber arbeitnehmer verkäufer käufer lieferant kunde anbieter auftraggeber auftragnehmer lizenzgeber"
    " lizenznehmer darlehensgeber darlehensnehmer"
)
_PAYS: Final = _name_stems("pay pays paid owe owes give grant grants")
_OF_ANY: Final = _name_stems(
    "agreement contract law govern party parties sign make date enter conclude between term initial first fixed notice"
    " give require terminate end expire expiry renew renewal automatically another run last under receives"
    " earns remain continue stay effect effective force valid price value and the this its his her their our with of an"
    " by to inc llc ltd plc corp gmbh from until through period der die das"
    " des dem den mit zwischen vertrag vereinbarung unterliegt recht gilt läuft endet laufzeit beträgt zunächst"
)
"""Words in which any statement of a contract's term may be put."""

_KINDS: Final = (
    r"(?:[Aa]greement|[Cc]ontract|[Ll]ease|[Dd]eed|[Ss]ubcontract|[Ll]icen[cs]e|[Mm]emorandum of understanding"
    r"|Memorandum of Understanding|[Ww]ork [Oo]rder|[Aa]ddendum|NDA|MOU|MSA|SLA|DPA|SOW"
    r"|[\w-]*(?:[Vv]ertrag|[Vv]ereinbarung)(?:e?s)?)\b(?! (?:[Aa]greement|[Cc]ontract|price|sum|value|year|fee)\b)"
)
_NAME: Final = r"[a-z]?[A-Z][\w&.’'-]{0,40}(?:,? (?:(?:of|and|&) )?[a-z]?[A-Z][\w&.’'-]{0,40}){0,9}"
_REFERENCE: Final = re.compile(
    rf"\b(?:[Tt]he|[Tt]his|[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur|[Dd](?:er|ie|as|em|en|es)|[Dd]iese\w?|{_NAME}['’]s?)"
    r" (?:(?!(?:the|an?|of|under|in|on|to|by|is|was|may|shall|from|with|for|de[rsmn]|die|das|mit)\b)[\w&.,'’-]+ ){0,6}?"
    rf"{_KINDS}(?: (?:by and between|between|with|among|of|mit(?: der)?|zwischen) {_NAME})?"
)
"""How a statement calls a contract: "the supply agreement with Alder Steel", "its contract"."""
_ITSELF: Final = rf"(?:The (?:initial )?term of |Die Laufzeit )?{_REFERENCE.pattern} (?!(?:may|can|could|might)\b)"
_UNTIL: Final = re.compile(
    rf"{_ITSELF}(?:runs?|lasts?|continues?|ends?|expires?|terminates?|remains? in (?:full )?(?:force|effect)|läuft)\b"
    r"(?P<between>[^.;,()]{0,40}?)\b(?:until|to|through|on|bis(?: zum)?)\s$"
)
"""How a statement says when a contract itself ends: "the lease runs from 1 May 2024 to 30 April 2027"."""
_UNDER: Final = re.compile(
    rf",? ?\b(?:[Uu]nder|[Ii]n|[Oo]f|[Uu]pon|[Pp]ursuant to|[Aa]ccording to|[Nn]ach) {_REFERENCE.pattern},?"
)
_BY: Final = re.compile(
    r"^(?P<what>[^,;]+?) (?P<may>may|can|must|shall|will) be (?P<verb>\w+)ed by"
    r" (?P<who>[\w&.’'-]+(?: (?!(?:on|upon|at|with|for|in|without|to|by|if)\b)[\w&.’'-]+){0,4})"
)
_ACTIVE: Final = r"\g<who> \g<may> \g<verb>e \g<what>"
"""What somebody may do, told of what it is done to; words count by their stems."""
_IS: Final = r"(?=(?:is|was|has|may|can|must|shall|will|runs|lasts|expires|ends|renews|continues|remains|requires)\b)"
_ALSO: Final = re.compile(rf",? and {_IS}")
_THIS: Final = re.compile(r"\b(?i:this) ((?:[A-Z][\w-]* ){1,6}(?i:agreement|contract|lease|deed))\b")
_NOUNS: Final = re.compile(
    r"\b(?:[Tt]his|[Dd]iese[rsmn]?) (Agreement|Contract|Lease|Deed|Subcontract|Licen[cs]e|MOU|DPA|Work Order|Addendum"
    r"|NDA|MSA|SLA|agreement|contract|Vertrag|Vereinbarung)\b"
)
_BRACKET: Final = re.compile(r"\([^()\"“”]{0,60}[\"“][^()]{2,120}\)|[–—] ?nachfolgend [^–—]{2,80}")
_QUOTED: Final = re.compile(
    r"[\"“„][^\w\"“”„]{0,3}(?:the )?(?P<term>\w[^()\"“”„]{0,38}\w)[^\w\"“”„]{0,3}[\"”“]"
    r"(?P<also>[\s,*_]{0,9}(?:or )?(?:the )?[*_]{0,9}(?=[\"“„]))?"
)
_MEANS: Final = re.compile(rf"[\"“](?P<term>[A-Z][a-z]+)[\"”] means (?P<name>{_NAME})")
"""What a contract calls its parties: `Alder Steel GmbH (the "Supplier")`, `"Employee" means James Murphy`."""
_NO_TERM: Final = frozenset({"agreement", "contract", "lease", "party", "parties", "effective date"})
_MUST_END: Final = re.compile(
    r"\b(?:must|shall|ha(?:s|ve) to) (?:terminate|end|cancel)\b|\bmuss\b[^.;]{0,400}\bkündigen\b"
)
"""What no right to end a contract says."""
_AMENDS: Final = re.compile(r"(?i)\b(?:amend|supplement|addendum|side letter|variation|novation|nachtrag|avenant)")
_OF_EITHER: Final = re.compile(r"\b(?:either|each|any) party\b", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_WORD: Final = re.compile(r"\w[\w&’'-]*")
_RUN: Final = re.compile(
    r"(?<![\w&.’'-])(?!(?:The|Under|Either|Each|Neither|Both|In|On|At|By|For)\b)(?:[A-Z]|[a-z][A-Z])[\w&-]*"
    r"(?:(?:\.?,? |['’](?!s\b))(?:[A-Z]|[a-z][A-Z])[\w&-]*)*(?:(?<=Inc)|(?<=Corp)|(?<=Ltd)|(?<=Co))?\.?(?=[\W]|$)"
)
_FORM: Final = re.compile(r"(?:plc|Limited|Ltd|Inc|Corp|Corporation|LLC|LLP|LP|GmbH|AG|AS|SA|SARL|Co|Company)")


@dataclass(frozen=True)
class RoomContract:
    """A contract of a room: its document, how it begins, and the cells with a value (`tasks.table.cells`)."""

    document: LedgerText
    opening: str
    cells: Mapping[str, Mapping[str, Any]]

    @cached_property
    def title(self) -> str:
        """Its first lines that are titles."""
        lines = [line for line in map(str.strip, self.opening.splitlines()[:_TITLE_LINES]) if len(line) < _TITLE]
        return " ".join((*filter(None, lines), *_THIS.findall(self.opening)[:1]))

    @cached_property
    def titles(self) -> frozenset[str]:
        """The words of its title and of its file's name."""
        return _name_stems(f"{self.title} {_CAMEL.sub(' ', self.document.document_name)}") - _OF_ANY

    @cached_property
    def terms(self) -> Mapping[str, str]:
        """The names of its parties, and the term that the contract defines for each: "Alder Steel GmbH", "Supplier"."""
        opening, defined = " ".join(self.opening.split()), dict[str, str]()
        parties = [str(name) for name in self.cells.get("parties", {"value": []})["value"]]
        for name in parties:
            behind = opening.partition(name)[2][:_TO_TERM]
            behind = min((behind.partition(other)[0] for other in parties if other != name), key=len, default=behind)
            bracket = _BRACKET.search(behind)
            terms = list[str]()
            for quoted in _QUOTED.finditer(bracket[0] if bracket else ""):
                terms += [quoted["term"]] if quoted["term"].lower() not in _NO_TERM else []
                if quoted["also"] is None:
                    break  # "together with the Borrower, the Parties"
            defined[name] = max(terms, key=opening.count, default="")
        means = {match["name"]: match["term"] for match in _MEANS.finditer(opening) if stem(match["term"]) in _ROLES}
        return defined | means

    @cached_property
    def party_names(self) -> frozenset[str]:
        """The words of its parties' names, and of what it calls them for short."""
        return _name_stems(" ".join((*self.terms, *self.terms.values()))) - _OF_ANY - _ROLES

    @cached_property
    def names(self) -> frozenset[str]:
        """The words by which a statement may mean it: of its parties, its title and its file's name."""
        unread = "" if "parties" in self.cells else " ".join(_RUN.findall(self.opening[:_BLOCK]))
        return self.party_names | self.titles | _name_stems(unread) | _find_initials(self.title)

    def retell(self, words: str) -> Sequence[str]:
        """A statement that names this contract, as the contract itself would say it, in each way that it may."""
        nouns = _NOUNS.findall(self.opening)
        noun = max(nouns, key=nouns.count, default="Agreement")
        by_name, bare = _REFERENCE.sub(f"this {noun}", words), _UNDER.sub("", words)
        alone = re.sub(rf"(?<=\w) this {noun}\b", "", _REFERENCE.sub(f"this {noun}", bare))
        said = [one for words in (by_name, bare, alone) for one in (words, _BY.sub(_ACTIVE, words))]
        told = [one for words in said for one in (words, self.with_terms(words))]
        return list(dict.fromkeys(f"{one[:1].upper()}{one[1:]}" for one in map(str.strip, told)))

    def with_terms(self, words: str) -> str:
        """Words with the terms of the contract in place of its parties' names."""
        for run, name in reversed(list(self.find_parties(words))):
            if term := self.terms[name]:
                before = re.sub(r"\b[Tt]he $", "", words[: run.start])
                article = "the " if f"the {term}" in self.opening else ""
                words = f"{before}{article}{term}{words[run.end :]}"
        return words

    def find_parties(self, words: str) -> Iterator[tuple[Span, str]]:
        """Where a statement names a party or a person of this contract, and the name that it has there.

        A name may lack its legal form and what stands behind its first words, and a person's first name.
        """
        for run in _RUN.finditer(words):
            said = [word.casefold() for word in _WORD.findall(run[0]) if not _FORM.fullmatch(word)]
            for name in self.terms:
                own = [word.casefold() for word in _WORD.findall(name) if not _FORM.fullmatch(word)]
                is_person = len(own) < _PERSON and len(own) == len(_WORD.findall(name))
                if said and (said == own[: len(said)] or (is_person and said == own[-1:])):
                    yield Span(*run.span()), name


class HeldTerm(NamedTuple):
    """A term of a statement beside the contract's, and where the clause stands in the contract's text."""

    name: str
    stated: Any
    given: Any
    start: int
    end: int
    is_same: bool


def find_contracts(documents: Iterable[LedgerText]) -> list[RoomContract]:
    """The documents of a room that state what contracts state, and those that change them."""
    by_text = {document.text_id: document for document in documents}
    found = find_text_cells(by_text, ColumnSet(columns=[Column(id=name, find=name) for name in _HELD]))
    filled = {key: {name: cell for name, cell in cells.items() if cell["value"]} for key, cells in found.items()}
    contracts = [RoomContract(by_text[key], stretch(key, 0, OPENING), cells) for key, cells in filled.items() if cells]
    return [one for one in contracts if len(one.cells) >= _FEWEST or _AMENDS.search(one.title)]


def read_terms(words: str) -> dict[str, Any]:
    """The terms of a contract that a statement gives, by the names of their finders."""
    statement = Contract(words, FINDERS)
    found = {name: value for name in _HELD if (value := statement.find(name)) is not None and value.value}
    stated = {
        name: value.value for name, value in found.items() if value.sure >= _SURE or isinstance(value.value, dict)
    }
    if "notice" not in stated and says("ends_by_notice", words) and not says("for_a_cause", words):
        whole = Span(0, len(words))
        notices = {one.value for one in find_durations(words, *whole) if is_notice(words, one, whole)}
        stated |= {"notice": notices.pop()} if len(notices) == 1 else {}
    for one in find_durations(words, 0, len(words)):
        if _LASTS.search(words, 0, one.start) and _WHOLLY.match(words, one.end):
            stated["term"] = one.value
    if not re.match(_ITSELF, words):
        stated.pop("expiry", None)  # the day on which something else ends
    return stated | _read_span(words)


def _read_span(words: str) -> dict[str, Any]:
    """The day until which a contract runs, and the one from which it does, where a statement gives them."""
    span: dict[str, Any] = {}
    days = find_dates(words, 0, len(words))
    for day in days:
        if ending := _UNTIL.match(words, 0, day.start):
            span["expiry"] = day.day.isoformat()
            first = [one for one in days if one.start >= ending.start("between") and one.end < day.start]
            span |= {"effective_date": first[0].day.isoformat()} if first and " from " in ending["between"] else {}
    return span


def call_contract(words: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement calls a contract by: common words ("supply", "lease") and names; empty where it calls none."""
    called = _WORD.findall(" ".join(match[0] for match in _REFERENCE.finditer(words)))
    common, names = (" ".join(word for word in called if word.islower() is is_common) for is_common in (True, False))
    return _name_stems(common) - _OF_ANY, _name_stems(names) - _OF_ANY


def split_facts(words: str) -> list[str]:
    """What a statement says of the contract or the party with which it begins, each by itself; empty if it is one."""
    first, *others = _ALSO.split(words.rstrip("."))
    subject = _REFERENCE.match(first) or _RUN.match(first)
    is_whole = subject and re.match(f" {_IS}", first[subject.end() :])
    return [first, *(f"{subject[0]} {other}" for other in others)] if subject and is_whole and others else []


def choose_contracts(words: str, stated: Collection[str], contracts: Sequence[RoomContract]) -> list[RoomContract]:
    """The contracts that a statement can mean, by its words and the terms that it gives.

    They have all words that it calls a contract by ("the supply agreement with Alder Steel"), and all names of parties
    that it gives. Where it gives neither, those that state such terms.
    """
    kind, names = call_contract(words)
    names |= _name_stems(
        " ".join(words[run.start : run.end] for one in contracts for run, _ in one.find_parties(words))
    )
    if not kind | names:
        return [one for one in contracts if not one.cells.keys().isdisjoint(stated)]
    return [one for one in contracts if kind <= one.titles and names - _OF_ANY <= one.names]


def hold_terms(words: str, stated: Mapping[str, Any], contract: RoomContract, text: str) -> list[HeldTerm]:
    """The terms that a statement gives, beside those of a contract; nothing if it is not certain that they may be held.

    Of terms that differ, one alone is given, and its stated value is nowhere in the contract's text.
    """
    words = contract.with_terms(_REFERENCE.sub("this agreement", words))
    words = re.sub(r" (?:until|bis(?: zum)?) ", " to ", words.replace(" upon ", " on "))
    sentence, terms = read(words), _pair_terms(words, stated, contract, text)
    if not terms:
        return []
    differ = [term for term in terms if not term.is_same]
    clauses = " ".join(text[term.start : term.end] for term in terms)
    said = {token.stem for token in read(f"{clauses} {contract.title} {[*stated.values()]}").tokens}
    adjectives = tuple(word.lower() for word, place in clause_words()["adjectives"].items() if place in stated.values())
    said |= contract.names | _OF_ANY | {token.stem for token in sentence.tokens if token.text.startswith(adjectives)}
    if len(differ) > 1 or not _speaks_of(sentence, clauses, said, [*stated.values()], len(differ)):
        return []
    if Limit.NEGATION in {token.limit for token in sentence.tokens} and "forbidden" not in stated.values():
        return []
    said = {token.stem for token in sentence.tokens}
    payee = {stem("employee")} if said.isdisjoint(_PAYS) else set[str]()
    # Who pays and who receives is left to the words.
    says_who = not _PAID.isdisjoint(stated) and not said.isdisjoint((_ROLES | contract.party_names) - payee)
    if says_who or ("notice" in stated and _MUST_END.search(words)):
        return []
    if not _OF_ONE.isdisjoint(stated) and not _has_one_subject(sentence, clauses, contract):
        return []
    is_open = any(_may_agree(term.stated, term.given) for term in terms) or any(
        _stands_in(term.name, term.stated, text) for term in differ
    )
    is_open |= "sign" in said and "as of" in clauses.casefold()
    is_open |= stem("initial") not in said and any(_may_go_on(term, contract, text) for term in differ)
    return [] if differ and is_open else terms


def _pair_terms(words: str, stated: Mapping[str, Any], contract: RoomContract, text: str) -> list[HeldTerm]:
    """The terms that a statement gives, beside those of a contract; nothing if it lacks one of them."""
    terms: list[HeldTerm] = []
    for name, value in stated.items():
        cell = contract.cells.get(name)
        if cell is None:
            return []
        (start, end), given = (cell["spans"][0][0], cell["spans"][-1][1]), cell["value"]
        if name in {"term", "expiry"} and (says("no_term", text[start:end]) or says("renews", words)):
            return []  # that of a warranty, for which somebody may not compete, or of what follows
        terms.append(HeldTerm(name, value, given, start, end, _is_same(value, given)))
    return terms


def _may_go_on(term: HeldTerm, contract: RoomContract, text: str) -> bool:
    """Whether a contract that may be extended may last longer than its first term, as a statement says."""
    if term.name != "term" and not (term.name == "expiry" and str(term.stated) > str(term.given)):
        return False
    return "renewal" in contract.cells or says("renews", text[term.start : term.end + _BEHIND])


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and value[:4].isdigit()


def _find_initials(title: str) -> frozenset[str]:
    """What a contract may be called for short: the NDA for a mutual non-disclosure agreement."""
    letters = "".join(word[0] for word in re.findall(r"[A-Za-z]+", title)).lower()
    return frozenset(letters[at : at + length] for at in range(len(letters)) for length in (3, 4))


def _is_same(stated: Any, given: Any) -> bool:
    if _is_day(stated) and _is_day(given):
        return abs((date.fromisoformat(stated) - date.fromisoformat(given)).days) <= 1  # a day before, or on it
    return bool(_plain(stated) == _plain(given))


def _plain(value: Any) -> Any:
    """A value in a form in which equal ones are the same: twelve months are a year."""
    if isinstance(value, list):
        return {"".join(re.findall(r"\w", name.casefold())) for name in value}
    if isinstance(value, str) and (written := _DURATION.fullmatch(value)):
        return int(written[1]) * _IN_MONTHS_OR_DAYS[written[2]], written[2] in "MY"
    return _STATE_OF.sub("", value.casefold()) if isinstance(value, str) else value


def _may_agree(stated: Any, given: Any) -> bool:
    """Whether other values need not contradict: no end, days beside months, or a rent for another stretch of time."""
    if isinstance(stated, dict) and isinstance(given, dict):
        low, high = sorted(Decimal(one["value"]) for one in (stated, given))
        return stated["unit"] == given["unit"] and low < high and high % low == 0 and high / low <= _MOST_PARTS
    mine, theirs = _plain(stated), _plain(given)
    if isinstance(mine, str) and isinstance(theirs, str) and not (_is_day(mine) or _is_day(theirs)):
        names = {mine.removeprefix("the "), theirs.removeprefix("the ")}
        return not names.isdisjoint(_WHOLES) or not set(mine.split()).isdisjoint(theirs.split())
    return PERPETUAL in (stated, given) or (isinstance(mine, tuple) and mine[1] != theirs[1])


def _stands_in(name: str, value: Any, text: str) -> bool:
    """Whether a value is stated anywhere in a contract; that of another kind than a day, a time or a name may be.

    A notice is one of another notice, and a term is not that of a warranty or of confidentiality.
    """
    if not isinstance(value, str):
        return not isinstance(value, dict) or value["value"] in re.sub(r"[^\d.]", "", text)
    if _DURATION.fullmatch(value):
        flat = flatten(text)
        same = [other for other in find_durations(flat, 0, len(flat)) if _is_same(value, other.value)]
        clauses = [clause_around(text, flat, other.start, other.end) for other in same]
        if name == "notice":
            return any(is_notice(flat, other, clause) for other, clause in zip(same, clauses, strict=True))
        return any(name != "term" or not says("no_term", flat[slice(*clause)]) for clause in clauses)
    if _is_day(value):
        return any(_is_same(value, other.day.isoformat()) for other in find_dates(text, 0, len(text)))
    if name == "governing_law":
        own = re.escape(value)
        return (
            re.search(rf"(?i)\b(?:laws?|recht)\b[^.;]{{0,80}}\b{own}|\b{own}(?: \w+)? (?:laws?|recht)\b", text)
            is not None
        )
    return value.casefold() in text.casefold() or value in {"consent", "free", "forbidden"}


def _speaks_of(
    sentence: ParsedSentence, clauses: str, said: Collection[str], values: Sequence[Any], apart: int
) -> bool:
    """Whether a statement has no words but those that are said, and `apart` figures that the clauses have not."""
    if {token.limit for token in sentence.tokens} - _HARMLESS:
        return False
    given, tokens = figures(clauses), sentence.tokens
    own = [figure for at in sentence.figures if (figure := tokens[at].figure) and not _gives_value(figure, values)]
    others = [figure for figure in own if not any(same(figure, one) for one in given)]
    measured = {at + 1 for at in sentence.figures if (figure := tokens[at].figure) and figure.measure}
    words = [tokens[at].stem for at in sentence.content if at not in measured]
    return len(others) <= apart and all(any(nearness(word, other) >= ALIKE for other in said) for word in words)


def _gives_value(figure: StatedFigure, values: Sequence[Any]) -> bool:
    """Whether a figure is one of these days or times: "P3Y" of "three years"."""
    written = f"P{figure.value}{figure.measure[:1].upper()}"
    day = "-".join(f"{part or 0:02}" for part in figure.date)
    return (day if figure.is_date else written) in values


def _has_one_subject(sentence: ParsedSentence, clauses: str, contract: RoomContract) -> bool:
    """Whether what may be one party's term is said of the party of which the clause says it first, or of any."""
    stems = [token.stem for token in sentence.tokens]
    if _OF_EITHER.search(clauses):
        return True
    roles = _ROLES | _name_stems(" ".join(contract.terms.values()))
    own = {word for word in stems if word in roles}
    theirs = [word for word in map(stem, re.findall(r"[^\W\d_]+", clauses)) if word in roles]
    return (contract.names - contract.titles).isdisjoint(stems) and own <= {*theirs[:1]}
