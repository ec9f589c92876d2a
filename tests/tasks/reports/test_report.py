"""The report of a run, built from a real database."""

import json

import pytest

from storage.documents import DocumentStatus
from storage.runs import CompanyStatus, RunStatus
from storage.scores import ScoreStatus
from tasks.errors import NotFound
from tasks.reports.report import build
from tests.tasks.reports.rows import CRITERIA, claim, company, document, outcome, quote, write_company, write_run


def write_alpha() -> None:
    """A document, a quotation, and two sources that contradict each other."""
    write_company(
        "r1",
        "alpha.example",
        documents=[document("accounts")],
        outcomes=[(outcome("recurring", 4, ScoreStatus.SCORED), [quote()])],
        claims=[claim("founded_year", 2014, "files"), claim("founded_year", 2016, "wikidata")],
    )


def test_report_has_every_key_that_was_promised() -> None:
    write_run("r1", [company("Alpha", total=0.8, coverage=0.5, rank=1)], calls=3, input_tokens=900, output_tokens=80)
    write_alpha()
    report = json.loads(build("r1").model_dump_json())
    run = report["run"]
    assert {"id", "name", "started_at", "finished_at", "status", "cost", "answerer"} <= set(run)
    assert run["started_at"] == "2025-11-20T21:04:30Z"
    assert run["cost"] == {"calls": 3, "unknown_calls": 0, "input_tokens": 900, "output_tokens": 80, "usd": None}
    alpha = report["companies"][0]
    promised = {"name", "domain", "folder_id", "total", "coverage", "rank", "criteria", "missing", "conflicts"}
    assert promised | {"documents", "changes"} <= set(alpha)
    recurring = alpha["criteria"][0]
    assert {"id", "kind", "weight", "score", "status", "reason", "quotes"} <= set(recurring)
    assert recurring["quotes"] == [
        {
            "text": "Subscriptions made up 91 % of revenue.",
            "verified": True,
            "document_id": "accounts",
            "document_name": "accounts.pdf",
            "document_url": "http://127.0.0.1:8000/documents/accounts",
            "place": "page 14",
            "stance": None,
            "evidence_url": None,
            "boxes": [],
        }
    ]
    assert {"document_id", "document_name", "status", "characters", "warning"} <= set(alpha["documents"][0])
    assert [(conflict["field"], len(conflict["claims"])) for conflict in alpha["conflicts"]] == [("founded_year", 2)]
    assert {"field", "value", "source", "url", "retrieved_at", "as_of"} <= set(alpha["conflicts"][0]["claims"][0])


def test_ranked_companies_come_first_and_the_rest_in_the_order_of_the_batch() -> None:
    rows = [
        company("Unscored", 0),
        company("Second", 1, total=0.4, rank=2),
        company("Failed", 2, status=CompanyStatus.FAILED, problem="The folder does not exist."),
        company("First", 3, total=0.9, rank=1),
    ]
    report = build(write_run("r1", rows, status=RunStatus.FAILED))
    assert [each.name for each in report.companies] == ["First", "Second", "Unscored", "Failed"]
    assert report.companies[3].problem == "The folder does not exist."


def test_each_criterion_is_labelled_in_the_words_of_the_batch() -> None:
    report = build(write_run("r1", [company("Alpha")]))
    expected = ["Is most of the revenue recurring?", "founding year <= 2018", "audited financial statements"]
    assert [criterion.label for criterion in report.run.criteria] == expected
    assert [criterion.label for criterion in report.companies[0].criteria] == expected


def test_criterion_that_a_failed_company_never_came_to_is_unscored_and_says_so() -> None:
    write_run("r1", [company("Alpha", status=CompanyStatus.FAILED)], status=RunStatus.FAILED)
    write_company("r1", "alpha.example", outcomes=[(outcome("audited", 5, ScoreStatus.SCORED), [])])
    recurring, established, audited = build("r1").companies[0].criteria
    assert (recurring.status, recurring.score) == (ScoreStatus.UNSCORED, None)
    assert established.reason == "Not judged: the company's run failed before it reached this criterion."
    assert audited.score == 5


