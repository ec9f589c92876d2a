"""Document Index: the operation from folder to JSON, and what is kept of it.

The document index as the contract writes it: every key, every rule.
"""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from storage import database, documents
from tasks.documents.drive.drive import Document, Folder, Listing
from tasks.documents.index import IndexedFolder, build_document_index, document_index, human_size, index_room
from tasks.documents.texts import document_text
from tasks.errors import BadRequest, Damaged, NotFound
from tests.cases import cases
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


TOP = Folder("top", "Alpha", "")
MOMENT = datetime(2026, 3, 31, 8, 15, 30, 999_999, tzinfo=UTC)


def document(name: str, folder: str = "top", path: str = "", **given: Any) -> Document:
    values: dict[str, Any] = {
        "id": f"id of {name}",
        "name": name,
        "folder_id": folder,
        "path": path,
        "url": f"https://drive.example/file/d/id of {name}/view",
        "mime_type": "application/pdf",
        "size": 18_432,
        "created": MOMENT,
        "updated": MOMENT + timedelta(days=1),
        "version": "1",
    }
    return Document(**values | given)


def index(listing: Listing, *, recursive: bool = True, warnings: Mapping[str, str] | None = None) -> dict[str, Any]:
    remarks = {name: {"warning": warning} for name, warning in (warnings or {}).items()}
    indexed = IndexedFolder(listing, recursive, remarks)
    answer = build_document_index(listing, recursive=recursive, remarks=remarks)
    assert b"".join(indexed.pieces()).decode() == answer.model_dump_json(exclude_unset=True)  # whatever is indexed
    return answer.answer()


def names(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["document_name"] for entry in entries]


def test_every_key_of_the_answer() -> None:
    listing = Listing(TOP, [Folder("l", "Legal", "Legal", "top"), Folder("o", "Old", "Legal/Old", "l")], [
        document("plan.pdf"), document("contract.pdf", "l", "Legal"), document("lease.pdf", "o", "Legal/Old"),
    ])  # fmt: skip

    def entry(name: str) -> dict[str, Any]:
        return {
            "document_id": f"id of {name}",
            "document_name": name,
            "document_url": f"https://drive.example/file/d/id of {name}/view",
            "date_created": "2026-03-31T08:15:30Z",
            "date_updated": "2026-04-01T08:15:30Z",
            "size": "18KB",
            "mime_type": "application/pdf",
            "source": "Cloud_Drive",
        }

    assert index(listing) == {
        "folder_id": "top",
        "folder_name": "Alpha",
        "source": "Cloud_Drive",
        "document_index": [
            {
                "folder_id": "top",
                "category": "Alpha",
                "source": "Cloud_Drive",
                "documents": [entry("plan.pdf")],
                "subfolders": [],
            },
            {
                "folder_id": "l",
                "category": "Legal",
                "source": "Cloud_Drive",
                "documents": [entry("contract.pdf")],
                "subfolders": [
                    {
                        "folder_id": "o",
                        "subfolder_name": "Old",
                        "path": "Old",
                        "source": "Cloud_Drive",
                        "documents": [entry("lease.pdf")],
                    }
                ],
            },
        ],
    }


def test_without_recursion_there_is_one_category_and_no_key_subfolders() -> None:
    listing = Listing(TOP, documents=[document("plan.pdf")])
    (category,) = index(listing, recursive=False)["document_index"]
    assert sorted(category) == ["category", "documents", "folder_id", "source"]
    assert names(category["documents"]) == ["plan.pdf"]


def test_the_folders_own_category_is_there_even_when_it_is_empty() -> None:
    answer = index(Listing(TOP, [Folder("l", "Legal", "Legal", "top")]))
    assert [(each["folder_id"], each["documents"]) for each in answer["document_index"]] == [("top", []), ("l", [])]


def test_its_own_category_comes_first_and_the_others_by_name() -> None:
    folders = [Folder(name, name, name, "top") for name in ("b", "Z", "a", "10", "9")]
    answer = index(Listing(Folder("top", "zz", ""), folders))
    assert [each["category"] for each in answer["document_index"]] == ["zz", "10", "9", "Z", "a", "b"]


def test_documents_come_by_name() -> None:
    answer = index(Listing(TOP, documents=[document(name) for name in ("b", "Z", "a", "10", "9")]))
    assert names(answer["document_index"][0]["documents"]) == ["10", "9", "Z", "a", "b"]


