"""What an assistant or another program looks up in a data room: passages, figures, quotations and statements.

Every answer is taken from stored texts, word for word, and says where the words stand. No model is asked, but an
assistant is one: privileged documents are left out, and counted in `kept_from_model`.
"""

from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote as quoted

from storage import database, documents, texts
from storage.texts import StoredText
from tasks.documents.drive.drive import Document, DocumentSettings
from tasks.errors import BadRequest
from tasks.figures.conflicts import conflict_row, room_row
from tasks.figures.figure import plain_label, taxonomy
from tasks.figures.ledger import LedgerText, build, room_ledger
from tasks.memo.check import MemoVerdict, check_memo
from tasks.memo.claims import MemoTexts
from tasks.offload import offload_always
from tasks.reading.text_writer import shown_text
from tasks.reports.wording import make_anchor
from tasks.rooms import FolderTexts, RoomPassages, document_with_text, room_texts
from tasks.scoring.passages import TextPlaces
from tasks.scoring.quotes import locate

_PASSAGES: Final = 10
_AROUND: Final = 600
"""Characters shown on each side of a quotation."""
_LONGEST: Final = 4000
"""Characters of a question, a quotation or a statement."""


def find_passages(folder_id: str, question: str) -> dict[str, Any]:
    """The passages of a room that are likeliest to answer a question, best first, with the documents that were not
    read.

    Raises:
        BadRequest: the question is empty or too long. BadRequest, NotFound: as `room_texts`.
    """
    _check(question, "question")
    room = room_texts(folder_id)
    passages = offload_always(_likeliest, room.texts, question) if room.texts else []
    return {"passages": passages, **_left_out(room)}


def _left_out(room: FolderTexts) -> dict[str, Any]:
    return {"unread": list(room.unread), "kept_from_model": room.kept}


