"""What changed for a company between two runs of a batch: its documents, where its scores stand, and what was asked.

Pure comparison of rows that storage gives; which two runs are compared is not decided here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from storage.runs import RunDocument
from storage.scores import CriterionOutcome, ScoreStatus
from tasks.scoring.judge import SHOWN


class Change(BaseModel):
    """One change. `text` says it in a sentence, `why` what brought it about.

    For a document `before` and `after` are the hashes of its content (null where there is no such
    side or its content is not known). For a score they are the score, or the status in its place
    when the criterion does not count. Changes of the criteria have neither.
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

    `redefined` are ids of criteria that asked for something else in the earlier run, `answerers` who
    judged then and now, `documents` the changes of the data room, `quoted` the ids of the documents
    that each criterion's outcome rests on now.
    """

    redefined: frozenset[str] = frozenset()
    answerers: tuple[str, str] = ("", "")
    documents: Sequence[Change] = ()
    quoted: Mapping[str, Collection[str | None]] = field(default_factory=dict)


_NAMED = 3  # documents that a sentence names
_LISTED = 10  # criteria that a sentence names


def document_changes(before: Sequence[RunDocument], now: Sequence[RunDocument]) -> list[Change]:
    """Documents that were added, changed or removed, in the order in which they are listed.

    A document whose content one of the runs never saw (not fetched, or not reached) is not called
    changed: nothing is known of it. A renamed or moved document of a drive that names documents by
    their path is one removed and one added.
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
    """Scores that moved, began to count or ceased to count, in the order of the criteria.

    Args:
        before: the company's outcomes in the earlier run.
        now: its outcomes in the later one.
        causes: what else differs between the two.
    """
    earlier = {outcome.criterion_id: outcome for outcome in before}
    return list(_moves(earlier, now, causes))


def redefined_criteria(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """Ids of the criteria that stand in both runs' definitions and differ in more than their weight."""
    earlier = {criterion["id"]: _question(criterion) for criterion in before.get("criteria", [])}
    return frozenset(
        criterion["id"]
        for criterion in now.get("criteria", [])
        if earlier.get(criterion["id"], _question(criterion)) != _question(criterion)
    )


def criteria_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """How the criteria of two runs differ: a total moves with them also where no score and no document did."""
    earlier = {criterion["id"]: criterion for criterion in before.get("criteria", [])}
    asked = {criterion["id"]: criterion for criterion in now.get("criteria", [])}
    redefined = redefined_criteria(before, now)
    weighed = [
        f"{name} weighs {asked[name]['weight']:g}, in the last run {earlier[name]['weight']:g}"
        for name in asked
        if name in earlier and asked[name]["weight"] != earlier[name]["weight"]
    ]
    low, high = now["scale"]
    told = [
        (
            [f"The scale goes from {low:g} to {high:g} now"] if before["scale"] != now["scale"] else [],
            "Scores on another scale are not compared.",
        ),
        (_begun("Criteria added: ", asked.keys() - earlier.keys(), asked), "They count in the total now."),
        (
            _begun("Criteria removed: ", earlier.keys() - asked.keys(), earlier),
            "They counted in the total of the last run.",
        ),
        (_begun("Criteria that ask for something else: ", redefined, asked), "They were changed in the criteria file."),
        ([_some(weighed, "; ")] if weighed else [], "Totals move with the weights, also where no score did."),
    ]
    return [Change(kind="criteria_changed", text=f"{text}.", why=why) for texts, why in told for text in texts]


def _begun(opening: str, names: Collection[str], order: Mapping[str, Any]) -> list[str]:
    return [opening + _some([name for name in order if name in names], ", ")] if names else []


def _some(listed: Sequence[str], separator: str) -> str:
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return separator.join(listed[:_LISTED]) + more


def _question(criterion: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in criterion.items() if key != "weight" and value is not None}


def _moves(
    earlier: Mapping[str, CriterionOutcome], now: Sequence[CriterionOutcome], causes: Causes
) -> Iterator[Change]:
    for outcome in now:
        old = earlier.get(outcome.criterion_id)
        if old is None or _counted(old) == _counted(outcome):
            continue
        yield Change(
            kind="score_moved",
            criterion=outcome.criterion_id,
            before=_standing(old),
            after=_standing(outcome),
            text=f"{outcome.criterion_id} went from {_words(old)} to {_words(outcome)}.",
            why=_why(old, outcome, causes),
        )


def _why(old: CriterionOutcome, now: CriterionOutcome, causes: Causes) -> str:
    """What brought a move about, the surest cause first."""
    if now.criterion_id in causes.redefined:
        return "The criterion itself was changed between the two runs."
    if now.status is ScoreStatus.UNSCORED or now.kind != "judged":
        return now.reason.removesuffix(SHOWN)
    if old.status is ScoreStatus.UNSCORED:
        return f"It was not judged in the last run: {old.reason.removesuffix(SHOWN)}"
    said: list[str] = []
    then, today = causes.answerers
    if then != today:
        said.append(f"It was judged by {today}, in the last run by {then}.")
    quoted = causes.quoted.get(now.criterion_id, ())
    bearing = [document for document in causes.documents if document.document_id in quoted]
    if bearing:
        said.append(f"It rests on {_named(bearing)}.")
    elif causes.documents:
        said.append(f"The data room changed: {_named(causes.documents)}.")
    return " ".join(said) or "The same documents were judged anew, and the judgement came out otherwise."


def _named(changes: Sequence[Change]) -> str:
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    return ", ".join(f"{change.document_name} ({_VERBS[change.kind]})" for change in changes[:_NAMED]) + more


def _counted(outcome: CriterionOutcome) -> float | None:
    """The score if it counts. A step from `missing` to `unsupported` moves no score."""
    return outcome.score if outcome.status is ScoreStatus.SCORED else None


def _standing(outcome: CriterionOutcome) -> float | str:
    counted = _counted(outcome)
    return outcome.status.value if counted is None else counted


def _words(outcome: CriterionOutcome) -> str:
    standing = _standing(outcome)
    return standing if isinstance(standing, str) else f"{standing:g}"


_VERBS = {"document_added": "added", "document_changed": "changed", "document_removed": "removed"}
_WHY = {
    "document_added": "It was not in the data room in the last run.",
    "document_changed": "Its content is another one than in the last run.",
    "document_removed": "It is not in the data room any more.",
}


def _document(
    kind: Literal["document_added", "document_changed", "document_removed"],
    document: RunDocument,
    before: str | None,
    after: str | None,
) -> Change:
    return Change(
        kind=kind,
        document_id=document.document_id,
        document_name=document.name,
        before=before,
        after=after,
        text=f"{document.name} was {_VERBS[kind]}.",
        why=_WHY[kind],
    )
