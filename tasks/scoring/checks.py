"""Criteria that need no model: rules on facts, and documents that ought to be in the data room."""

from collections.abc import Sequence

from storage.companies import StoredClaim, StoredProfile
from storage.runs import RunDocument
from storage.scores import ScoreStatus
from tasks.companies.profile import value_at
from tasks.scoring import names, rules
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence
from tasks.scoring.finding import Finding, Quotation
from tasks.scoring.nearest import nearest_documents

_SHOWN = 160
_SEVERAL = 3  # names in a reason


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
    wanted = names.words(criterion.document)
    found = [each for each in evidence.documents if names.share(wanted, f"{each.path} {names.name(each)}") == 1]
    found.sort(key=lambda each: -names.share(wanted, each.name))  # before those that only lie in a folder of that name
    how = "by its name"
    if not found:
        found = [each for each in evidence.documents if names.share(wanted, names.title(each, evidence)) == 1]
        how = "by how it begins"
    if found:
        return _is_there(found, how, scale, evidence)
    nearest = nearest_documents(criterion.document, evidence)
    reason = f"No document of the data room is called or begins like “{criterion.document}”."
    if nearest:
        reason += f" Nearest: {_names([each.document for each in nearest])}."
    if evidence.unread:
        reason += f" It may be among those that gave no text: {_names(evidence.unread)}."
    return Finding(ScoreStatus.MISSING, reason, missing=criterion.document, nearest=nearest)


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
    return Finding(ScoreStatus.SCORED, reason, score=scale[1], quotes=[Quotation.of(opening)] if opening else [])


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
