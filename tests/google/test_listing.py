"""files.list through Google's own Python client."""

import json
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from tests.google.conftest import ADA, BOB, Connect
from tests.google.natives import FOLDER
from tests.google.server import DriveEmulator
from tests.google.tree import build_tree


def names(answer: dict[str, Any]) -> set[str]:
    return {file["name"] for file in answer["files"]}


def refusal(call: Any) -> tuple[int, str, str | None]:
    """Status, reason and location of the error that a call ends with."""
    with pytest.raises(HttpError) as caught:
        call.execute()
    error = json.loads(caught.value.content)["error"]
    assert error["code"] == caught.value.resp.status
    return error["code"], error["errors"][0]["reason"], error["errors"][0].get("location")


def test_a_listing_without_fields_has_the_documented_ones(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"a")
    answer = connect().files().list(q="'root' in parents").execute()
    assert answer == {
        "kind": "drive#fileList",
        "incompleteSearch": False,
        "files": [{"kind": "drive#file", "id": file.id, "name": "a.txt", "mimeType": "text/plain"}],
    }


def test_only_the_fields_asked_for_come(drive: DriveEmulator, connect: Connect) -> None:
    drive.world.file("a.txt", drive.world.root(ADA), b"a")
    files = connect().files()
    fields = "files(name,capabilities/canDownload,owners(emailAddress))"
    answer = files.list(q="'root' in parents", fields=fields).execute()
    expected = {"name": "a.txt", "capabilities": {"canDownload": True}, "owners": [{"emailAddress": ADA}]}
    assert answer == {"files": [expected]}
    assert "md5Checksum" in files.list(q="'root' in parents", fields="*").execute()["files"][0]


@pytest.mark.parametrize(
    "fields", ["files(nmae)", "files(name", "nextPageToken,,files", "files(name))", "files/name/x"]
)
def test_a_bad_field_is_400(connect: Connect, fields: str) -> None:
    assert refusal(connect().files().list(fields=fields)) == (400, "invalidParameter", "fields")


def test_pages_hold_100_rows_at_first_and_1000_at_most(drive: DriveEmulator, connect: Connect) -> None:
    root = drive.world.root(ADA)
    for number in range(1205):
        drive.world.file(f"{number}.txt", root)
    files = connect().files()
    assert len(files.list(q="'root' in parents").execute()["files"]) == 100
    first = files.list(q="'root' in parents", pageSize=5000, fields="nextPageToken,files(name)").execute()
    assert len(first["files"]) == 1000
    rest = files.list(
        q="'root' in parents", pageSize=1000, pageToken=first["nextPageToken"], fields="nextPageToken,files(name)"
    ).execute()
    assert len(names(first) | names(rest)) == 1205
    assert "nextPageToken" not in rest


def test_the_next_page_token_comes_only_if_it_is_asked_for(drive: DriveEmulator, connect: Connect) -> None:
    for _ in range(3):
        drive.world.file("same name.txt", drive.world.root(ADA))
    assert set(connect().files().list(pageSize=1, fields="files(id)").execute()) == {"files"}


def test_a_token_of_another_query_is_400(drive: DriveEmulator, connect: Connect) -> None:
    for _ in range(3):
        drive.world.file("a.txt", drive.world.root(ADA))
    token = connect().files().list(pageSize=1, q="'root' in parents").execute()["nextPageToken"]
    for client, q in ((connect(), "trashed=false"), (connect(BOB), "'root' in parents")):
        assert refusal(client.files().list(q=q, pageToken=token)) == (400, "invalid", "pageToken")
    assert refusal(connect().files().list(pageToken="made up")) == (400, "invalid", "pageToken")


def test_parents_can_cap_a_page(drive: DriveEmulator, connect: Connect) -> None:
    drive.settings.parents_page_cap = 460
    for number in range(500):
        drive.world.file(f"{number}.txt", drive.world.root(ADA))
    files = connect().files()
    assert len(files.list(pageSize=1000, fields="files(id,parents)").execute()["files"]) == 460
    assert len(files.list(pageSize=1000, fields="files(id)", q="'root' in parents").execute()["files"]) == 500


def test_a_first_page_can_be_empty_and_not_the_last(drive: DriveEmulator, connect: Connect) -> None:
    drive.settings.empty_first_page = True
    drive.world.file("a.txt", drive.world.root(ADA))
    files = connect().files()
    first = files.list(q="'root' in parents").execute()
    assert first["files"] == []
    assert names(files.list(q="'root' in parents", pageToken=first["nextPageToken"]).execute()) == {"a.txt"}


def test_a_page_size_below_1_is_400(connect: Connect) -> None:
    assert refusal(connect().files().list(pageSize=0)) == (400, "invalidParameter", "pageSize")


def test_order(drive: DriveEmulator, connect: Connect) -> None:
    root = drive.world.root(ADA)
    for name in ("b.txt", "a.txt"):
        drive.world.file(name, root, b"x")
    drive.world.folder("z", root)
    files = connect().files()

    def ordered(by: str) -> list[str]:
        found = files.list(q="'root' in parents", orderBy=by).execute()["files"]
        return [file["name"] for file in found]

    assert ordered("folder,name") == ["z", "a.txt", "b.txt"]
    assert ordered("name desc") == ["z", "b.txt", "a.txt"]
    assert ordered("createdTime") == ["b.txt", "a.txt", "z"]
    assert refusal(files.list(orderBy="size")) == (400, "invalid", "orderBy")
    assert refusal(files.list(orderBy="name", q="fullText contains 'x'")) == (400, "badRequest", "orderBy")


