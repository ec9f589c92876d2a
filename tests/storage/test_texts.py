"""Texts by content and reader, what is known without loading them, and their passages."""

from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError, NoResultFound

from storage import database, documents, runs, texts
from storage.documents import Content, RunDocument
from storage.texts import NewText, Outcome, Passage, StoredPage, StoredText
from tasks.reading.ocr.page import FAILED, RecognisedPage, ScanState
from tests.storage import rows


def store(text: StoredText) -> int:
    with database.writing() as session:
        return texts.save_text(session, text).id


def test_a_text_is_found_by_content_and_reader(database_url: str) -> None:
    text_id = store(rows.text(text="Umsätze\twuchsen\n\f🙂", places=[(0, 7, "page", "1")], warnings=["No page 2."]))
    with database.reading() as session:
        found = texts.find_text(session, "c0", "pdf-1")
        assert found is not None
        assert (found.id, found.text) == (text_id, "Umsätze\twuchsen\n\f🙂")
        assert [tuple(place) for place in found.places] == [(0, 7, "page", "1")]
        assert (found.outcome, found.warnings, found.created_at.tzinfo is not None) == (
            Outcome.READ,
            ["No page 2."],
            True,
        )
        assert texts.find_text(session, "c0", "pdf-2") is None
        assert texts.find_text(session, "c1", "pdf-1") is None
        assert texts.find_text(session, "c0", "pdf-2", "pdf-1") == found
        assert texts.get_text(session, text_id).text.startswith("Umsätze")


def test_of_several_texts_that_of_the_reader_named_first_is_found(database_url: str) -> None:
    recognised, plain = store(rows.text(reader="pdf-1 ocr eng")), store(rows.text(reader="pdf-1"))
    content = Content(drive="local:1", document_id="a", version="1", content_hash="c0", fetched_at=rows.MORNING)
    with database.writing() as session:
        rows.keep_content(session, content)
    for order in (recognised, plain), (plain, recognised):
        readers = ["pdf-1 ocr eng" if text_id == recognised else "pdf-1" for text_id in order]
        with database.reading() as session:
            found = texts.find_text(session, "c0", *readers)
            current = texts.find_current_text(session, "local:1", "a", "1", readers)
            assert (found and found.id, current and current.id) == (order[0], order[0])


def test_the_first_text_of_a_content_stays(database_url: str) -> None:
    first = store(rows.text(text="first"))
    with database.writing() as session:
        kept = texts.save_text(session, rows.text(text="second", characters=6))
        assert (kept.id, texts.get_text(session, first).text) == (first, "first")
    assert store(rows.text("c1")) != first
    assert store(rows.text(reader="pdf-2")) != first


def test_ids_are_those_of_the_rows(database_url: str) -> None:
    """A conflict in between must not confuse which id an insert has got."""
    ids = {hash_: store(rows.text(hash_, text=hash_)) for hash_ in ("a", "b", "a", "c", "b", "d")}
    with database.reading() as session:
        assert {texts.get_text(session, text_id).text: text_id for text_id in ids.values()} == ids


def test_texts_kept_together_are_the_same_as_texts_kept_one_by_one(database_url: str) -> None:
    there = store(rows.text("c1", text="was there"))
    new = NewText(
        "c0", "pdf-1", Outcome.READ, text="Umsätze", places=[(0, 7, "page", "1")], warnings=["No page 2."], characters=7
    )
    failed = NewText("c2", "pdf-1", Outcome.FAILED, problem="damaged", detail="It is damaged.")
    with database.writing() as session:
        kept = texts.save_texts(session, [new, rows.text("c1", text="came later"), failed, rows.text("c0", reader="b")])
        assert texts.save_texts(session, []) == {}
    assert set(kept) == {("c0", "pdf-1"), ("c0", "b"), ("c1", "pdf-1"), ("c2", "pdf-1")}
    assert kept["c1", "pdf-1"].id == there
    with database.reading() as session:
        found = texts.get_text(session, kept["c0", "pdf-1"].id)
        assert (found.text, found.warnings, found.characters) == ("Umsätze", ["No page 2."], 7)
        assert [tuple(place) for place in found.places] == [(0, 7, "page", "1")]
        assert found.created_at == new.created_at == kept["c0", "pdf-1"].created_at
        assert texts.get_text(session, there).text == "was there"
        lost = texts.get_text(session, kept["c2", "pdf-1"].id)
        assert (lost.outcome, lost.problem, lost.text) == (Outcome.FAILED, "damaged", "")


def test_texts_that_cannot_all_be_kept_are_not_kept_at_all(database_url: str) -> None:
    wrong = NewText("c1", "pdf-1", Outcome.READ, characters=None)  # type: ignore[arg-type]
    with pytest.raises(IntegrityError), database.writing() as session:
        texts.save_texts(session, [NewText("c0", "pdf-1", Outcome.READ), wrong])
    with database.reading() as session:
        assert texts.find_summaries(session, ["c0", "c1"]) == {}


