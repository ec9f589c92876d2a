"""Operations run beside the event loop, so many at a time, tracked where asked for; the OpenAPI document is true.

The page of the document asks no other host. A client that openapi-python-client makes of it is typed and calls all five
operations.
"""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import anyio
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import one_of
from pydantic import BaseModel

from api.app import create_app
from api.operations import AiQuestion, FactsOfCompany, IndexOfFolder, QuestionAboutCompany, TextOfDocument
from api.requests import Calls
from tasks.answers import AiAnswer
from tasks.companies.profile import CompanyProfile
from tasks.companies.question import CompanyAnswer
from tasks.documents.index import DocumentIndex
from tasks.documents.texts import DocumentText
from tasks.operation import operation
from tasks.reading import formats
from tests.api.conftest import forget_settings, serving
from tests.homes import make_home

current: ContextVar[str] = ContextVar("current", default="nobody")


def test_so_many_at_a_time_while_the_loop_goes_on() -> None:
    lock = threading.Lock()
    running = most = ticks = 0

    @operation(name="slow")
    def slow(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1
        return number

    async def main() -> list[int]:
        calls, found = Calls(2, tracked=False), []

        async def call(number: int) -> None:
            found.append(await calls(slow, number))

        async def tick() -> None:
            nonlocal ticks
            while len(found) < 6:
                ticks += 1
                await anyio.sleep(0.01)

        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            for number in range(6):
                group.start_soon(call, number)
        return found

    assert sorted(anyio.run(main)) == list(range(6))
    assert most == 2
    assert ticks > 5


def test_an_operation_sees_the_context_of_its_request() -> None:
    @operation(name="who")
    def who() -> str:
        return current.get()

    async def main() -> str:
        current.set("alice")
        return await Calls(1, tracked=False)(who)

    assert anyio.run(main) == "alice"


def test_tracking_without_a_prefect_server_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from tasks.errors import NotConfigured

    forget_settings(monkeypatch)
    monkeypatch.setenv("DILIGENCE_TRACK_CALLS", "inline")
    with temporary_settings(restore_defaults={PREFECT_API_URL}), pytest.raises(NotConfigured, match="PREFECT_API_URL"):
        create_app()


if TYPE_CHECKING:
    from schemathesis import BaseSchema

OPERATIONS = {
    "/v1/drive/document-text": "Extract Document Text",
    "/v1/drive/document-index": "Document Index",
    "/v1/ai/question": "General AI Question",
    "/v1/companies/get-core-fields": "Get Company Facts",
    "/v1/companies/get-answer": "Ask Company Question",
}


@pytest.fixture
def document(service: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = service.get("/schema/openapi.json").json()
    return found


def test_the_five_operations_are_described(document: dict[str, Any]) -> None:
    for path, name in OPERATIONS.items():
        operation = document["paths"][path]["post"]
        assert operation["summary"] == name
        assert operation["description"]
        answers = operation["responses"]
        assert "200" in answers
        assert "201" not in answers
        for status in ("400", "401", "413", "503"):
            assert set(answers[status]["content"]) == {"application/problem+json"}


def test_the_text_of_a_document_names_every_format(document: dict[str, Any]) -> None:
    described = document["paths"]["/v1/drive/document-text"]["post"]["description"]
    for known in formats.all_formats():
        assert known.extensions[0] in described


def test_every_field_of_a_body_is_explained_with_an_example(document: dict[str, Any]) -> None:
    for path in OPERATIONS:
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        for name, field in schema["properties"].items():
            assert field["description"], name
            assert name in ("question", "web_domain") or len(field["examples"]) == 1, name


def test_both_names_of_a_company_question_are_described(document: dict[str, Any]) -> None:
    body = document["components"]["schemas"]["QuestionAboutCompany"]
    assert set(body["properties"]) == {"question_prompt", "question", "company_name", "company_domain", "web_domain"}
    assert (body["if"], body["then"]) == ({"not": {"required": ["question"]}}, {"required": ["question_prompt"]})


@pytest.mark.parametrize(
    ("domain", "is_allowed"),
    [("alpha.example", True), (" ALPHA.co.uk. ", True), ("例。com", True), ("0", False), ("", False), ("a/b.c", False)],
)
def test_the_schema_allows_no_domain_that_the_service_refuses_by_its_form(
    service: httpx.Client, document: dict[str, Any], domain: str, is_allowed: bool
) -> None:
    for name, field in (("FactsOfCompany", "domain"), ("QuestionAboutCompany", "web_domain")):
        pattern = document["components"]["schemas"][name]["properties"][field]["pattern"]
        assert (re.search(pattern, domain) is not None) is is_allowed
    for path, body in (
        ("get-core-fields", {"domain": domain}),
        ("get-answer", {"question": "q", "web_domain": domain}),
    ):
        assert (service.post(f"/v1/companies/{path}", json=body).status_code == 400) is not is_allowed


@pytest.mark.parametrize("page", ["/", "/schema"])
def test_pages_load_what_they_need_from_here(service: httpx.Client, page: str) -> None:
    html = service.get(page).text
    addresses = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert addresses
    for address in addresses:
        assert urljoin("http://here/", address).startswith("http://here/")
        assert service.get(address).status_code == 200, address


def test_scripts_may_ask_no_other_host(service: httpx.Client) -> None:
    policy = service.get("/schema").headers["content-security-policy"]
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    for kind in ("script-src", "connect-src"):
        assert directives[kind] == "'self'"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator["BaseSchema"]:
    """The service's own description, with a room of one document."""
    import schemathesis  # 2 s of processor time, which every worker would take to collect this module

    root = tmp_path_factory.mktemp("described")
    (root / "room").mkdir()
    (root / "room" / "a.txt").write_text("A\n")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_HOME", str(make_home(root / "home")))
        monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(root / "room"))
        monkeypatch.setenv("DILIGENCE_FACTS", str(root / "facts"))
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
        (root / "facts").mkdir()
        with serving() as client:
            yield schemathesis.openapi.from_url(f"{client.base_url}/schema/openapi.json")


# Hypothesis takes a number that another thread draws, such as the service's, for one drawn by its own strategies.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.parametrize("operation", [*OPERATIONS, "/file/d/{document_id}/view", "/health/live", "/health/ready"])
def test_whatever_is_sent_is_answered_as_the_schema_says(described: "BaseSchema", operation: str) -> None:
    from schemathesis import Case, GenerationMode
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    described_as = described[operation]["POST" if operation.startswith("/v1") else "GET"]
    right, wrong = (described_as.as_strategy(generation_mode=mode) for mode in GenerationMode)
    # What makes a domain, and that two names of one thing agree, no schema can say.
    beyond: list[Any] = [positive_data_acceptance] if "compan" in operation else []

    @given(case=one_of(right, wrong))
    @settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Case[Any]) -> None:
        case.call_and_validate(timeout=20, excluded_checks=beyond)

    check()


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