def test_missing_is_a_list_of_what_to_ask_for_each_thing_once() -> None:
    write_run("r1", [company("Alpha")])
    wanted = "audited accounts of the last year"
    write_company(
        "r1",
        "alpha.example",
        outcomes=[
            (outcome("recurring", None, ScoreStatus.MISSING, missing=wanted), []),
            (outcome("established", None, ScoreStatus.MISSING), []),
            (outcome("audited", None, ScoreStatus.MISSING, missing=wanted), []),
        ],
    )
    assert build("r1").companies[0].missing == [wanted, "founding year <= 2018"]


@pytest.mark.parametrize(
    ("status", "warning"),
    [(RunStatus.RUNNING, "Not reached yet."), (RunStatus.FAILED, "Not reached: the run ended first.")],
)
def test_document_that_the_run_did_not_come_to_counts_as_failed(status: RunStatus, warning: str) -> None:
    write_run("r1", [company("Alpha")], status=status)
    write_company("r1", "alpha.example", documents=[document("late", None, status=DocumentStatus.PENDING)])
    found = build("r1").companies[0].documents[0]
    assert (found.status, found.warning) == ("failed", warning)


def test_warnings_of_the_sources_stand_beside_those_of_the_data_room_once() -> None:
    write_run("r1", [company("Alpha", warnings=["A link leads out of the room.", "Wikidata did not answer."])])
    write_company(
        "r1",
        "alpha.example",
        claims=[claim("founded_year", 2014, "files")],
        profile_warnings=["Wikidata did not answer.", "The website is gone."],
    )
    assert build("r1").companies[0].warnings == [
        "A link leads out of the room.",
        "Wikidata did not answer.",
        "The website is gone.",
    ]


def test_changes_are_told_since_the_last_run_of_the_same_batch() -> None:
    write_run("other", [company("Alpha")], batch="Another batch", days=1)
    write_run("r1", [company("Alpha")])
    write_company(
        "r1",
        "alpha.example",
        documents=[document("kept"), document("edited", "h1"), document("gone")],
        outcomes=[(outcome(one, 3, ScoreStatus.SCORED), []) for one in ("recurring", "audited")],
    )
    titled = [CRITERIA["criteria"][0], {**CRITERIA["criteria"][2], "title": "Audited accounts"}]
    write_run("r2", [company("Alpha"), company("Beta", 1)], days=7, criteria=CRITERIA | {"criteria": titled})
    write_company(
        "r2",
        "alpha.example",
        documents=[document("kept"), document("edited", "h2"), document("new")],
        outcomes=[(outcome(one, 4, ScoreStatus.SCORED), []) for one in ("recurring", "audited")],
    )
    report = build("r2")
    alpha, beta = report.companies
    assert report.run.previous is not None
    assert report.run.previous.id == alpha.compared_with == "r1"
    assert [change.text for change in alpha.changes] == [
        "recurring went from 3 to 4.",
        "Audited accounts went from 3 to 4.",
        "Criteria removed: established.",
        "edited.pdf was changed.",
        "new.pdf was added.",
        "gone.pdf was removed.",
    ]
    assert (beta.compared_with, beta.changes) == (None, [])


def test_data_room_out_of_reach_has_not_lost_its_documents() -> None:
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", documents=[document("accounts")])
    write_run("r2", [company("Alpha", status=CompanyStatus.FAILED)], days=7, status=RunStatus.FAILED)
    assert build("r2").companies[0].changes == []


def test_emptied_data_room_has_lost_its_documents() -> None:
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", documents=[document("accounts")])
    write_run("r2", [company("Alpha")], days=7)
    assert [change.kind for change in build("r2").companies[0].changes] == ["document_removed"]


def test_scores_on_another_scale_are_not_compared_and_the_report_says_so() -> None:
    for run_id, days, scale in (("r1", 0, [0, 5]), ("r2", 7, [0, 10])):
        write_run(run_id, [company("Alpha")], days=days, criteria=CRITERIA | {"scale": scale})
        write_company(run_id, "alpha.example", outcomes=[(outcome("recurring", 3 + days, ScoreStatus.SCORED), [])])
    (change,) = build("r2").companies[0].changes
    assert change.kind == "criteria_changed"
    assert (change.text, change.why) == (
        "The scale now goes from 0 to 10.",
        "Scores on different scales are not compared.",
    )


