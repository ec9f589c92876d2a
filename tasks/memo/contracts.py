"""What a memo says of a contract's terms, checked against the values that the room's contracts state.

The finders of `tasks.table` read a statement as they read a contract: "either party may terminate on 90 days' notice"
has a notice of 90 days. It is checked against the one contract that it can mean: with a party that it names, else the
room's only one. Where the statement has words that the contract's clause has not, nothing is said.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tasks.figures.ledger import LedgerText
from tasks.language.words import stem
from tasks.rooms import stretch
from tasks.statements.figures import StatedFigure, figures, same
from tasks.statements.reading import FAMILY, Limit, ParsedSentence, nearness, read
from tasks.table.cells import find_text_cells
from tasks.table.clauses import FINDERS, is_notice
from tasks.table.columns import Column, ColumnSet
from tasks.table.spans import PERPETUAL, Contract, Span, find_dates, find_durations, says

_FEWEST: Final = 2
"""Cells from which on a document is taken for a contract."""
_TITLE: Final = 300
"""Characters at the beginning of a contract that say what it is."""
_SURE: Final = 0.7
"""How sure a statement's own value must be."""
_OF_ONE: Final = frozenset({"notice", "assignment"})
"""Terms that may be another party's."""
_HELD: Final = (
    "agreement_date", "effective_date", "expiry", "term", "renewal", "notice", "probation", "governing_law", "parties",
    "rent", "deposit", "salary", "price", "assignment",
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
    r"for (?:a (?:period|term) of )?$",
    re.IGNORECASE,
)
_WHOLLY: Final = re.compile(r"\W*(?:from (?:its|the) effective date\W*)?$", re.IGNORECASE)
"""How a statement says how long a contract lasts."""
_MOST_PARTS: Final = 52
"""Parts of a year, at most, for which a rent or salary is stated."""
_DURATION: Final = re.compile(r"P(\d+)([DWMY])")
_IN_MONTHS_OR_DAYS: Final = {"D": 1, "W": 7, "M": 1, "Y": 12}


def _name_stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, re.findall(r"[^\W\d_]+", words)))


_ROLES: Final = _name_stems(
    "landlord tenant lessor lessee employer employee seller buyer vendor purchaser supplier customer client company"
    " contractor consultant licensor licensee provider sponsor lender borrower"
)
_OF_ANY: Final = _name_stems(
    "agreement contract law govern party parties sign make date enter conclude between term initial first fixed notice"
    " give require terminate end expire expiry renew renewal automatically another run last under written"
    " remain continue stay effect effective force valid price value"
)
"""Words in which any statement of a contract's term may be put."""


@dataclass(frozen=True, slots=True)
class RoomContract:
    """A contract of a room: its document, title, and the cells with a value, as `tasks.table.cells` stores them."""

    document: LedgerText
    title: str
    cells: Mapping[str, Mapping[str, Any]]

    @property
    def party_names(self) -> frozenset[str]:
        """The words of its parties' names."""
        return _name_stems(" ".join(self.cells.get("parties", {"value": []})["value"])) - _OF_ANY - _ROLES

    @property
    def names(self) -> frozenset[str]:
        """The words by which a statement may mean it: of its parties, its title and its file's name."""
        return self.party_names | (_name_stems(f"{self.title} {self.document.document_name}") - _OF_ANY - _ROLES)


class HeldTerm(NamedTuple):
    """A term of a statement beside the contract's, and where the clause stands in the contract's text."""

    name: str
    stated: Any
    given: Any
    start: int
    end: int
    is_same: bool


def find_contracts(documents: Iterable[LedgerText]) -> list[RoomContract]:
    """The documents of a room that state what contracts state."""
    by_text = {document.text_id: document for document in documents}
    found = find_text_cells(by_text, ColumnSet(columns=[Column(id=name, find=name) for name in _HELD]))
    filled = {key: {name: cell for name, cell in cells.items() if cell["value"]} for key, cells in found.items()}
    chosen = {key: _with_term(cells) for key, cells in filled.items() if len(cells) >= _FEWEST}
    titles = {key: stretch(key, 0, _TITLE).strip().partition("\n")[0] for key in chosen}
    return [RoomContract(by_text[key], titles[key], cells) for key, cells in chosen.items()]


