"""What changed for a company between two runs of a batch: its documents, its scores, and the criteria.

This module compares rows of storage; `report` decides which two runs to compare.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from storage.documents import RunDocument
from storage.runs import CompanyStatus, Run, RunCompany
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.language.normalise import join_first
from tasks.scoring.criteria import ADDED_UP, SHOWN_ONLY
from tasks.scoring.judge import SHOWN
from tasks.scoring.results import ORDERS, OTHERS


class Change(BaseModel):
    """One change: `text` in a sentence, and `why` it happened.

    For a document, `before` and `after` are the hashes of its content (null if it did not exist or its content is
    unknown). For a score they are the score, or the status if the criterion does not count. Changes of the criteria
    have neither.
    """

    kind: Literal["document_added", "document_changed", "document_removed", "score_moved", "criteria_changed"]
    document_id: str | None = None
    document_name: str | None = None
    criterion: str | None = None
    before: float | str | None = None
    after: float | str | None = None
    text: str
    why: str


@dataclass(frozen=True)
class Causes:
    """What else differs between the two runs, and may have moved a score.

    `redefined` are the ids of criteria that asked for something else in the earlier run, `answerers` who judged then
    and now, `documents` the changes in the data room, `quoted` the ids of documents that are quoted now, by criterion,
    and `titles` the criteria's titles, by id; a criterion without one is called by its id.
    """

    redefined: frozenset[str] = frozenset()
    answerers: tuple[str, str] = ("", "")
    documents: Sequence[Change] = ()
    quoted: Mapping[str, Collection[str | None]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)


class Side(NamedTuple):
    """One of the two runs being compared, for one company."""

    run: Run
    company: RunCompany
    documents: Sequence[RunDocument]
    outcomes: Sequence[CriterionOutcome]


_NAMED = 3  # documents that a sentence names
_LISTED = 10  # criteria that a sentence names


def changes_between(now: Side, earlier: Side, quotes: Mapping[int, Sequence[Quote]]) -> list[Change]:
    """What changed for a company since the earlier run; `quotes` are the present ones, by outcome id.

    Scores on different scales are not compared.
    """
    documents = (
        document_changes(earlier.documents, now.documents) if _has_seen_room(now) and _has_seen_room(earlier) else []
    )
    criteria = criteria_changes(earlier.run.criteria, now.run.criteria)
    if now.run.criteria["scale"] != earlier.run.criteria["scale"]:
        return criteria + documents
    causes = Causes(
        redefined=find_redefined_criteria(earlier.run.criteria, now.run.criteria),
        answerers=(earlier.run.answerer, now.run.answerer),
        documents=documents,
        quoted={
            outcome.criterion_id: {quote.document_id for quote in quotes.get(outcome.id or 0, ())}
            for outcome in now.outcomes
        },
        titles={one["id"]: one["title"] for one in now.run.criteria["criteria"] if one.get("title")},
    )
    return score_moves(earlier.outcomes, now.outcomes, causes) + criteria + documents


def _has_seen_room(side: Side) -> bool:
    """Whether the run saw the data room. A company whose room could not be reached did not lose its documents."""
    return bool(side.documents) or side.company.status is CompanyStatus.FINISHED


def document_changes(before: Sequence[RunDocument], now: Sequence[RunDocument]) -> list[Change]:
    """Documents that were added, changed or removed, in listing order.

    A document whose content is unknown in one of the runs (not fetched, or not reached) does not count as changed. On a
    drive that identifies documents by path, a renamed or moved document counts as one removed and one added.
    """
    earlier = {document.document_id: document for document in before}
    changes: list[Change] = []
    for document in now:
        old = earlier.pop(document.document_id, None)
        if old is None:
            changes.append(_document("document_added", document, None, document.content_hash))
        elif old.content_hash and document.content_hash and old.content_hash != document.content_hash:
            changes.append(_document("document_changed", document, old.content_hash, document.content_hash))
    changes.extend(_document("document_removed", old, old.content_hash, None) for old in earlier.values())
    return changes


def score_moves(before: Sequence[CriterionOutcome], now: Sequence[CriterionOutcome], causes: Causes) -> list[Change]:
    """Scores that moved, started to count or ceased to count, in the order of the criteria.

    Args:
        before: the company's outcomes in the earlier run.
        now: its outcomes in the later one.
        causes: what else differs between the two.
    """
    earlier = {outcome.criterion_id: outcome for outcome in before}
    moves: list[Change] = []
    for outcome in now:
        old = earlier.get(outcome.criterion_id)
        if old is None or ScoreStatus.WITHHELD in {old.status, outcome.status}:
            continue
        if _find_counted_score(old) == _find_counted_score(outcome) and old.contested == outcome.contested:
            continue
        name = causes.titles.get(outcome.criterion_id, outcome.criterion_id)
        text = f"{name} went from {_in_words(old)} to {_in_words(outcome)}."
        was, is_now, why = _describe_standing(old), _describe_standing(outcome), _why(old, outcome, causes)
        moves.append(
            Change(kind="score_moved", criterion=outcome.criterion_id, before=was, after=is_now, text=text, why=why)
        )
    return moves


def find_redefined_criteria(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """The ids of criteria that are in both runs' definitions and differ in more than their weight."""
    earlier = {criterion["id"]: _question(criterion) for criterion in before.get("criteria", [])}
    return frozenset(
        criterion["id"]
        for criterion in now.get("criteria", [])
        if earlier.get(criterion["id"], _question(criterion)) != _question(criterion)
    )


