"""Criteria that need no model: rules on facts, and documents that ought to be in the data room.

What documents are called, and how much of a wanted document's name stands there.

`CapTable_2024.xlsx` says cap, table, 2024; ü, ue and u are the same.

The documents that come nearest to what is missing, each with why: one of them may be it, or lead to it.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from sys import intern

from storage.companies import StoredClaim, StoredProfile
from storage.runs import RunDocument
from storage.scores import ScoreStatus
from tasks.companies.profile import value_at
from tasks.scoring import rules
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import CriterionResult, NearDocument, Quotation
from tasks.text.tokens import tokens

_OPENING = 600  # characters: a title page, not a body that only mentions other documents
_TITLE = 120  # characters; a longer line is a sentence
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ALIKE = str.maketrans({"ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "œ": "oe"})


@lru_cache(maxsize=10_000)  # every criterion asks for those of all documents: 0.8 s for 2,000 without it
def words(text: str) -> tuple[str, ...]:
    """The words of a name that count, in one form."""
    parted = _HUMP.sub(" ", unicodedata.normalize("NFC", text).replace("_", " "))
    return tuple(intern(_letters(word)) for word in tokens(parted))


def share(wanted: Sequence[str], told: str) -> float:
    """The share of the wanted words that stand in what is told; names are often run together, as in `captable`."""
    if not wanted:
        return 0.0
    found = words(told)
    if "".join(wanted) in found:
        return 1.0
    return len(set(wanted) & set(found)) / len(set(wanted))


def shared(wanted: str, told: str) -> list[str]:
    """The words of a wanted name, as they are written, that stand in what is told."""
    found = set(words(told))
    return [word for word in wanted.split() if _stands(words(word), found)]


def name(document: RunDocument) -> str:
    """A document's name without its ending."""
    return document.name.rsplit(".", 1)[0]


def title(document: RunDocument, evidence: Evidence) -> str:
    """The document's name, its folder, and the short lines of its opening: titles, not sentences."""
    opening = [line.strip() for line in evidence.beginning(document, _OPENING).splitlines()]
    lines = [line for line in opening if len(line) <= _TITLE and not line.endswith((".", ";", ","))]
    return "\n".join([document.path, name(document), *lines])


def _stands(wanted: Sequence[str], found: Collection[str]) -> bool:
    return bool(wanted) and all(word in found for word in wanted)


def _letters(word: str) -> str:
    plain = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))
    plain = plain.translate(_ALIKE)
    return re.sub("([aou])e", r"\1", plain)


_MOST = 3
_PASSAGES = 10  # that speak of a missing document; their documents are looked at


def nearest_documents(wanted: str, evidence: Evidence) -> list[NearDocument]:
    """Those whose name, folder or title shares most words with the wanted one, then those that speak of it."""
    asked = words(wanted)
    near: list[tuple[float, float, NearDocument]] = []
    for document in evidence.documents:
        told = title(document, evidence)
        how_much = share(asked, told)
        if how_much > 0:
            called = share(asked, f"{document.path} {name(document)}")
            near.append((how_much, called, NearDocument(document, _why(wanted, document, told))))
    near.sort(key=lambda each: (-each[0], -each[1]))
    by_name = [each for *_, each in near[:_MOST]]
    if len(by_name) == _MOST:
        return by_name
    known = {each.document.document_id for each in by_name}
    speaking = [
        NearDocument(found.document, _at(found, _quoted("it speaks of", shared(wanted, found.text))))
        for found in _first_of_each(evidence.find(wanted, _PASSAGES))
        if found.document.document_id not in known
    ]
    return [*by_name, *speaking][:_MOST]


def nearest_passages(found: Sequence[Excerpt]) -> list[NearDocument]:
    """The documents of the passages that speak most to a question; these come best first."""
    return [
        NearDocument(each.document, _at(each, "it comes nearest to the question"))
        for each in _first_of_each(found)[:_MOST]
    ]


def _why(wanted: str, document: RunDocument, title: str) -> str:
    for what, told in (("name", name(document)), ("folder", document.path), ("beginning", title)):
        if words := shared(wanted, told):
            return _quoted(f"its {what} shares", words)
    return "its name or beginning comes near"


