"""What contracts state in ordinary form: parties, days, terms, notice, law, assignment, control, liability, price.

A finder takes a contract and returns what it states with the words that say so, or nothing: silence beats a wrong value.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Literal

from pydantic import BaseModel

from storage.scores import Absence
from tasks.language.numbers import amounts
from tasks.table.contract import Contract, Finder, FoundValue, clause_words, find_all, pattern, says, written
from tasks.table.parties import find_parties
from tasks.table.spans import Span, find_durations
from tasks.table.terms import (
    find_agreement_date,
    find_effective_date,
    find_expiry,
    find_notice,
    find_renewal,
    is_notice,
)

_LAW: Final = re.compile(written("law"))
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
        place = " ".join(written.split())
        if state := _STATE_BESIDE.match(contract.flat, start):
            place = state[1]
        place = re.sub(
            r"^(?:(?:the )?(?:state|commonwealth|province) of )(?:the )?|^the ", "", place, flags=re.IGNORECASE
        )
        place = _PLACE_TAIL.sub("", place).strip(" ,.")
        place = clause_words()["adjectives"].get(place, place)
        if place and not says("no_place", place):
            named = (
                place.title().replace(" Of ", " of ").replace(" And ", " and ")
                if place.isupper() and len(place) > 4
                else place
            )
            return FoundValue(named, (contract.clause(match.start(), end),), 0.9)
    return None


def find_assignment(contract: Contract) -> FoundValue | None:
    """Whether a party may assign it: freely, with consent, or not."""
    freely: FoundValue | None = None
    for match in find_all(contract, written("assign")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if not says("of_contract", words) or says("of_other_things", words[:500]):
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
    for match in find_all(contract, written("control")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        right = _CONTROL_RIGHT.search(words)
        if right and (says("may_terminate", right[0]) or not says("no_right", words)):
            return FoundValue(True, (clause,), 0.75)
    return None


def find_liability_cap(contract: Contract) -> FoundValue | None:
    """Whether a party's liability is capped."""
    for match in find_all(contract, written("cap")):
        clause = contract.clause(match.start(), match.end())
        words = contract.words(clause)
        if says("whole_liability", words) or not says("other_limit", words):
            return FoundValue(True, (clause,), 0.8)
    return None


# --- what one clause states: an amount, a duration, or that it is so


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
        if not unless or not pattern(unless).search(contract.flat, clause.start, max(match.end(), end)):
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
