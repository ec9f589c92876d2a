"""Real documents side by side with their texts, in the order in which a person would read them."""

from pathlib import Path

import pytest

from tasks.reading.embedded import read_with_embedded
from tasks.reading.formats import list_supported
from tasks.reading.text_writer import FILE_DATES
from tests.cases import cases

DOCUMENTS = Path(__file__).parents[2] / "documents"
NAMES = sorted(
    path.name
    for path in DOCUMENTS.iterdir()
    if path.suffix in list_supported() and len(path.suffixes) == 1 and path.name != "README.md"
)


@cases("name", NAMES)
def test_a_document_reads_as_a_person_would_read_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # without LibreOffice, whose releases differ
    expected = Path(DOCUMENTS, f"{name}.txt").read_text(encoding="utf-8")

    assert read_with_embedded(DOCUMENTS / name).text.replace("\f", "\n---\n") == expected


def place_of(name: str, words: str) -> list[tuple[str, str]]:
    """The places that words of a document stand in, the outer one first."""
    reading = read_with_embedded(DOCUMENTS / name)
    at = reading.text.index(words)
    return [
        (place.kind, place.label)
        for place in reading.places
        if place.kind != FILE_DATES and place.start <= at < place.end
    ]


@cases(
    ("name", "words", "places"),
    [
        (
            "merged-cells.docx",
            "Grow Operations",
            [("body", ""), ("heading", "Leadership Development Map"), ("table", "")],
        ),
        (
            "numbered-contract.docx",
            "December",
            [("body", ""), ("heading", "1. Definitions"), ("inserted", "Sam Buyer, 2024-05-03T09:30:00Z")],
        ),
        ("tables-lists-and-notes.pptx", "With footnote", [("slide", "1"), ("shape", "Subtitle 2")]),
        ("dates.xlsx", "2015-01-30", [("sheet", "Sheet1"), ("cells", "A1:C3")]),
        ("index-and-text-box.xlsx", "Mobile churn", [("sheet", "Index"), ("cells", "B3:F22")]),
        ("lists.odt", "bullet list 2.2.1", [("body", ""), ("heading", "Heading level 2: A")]),
        ("table.ods", "Freshwater", [("sheet", "Sheet1"), ("cells", "B2:C10")]),
        ("table-and-lists.odp", "Final notes", [("slide", "3"), ("speaker_note", "")]),
        ("tables.pdf", "Table 6", [("page", "1")]),
    ],
)
def test_words_know_where_they_stand(
    name: str, words: str, places: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert place_of(name, words) == places
