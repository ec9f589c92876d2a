"""Rooms with their documents, and which content a document has."""

from datetime import UTC, datetime

from sqlalchemy import Engine, event
from sqlmodel import select

from storage import database, documents
from storage.columns import row_values
from storage.documents import Content, RoomFolder
from tests.storage import rows


def store(*entries: documents.RoomDocument, folders: tuple[RoomFolder, ...] = (), **room: object) -> int:
    with database.writing() as session:
        return documents.replace_room(session, rows.room(**room), folders, map(row_values, entries))


def test_a_room_is_found_by_drive_folder_and_depth(database_url: str) -> None:
    deep, shallow = store(), store(recursive=False)
    with database.reading() as session:
        found = documents.find_room(session, "local:1", "root")
        assert found is not None
        assert found.id == deep
        flat = documents.find_room(session, "local:1", "root", recursive=False)
        assert flat is not None
        assert flat.id == shallow
        assert documents.find_room(session, "local:2", "root") is None
        assert documents.get_room(session, deep).folder_name == "rooms"


def test_indexing_again_replaces_the_room_and_keeps_its_id(database_url: str) -> None:
    first = store(
        rows.document("a"),
        rows.document("b"),
        folders=(RoomFolder(room_id=0, folder_id="f", name="old", path="old"),),
        warnings=["left out"],
    )
    again = store(rows.document("b", version="2"), rows.document("c"), incomplete=True, folder_name="renamed")
    assert again == first
    with database.reading() as session:
        assert [(document.document_id, document.version) for document in documents.room_documents(session, first)] == [
            ("b", "2"),
            ("c", "1"),
        ]
        room = documents.get_room(session, first)
        assert (room.folder_name, room.incomplete, room.warnings) == ("renamed", True, [])
        assert session.exec(select(RoomFolder)).all() == []


def test_a_room_may_be_empty(database_url: str) -> None:
    room_id = store()
    with database.reading() as session:
        assert documents.room_documents(session, room_id) == []


def test_documents_come_by_path_and_name_in_one_order_on_every_database(database_url: str) -> None:
    names = ["b", "A", "ä", "Z", "a b", "a-b", "_", "1"]
    room_id = store(
        *(rows.document(f"{path}{name}", name=name, path=path) for path in ("y", "", "X") for name in names)
    )
    with database.reading() as session:
        found = [(document.path, document.name) for document in documents.room_documents(session, room_id)]
    assert found == sorted(found)
    assert len(found) == 24


def test_every_field_of_a_document_comes_back(database_url: str) -> None:
    updated = datetime(2026, 3, 31, 8, 15, 30, 250_000, tzinfo=UTC)
    entry = rows.document("a", size=5 * 1024**3, updated=updated, path="Legal/Old", name="line\nbreak 🙂.pdf")
    room_id = store(entry)
    with database.reading() as session:
        (found,) = documents.room_documents(session, room_id)
    fields = documents.RoomDocument.model_fields.keys() - {"id", "room_id"}
    assert [getattr(found, field) for field in fields] == [getattr(entry, field) for field in fields]
    assert found.size == 5 * 1024**3, "files of 2 GB and more do not fit into a plain integer"


def test_some_documents_of_a_room(database_url: str) -> None:
    room_id = store(*(rows.document(name) for name in "abc"))
    store(rows.document("a"), folder_id="other")
    with database.reading() as session:
        some = documents.some_documents(session, room_id, ["a", "c", "gone"])
    assert sorted(each.document_id for each in some) == ["a", "c"]
    assert {each.room_id for each in some} == {room_id}


def test_the_content_of_a_document_is_the_last_one_saved(database_url: str) -> None:
    for version in ("1", "2"):
        with database.writing() as session:
            rows.keep_content(session, _content("a", version))
    with database.writing() as session:
        rows.keep_content(session, _content("b", "1"))
        rows.keep_content(session, _content("a", "9", drive="local:2"))
    with database.reading() as session:
        found = documents.find_contents(session, "local:1", ["a", "b", "unknown"])
    assert {name: (each.version, each.content_hash) for name, each in found.items()} == {
        "a": ("2", "hash of a at 2"),
        "b": ("1", "hash of b at 1"),
    }


def test_contents_of_thousands_of_documents(database_url: str) -> None:
    wanted = [f"d{number}" for number in range(1201)]
    with database.writing() as session:
        for name in wanted[::400]:
            rows.keep_content(session, _content(name, "1"))
    with database.reading() as session:
        assert sorted(documents.find_contents(session, "local:1", wanted)) == ["d0", "d1200", "d400", "d800"]


def test_a_room_of_5000_documents_is_stored_and_replaced_in_few_statements(database_url: str) -> None:
    """A statement a row takes minutes over a network; SQLite's bound of parameters makes some hundred of all."""
    entries = [rows.document(f"d{number}", path=f"folder {number % 100}") for number in range(5_000)]
    statements = 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    event.listen(Engine, "before_cursor_execute", count)
    try:
        for _ in range(2):
            room_id = store(*entries)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert statements < 50
    with database.reading() as session:
        assert len(documents.room_documents(session, room_id)) == 5_000


def _content(document_id: str, version: str, drive: str = "local:1") -> Content:
    return Content(
        drive=drive,
        document_id=document_id,
        version=version,
        content_hash=f"hash of {document_id} at {version}",
        fetched_at=rows.MORNING,
    )
