"""Criteria that need no model: rules on facts, and documents that ought to be in the data room."""

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
_SHOWN = 160


def check_fact(
    criterion: FactRule, scale: tuple[float, float], profile: StoredProfile | None, claims: Sequence[StoredClaim]
) -> Finding:
    """Hold the profile's field against the rule; the reason names the fact's source."""
    fact = value_at(profile.profile, criterion.fact) if profile else None
    if fact is None:
        why = "the profile does not know it" if profile else "no source knows the company"
        return Finding(ScoreStatus.MISSING, f"{criterion.fact} is not known: {why}.", missing=f"{criterion.fact}")
    met = rules.parse(criterion.fact, criterion.rule).holds(fact)
    source = _source(criterion.fact, claims)
    verdict = "meets" if met else "does not meet"
    return Finding(
        ScoreStatus.SCORED,
        f"{criterion.fact} is {_shown(fact)}{source}, which {verdict} “{criterion.rule}”.",
        score=scale[1] if met else scale[0],
    )


def check_document(criterion: DocumentCheck, scale: tuple[float, float], evidence: Evidence) -> Finding:
    """Look for a document by its name, its folder and how it begins.

    A document counts when every word of the criterion stands there: a contract that only mentions
    audited accounts somewhere is not the accounts.
    """
    wanted = set(tokens(criterion.document))
    best: list[tuple[float, RunDocument]] = []
    for document in evidence.documents:
        opening = evidence.opening(document, _OPENING)
        told = set(tokens(f"{document.path} {_words(document.name)} {opening.text if opening else ''}"))
        best.append((len(wanted & told) / max(len(wanted), 1), document))
    best.sort(key=lambda each: -each[0])
    for share, document in best:
        if share < 1:
            break
        opening = evidence.opening(document, _SHOWN)
        return Finding(
            ScoreStatus.SCORED,
            f"In the data room: {document.name}.",
            score=scale[1],
            quotes=[opening] if opening else [],
        )
    nearest = [document.name for share, document in best[:3] if share > 0]
    reason = f"No document of the data room is called or begins like “{criterion.document}”."
    if nearest:
        reason += f" Nearest: {', '.join(nearest)}."
    if evidence.unread:
        names = ", ".join(document.name for document in evidence.unread[:5])
        reason += f" It may be among those that gave no text: {names}."
    return Finding(ScoreStatus.MISSING, reason, missing=criterion.document)


def _words(name: str) -> str:
    """A file's name as words: `Cap_Table-2024.xlsx` says cap, table, 2024."""
    return name.rsplit(".", 1)[0].replace("_", " ").replace("-", " ")


def _source(field: str, claims: Sequence[StoredClaim]) -> str:
    """Where the merged value comes from: the first claim in the order of precedence."""
    of = next((claim for claim in claims if field == claim.field or field.startswith(f"{claim.field}.")), None)
    if of is None:
        return ""
    return f" ({of.source}{f', as of {of.as_of[:10]}' if of.as_of else ''})"


def _shown(fact: object) -> str:
    return str(fact) if not isinstance(fact, list) else ", ".join(map(str, fact))