def _quoted(opening: str, words: Sequence[str]) -> str:
    return f"{opening} {', '.join(f'“{word}”' for word in words)}" if words else f"{opening} such words"


def _at(found: Excerpt, what: str) -> str:
    return f"{what} ({found.place})" if found.place else what


def _first_of_each(found: Sequence[Excerpt]) -> list[Excerpt]:
    """The best passage of each document."""
    first: dict[str, Excerpt] = {}
    for each in found:
        first.setdefault(each.document.document_id, each)
    return list(first.values())


_SHOWN = 160
_SEVERAL = 3  # names in a reason


def check_fact(
    criterion: FactRule, scale: tuple[float, float], profile: StoredProfile | None, claims: Sequence[StoredClaim]
) -> CriterionResult:
    """Hold the profile's field against the rule; the reason names the fact's source."""
    fact = value_at(profile.profile, criterion.fact) if profile else None
    if fact is None:
        why = "the profile does not know it" if profile else "no source knows the company"
        return CriterionResult(ScoreStatus.MISSING, f"{criterion.fact} is not known: {why}.", missing=criterion.fact)
    met = rules.parse(criterion.fact, criterion.rule).holds(fact)
    source = _source(criterion.fact, claims)
    verdict = "meets" if met else "does not meet"
    return CriterionResult(
        ScoreStatus.SCORED,
        f"{criterion.fact} is {_shown(fact)}{source}, which {verdict} “{criterion.rule}”.",
        score=scale[1] if met else scale[0],
    )


def check_document(criterion: DocumentCheck, scale: tuple[float, float], evidence: Evidence) -> CriterionResult:
    """Look for a document by its name, its folder and the lines that it begins with.

    A document counts when every word of the criterion stands there: a contract that only mentions
    audited accounts somewhere is not the accounts. One that gave no text counts by its name.
    """
    wanted = words(criterion.document)
    found = [document for document in evidence.documents if share(wanted, f"{document.path} {name(document)}") == 1]
    found.sort(key=lambda each: -share(wanted, each.name))  # before those that only lie in a folder of that name
    how = "by its name"
    if not found:
        found = [document for document in evidence.documents if share(wanted, title(document, evidence)) == 1]
        how = "by how it begins"
    if found:
        return _is_there(found, how, scale, evidence)
    nearest = nearest_documents(criterion.document, evidence)
    reason = f"No document of the data room is called or begins like “{criterion.document}”."
    if nearest:
        reason += f" Nearest: {_names([each.document for each in nearest])}."
    if evidence.unread:
        reason += f" It may be among those that gave no text: {_names(evidence.unread)}."
    return CriterionResult(ScoreStatus.MISSING, reason, missing=criterion.document, nearest=nearest)


def _is_there(
    found: Sequence[RunDocument], how: str, scale: tuple[float, float], evidence: Evidence
) -> CriterionResult:
    """The finding for documents that are there; one with a text is shown."""
    unread = {document.document_id for document in evidence.unread}
    document = min(found, key=lambda each: each.document_id in unread)
    reason = f"In the data room: {document.name} ({how})."
    if document.document_id in unread:
        reason += " It gave no text, so look at it yourself."
    others = [each for each in found if each is not document]
    if others:
        reason += f" Also: {_names(others)}."
    opening = evidence.opening(document, _SHOWN)
    return CriterionResult(
        ScoreStatus.SCORED, reason, score=scale[1], quotes=[Quotation.of(opening)] if opening else []
    )


def _names(documents: Sequence[RunDocument]) -> str:
    more = f" and {len(documents) - _SEVERAL} more" if len(documents) > _SEVERAL else ""
    return ", ".join(document.name for document in documents[:_SEVERAL]) + more


def _source(field: str, claims: Sequence[StoredClaim]) -> str:
    """Where the merged value comes from: the first claim in the order of precedence."""
    of = next((claim for claim in claims if field == claim.field or field.startswith(f"{claim.field}.")), None)
    if of is None:
        return ""
    return f" ({of.source}{f', as of {of.as_of[:10]}' if of.as_of else ''})"


def _shown(fact: object) -> str:
    if isinstance(fact, bool):
        return str(fact).lower()
    return str(fact) if not isinstance(fact, list) else ", ".join(map(str, fact))
