"""Documents of the drive whose content is of another format than their names: what is kept of them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storage.documents import DocumentStatus
from tasks.documents import texts as texts_module
from tasks.documents.batch import read_documents
from tasks.documents.index import index_room
from tasks.documents.texts import document_text
from tasks.errors import Damaged
from tasks.reading import formats
from tests.tasks.documents.conftest import CountingPool
from tests.tasks.reading.test_embedded import pdf

Write = Callable[..., str]


def newer(monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    """Let the reader of a format be of a newer version."""
    known = tuple(
        replace(one, version=f"{one.version}-newer") if one.extensions[0] == changed else one
        for one in formats.all_formats()
    )
    monkeypatch.setattr(formats, "all_formats", lambda: known)
    formats._by_extension.cache_clear()


@pytest.fixture(autouse=True)
def _usual_formats() -> Iterator[None]:
    yield
    formats._by_extension.cache_clear()


def test_it_is_read_as_what_it_is_once_and_the_warning_is_kept(
    write: Write, pool: CountingPool, forget: Callable[[], None]
) -> None:
    document_id = write("offer.docx", pdf("Thirty days"))
    for _ in range(2):
        assert document_text(document_id).text == "Thirty days\n"
        forget()
    assert pool.count == 1
    (outcome,) = read_documents(index_room("root"), [document_id])
    assert outcome.status is DocumentStatus.UNCHANGED
    assert outcome.warning == "The file has the name of a .docx file, but is a .pdf file: it was read as one."
    assert pool.count == 1


@pytest.mark.parametrize(("changed", "readings"), [(".pdf", 2), (".docx", 2), (".xlsx", 1)])
def test_it_is_read_again_when_one_of_both_readers_changes(
    write: Write,
    pool: CountingPool,
    forget: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
    readings: int,
) -> None:
    document_id = write("offer.docx", pdf("Thirty days"))
    document_text(document_id)
    newer(monkeypatch, changed)
    forget()
    assert document_text(document_id).text == "Thirty days\n"
    assert pool.count == readings
    read_documents(index_room("root"), [document_id])
    assert pool.count == readings


def test_a_failure_is_kept_under_both_versions(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = write("offer.docx", b"%PDF-1.7 and nothing else")
    for _ in range(2):
        with pytest.raises(Damaged):
            document_text(document_id)
    assert pool.count == 1
    newer(monkeypatch, ".pdf")
    with pytest.raises(Damaged):
        document_text(document_id)
    assert pool.count == 2


def test_the_same_content_under_its_own_name_has_no_warning(write: Write, pool: CountingPool) -> None:
    misnamed, named = write("offer.docx", pdf("Thirty days")), write("offer.pdf", pdf("Thirty days"))
    assert document_text(misnamed).text == document_text(named).text
    outcomes = read_documents(index_room("root"), [misnamed, named])
    assert [outcome.warning for outcome in outcomes if outcome.document_id == named] == [None]


def test_the_names_of_readers_do_not_meet(home: Path) -> None:
    all_names = [
        name
        for known in formats.all_formats()
        for name in (
            *texts_module.readers(known.extensions[0]),
            *texts_module.list_misnamed_readers(known.extensions[0]),
        )
    ]
    for known in formats.all_formats():
        own = set(texts_module.readers(known.extensions[0]))
        assert own.isdisjoint(texts_module.list_misnamed_readers(known.extensions[0]))
    assert len(set(all_names)) >= len(formats.all_formats()) ** 2