def test_contents_are_the_last_ones_saved(database_url: str) -> None:
    for contents in ({"a": ("1", "c0"), "b": ("1", "c1")}, {"a": ("2", "c2")}, {}):
        with database.writing() as session:
            documents.save_contents(session, "local:1", contents)
    with database.reading() as session:
        found = documents.find_contents(session, "local:1", ["a", "b"])
        elsewhere = documents.find_contents(session, "local:2", ["a", "b"])
    assert {key: (each.version, each.content_hash) for key, each in found.items()} == {
        "a": ("2", "c2"),
        "b": ("1", "c1"),
    }
    assert found["a"].fetched_at > found["b"].fetched_at
    assert elsewhere == {}


def test_an_unknown_text_is_an_error(database_url: str) -> None:
    with pytest.raises(NoResultFound), database.reading() as session:
        texts.get_text(session, 7)


def test_the_current_text_of_a_document(database_url: str) -> None:
    text_id = store(rows.text())
    with database.writing() as session:
        content: dict[str, Any] = {"drive": "local:1", "content_hash": "c0", "fetched_at": rows.MORNING}
        rows.keep_content(session, Content(document_id="a", version="1", **content))
        rows.keep_content(session, Content(document_id="b", version="1", **content | {"content_hash": "unread"}))

    def current(drive: str, document_id: str, version: str, reader: str = "pdf-1") -> int | None:
        with database.reading() as session:
            found = texts.find_current_text(session, drive, document_id, version, ("other", reader))
        return found.id if found else None

    assert current("local:1", "a", "1") == text_id
    assert current("local:1", "a", "2") is None, "the document has changed since"
    assert current("local:1", "a", "1", "pdf-2") is None, "the reader has changed since"
    assert current("local:2", "a", "1") is None
    assert current("local:1", "b", "1") is None
    assert current("local:1", "c", "1") is None


def test_summaries_tell_all_but_the_text(database_url: str) -> None:
    failed = rows.text("c1", outcome=Outcome.FAILED, text="", problem="damaged", detail="It is damaged.", characters=0)
    ids = [store(rows.text()), store(failed), store(rows.text(reader="pdf-2"))]
    with database.reading() as session:
        found = texts.find_summaries(session, ["c0", "c1", "c1", "unknown"])
    assert {key: summary.id for key, summary in found.items()} == {
        ("c0", "pdf-1"): ids[0],
        ("c1", "pdf-1"): ids[1],
        ("c0", "pdf-2"): ids[2],
    }
    summary = found["c1", "pdf-1"]
    assert (summary.outcome, summary.problem, summary.detail) == (Outcome.FAILED, "damaged", "It is damaged.")
    assert summary.created_at.tzinfo is not None


def test_summaries_of_thousands_of_contents(database_url: str) -> None:
    for number in (0, 600, 1200):
        store(rows.text(f"h{number}"))
    with database.reading() as session:
        assert len(texts.find_summaries(session, [f"h{number}" for number in range(1201)])) == 3


def test_passages_come_back_in_order_for_the_cutter_that_cut_them(database_url: str) -> None:
    text_id = store(rows.text())
    with database.reading() as session:
        assert texts.find_passages(session, [text_id], "cutter-1") == {}
    _cut(text_id, "cutter-1", 3)
    with database.reading() as session:
        found = texts.find_passages(session, [text_id], "cutter-1")[text_id]
        assert [(each.ordinal, each.start, each.place) for each in found] == [
            (0, 0, "page 1"),
            (1, 5, "page 1"),
            (2, 10, "page 1"),
        ]
        assert texts.find_passages(session, [text_id], "cutter-2") == {}


def test_a_text_without_passages_is_cut_too(database_url: str) -> None:
    text_id = store(rows.text())
    _cut(text_id, "cutter-1", 0)
    with database.reading() as session:
        assert texts.find_passages(session, [text_id], "cutter-1") == {text_id: []}


def test_a_new_cutter_replaces_the_passages(database_url: str) -> None:
    text_id = store(rows.text())
    _cut(text_id, "cutter-1", 3)
    _cut(text_id, "cutter-2", 2)
    with database.reading() as session:
        found = texts.find_passages(session, [text_id], "cutter-2")[text_id]
    assert len(found) == 2


def _cut(text_id: int, cutter: str, pieces: int) -> None:
    with database.writing() as session:
        passages = [
            Passage(text_id=text_id, ordinal=number, start=number * 5, end=number * 5 + 5, place="page 1")
            for number in reversed(range(pieces))
        ]
        texts.save_passages(session, cutter, {text_id: passages})


def test_a_run_has_done_the_scans_that_were_read(database_url: str) -> None:
    text_id = store(rows.text("c0", scanned_pages=3))
    with database.writing() as session:
        runs.add_run(session, rows.run(), [rows.company()])
        (company,) = runs.run_companies(session, "r1")
        assert company.id is not None
        found: dict[str, Any] = {
            "company_id": company.id,
            "document_id": "d",
            "name": "Deed.pdf",
            "path": "",
            "url": "http://x/d",
        }
        session.add(RunDocument(**found, content_hash="c0", text_id=text_id))
        for page, state in enumerate([ScanState.READ, ScanState.LATE, ScanState.FAILED], 1):
            packed = RecognisedPage(state).pack()
            key: dict[str, Any] = {"content_hash": "c0", "page": str(page), "engine": "rapidocr"}
            texts.save_page(session, StoredPage(**key, seconds=60, packed=packed))
    with database.reading() as session:
        assert texts.scans_done(session, "r1", FAILED) == {company.id: (1, 3)}
