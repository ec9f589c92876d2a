"""A client that openapi-python-client makes of the OpenAPI document is typed and calls all five operations."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from api.ai import AiQuestion
from api.companies import FactsOfCompany, QuestionAboutCompany
from api.documents import IndexOfFolder, TextOfDocument
from tasks.answers import AiAnswer
from tasks.companies.profile import CompanyProfile
from tasks.companies.question import CompanyAnswer
from tasks.documents.index import DocumentIndex
from tasks.documents.texts import DocumentText

GENERATOR = Path(__file__).parents[2] / ".generator" / "bin" / "openapi-python-client"
MODELS: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    "/v1/drive/document-text": (TextOfDocument, DocumentText),
    "/v1/drive/document-index": (IndexOfFolder, DocumentIndex),
    "/v1/ai/question": (AiQuestion, AiAnswer),
    "/v1/companies/get-core-fields": (FactsOfCompany, CompanyProfile),
    "/v1/companies/get-answer": (QuestionAboutCompany, CompanyAnswer),
}


def test_each_request_and_answer_has_an_example_that_fits(service: httpx.Client) -> None:
    document = service.get("/schema/openapi.json").json()
    for path, (body, answer) in MODELS.items():
        operation = document["paths"][path]["post"]
        (sent,) = operation["requestBody"]["content"].values()
        body.model_validate(sent["example"])
        given = operation["responses"]["200"]["content"]["application/json"]["example"]
        answer.model_validate(given.get("profile", given))
        schema = document["components"]["schemas"][answer.__name__]["properties"]
        assert given.get("profile", given).keys() <= schema.keys()


@pytest.mark.slow
@pytest.mark.skipif(not GENERATOR.exists(), reason="the generator is not installed: make test-all does it")
def test_a_generated_client_is_typed_and_calls_all_five(
    service: httpx.Client, room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "Deck.txt").write_text("Ninety percent of the revenue is recurring.\n")
    (tmp_path / "schema.json").write_bytes(service.get("/schema/openapi.json").content)
    command: list[str | Path] = [
        GENERATOR,
        "generate",
        "--path",
        "schema.json",
        "--meta",
        "none",
        "--output-path",
        "generated_client",
    ]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert made.returncode == 0, made.stderr
    assert "parsing" not in made.stderr
    for file in (tmp_path / "generated_client" / "api").rglob("*.py"):
        assert "body: Any" not in (source := file.read_text()), file.name
        assert "Response[Any" not in source, file.name

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    models = import_module("generated_client.models")
    with import_module("generated_client").Client(base_url=str(service.base_url)) as client:

        def call(operation: str, body: object, **more: object) -> Any:
            answer = import_module(f"generated_client.api.{operation}").sync_detailed(client=client, body=body, **more)
            assert answer.status_code == 200, answer.content
            return answer.parsed

        index = call("documents.document_index", models.IndexOfFolder(cloud_drive_folder="root"))
        (entry,) = index.document_index[0].documents
        assert entry.document_name == "Deck.txt"
        text = call("documents.document_text", models.TextOfDocument(document_id=entry.document_id))
        assert text.text == "Ninety percent of the revenue is recurring.\n"
        answer = call("ai.ai_question", models.AiQuestion(question="Is revenue recurring?", context=text.text))
        assert "Ninety percent" in answer.answer
        facts = call("companies.get_company_facts", models.FactsOfCompany(domain="alpha.example"), include="claims")
        assert (facts.profile.name, facts.profile.founded_year) == ("Alpha", 2011)
        assert {claim.field for claim in facts.claims} >= {"name", "founded_year"}
        body = models.QuestionAboutCompany(question_prompt="When was it founded?", company_domain="alpha.example")
        assert "2011" in call("companies.ask_company_question", body).answer
        failed = import_module("generated_client.api.companies.get_company_facts").sync_detailed(
            client=client, body=models.FactsOfCompany(domain="nobody.example")
        )
        assert isinstance(failed.parsed, models.Problem)
        assert json.loads(failed.content)["type"] == failed.parsed.type_
