"""The cases: number and seed give the same file again, as long as the documents are the same."""

import random
from typing import NamedTuple

from tests.fuzz import markup, office, plain, portable
from tests.fuzz.seeds import Seeds

_TEXTS = frozenset({".txt", ".md", ".json", ".xml", ".csv", ".html", ".rtf"})
_LARGEST = 8 << 20
"""Bytes: a case that grew beyond is cut."""


class Case(NamedTuple):
    """A mutated document of a format (".docx")."""

    number: int
    extension: str
    data: bytes


def case(seeds: Seeds, seed: int, number: int) -> Case:
    """Case `number` of the run with that seed; the formats take turns."""
    extension = seeds.formats[number % len(seeds.formats)]
    rng = random.Random(f"{seed} {number} {extension}")
    data = rng.choice(seeds.documents[extension])
    return Case(number, extension, _mutated(rng, data, extension)[:_LARGEST])


def _mutated(rng: random.Random, data: bytes, extension: str) -> bytes:
    if extension == ".pdf":
        return portable.mutate(rng, data)
    if extension not in _TEXTS:
        return office.mutate(rng, data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = _mutated_text(rng, data, extension)
    if extension == ".rtf":
        return data
    encoding = rng.choice(
        ("utf-8", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp932", "gb18030")
    )
    return (
        data if encoding == "utf-8" else plain.mutate(rng, data.decode("utf-8", "replace").encode(encoding, "replace"))
    )


def _mutated_text(rng: random.Random, data: bytes, extension: str) -> bytes:
    if extension in (".html", ".xml") and rng.random() < 0.5:
        return markup.mutate(rng, data)
    return plain.mutate(rng, data)