def _likeliest(texts: tuple[LedgerText, ...], question: str) -> list[dict[str, Any]]:
    found = _passages(texts).likeliest(question, _PASSAGES, _PASSAGES // 2)
    return [
        {
            "text": passage.text,
            "document_id": passage.document.document_id,
            "document_name": passage.document.document_name,
            "place": passage.span.place,
        }
        for passage in found[:_PASSAGES]
    ]


def room_figures(folder_id: str, concept: str | None = None) -> dict[str, Any]:
    """The figures of a room, or those of one concept, with their conflicts and a count of the numbers left out.

    Raises:
        BadRequest: there is no such concept. BadRequest, NotFound: as `room_texts`.
    """
    wanted = _concept(concept) if concept else None
    room = room_texts(folder_id)
    build(room.texts)
    return {**offload_always(_figures, room.texts, wanted), **_left_out(room)}


def _figures(texts: tuple[LedgerText, ...], concept: str | None) -> dict[str, Any]:
    ledger = room_ledger(texts, concept)
    return {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [conflict_row(conflict) for conflict in ledger.conflicts],
        "left_out": ledger.left_out,
    }


def _concept(written: str) -> str:
    known = taxonomy().concepts
    label = plain_label(written.replace("_", " "))
    name = label.replace(" ", "_")
    meaning = None if name in known else taxonomy().meaning(label)
    if name not in known and meaning is None:
        listed = ", ".join(known)
        raise BadRequest(f"There is no such concept. Known are: {listed}.", {"concept": "is not known"})
    return meaning.concept.id if meaning else name


def check_statement(folder_id: str, statement: str) -> dict[str, Any]:
    """What a room says about a statement: supported, contradicted or not found, with the words that say so.

    If there are several sentences, all must be supported, and a single contradicted one decides. `nearest` are the
    closest passages of a room that does not say it.

    Raises:
        BadRequest: the statement is empty or too long. BadRequest, NotFound: as `room_texts`.
    """
    _check(statement, "statement")
    room = room_texts(folder_id)
    answer = _checked(room.texts, statement) if room.texts else _NOTHING  # its figures are found in readers' processes
    return {**answer, **_left_out(room)}


_NOTHING: Final = {
    "status": MemoVerdict.NOT_FOUND.value,
    "reason": "The room has no text.",
    "quotes": [],
    "nearest": [],
}


def _checked(texts: tuple[LedgerText, ...], statement: str) -> dict[str, Any]:
    checked = check_memo(statement, (), "statement", _memo_texts(texts))
    verdicts = {claim.verdict for claim in checked}
    status = MemoVerdict.NOT_FOUND
    if MemoVerdict.CONTRADICTED in verdicts:
        status = MemoVerdict.CONTRADICTED
    elif verdicts == {MemoVerdict.SUPPORTED}:
        status = MemoVerdict.SUPPORTED
    deciding = [claim for claim in checked if claim.verdict is status]
    quotes = [
        {
            "text": place.text,
            "verified": True,
            "document_id": place.document_id,
            "document_name": place.document_name,
            "place": place.place,
        }
        for claim in deciding
        for place in claim.places
    ]
    is_found = status is not MemoVerdict.NOT_FOUND
    return {
        "status": status.value,
        "reason": " ".join(claim.why for claim in deciding if claim.why),
        "quotes": quotes if is_found else [],
        "nearest": [] if is_found else quotes,
    }


def document_text(document_id: str) -> dict[str, Any]:
    """The entire text of a document.

    Raises:
        As `document_with_text`.
    """
    return {"document_id": document_id, "text": document_with_text(document_id)[1].text}


def verify_quote(document_id: str, quote: str) -> dict[str, Any]:
    """Whether a quotation is in a document, where, and the address of a page that shows it.

    Raises:
        BadRequest: the quotation is empty or too long. As `document_with_text`.
    """
    found = evidence(document_id, quote)
    return {name: found[name] for name in ("verified", "place", "evidence_url")}


def evidence(document_id: str, quote: str) -> dict[str, Any]:
    """A quotation as it stands in its document, with the words before and after it; None if it is not there.

    Raises:
        As `verify_quote`.
    """
    _check(quote, "quote")
    document, text = document_with_text(document_id)
    answer = {"document_id": document_id, "document_name": document.name, "document_url": document.url}
    found = offload_always(_found, text.id or 0, quote)
    if found is None:
        nothing = dict.fromkeys(("place", "evidence_url", "before", "text", "after"))
        return {**answer, "verified": False, **nothing}
    start, end, place = found
    return {
        **answer,
        "verified": True,
        "place": place,
        "evidence_url": _evidence_url(document, text, start, end),
        "before": text.text[max(start - _AROUND, 0) : start],
        "text": text.text[start:end],
        "after": text.text[end : end + _AROUND],
    }


def _found(text_id: int, quote: str) -> tuple[int, int, str] | None:
    """Where a quotation begins and ends in a stored text, and that place in words."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
    span = locate(quote, shown_text(text.text, text.places))
    return None if span is None else (*span, TextPlaces(text.text, text.places).exact_place(*span))


def _evidence_url(document: Document, text: StoredText, start: int, end: int) -> str | None:
    """The page of the newest run that read this text; without one the document's own address."""
    with database.reading() as session:
        run_id = documents.newest_run_with(session, document.id, text.id or 0)
    if run_id is None:
        return document.url
    at = f"?start={start}&end={end}#{make_anchor(start, end)}"
    base = DocumentSettings.current().base_url.rstrip("/")
    return f"{base}/runs/{quoted(run_id, safe='')}/documents/{quoted(document.id, safe='')}{at}"


def _check(words: str, field: str) -> None:
    if not words.strip() or len(words) > _LONGEST:
        raise BadRequest(
            f"The {field} must have 1 to {_LONGEST:,} characters.", {field: f"must have 1 to {_LONGEST:,} characters"}
        )


@lru_cache(maxsize=4)  # a second question of a room finds it ready, in the same process
def _passages(texts: tuple[LedgerText, ...]) -> RoomPassages:
    return RoomPassages(texts)


@lru_cache(maxsize=4)
def _memo_texts(texts: tuple[LedgerText, ...]) -> MemoTexts:
    return MemoTexts(texts)
