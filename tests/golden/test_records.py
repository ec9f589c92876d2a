"""What `make golden` says of a difference, and what it records."""

from pathlib import Path

import pytest

from tests.golden import records
from tests.golden.records import Measured, differences, record, recorded


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    monkeypatch.setattr(records, "FOLDER", tmp_path / "recorded")
    measured = Measured(("text", "characters"))
    measured.add("sample/deck.pptx", "1a2b", 120)
    measured.add("corpus/lease.pdf", "Damaged")
    return measured


def test_what_was_recorded_does_not_differ(measured: Measured) -> None:
    record("texts", measured)
    assert list(differences(recorded("texts"), measured)) == []


def test_a_difference_names_the_document_and_what_changed(measured: Measured) -> None:
    record("texts", measured)
    now = Measured(measured.columns)
    now.add("sample/deck.pptx", "3c4d", 100)
    now.add("sample/new.txt", "5e6f", 7)
    assert list(differences(recorded("texts"), now)) == [
        "corpus/lease.pdf: is gone",
        "sample/deck.pptx: text 1a2b → 3c4d, characters 120 → 100",
        "sample/new.txt: is new",
    ]


def test_what_this_machine_cannot_measure_is_neither_missed_nor_lost(measured: Measured) -> None:
    record("texts", measured)
    now = Measured(measured.columns, skipped={"corpus/": "no corpus"})
    now.add("sample/deck.pptx", "1a2b", 120)
    assert list(differences(recorded("texts"), now)) == []
    record("texts", now)
    assert recorded("texts")["corpus/lease.pdf"] == ["Damaged"]