def _with_term(cells: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """The cells of a contract with the months from its first to its last day, where both are given, as its term."""
    if not {"effective_date", "expiry"} <= cells.keys() or PERPETUAL in (end := cells["expiry"]["value"]):
        return cells
    first, last = date.fromisoformat(cells["effective_date"]["value"]), date.fromisoformat(end) + timedelta(1)
    months = 12 * (last.year - first.year) + last.month - first.month
    is_whole = months > 0 and last.day - first.day in {0, 1}
    rest = {name: cell for name, cell in cells.items() if name != "term"}
    return {**rest, "term": {**cells["expiry"], "value": f"P{months}M"}} if is_whole else cells


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
    if not {"rent", "deposit", "salary"}.isdisjoint(stated) or re.search(r"\b(?:per|each)\b", words):
        stated.pop("price", None)
    for one in find_durations(words, 0, len(words)):
        if _LASTS.search(words, 0, one.start) and _WHOLLY.match(words, one.end):
            stated["term"] = one.value
    return stated


def choose_contract(words: str, stated: Iterable[str], contracts: Sequence[RoomContract]) -> RoomContract | None:
    """The one contract with such terms of which a statement has most names; None if there are several."""
    own = _name_stems(words)
    shared = [len(own & one.names) for one in contracts]
    named = [one for one, count in zip(contracts, shared, strict=True) if count == max(shared, default=0)]
    held = [one for one in named if not one.cells.keys().isdisjoint(stated)]
    return held[0] if len(held) == 1 else None


def hold_terms(words: str, stated: Mapping[str, Any], contract: RoomContract, text: str) -> list[HeldTerm]:
    """The terms that a statement gives, beside those of a contract; nothing if it is not certain that they may be held.

    Of terms that differ, one alone is given, and its stated value is nowhere in the contract's text.
    """
    sentence, terms = read(words), list[HeldTerm]()
    for name, value in stated.items():
        cell = contract.cells.get(name)
        if cell is None:
            return []
        (start, end), given = (cell["spans"][0][0], cell["spans"][-1][1]), cell["value"]
        terms.append(HeldTerm(name, value, given, start, end, _is_same(value, given)))
    differ = [term.stated for term in terms if not term.is_same]
    clauses = " ".join(text[term.start : term.end] for term in terms)
    said = {token.stem for token in read(f"{clauses} {contract.title} {[*stated.values()]}").tokens}
    said |= contract.names | _OF_ANY | _find_initials(contract.title)
    if len(differ) > 1 or not _speaks_of(sentence, clauses, said, [*stated.values()], len(differ)):
        return []
    if Limit.NEGATION in {token.limit for token in sentence.tokens} and "forbidden" not in stated.values():
        return []
    if not _OF_ONE.isdisjoint(stated) and not _has_one_subject(sentence, clauses, contract):
        return []
    is_open = any(_may_agree(term.stated, term.given) for term in terms) or any(_stands_in(one, text) for one in differ)
    is_open |= "sign" in {token.stem for token in sentence.tokens} and "as of" in clauses.casefold()
    return [] if differ and is_open else terms


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and value[:4].isdigit()


def _find_initials(title: str) -> frozenset[str]:
    """What a contract may be called for short: the NDA for a mutual non-disclosure agreement."""
    letters = "".join(word[0] for word in re.findall(r"[A-Za-z]+", title)).lower()
    return frozenset(letters[at:] for at in range(len(letters) - 1))


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


def _stands_in(value: Any, text: str) -> bool:
    """Whether a value is stated anywhere in a contract; that of another kind than a day, a time or a name may be."""
    if not isinstance(value, str):
        return not isinstance(value, dict) or value["value"] in re.sub(r"[^\d.]", "", text)
    if _DURATION.fullmatch(value):
        return any(_is_same(value, other.value) for other in find_durations(text, 0, len(text)))
    if _is_day(value):
        return any(_is_same(value, other.day.isoformat()) for other in find_dates(text, 0, len(text)))
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
    return len(others) <= apart and all(any(nearness(word, other) >= FAMILY for other in said) for word in words)


def _gives_value(figure: StatedFigure, values: Sequence[Any]) -> bool:
    """Whether a figure is one of these days or times: "P3Y" of "three years"."""
    written = f"P{figure.value}{figure.measure[:1].upper()}"
    day = "-".join(f"{part or 0:02}" for part in figure.date)
    return (day if figure.is_date else written) in values


def _has_one_subject(sentence: ParsedSentence, clauses: str, contract: RoomContract) -> bool:
    """Whether what may be one party's term is said of the party of which the clause says it first, or of any."""
    stems = [token.stem for token in sentence.tokens]
    own = [word for word in stems if word in _ROLES]
    theirs = [word for word in map(stem, re.findall(r"[^\W\d_]+", clauses)) if word in _ROLES]
    return contract.party_names.isdisjoint(stems) and (not own or (len(set(own)) == 1 and theirs[:1] == own[:1]))
