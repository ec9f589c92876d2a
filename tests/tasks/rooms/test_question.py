"""`diligence ask --room`: quotations with their places, silence where the room says nothing, several rooms at once."""

import json
import time
from pathlib import Path

import pytest

from deployments.operations import ask
from tasks.errors import BadRequest
from tests.tasks.reading.ocr.scans import needs_tesseract
from tests.tasks.reading.pdf.test_unknown_characters import without_names

ROOM = {
    "Lease.txt": "The landlord is Nord AG. Either party may end the lease by a notice of six months.",
    "Memo.md": "# Customers\n\nThe largest customer accounts for 24 % of revenue.\n\nStaff number 41.",
    "Mietvertrag.txt": "Die Kündigungsfrist beträgt drei Monate zum Quartalsende.",
}


@pytest.fixture
def room(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "alpha"
    folder.mkdir()
    for name, text in ROOM.items():
        (folder / name).write_text(text)
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    return folder


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What notice ends the lease?", "Either party may end the lease by a notice of six months."),
        ("How much of revenue is the largest customer?", "The largest customer accounts for 24 % of revenue."),
        ("Wie lang ist die Kündigungsfrist?", ROOM["Mietvertrag.txt"]),
        ("Which satellites does the insurer cover?", None),
        ("Is there a pension deficit?", None),
    ],
)
def test_a_room_answers_by_quotations_or_is_silent(
    room: Path, capsys: pytest.CaptureFixture[str], question: str, words: str | None
) -> None:
    ask(question, room=[str(room)], format="json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["missing"] is (words is None)
    assert [quote["text"] for quote in answer["quotes"]][:1] == ([] if words is None else [words])
    assert all(quote["verified"] and quote["place"] for quote in answer["quotes"])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the price of the roof subcontract?", ["roof: 7"]),
        ("What is the price in the supply subcontract?", ["supply: 5", "supply-final: 6"]),  # a document and its copy
        ("What is the price of the town subcontract?", ["lift: 9", "roof: 7", "supply: 5", "supply-final: 6"]),
        ("What does the roof subcontract say on price?", ["roof: 7"]),
        ("Is there a roof subcontract?", ["roof: 7"]),
        ("What price does the lift agreement set?", ["lift: 9", "roof: 7", "supply: 5", "supply-final: 6"]),
        ("Which satellites does the roof subcontract insure?", []),
    ],
)
def test_a_document_that_a_question_names_is_quoted_first_and_not_alone(
    room: Path, capsys: pytest.CaptureFixture[str], question: str, words: list[str]
) -> None:
    for name, price in (("Subcontract lift town", 9), ("Subcontract roof town", 7), ("Supply", 5), ("Supply-final", 6)):
        key = name.removeprefix("Subcontract ").removesuffix(" town").lower()
        text = f"SUPPLY SUBCONTRACT\nThis subcontract is made for the town.\nThe agreed price is {key}: {price}.\n"
        (room / f"{name}.txt").write_text(text)
    ask(question, room=[str(room)], format="json")
    quotes = [quote["text"] for quote in json.loads(capsys.readouterr().out)["quotes"]]
    keys = ("lift: 9", "roof: 7", "supply: 5", "supply-final: 6")
    shown = [key for quote in quotes for key in keys if f"{key}." in quote]
    assert shown[: len(words)] == words
    assert len(shown) == (4 if "price" in question else len(words))


def test_rooms_stand_side_by_side_and_wrong_use_is_told(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = room.parent / "beta"
    other.mkdir()
    (other / "Note.txt").write_text("Beta is a bakery in Lyon.")
    ask("What notice ends the lease?", room=[str(room), str(other)])
    out = capsys.readouterr().out
    assert "[1] Lease.txt, " in out[: out.index(f"{other}:")]
    assert "The room does not say" in out[out.index(f"{other}:") :]
    with pytest.raises(BadRequest, match="not both"):
        ask("?", context=str(room), room=[str(room)])
    with pytest.raises(BadRequest, match="empty"):
        ask(" ", room=["nowhere"])  # before the room is read


@needs_tesseract
def test_a_page_whose_fonts_name_no_characters_answers_once_it_is_recognised(
    room: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "Report.pdf").write_bytes(without_names())
    time.sleep(0.1)  # a file of the last 50 ms may still be changing, and its text is read again
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    ask("What does the annual report show?", room=[str(room)])
    assert "does not say" not in (unread := capsys.readouterr().out)
    assert "It may be in what could not be read: Report.pdf." in unread
    monkeypatch.delenv("DILIGENCE_OCR")
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    ask("What does the annual report show?", room=[str(room)])
    assert "shows that revenue grew by ten percent" in capsys.readouterr().out


def test_a_paper_on_a_document_is_not_asked_in_its_place(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (room / "Facility Bank AG.txt").write_text("LOAN AGREEMENT\nBank AG lends. The interest rate is 5.5% a year.\n")
    (room / "Loan memo.txt").write_text("MEMO\nThe loan agreement with Bank AG has an interest rate of 4%.\n")
    ask("What is the interest rate of the loan agreement?", room=[str(room)], format="json")
    assert "5.5%" in capsys.readouterr().out


@pytest.mark.parametrize(("party", "first"), [("Birch", 5), ("Cedar Soft", 7)])
def test_a_party_that_one_document_names_chooses_it(
    room: Path, capsys: pytest.CaptureFixture[str], party: str, first: int
) -> None:
    between = "\n\n".join(["The services are described in the order form."] * 60)
    for name, fee in (("Birch Ltd", 5), ("Cedar Soft GmbH", 7)):
        parties = f'Made by and between Alder AG ("Customer") and {name} ("Provider").'
        (room / f"{fee}.txt").write_text(f"SERVICES AGREEMENT\n{parties}\n{between}\nThe fee is EUR {fee}.\n")
    ask(f"What is the fee in the agreement with {party}?", room=[str(room)], format="json")
    quotes = [quote["text"] for quote in json.loads(capsys.readouterr().out)["quotes"]]
    assert [quote for quote in quotes if quote.startswith("The fee is")][:1] == [f"The fee is EUR {first}."]


def test_a_word_of_a_partys_name_is_also_asked_about(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    delivered = "The Supplier delivers 500 tonnes of steel a year."
    (room / "Supply.txt").write_text(
        f"SUPPLY AGREEMENT\nMade between Alder Steel GmbH (“Supplier”) and Birch plc (“Buyer”).\n1. {delivered}\n"
    )
    (room / "Minutes.txt").write_text("MINUTES\nThe board approved the budget.\n")
    ask("How much steel does the agreement with Alder Steel require?", room=[str(room)], format="json")
    assert delivered in capsys.readouterr().out
