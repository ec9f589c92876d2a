"""Criteria that need no model: rules on facts, and documents that ought to be in the data room."""

import re
import unicodedata
from collections.abc import Sequence

from storage.companies import StoredClaim, StoredProfile
from storage.runs import RunDocument
from storage.scores import ScoreStatus
from tasks.companies.profile import value_at
from tasks.ranking import tokens
from tasks.scoring import rules
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence
from tasks.scoring.finding import Finding

_OPENING = 600  # characters: a title page, not a body that only mentions other documents
_TITLE = 120  # characters; a longer line is a sentence
_SHOWN = 160
_SEVERAL = 3  # names in a reason
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ALIKE = str.maketrans({"ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "œ": "oe"})


def check_fact(
    criterion: FactRule, scale: tuple[float, float], profile: StoredProfile | None, claims: Sequence[StoredClaim]
) -> Finding:
    """Hold the profile's field against the rule; the reason names the fact's source."""
    fact = value_at(profile.profile, criterion.fact) if profile else None
    if fact is None:
        why = "the profile does not know it" if profile else "no source knows the company"
        return Finding(ScoreStatus.MISSING, f"{criterion.fact} is not known: {why}.", missing=criterion.fact)
    met = rules.parse(criterion.fact, criterion.rule).holds(fact)
    source = _source(criterion.fact, claims)
    verdict = "meets" if met else "does not meet"
    return Finding(
        ScoreStatus.SCORED,
        f"{criterion.fact} is {_shown(fact)}{source}, which {verdict} “{criterion.rule}”.",
        score=scale[1] if met else scale[0],
    )


def check_document(criterion: DocumentCheck, scale: tuple[float, float], evidence: Evidence) -> Finding:
    """Look for a document by its name, its folder and the lines that it begins with.

    A document counts when every word of the criterion stands there: a contract that only mentions
    audited accounts somewhere is not the accounts. One that gave no text counts by its name.
    """
    wanted = _words(criterion.document)
    by_name = [(_share(wanted, f"{each.path} {_without_ending(each.name)}"), each) for each in evidence.documents]
    found = [document for share, document in by_name if share == 1]
    found.sort(key=lambda each: -_share(wanted, each.name))  # before those that only lie in a folder of that name
    how = "by its name"
    if not found:
        found = [each for each in evidence.documents if _share(wanted, _title(each, evidence)) == 1]
        how = "by how it begins"
    if found:
        return _is_there(found, how, scale, evidence)
    near = sorted((each for each in by_name if each[0] > 0), key=lambda each: -each[0])
    reason = f"No document of the data room is called or begins like “{criterion.document}”."
    if near:
        reason += f" Nearest: {_names([document for _, document in near])}."
    if evidence.unread:
        reason += f" It may be among those that gave no text: {_names(evidence.unread)}."
    return Finding(ScoreStatus.MISSING, reason, missing=criterion.document)


def _is_there(found: Sequence[RunDocument], how: str, scale: tuple[float, float], evidence: Evidence) -> Finding:
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
    return Finding(ScoreStatus.SCORED, reason, score=scale[1], quotes=[opening] if opening else [])


def _title(document: RunDocument, evidence: Evidence) -> str:
    """The document's name, its folder, and the short lines of its opening: titles, not sentences."""
    opening = [line.strip() for line in evidence.beginning(document, _OPENING).splitlines()]
    lines = [line for line in opening if len(line) <= _TITLE and not line.endswith((".", ";", ","))]
    return "\n".join([document.path, _without_ending(document.name), *lines])


def _share(wanted: Sequence[str], told: str) -> float:
    """The share of the wanted words that stand in what is told; names are often run together, as in `captable`."""
    if not wanted:
        return 0.0
    words = _words(told)
    if "".join(wanted) in words:
        return 1.0
    return len(set(wanted) & set(words)) / len(set(wanted))


def _words(text: str) -> list[str]:
    """The words of a name in one form: `CapTable_2024` says cap, table, 2024; ü, ue and u are the same."""
    parted = _HUMP.sub(" ", unicodedata.normalize("NFC", text).replace("_", " "))
    return [_letters(word) for word in tokens(parted)]


def _letters(word: str) -> str:
    plain = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))
    plain = plain.translate(_ALIKE)
    return re.sub("([aou])e", r"\1", plain)


def _without_ending(name: str) -> str:
    return name.rsplit(".", 1)[0]


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
