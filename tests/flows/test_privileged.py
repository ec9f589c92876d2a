"""Privileged documents: no word of them reaches a model or an assistant, and everybody who needs to know is told."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from deployments.operations import ask
from flows.batch import batch
from storage import database
from storage.runs import find_run
from tasks.assistants import lookup
from tasks.documents.index import document_index
from tasks.errors import NotAllowed
from tasks.privacy import is_named
from tasks.reports import live
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.cases import cases
from tests.flows.conftest import write_room
from tests.servers.openai_server import ModelRequest, ModelServer

SECRETS = ("Quillonford", "Brambleworth", "8,412,307", "Zandvleet")
OPEN = "Ninety percent of the revenue is recurring. Revenue in 2024 was EUR 12.4 million."
ROOM = {
    "Deck.txt": OPEN,
    "Legal/Advice.txt": f"{SECRETS[0]} advises that most of the revenue is recurring only on paper.",
    "Legal/Letters/2024/Note.txt": f"{SECRETS[1]}: revenue in 2023 was EUR {SECRETS[2]}, recurring or not.",
    "Other/Copy of the advice.txt": f"{SECRETS[0]} advises that most of the revenue is recurring only on paper.",
    "Other/Minutes.txt": "Minutes of a meeting of the board of directors\n\nPresent: the directors.\n\n"
    f"The board resolved that recurring revenue be sold to {SECRETS[3]}.",
}
CRITERIA = {
    "scale": [0, 5],
    "isolate": "high",
    "criteria": [
        {"id": "recurring", "ask": "Is most of the revenue recurring?", "severity": "high"},
        {"id": "growth", "ask": "How did revenue grow between 2023 and 2024, recurring or not?"},
        {"id": "size", "figure": "revenue", "rule": ">= 1 EUR", "period": "2023"},
    ],
}


def answer(request: ModelRequest) -> str:
    """A model that quotes each first line that it is given, under whatever schema."""
    if '"verdicts"' in request.prompt:
        return json.dumps({"verdicts": [{"statement": 1, "verdict": "not said"}]})
    if request.format == "text":
        return "Ninety percent of the revenue is recurring [1]."
    quotes = [{"source": 1, "text": OPEN[:43], "stance": "for"}]
    reading = '"found"' not in request.prompt
    return json.dumps({"quotes": quotes} | ({} if reading else {"found": True, "score": 4, "reason": f"{OPEN} [1]"}))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer) as server:
        yield server


@pytest.fixture
def screen(batch_file: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("DILIGENCE_AI_MODEL", "m")
    monkeypatch.setenv("DILIGENCE_AI_PRIVILEGED", "legal, board_minutes")
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(batch_file.parent))
    write_room(batch_file.parent / "rooms" / "gamma", ROOM)
    (batch_file.parent / "criteria.yaml").write_text(json.dumps(CRITERIA))
    head = batch_file.read_text().partition("companies:")[0]
    company = "{name: Gamma, domain: gamma.example, folder: rooms/gamma}"
    batch_file.write_text(f"{head}companies:\n  - {company}\n")
    return batch_file


def run(screen: Path) -> Report:
    batch(screen)
    with database.reading() as session:
        found = find_run(session, "latest")
    assert found is not None
    return build(found.id)


def ids(folder: str = "root") -> dict[str, str]:
    index = document_index.function(folder)
    folders = [one for category in index.document_index for one in (category, *(category.subfolders or ()))]
    return {entry.document_name: entry.document_id for one in folders for entry in one.documents}


def told(server: ModelServer) -> str:
    return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)


@pytest.mark.usefixtures("without_prefect")
def test_no_word_of_a_privileged_document_reaches_a_model_by_any_operation(
    screen: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run(screen)
    room = screen.parent / "rooms" / "gamma"
    ask("Is the revenue recurring?", room=[str(room)], format="json")
    notes = json.loads(capsys.readouterr().out)["notes"]
    ask("Is the revenue recurring?", context=str(room))
    assert "4 documents were kept from the model" in capsys.readouterr().err
    assert OPEN[:43] in told(server)
    assert [secret for secret in SECRETS if secret in told(server)] == []
    (company,) = report.companies
    notice = "4 documents were kept from the model (DILIGENCE_AI_PRIVILEGED): Advice.txt, "
    assert any(warning.startswith(notice) for warning in company.warnings)
    assert any(note.startswith(notice) for note in notes)
    assert {one.id: one.status for one in company.criteria}["size"] == "scored"  # no model is needed for figures
    assert {document.status for document in company.documents} == {"read"}


@pytest.mark.usefixtures("without_prefect")
def test_an_assistant_is_given_none_of_their_words(screen: Path) -> None:
    report = run(screen)
    documents = ids()
    answers: Sequence[dict[str, Any]] = [
        live.run_data(report.run.id),
        lookup.find_passages("root", "Who advises that revenue is recurring?"),
        lookup.check_statement("root", f"{SECRETS[0]} advises that most of the revenue is recurring only on paper."),
        lookup.room_figures("root", "revenue"),
        lookup.document_text(documents["Deck.txt"]),
        lookup.verify_quote(documents["Deck.txt"], "is recurring"),
    ]
    shown = json.dumps(answers, ensure_ascii=False)
    assert OPEN[:43] in shown
    assert [secret for secret in SECRETS if secret in shown] == []
    assert answers[1]["kept_from_model"] == 4
    assert {one["id"]: one["status"] for one in answers[0]["companies"][0]["criteria"]}["size"] == "withheld"
    refused: list[Callable[[], object]] = [
        lambda: lookup.document_text(documents["Note.txt"]),
        lambda: lookup.evidence(documents["Minutes.txt"], "Zandvleet"),
        lambda: lookup.document_text(documents["Copy of the advice.txt"]),
    ]
    for call in refused:
        with pytest.raises(NotAllowed, match="privileged"):
            call()


@pytest.mark.usefixtures("without_prefect")
def test_no_name_leaves_by_any_operation_and_quotations_are_verified(
    screen: Path, server: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_PRIVILEGED", "")
    listed = screen.parent / "names.txt"
    listed.write_text("Zandvleet Holding\n")
    monkeypatch.setenv("DILIGENCE_AI_PSEUDONYMS", str(listed))
    room = screen.parent / "rooms" / "gamma"
    said = "Gamma and Brambleworth agree that ninety percent of the revenue is recurring."
    (room / "Deck.txt").write_text(f"{said}\n\nKind regards\n\nOrla Quillonford\n")
    (room / "Brambleworth Deed.txt").write_text("Recurring revenue.\n\nBy: _____\nName: Tove Brambleworth\nTitle: CEO")
    names = ("Gamma", "Brambleworth", "Quillonford", "Zandvleet", "Orla", "Tove")

    def quote(request: ModelRequest) -> str:
        words = re.search(r"Firmq\w{4} and \w+ agree that ninety percent of the revenue is recurring\.", request.prompt)
        spoken = words[0] if words else "nothing"
        if request.format == "text" or '"verdicts"' in request.prompt:
            return f"{spoken} [1]" if request.format == "text" else '{"verdicts": []}'
        reading = '"found"' not in request.prompt
        found = {} if reading else {"found": True, "score": 4, "reason": f"{spoken} [1]"}
        return json.dumps({"quotes": [{"source": 1, "text": spoken, "stance": "for"}]} | found)

    server.says = quote
    report = run(screen)
    ask("Is Gamma's revenue recurring?", room=[str(room)])
    assert said in capsys.readouterr().out
    ask("Is the revenue of Brambleworth recurring?", context=str(room / "Brambleworth Deed.txt"))
    (company,) = report.companies
    quotes = [one for criterion in company.criteria[:2] for one in criterion.quotes]
    assert {(one.text, one.verified) for one in quotes if one.text == said} == {(said, True)}
    assert [name for name in names if name.casefold() in told(server).casefold()] == []


@pytest.mark.parametrize(("asked", "is_given"), [("m", True), ("other", False)])
@pytest.mark.usefixtures("without_prefect")
def test_the_local_model_that_is_named_for_it_reads_them(
    screen: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, asked: str, is_given: bool
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_PRIVILEGED_MODEL", asked)
    ask("What does Quillonford advise?", room=[str(screen.parent / "rooms" / "gamma")])
    assert (SECRETS[0] in told(server).replace("What does Quillonford advise", "")) is is_given


@cases("rule", ["legal", "Legal/", "**/Legal/**", "rooms/gamma/Legal", "*.TXT", "gamma/legal/*"])
def test_a_rule_names_a_folder_a_path_or_a_name(rule: str) -> None:
    assert is_named("rooms/gamma/Legal/Letters/Note.txt", [rule])
    assert not is_named("rooms/gamma/Illegal/Note.pdf", [rule])
    assert not is_named("rooms/gamma/Legal affairs/Note.pdf", [rule])
