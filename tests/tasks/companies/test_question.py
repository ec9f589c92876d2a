"""Ask Company Question: answered from the sources' facts, with the sources named at the end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.companies.question import company_question
from tasks.errors import BadRequest, NotConfigured, SourceFailed

Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("files_alone")


@pytest.fixture
def files_alone(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the source `files` alone nothing is fetched."""
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    monkeypatch.delenv("DILIGENCE_SEARCH", raising=False)


@pytest.fixture
def alpha(write: Write) -> None:
    write(
        "alpha.example",
        name="Alpha GmbH",
        description="Alpha makes pumps.\nIt sells them in nine countries.",
        founded_year=2015,
        company_size=[51, 200],
        hq={"line_1": "Ring 5", "postal_code": "10115", "city": "Berlin", "country": "DE"},
        last_updated="2025-01-31T22:00:00Z",
    )


@pytest.mark.usefixtures("alpha")
@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When was the company founded?", "founded in the year 2015."),
        ("How many employees are there?", "(company size) is 51 to 200."),
        ("Where are its headquarters?", "Ring 5, 10115 Berlin, DE."),
        ("In how many countries does it sell?", "It sells them in nine countries."),
    ],
)
def test_an_answer_is_taken_from_the_facts_and_ends_with_its_sources(question: str, sentence: str) -> None:
    answer = company_question(question, "Alpha", "alpha.example").answer

    assert sentence in answer
    assert answer.endswith("\n\nSources:\n[1] files: alpha.example, as of 2025-01-31")


@pytest.mark.usefixtures("alpha")
def test_the_request_is_echoed_unchanged() -> None:
    answer = company_question(" When founded? ", None, "ALPHA.example")

    assert (answer.question, answer.company_name, answer.web_domain) == (" When founded? ", None, "ALPHA.example")


@pytest.mark.usefixtures("alpha")
def test_a_name_alone_is_looked_up_exactly() -> None:
    assert "2015" in company_question("When was it founded?", company_name="alpha gmbh").answer
    assert "2015" in company_question("When was it founded?", company_name="Alpha").answer
    assert "2015" not in company_question("When was it founded?", company_name="Alpha Industries").answer


@pytest.mark.usefixtures("alpha")
def test_namesakes_are_told_apart_by_their_domains(write: Write) -> None:
    write("alpha-pumps.example", name="Alpha AG", founded_year=1931)

    answer = company_question("When was the company founded?", company_name="Alpha").answer

    assert "1931" in answer
    assert "2015" in answer
    assert "[1] files: alpha-pumps.example" in answer
    assert "[2] files: alpha.example" in answer


@pytest.mark.usefixtures("alpha")
def test_the_domain_says_which_company_whatever_the_name() -> None:
    answer = company_question("When was it founded?", company_name="Alpha", web_domain="beta.example").answer

    assert "2015" not in answer
    assert "beta.example" in answer


@pytest.mark.parametrize("name", [None, "Alpha"])
def test_what_no_source_tells_is_a_normal_answer(name: str | None) -> None:
    answer = company_question("When was it founded?", name, "unknown.example").answer

    assert "(files) say nothing about unknown.example" in answer


@pytest.mark.usefixtures("alpha")
def test_facts_that_do_not_speak_to_the_question_say_so() -> None:
    answer = company_question("Which zebras grazed?", web_domain="alpha.example").answer

    assert "No sentence" in answer


def test_without_name_and_domain_the_question_alone_is_taken() -> None:
    answer = company_question("What is a pump?")

    assert (answer.company_name, answer.web_domain) == (None, None)
    assert "nothing to answer from" in answer.answer


@pytest.mark.parametrize("question", ["", " \n"])
def test_a_blank_question_is_refused(question: str) -> None:
    with pytest.raises(BadRequest) as refused:
        company_question(question, "Alpha", "alpha.example")

    assert list(refused.value.fields) == ["question_prompt"]


@pytest.mark.parametrize("domain", ["", "www.alpha.example", "https://alpha.example"])
def test_a_domain_that_is_not_registrable_is_refused_under_its_own_name(domain: str) -> None:
    with pytest.raises(BadRequest) as refused:
        company_question("When?", web_domain=domain)

    assert list(refused.value.fields) == ["company_domain"]


def test_a_source_that_failed_is_not_passed_off_as_silence(
    facts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (facts / "alpha.example.json").write_text("{", encoding="utf-8")
    with pytest.raises(SourceFailed):
        company_question("When?", web_domain="alpha.example")

    monkeypatch.setenv("DILIGENCE_FACTS", str(tmp_path / "gone"))
    with pytest.raises(NotConfigured):
        company_question("When?", company_name="Alpha")
