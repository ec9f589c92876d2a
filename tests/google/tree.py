"""Builds a tree of folders and files, the same again for the same seed."""

from dataclasses import dataclass
from random import Random

from tests.google.blobs import Blob, Bytes, Repeated
from tests.google.exports import made
from tests.google.items import Item
from tests.google.natives import DOCX, PDF, PPTX, XLSX
from tests.google.world import World

_WORDS = ("Annual", "Audit", "Board", "Budget", "Contract", "Customer", "Forecast", "Lease", "Loan", "Minutes", "Tax")
_TYPES = {"pdf": PDF, "docx": DOCX, "xlsx": XLSX, "pptx": PPTX, "txt": "text/plain", "csv": "text/csv"}


@dataclass(frozen=True)
class Tree:
    """What was built: the root that was given is no part of `folders`."""

    root: Item
    folders: list[Item]
    files: list[Item]


def build_tree(
    world: World, root: Item, *, folders: int = 1000, files: int = 20_000, depth: int = 6, seed: int = 0,
    readable: bool = False,
) -> Tree:  # fmt: skip
    """Fills `root`. At least one folder lies `depth` deep, none deeper; some folders are empty, some full.

    With `readable` each file is a small real one of its type; else only its length (0 to 200 kB) and
    checksums are true and it reads as lines of text, which is enough for listings.
    """
    random = Random(seed)
    made_folders: list[Item] = []
    open_to: list[tuple[Item, int]] = [(root, 0)]
    for number in range(folders):
        parent, level = open_to[-1] if number < depth else random.choice(open_to)
        folder = world.folder(f"{random.choice(_WORDS)} {number:04}", parent)
        made_folders.append(folder)
        if level + 1 < depth:
            open_to.append((folder, level + 1))
    places = made_folders or [root]
    contents = _Contents(random)
    made_files = []
    for number in range(files):
        kind = random.choice(list(_TYPES))
        # Squaring leans to the first folders: real trees are uneven.
        place = places[int(random.random() ** 1.5 * len(places))]
        blob = contents.real(kind, number) if readable else contents.length()
        made_files.append(world.file(f"{random.choice(_WORDS)} {number:05}.{kind}", place, blob, _TYPES[kind]))
    return Tree(root, made_folders, made_files)


class _Contents:
    """Few different contents, shared: making and hashing 20,000 would take longer than listing them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lengths = [Repeated(length) for length in [0, *(random.randrange(1, 200_000) for _ in range(63))]]
        self._made: dict[tuple[str, int], Blob] = {}

    def length(self) -> Blob:
        return self._random.choice(self._lengths)

    def real(self, kind: str, number: int) -> Blob:
        key = (kind, number % 8)
        if key not in self._made:
            text = f"Document {number % 8} of the kind {kind}.\nRevenue grew by {3 + number % 8} % in 2025."
            self._made[key] = Bytes(made(_TYPES[kind], text))
        return self._made[key]
