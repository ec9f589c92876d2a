"""The five operations over HTTP, through the real task functions."""

from pathlib import Path

import httpx
import pytest

from tests.api.test_problems import fields, problem

FACTS = "/v1/companies/get-core-fields"
ASK = "/v1/companies/get-answer"


def only_document(service: httpx.Client) -> dict[str, str]:
    answer = service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"})
    document: dict[str, str] = answer.json()["document_index"][0]["documents"][0]
    return document


def test_index_and_text_of_a_document(service: httpx.Client, room: Path) -> None:
    (room / "minutes.txt").write_text("Beschlüsse der Sitzung\n")
    document = only_document(service)
    assert document["document_name"] == "minutes.txt"
    answer = service.post("/v1/drive/document-text", json={"document_id": document["document_id"], "more": 1})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {"document_id": document["document_id"], "text": "Beschlüsse der Sitzung\n"}


def test_document_by_its_url_is_echoed_as_given(service: httpx.Client, room: Path) -> None:
    (room / "a.txt").write_text("A\n")
    url = only_document(service)["document_url"]
    assert service.post("/v1/drive/document-text", json={"document_id": url}).json()["document_id"] == url


@pytest.mark.parametrize(("recursive", "categories"), [(True, 2), (None, 2), (False, 1)])
def test_recursive_is_true_unless_told_otherwise(
    service: httpx.Client, room: Path, recursive: bool | None, categories: int
) -> None:
    (room / "contracts").mkdir()
    body = {"cloud_drive_folder": "root", "recursive": recursive}
    assert len(service.post("/v1/drive/document-index", json=body).json()["document_index"]) == categories


def test_optional_keys_of_the_index_are_absent_when_there_is_nothing_to_say(service: httpx.Client) -> None:
    answer = service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}).json()
    assert set(answer) == {"folder_id", "folder_name", "source", "document_index"}


def test_unknown_and_foreign_documents_are_not_found(service: httpx.Client) -> None:
    for document_id in ("nope", "../../etc/passwd", "L" + "Li4vLi4vZXRjL3Bhc3N3ZA", "root", "a\0b"):
        answer = service.post("/v1/drive/document-text", json={"document_id": document_id})
        problem(answer, 404, "not-found")


def test_unsupported_format_names_the_supported_ones(service: httpx.Client, room: Path) -> None:
    (room / "letter.wpd").write_bytes(b"PK")
    answer = service.post("/v1/drive/document-text", json={"document_id": only_document(service)["document_id"]})
    assert ".docx" in problem(answer, 415, "unsupported-format")["detail"]


def test_damaged_document_cannot_be_read(service: httpx.Client, room: Path) -> None:
    (room / "empty.pdf").write_bytes(b"")
    answer = service.post("/v1/drive/document-text", json={"document_id": only_document(service)["document_id"]})
    problem(answer, 422, "damaged")


def test_question_leaves_out_a_context_that_was_not_given(service: httpx.Client) -> None:
    answer = service.post("/v1/ai/question", json={"question": "What is sold?", "context": None})
    assert set(answer.json()) == {"question", "answer"}
    with_context = service.post("/v1/ai/question", json={"question": "What is sold?", "context": "Soap is sold."})
    assert with_context.json()["context"] == "Soap is sold."
    assert "Soap is sold." in with_context.json()["answer"]


def test_profile_holds_every_key(service: httpx.Client) -> None:
    answer = service.post(FACTS, json={"domain": "alpha.example"}).json()
    assert set(answer) == {"profile"}
    assert answer["profile"]["founded_year"] == 2011
    assert answer["profile"]["tagline"] is None


def test_claims_and_conflicts_on_request(service: httpx.Client) -> None:
    answer = service.post(FACTS, params={"include": "claims"}, json={"domain": "alpha.example"}).json()
    assert set(answer) == {"profile", "claims", "conflicts", "warnings"}
    assert answer["warnings"] == []
    (claim,) = [each for each in answer["claims"] if each["field"] == "founded_year"]
    assert set(claim) == {"field", "value", "source", "url", "retrieved_at", "as_of"}
    assert list(fields(service.post(FACTS, params={"include": "all"}, json={"domain": "x.example"}))) == ["include"]


def test_wrong_domain_is_told_the_right_one(service: httpx.Client) -> None:
    said = fields(service.post(FACTS, json={"domain": "https://www.alpha.example/about"}))
    assert "send alpha.example" in said["domain"]
    problem(service.post(FACTS, json={"domain": "unknown.example"}), 404, "not-found")


@pytest.mark.parametrize(
    "body",
    [
        {"question_prompt": "When was it founded?", "company_domain": "alpha.example"},
        {"question": "When was it founded?", "web_domain": "alpha.example"},
        {"question": "When was it founded?", "question_prompt": None, "company_domain": "alpha.example"},
        {
            "question": "When was it founded?",
            "question_prompt": "When was it founded?",
            "web_domain": "alpha.example",
            "company_domain": "alpha.example",
        },
    ],
)
def test_company_question_by_either_pair_of_names(service: httpx.Client, body: dict[str, str]) -> None:
    answer = service.post(ASK, json=body).json()
    assert {key: answer[key] for key in ("question", "company_name", "web_domain")} == {
        "question": "When was it founded?",
        "company_name": None,
        "web_domain": "alpha.example",
    }
    assert "2011" in answer["answer"]


def test_two_names_with_different_values_are_refused_beside_other_mistakes(service: httpx.Client) -> None:
    answer = service.post(
        ASK,
        json={
            "question_prompt": "A?",
            "question": "B?",
            "company_domain": "a.example",
            "web_domain": 5,
            "company_name": 1,
        },
    )
    assert set(fields(answer)) == {"question_prompt", "company_domain", "company_name"}


def test_company_question_names_the_field_that_was_sent(service: httpx.Client) -> None:
    assert list(fields(service.post(ASK, json={"question": 5}))) == ["question"]
    assert list(fields(service.post(ASK, json={"company_name": "Alpha"}))) == ["question_prompt"]