def test_a_long_query_comes_as_a_post(drive: DriveEmulator, connect: Connect) -> None:
    """The Python client turns a GET above 2,048 characters into a POST with x-http-method-override."""
    world = drive.world
    folders = [world.folder(f"{number}", world.root(ADA)) for number in range(60)]
    for folder in folders:
        world.file(f"in {folder.name}.txt", folder)
    q = " or ".join(f"'{folder.id}' in parents" for folder in folders)
    assert len(connect().files().list(q=q).execute()["files"]) == 60
    assert drive.counts.by_method["files.list"] == 1


def test_more_than_150_terms_are_too_complex(drive: DriveEmulator, connect: Connect) -> None:
    q = " or ".join(["'root' in parents"] * 151)
    with pytest.raises(HttpError, match="The query is too complex"):
        connect().files().list(q=q).execute()
    connect().files().list(q=q.removesuffix(" or 'root' in parents")).execute()


def test_a_folder_not_shared_is_404_in_a_query_even_beside_good_ones(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    mine, hers = world.folder("mine", world.root(BOB)), world.folder("hers", world.root(ADA))
    q = f"'{mine.id}' in parents or '{hers.id}' in parents"
    for query in (q, f"'{hers.id}' in parents", "'unknown' in parents"):
        assert refusal(connect(BOB).files().list(q=query)) == (404, "notFound", "fileId")


def test_shared_drives_need_both_parameters(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root = world.drive("Deals", {ADA: "organizer"})
    world.file("a.txt", root)
    files = connect().files()
    inside = f"'{root.id}' in parents"
    assert refusal(files.list(q=inside)) == (404, "notFound", "fileId")
    assert refusal(files.list(q=inside, supportsAllDrives=True)) == (404, "notFound", "fileId")
    both = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
    assert names(files.list(q=inside, **both).execute()) == {"a.txt"}
    assert names(files.list(corpora="drive", driveId=root.id, **both).execute()) == {"a.txt"}
    assert names(files.list(corpora="allDrives", **both).execute()) == {"My Drive", "a.txt"}


def test_corpora_that_do_not_fit_are_refused(drive: DriveEmulator, connect: Connect) -> None:
    root = drive.world.drive("Deals", {ADA: "organizer"})
    files = connect().files()
    both = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
    unfit = (403, "teamDriveIdRequiresTeamDriveCorpora", None)
    assert refusal(files.list(corpora="drive", **both)) == unfit
    assert refusal(files.list(driveId=root.id, **both)) == unfit
    assert refusal(files.list(corpora="allDrives", supportsAllDrives=True))[0] == 403
    assert refusal(files.list(corpora="all")) == (400, "invalidParameter", "corpora")
    other = connect(BOB).files().list(corpora="drive", driveId=root.id, **both)
    assert refusal(other) == (404, "notFound", "driveId")


def test_incomplete_search_is_said_when_set(drive: DriveEmulator, connect: Connect) -> None:
    drive.settings.incomplete_search = True
    assert connect().files().list().execute()["incompleteSearch"] is True


@pytest.mark.parametrize("loss", ["all", "some"])
def test_an_or_query_can_lose_parents_and_a_single_one_does_not(
    drive: DriveEmulator, connect: Connect, loss: Any
) -> None:
    world = drive.world
    folders = [world.folder(f"{number}", world.root(ADA)) for number in range(20)]
    for folder in folders:
        world.file("x.txt", folder)
    drive.settings.or_loss, drive.settings.or_loss_every = loss, 1
    files = connect().files()
    q = " or ".join(f"'{folder.id}' in parents" for folder in folders)

    def seen(query: str) -> list[str]:
        answer = files.list(q=query, fields="incompleteSearch,files(parents)").execute()
        assert answer["incompleteSearch"] is False
        return sorted(parent for file in answer["files"] for parent in file["parents"])

    first = seen(q)
    assert len(first) == 0 if loss == "all" else 0 < len(first) < 20
    assert seen(q) == first
    assert all(seen(f"'{folder.id}' in parents") == [folder.id] for folder in folders)


def test_a_tree_is_the_same_for_the_same_seed() -> None:
    def built(seed: int) -> list[tuple[str, str]]:
        other = DriveEmulator()
        root = other.world.root(ADA)
        tree = build_tree(other.world, root, folders=30, files=200, depth=4, seed=seed)
        assert max(_depth(other, folder.id) for folder in tree.folders) == 4
        return [(item.id, item.name) for item in (*tree.folders, *tree.files)]

    assert built(1) == built(1)
    assert built(1) != built(2)


def _depth(drive: DriveEmulator, id_: str) -> int:
    depth, item = 0, drive.world.items[id_]
    while item.parent:
        assert drive.world.items[item.parent].mime == FOLDER
        depth, item = depth + 1, drive.world.items[item.parent]
    return depth
