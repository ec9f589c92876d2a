"""The search language, against the examples and rules of Drive's guide."""

import pytest

from tests.google.conftest import ADA, Connect
from tests.google.natives import DOCUMENT
from tests.google.server import DriveEmulator
from tests.google.test_listing import names, refusal


@pytest.fixture
def library(drive: DriveEmulator, connect: Connect) -> Connect:
    world = drive.world
    root = world.root(ADA)
    room = world.folder("hello", root)
    for name in ("HelloWorld.txt", "goodbye world.pdf", "It's \\ odd.txt", "photo.png", "photo.jpg"):
        world.file(name, room, b"x")
    world.native("plan", room, DOCUMENT, text="an important thing")
    world.trash(world.file("gone.txt", room))
    return connect


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("name = 'hello'", {"hello"}),
        ("name = 'It\\'s \\\\ odd.txt'", {"It's \\ odd.txt"}),
        ("name contains 'Hello' and name contains 'hello'", {"hello", "HelloWorld.txt"}),
        # the guide: `HelloWorld` is found by 'Hello', not by 'World'
        ("name contains 'World'", {"goodbye world.pdf"}),
        ("name contains 'hello' and not name contains 'helloworld'", {"hello"}),
        ("mimeType = 'application/vnd.google-apps.folder'", {"My Drive", "hello"}),
        ("mimeType contains 'image/'", {"photo.png", "photo.jpg"}),
        ("mimeType='image/png' or mimeType='image/jpeg' and name='nothing'", {"photo.png"}),
        ("(mimeType='image/png' or mimeType='image/jpeg') and name contains 'photo'", {"photo.png", "photo.jpg"}),
        ("trashed = true", {"gone.txt"}),
        ("fullText contains 'important'", {"plan"}),
        ("createdTime < '2026-01-05T09:00:02'", {"My Drive"}),
        ("createdTime <= '2026-01-05T10:00:01+01:00'", {"My Drive"}),
        ("'me' in owners and mimeType = 'application/pdf'", {"goodbye world.pdf"}),
        ("sharedWithMe = true", set()),
    ],
)
def test_queries(library: Connect, q: str, found: set[str]) -> None:
    assert names(library().files().list(q=q).execute()) == found


@pytest.mark.parametrize(
    "q",
    [
        "name", "name =", "name = hello", "name = 'open", "nome = 'a'", "name > 'a'", "trashed = 'true'",
        "'root' in parent", "(name = 'a'", "name = 'a')", "name = 'a' name = 'b'", "name = 'a' and", "name = 'it's'",
        "modifiedTime > 'yesterday'", "mimeType in 'a'", "not", "'a' contains name", "trashed contains true", "🙂",
    ],
)  # fmt: skip
def test_what_the_language_does_not_know_is_400(library: Connect, q: str) -> None:
    assert refusal(library().files().list(q=q)) == (400, "invalid", "q")


def test_all_in_a_binned_folder_is_in_the_bin(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    folder = world.folder("old", world.root(ADA))
    world.file("inside.txt", folder)
    world.trash(folder)
    files = connect().files()
    assert names(files.list(q=f"'{folder.id}' in parents").execute()) == {"inside.txt"}
    assert names(files.list(q=f"'{folder.id}' in parents and trashed = false").execute()) == set()
    found = files.list(q="trashed = true", fields="files(name,trashed,explicitlyTrashed)", orderBy="name").execute()
    assert found["files"] == [
        {"name": "inside.txt", "trashed": True, "explicitlyTrashed": False},
        {"name": "old", "trashed": True, "explicitlyTrashed": True},
    ]
