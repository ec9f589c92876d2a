"""ORs of parents that lose rows without a word: nothing is missing, and few requests are made."""

from collections import deque
from typing import Literal

import pytest

from tasks.documents.drive.google import api
from tasks.documents.drive.google.api import FOLDER
from tasks.documents.drive.google.client import Client
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.google.tree import Tree, build_tree
from tests.tasks.documents.drive.google.connection import client_of
from tests.tasks.documents.drive.google.rooms import ADA, listed


@pytest.fixture
def tree(emulator: DriveEmulator) -> Tree:
    root = emulator.world.folder("top", emulator.world.root(ADA))
    return build_tree(emulator.world, root, folders=300, files=2400, seed=3)


@pytest.mark.parametrize("loss", ["all", "some"])
@pytest.mark.parametrize("every", [1, 2, 5])
def test_nothing_is_missing(emulator: DriveEmulator, tree: Tree, loss: Literal["all", "some"], every: int) -> None:
    emulator.settings.or_loss, emulator.settings.or_loss_every = loss, every
    emulator.settings.parents_page_cap = 100
    listing = listed(emulator, tree.root)
    assert {document.id for document in listing.documents} == {file.id for file in tree.files}
    assert {folder.id for folder in listing.folders} == {folder.id for folder in tree.folders}
    assert not listing.incomplete


@pytest.mark.parametrize("loss", ["all", "some"])
def test_one_who_believes_the_ors_loses_documents(
    emulator: DriveEmulator, tree: Tree, loss: Literal["all", "some"]
) -> None:
    emulator.settings.or_loss, emulator.settings.or_loss_every = loss, 2
    with client_of(emulator) as client:
        assert len(_believed(client, tree.root)) < len(tree.files)


def test_empty_folders_are_asked_again_a_hundred_at_a_time(emulator: DriveEmulator) -> None:
    top = emulator.world.folder("top", emulator.world.root(ADA))
    for number in range(250):
        emulator.world.folder(f"{number}", top)
    assert len(listed(emulator, top).folders) == 250
    counts = emulator.counts
    assert counts.by_method["batch"] == 4  # who is asking and what for, then 250 folders
    assert counts.requests <= 20


def test_a_tree_without_loss_takes_few_requests(emulator: DriveEmulator, tree: Tree) -> None:
    listed(emulator, tree.root)
    assert emulator.counts.requests < 25


def _believed(client: Client, top: Item) -> set[str]:
    """The documents below a folder, by ORs of up to 50 parents whose answers are taken as they are."""
    waiting, found = deque([top.id]), set[str]()
    while waiting:
        parents = [waiting.popleft() for _ in range(min(50, len(waiting)))]
        token = None
        while True:
            page = client.call(api.page(api.query_folders(parents), fields=api.TOGETHER, token=token))
            for file in page["files"]:
                if file["mimeType"] == FOLDER:
                    waiting.append(file["id"])
                else:
                    found.add(file["id"])
            token = page.get("nextPageToken")
            if not token:
                break
    return found
