"""What changed for a company between two runs of a batch: its documents, and where its scores stand.

Pure comparison of rows that storage gives; which two runs are compared is not decided here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from storage.runs import RunDocument
from storage.scores import CriterionOutcome, ScoreStatus


class Change(BaseModel):
    """One change. `text` says it in a sentence.

    For a document `before` and `after` are the hashes of its content (null where there is no such
    side or its content is not known). For a score they are the score, or the status in its place
    when the criterion does not count.
    """

    kind: Literal["document_added", "document_changed", "document_removed", "score_moved"]
    document_id: str | None = None
    document_name: str | None = None
    criterion: str | None = None
    before: float | str | None = None
    after: float | str | None = None
    text: str


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
            changes.append(_document("document_added", document, None, document.content_hash, "was added"))
        elif old.content_hash and document.content_hash and old.content_hash != document.content_hash:
            changes.append(
                _document("document_changed", document, old.content_hash, document.content_hash, "was changed")
            )
    changes.extend(
        _document("document_removed", old, old.content_hash, None, "was removed") for old in earlier.values()
    )
    return changes


def score_moves(
    before: Sequence[CriterionOutcome],
    now: Sequence[CriterionOutcome],
    *,
    redefined: frozenset[str] = frozenset(),
) -> list[Change]:
    """Scores that moved, began to count or ceased to count, in the order of the criteria.

    Args:
        before: the company's outcomes in the earlier run.
        now: its outcomes in the later one.
        redefined: ids of criteria that asked for something else in the earlier run; their sentence says so.
    """
    earlier = {outcome.criterion_id: outcome for outcome in before}
    return list(_moves(earlier, now, redefined))


def redefined_criteria(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """Ids of the criteria that stand in both runs' definitions and differ in more than their weight."""
    earlier = {criterion["id"]: _question(criterion) for criterion in before.get("criteria", [])}
    return frozenset(
        criterion["id"]
        for criterion in now.get("criteria", [])
        if earlier.get(criterion["id"], _question(criterion)) != _question(criterion)
    )


def _question(criterion: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in criterion.items() if key != "weight" and value is not None}


def _moves(
    earlier: Mapping[str, CriterionOutcome], now: Sequence[CriterionOutcome], redefined: frozenset[str]
) -> Iterator[Change]:
    for outcome in now:
        old = earlier.get(outcome.criterion_id)
        if old is None or _counted(old) == _counted(outcome):
            continue
        text = f"{outcome.criterion_id} went from {_words(old)} to {_words(outcome)}."
        if outcome.criterion_id in redefined:
            text += " The criterion itself was changed between the two runs."
        yield Change(
            kind="score_moved",
            criterion=outcome.criterion_id,
            before=_standing(old),
            after=_standing(outcome),
            text=text,
        )


def _counted(outcome: CriterionOutcome) -> float | None:
    """The score if it counts. A step from `missing` to `unsupported` moves no score."""
    return outcome.score if outcome.status is ScoreStatus.SCORED else None


def _standing(outcome: CriterionOutcome) -> float | str:
    counted = _counted(outcome)
    return outcome.status.value if counted is None else counted


def _words(outcome: CriterionOutcome) -> str:
    standing = _standing(outcome)
    return standing if isinstance(standing, str) else f"{standing:g}"


def _document(
    kind: Literal["document_added", "document_changed", "document_removed"],
    document: RunDocument,
    before: str | None,
    after: str | None,
    verb: str,
) -> Change:
    return Change(
        kind=kind,
        document_id=document.document_id,
        document_name=document.name,
        before=before,
        after=after,
        text=f"{document.name} {verb}.",
    )