def criteria_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """How the criteria of two runs differ: that changes a total even if no score and no document changed."""
    earlier = {criterion["id"]: criterion for criterion in before.get("criteria", [])}
    current = {criterion["id"]: criterion for criterion in now.get("criteria", [])}
    redefined = find_redefined_criteria(before, now)
    weights = [
        f"{name} from {earlier[name]['weight']:g} to {current[name]['weight']:g}"
        for name in current
        if name in earlier and current[name]["weight"] != earlier[name]["weight"]
    ]
    low, high = now["scale"]
    changes = [
        (
            [f"The scale now goes from {low:g} to {high:g}"] if before["scale"] != now["scale"] else [],
            "Scores on different scales are not compared.",
        ),
        (_sentence("Criteria added: ", current.keys() - earlier.keys(), current), "They now count in the total."),
        (
            _sentence("Criteria removed: ", earlier.keys() - current.keys(), earlier),
            "They counted in the total of the last run.",
        ),
        (
            _sentence("Criteria that ask for something else: ", redefined, current),
            "They were changed in the criteria file.",
        ),
        (
            [f"Weights changed: {join_first(weights, _LISTED)}"] if weights else [],
            "Totals change with the weights, even where no score did.",
        ),
    ]
    return [Change(kind="criteria_changed", text=f"{text}.", why=why) for texts, why in changes for text in texts]


def _sentence(opening: str, names: Collection[str], order: Mapping[str, Any]) -> list[str]:
    return [opening + join_first([name for name in order if name in names], _LISTED)] if names else []


def _question(criterion: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a criterion that affect a score: neither its weight nor what is only for readers."""
    left_out = SHOWN_ONLY | ADDED_UP | {"label"}
    return {key: value for key, value in criterion.items() if key not in left_out and value is not None}


def _why(old: CriterionOutcome, now: CriterionOutcome, causes: Causes) -> str:
    """What caused a move, the most certain cause first."""
    if now.criterion_id in causes.redefined:
        return "The criterion itself was changed between the two runs."
    if now.status is ScoreStatus.UNSCORED or now.kind != "judged":
        return now.reason.removesuffix(SHOWN)
    if old.status is ScoreStatus.UNSCORED:
        return f"It was not judged in the last run: {old.reason.removesuffix(SHOWN)}"
    reasons: list[str] = []
    if now.contested != old.contested:
        reasons.append(_describe_contest(now) or "It was contested in the last run, and no longer is.")
    then, today = causes.answerers
    if then != today:
        reasons.append(f"It was judged by {today}; in the last run, by {then}.")
    quoted = causes.quoted.get(now.criterion_id, ())
    quoted_changes = [document for document in causes.documents if document.document_id in quoted]
    if quoted_changes:
        reasons.append(f"Its quotes come from {_name_changes(quoted_changes)}.")
    elif causes.documents:
        reasons.append(f"The data room changed: {_name_changes(causes.documents)}.")
    return " ".join(reasons) or "The same documents were judged again, with a different result."


def _describe_contest(outcome: CriterionOutcome) -> str:
    if outcome.contested is None:
        return ""
    one, other = ("no score" if score is None else f"{score:g}" for score in outcome.contested.values())
    return f"It is contested: {one} with {ORDERS if outcome.orders else OTHERS}, {other} without them."


def _name_changes(changes: Sequence[Change]) -> str:
    return join_first([f"{change.document_name} ({_VERBS[change.kind]})" for change in changes], _NAMED)


def _find_counted_score(outcome: CriterionOutcome) -> float | None:
    """The score if it counts. A step from `missing` to `unsupported` moves no score."""
    return outcome.score if outcome.status.counts else None


def _describe_standing(outcome: CriterionOutcome) -> float | str:
    counted = _find_counted_score(outcome)
    return outcome.status.value if counted is None else counted


def _in_words(outcome: CriterionOutcome) -> str:
    standing = _describe_standing(outcome)
    words = standing if isinstance(standing, str) else f"{standing:g}"
    return f"{words}, contested" if outcome.status is ScoreStatus.CONTESTED else words


_DocumentChange = Literal["document_added", "document_changed", "document_removed"]
_VERBS = {"document_added": "added", "document_changed": "changed", "document_removed": "removed"}
_WHY = {
    "document_added": "It was not in the data room in the last run.",
    "document_changed": "Its content differs from that in the last run.",
    "document_removed": "It is no longer in the data room.",
}


def _document(kind: _DocumentChange, document: RunDocument, before: str | None, after: str | None) -> Change:
    return Change(
        kind=kind,
        document_id=document.document_id,
        document_name=document.name,
        before=before,
        after=after,
        text=f"{document.name} was {_VERBS[kind]}.",
        why=_WHY[kind],
    )
