"""The OpenAPI document is true, and its page asks no other host."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import one_of

from tasks.reading import formats
from tests.api.conftest import serving
from tests.homes import make_home

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