def test_deeper_folders_stand_flat_in_their_category_each_before_what_lies_in_it() -> None:
    paths = ["L", "L/b", "L/b/y", "L/b/x", "L/a", "L/a/z", "L/a/z/q", "M", "M/a"]
    folders = [Folder(path, path.rsplit("/")[-1], path, path.rpartition("/")[0] or "top") for path in paths]
    answer = index(Listing(TOP, folders))
    _, legal, other = answer["document_index"]
    assert [each["path"] for each in legal["subfolders"]] == ["a", "a/z", "a/z/q", "b", "b/x", "b/y"]
    assert [each["subfolder_name"] for each in legal["subfolders"]] == ["a", "z", "q", "b", "x", "y"]
    assert [each["path"] for each in other["subfolders"]] == ["a"]


def test_folders_of_one_name_stay_two_and_keep_their_documents() -> None:
    """Some drives allow them, and a slash in a name."""
    folders = [
        Folder("1", "Legal", "Legal", "top"),
        Folder("2", "Legal", "Legal", "top"),
        Folder("3", "a/b", "a/b", "top"),
    ]
    documents = [document("one", "1"), document("two", "2"), document("three", "3")]
    answer = index(Listing(TOP, folders, documents))
    assert [(each["folder_id"], names(each["documents"])) for each in answer["document_index"]] == [
        ("top", []),
        ("1", ["one"]),
        ("2", ["two"]),
        ("3", ["three"]),
    ]


def test_documents_of_one_name_stay_two() -> None:
    answer = index(Listing(TOP, documents=[document("a", id="2"), document("a", id="1")]))
    assert [each["document_id"] for each in answer["document_index"][0]["documents"]] == ["1", "2"]


def test_incomplete_and_warnings_stand_there_only_where_there_are_any() -> None:
    listing = Listing(TOP, documents=[document("a"), document("b")], warnings=["Left out: 'x'."], incomplete=True)
    answer = index(listing, warnings={"id of a": "No text was found."})
    assert (answer["incomplete"], answer["warnings"]) == (True, ["Left out: 'x'."])
    first, second = answer["document_index"][0]["documents"]
    assert first["warning"] == "No text was found."
    assert "warning" not in second
    assert not {"incomplete", "warnings"} & set(index(Listing(TOP)))


def test_what_a_drive_does_not_know_is_null() -> None:
    listing = Listing(TOP, documents=[document("a", size=None, created=None, updated=None)])
    (entry,) = index(listing)["document_index"][0]["documents"]
    assert (entry["size"], entry["date_created"], entry["date_updated"]) == (None, None, None)


def test_times_of_any_zone_are_written_in_utc() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    (entry,) = index(Listing(TOP, documents=[document("a", created=noon)]))["document_index"][0]["documents"]
    assert entry["date_created"] == "2026-07-01T10:00:00Z"


@cases(
    ("size", "written"),
    [
        (0, "0B"),
        (1, "1B"),
        (512, "512B"),
        (1023, "1023B"),
        (1024, "1KB"),
        (1075, "1KB"),
        (1536, "1.5KB"),
        (18 * 1024, "18KB"),
        (1023 * 1024, "1023KB"),
        (1024 * 1024 - 1, "1MB"),
        (1024 * 1024, "1MB"),
        (1_468_006, "1.4MB"),
        (1024**3, "1GB"),
        (5 * 1024**3 // 2, "2.5GB"),
        (1024**4, "1TB"),
        (5000 * 1024**4, "5000TB"),
    ],
)
def test_sizes_in_1024s_with_at_most_one_decimal_and_no_space(size: int, written: str) -> None:
    assert human_size(size) == written


def test_a_tree_of_thousands_of_levels_is_no_trouble() -> None:
    folders = [Folder(str(level), "x", "", str(level - 1) if level else "top") for level in range(3000)]
    _, category = index(Listing(TOP, folders))["document_index"]
    assert len(category["subfolders"]) == 2999


def test_a_large_index_comes_in_pieces_and_is_the_same() -> None:
    tricky = '"documents":[] \\"documents":[],"subfolders":[]}'
    folders = [Folder("a", tricky, tricky, "top"), Folder("b", "B", f"{tricky}/B", "a")]
    many = [document(f"{number} {tricky}.pdf", folder) for folder in ("top", "a", "b") for number in range(1001)]
    listing = Listing(Folder("top", tricky, ""), folders, many, [tricky], incomplete=True)
    assert sum(len(category["documents"]) for category in index(listing, warnings={many[5].id: tricky})[
        "document_index"
    ]) == 2002  # fmt: skip
    pieces = list(IndexedFolder(listing, True, {}).pieces())
    assert len(pieces) > 10
    assert max(map(len, pieces)) < 400_000
