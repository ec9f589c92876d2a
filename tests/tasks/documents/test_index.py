"""Document Index: the operation from folder to JSON, and what is kept of it."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from storage import database, documents
from tasks.documents.index import document_index, index_room
from tasks.documents.texts import document_text
from tasks.errors import BadRequest, Damaged, NotFound
from tests.tasks.documents.conftest import CountingPool

Write = Callable[..., str]


def test_a_folder_with_all_that_lies_below(write: Write, drive_root: Path) -> None:
    plan, lease = write("Alpha/plan.txt", "x" * 18_432), write("Alpha/Legal/Old/lease.pdf")
    (drive_root / "Alpha/Empty").mkdir()
    (drive_root / "Alpha/.hidden").mkdir()
    folder_id = write("Alpha/Legal/contract.docx") and index_room("Alpha")
    answer = document_index("root").answer()
    json.dumps(answer)
    assert folder_id
    assert (answer["folder_id"], answer["folder_name"], answer["source"]) == ("root", "rooms", "Cloud_Drive")
    own, alpha = answer["document_index"]
    assert (own["category"], own["documents"]) == ("rooms", [])
    assert [each["document_id"] for each in alpha["documents"]] == [plan]
    assert [(each["path"], [it["document_name"] for it in each["documents"]]) for each in alpha["subfolders"]] == [
        ("Empty", []),
        ("Legal", ["contract.docx"]),
        ("Legal/Old", ["lease.pdf"]),
    ]
    assert alpha["subfolders"][2]["documents"][0]["document_id"] == lease
    entry = alpha["documents"][0]
    assert (entry["size"], entry["mime_type"]) == ("18KB", "text/plain")
    assert entry["document_url"] == f"http://127.0.0.1:8000/file/d/{plan}/view"
    assert entry["date_updated"].endswith("Z")
    assert "warnings" not in answer


def test_ids_in_an_index_are_those_that_the_operations_take(write: Write, pool: CountingPool) -> None:
    write("Alpha/plan.txt", "the plan")
    _, alpha = document_index("root").answer()["document_index"]
    assert document_text(alpha["documents"][0]["document_id"]).text == "the plan"
    by_url = document_index(f"https://drive.example/drive/folders/{alpha['folder_id']}").answer()
    assert (by_url["folder_id"], by_url["folder_name"]) == (alpha["folder_id"], "Alpha")


def test_without_recursion(write: Write) -> None:
    write("plan.txt")
    write("Legal/contract.txt")
    (category,) = document_index("root", recursive=False).answer()["document_index"]
    assert "subfolders" not in category
    assert [each["document_name"] for each in category["documents"]] == ["plan.txt"]


def test_warnings_of_the_listing_stand_in_the_answer(write: Write, drive_root: Path, tmp_path: Path) -> None:
    (drive_root / "out").symlink_to(tmp_path)
    answer = document_index("root").answer()
    assert answer["warnings"] == ["Left out: 'out' is a link that leaves the drive's root."]
    assert "incomplete" not in answer


def test_a_document_read_before_carries_its_warning_until_it_changes(write: Write, pool: CountingPool) -> None:
    document_id = write("broken.pdf", "no pdf")
    assert "warning" not in _entries()["broken.pdf"]
    time.sleep(0.06)
    with pytest.raises(Damaged) as raised:
        document_text(document_id)
    assert _entries()["broken.pdf"]["warning"] == raised.value.message
    write("broken.pdf", "still no pdf")
    assert "warning" not in _entries()["broken.pdf"]


def test_a_link_without_an_extension_to_a_document_read_before(
    write: Write, pool: CountingPool, drive_root: Path
) -> None:
    document_id = write("Archive/photo.txt")
    time.sleep(0.06)
    document_text(document_id)
    (drive_root / "Room").mkdir()
    (drive_root / "Room/photo.jpeg").symlink_to("../Archive/photo.txt")
    room = next(each for each in document_index("root").answer()["document_index"] if each["category"] == "Room")
    (category,) = document_index(room["folder_id"]).answer()["document_index"]
    assert category["documents"][0]["document_name"] == "photo.jpeg"


@pytest.mark.parametrize("given", ["", " ", "https://x.example"])
def test_no_folder_at_all_is_a_bad_request(given: str, drive_root: Path) -> None:
    with pytest.raises(BadRequest) as raised:
        document_index(given)
    assert list(raised.value.fields) == ["cloud_drive_folder"]


def test_an_unknown_folder_and_a_documents_id_are_not_found(write: Write) -> None:
    with pytest.raises(NotFound):
        document_index("unknown")
    with pytest.raises(NotFound, match="document"):
        document_index(write("a.txt"))


def test_a_room_is_kept_by_path_id_or_url_as_the_same_one(write: Write, drive_root: Path) -> None:
    write("Alpha/Legal/contract.txt", "x" * 300)
    room_id = index_room("Alpha")
    with database.reading() as session:
        room = documents.get_room(session, room_id)
        (entry,) = documents.room_documents(session, room_id)
    assert (room.folder_name, room.drive.split(":")[0]) == ("Alpha", "local")
    assert (entry.name, entry.path, entry.size) == ("contract.txt", "Legal", 300)
    for given in (room.folder_id, f"https://x.example/folders/{room.folder_id}", str(drive_root / "Alpha")):
        assert index_room(given) == room_id


def test_deleted_document_leaves_the_index(write: Write, drive_root: Path) -> None:
    write("a.txt")
    write("b.txt")
    room_id = index_room("root")
    (drive_root / "a.txt").unlink()
    assert index_room("root") == room_id
    with database.reading() as session:
        assert [document.name for document in documents.room_documents(session, room_id)] == ["b.txt"]


def test_names_that_no_database_takes_do_not_stop_the_index(write: Write, drive_root: Path) -> None:
    for name in (b"caf\xe9.txt", b"line\nbreak.txt", "🙂.txt".encode()):
        (drive_root / "x").with_name(name.decode(errors="surrogateescape")).write_bytes(b"words")
    with database.reading() as session:
        names = [document.name for document in documents.room_documents(session, index_room("root"))]
    assert names == ["caf\ufffd.txt", "line\nbreak.txt", "🙂.txt"]


def _entries() -> dict[str, dict[str, str]]:
    (category,) = document_index("root", recursive=False).answer()["document_index"]
    return {each["document_name"]: each for each in category["documents"]}