def test_weights_that_move_a_total_are_told_though_no_score_moved() -> None:
    heavier = {"scale": [0, 5], "criteria": [CRITERIA["criteria"][0] | {"weight": 9}, *CRITERIA["criteria"][1:]]}
    for run_id, days, criteria in (("r1", 0, CRITERIA), ("r2", 7, heavier)):
        write_run(run_id, [company("Alpha")], days=days, criteria=criteria)
        write_company(run_id, "alpha.example", outcomes=[(outcome("recurring", 3, ScoreStatus.SCORED), [])])
    (change,) = build("r2").companies[0].changes
    assert change.text == "Weights changed: recurring from 3 to 9."


def test_run_is_found_by_its_batch_and_as_the_latest() -> None:
    write_run("r1", [company("Alpha")])
    write_run("r2", [company("Alpha")], days=7)
    assert build("Autumn screen").run.id == build("latest").run.id == "r2"


def test_unknown_run_says_what_to_give() -> None:
    with pytest.raises(NotFound, match="Give a run's id"):
        build("nowhere")


def test_what_a_judgement_says_of_itself_is_told() -> None:
    write_run("r1", [company("Alpha", total=0.8, coverage=0.5, rank=1)], usd=0.25, budget="0.50 USD")
    place = {"document_id": "d", "document_name": "d.pdf", "document_url": "http://127.0.0.1:8000/documents/d"}
    two = [place | {"text": "Churn is 4 %.", "place": "page 1"}, place | {"text": "Churn is 9 %.", "place": "page 2"}]
    judged = outcome(
        "recurring",
        4,
        ScoreStatus.SCORED,
        confidence=0.75,
        agreement=2 / 3,
        contradictions=[{"about": "churn", "quotes": two}],
    )
    lacking = outcome("audited", None, ScoreStatus.MISSING, nearest=[place | {"why": "its name shares “audited”"}])
    write_company("r1", "alpha.example", outcomes=[(judged, [quote(stance="against")]), (lacking, [])])
    report = build("r1")
    assert (report.run.cost.usd, report.run.budget) == (0.25, "0.50 USD")
    recurring, _, audited = report.companies[0].criteria
    assert (recurring.confidence, recurring.agreement, recurring.quotes[0].stance) == (0.75, 2 / 3, "against")
    assert [each.place for each in recurring.contradictions[0].quotes] == ["page 1", "page 2"]
    assert audited.nearest[0].why == "its name shares “audited”"


def test_each_ranked_company_says_how_often_it_keeps_its_place() -> None:
    rows = [company(name, at, total=0.5, rank=at + 1) for at, name in enumerate(["Alpha", "Beta"])]
    write_run("r1", [*rows, company("Gamma", 2)])
    for domain, score in (("alpha.example", 4), ("beta.example", 1)):
        scored = [outcome(each, score, ScoreStatus.SCORED) for each in ("recurring", "established")]
        write_company("r1", domain, outcomes=[(each, []) for each in scored])
    report = build("r1")
    assert [each.stability for each in report.companies] == [1.0, 1.0, None]
    assert report.run.sensitivity is not None
    assert report.run.sensitivity.draws == 1000
    alone = build("r1", "alpha.example")
    assert (alone.run.sensitivity, alone.companies[0].stability) == (None, None)


def test_the_scores_of_a_company_alone_are_those_of_its_report() -> None:
    write_run("r1", [company("Alpha", total=0.8, coverage=0.5, rank=1), company("Beta", 1)])
    write_alpha()
    (alone,), (of_it,) = (
        build("r1", "alpha.example", scores_alone=scores_alone).companies for scores_alone in (True, False)
    )
    left_out = {"documents"}
    assert alone.model_dump(exclude=left_out) == of_it.model_dump(exclude=left_out)
    assert build("r1", "nobody.example", scores_alone=True).companies == []
    with pytest.raises(NotFound):
        build("r2", "alpha.example", scores_alone=True)
