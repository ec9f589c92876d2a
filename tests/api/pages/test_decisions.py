"""Deciding in the service: two on one cell, forms of other sites, roles, what the next run keeps, and the log."""

from pathlib import Path
from typing import Any

import httpx

from storage.logins import Role
from storage.scores import ScoreStatus
from tasks.reports.models import CompanyReport
from tasks.reports.report import build
from tests.api.pages.conftest import PAGE, QUOTED, REVIEW, LogIn, Sender, add_person, field
from tests.tasks.reports.cited import write_cited_run
from tests.tasks.reports.rows import CRITERIA

HOSTILE = "<script>alert(1)</script>"


def company(run: str = "r1") -> CompanyReport:
    return build(run).companies[0]


def test_a_score_of_a_person_counts_and_the_programs_own_stays_beside_it(
    service: httpx.Client, alpha: Path, sender: Sender
) -> None:
    before = company().standing.proven
    assert sender()("override", score="1", reason=HOSTILE).status_code == 303
    now = company()
    (decision,) = now.decisions
    assert (decision.kind, decision.value, decision.criterion_id) == ("override", 1, "recurring")
    assert not decision.is_open
    assert (now.criteria[0].score, now.criteria[0].override) == (4, 1)
    assert now.standing.proven < before
    page = service.get(REVIEW, headers=PAGE).text
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "1 of 5, set by a person; the program: 4 of 5" in service.get("/runs/r1/report.html").text
    decide = sender()
    assert decide(f"undo/{decision.id}").status_code == 303
    assert (company().decisions, company().standing.proven) == ([], before)


def test_the_second_of_two_on_one_cell_is_told_and_nothing_is_overwritten(
    service: httpx.Client, alpha: Path, sender: Sender
) -> None:
    first, second = sender(), sender()
    assert first("override", score="1", reason="mine").status_code == 303
    refused = second("override", score="5", reason="no, mine")
    assert refused.status_code == 409
    assert "Somebody else decided" in refused.text
    assert second("override", "audited", score="2", reason="another cell").status_code == 303
    assert [(one.criterion_id, one.value) for one in company().decisions] == [("recurring", 1), ("audited", 2)]


def test_decisions_carry_over_and_other_evidence_opens_what_rests_on_it_alone(
    service: httpx.Client, alpha: Path, sender: Sender
) -> None:
    for criterion in ("recurring", "audited"):
        assert sender()("sign_off", criterion).status_code == 303
    assert sender()("flag", "audited", reason="ask the lawyer").status_code == 303
    words = "Recurring revenue was 61 % of all revenue."
    (alpha / "Revenue.txt").write_text(f"{words}\n")
    write_cited_run("alpha", {**QUOTED, "Revenue.txt": (words, "line 1")}, "r2", days=1)
    states = {(one.criterion_id, one.kind): one.is_open for one in company("r2").decisions}
    assert states.pop(("recurring", "sign_off"))
    assert states == {("audited", "sign_off"): False, ("audited", "flag"): True}
    assert {one.is_open for one in company("r1").decisions if one.kind == "sign_off"} == {False}
    assert "open again: this run shows other evidence" in service.get("/runs/r2/review/alpha.example").text


def test_a_criterion_that_the_next_run_no_longer_has_keeps_its_decisions(
    service: httpx.Client, alpha: Path, sender: Sender
) -> None:
    sender()("override", score="1", reason="old")
    criteria: dict[str, Any] = {**CRITERIA, "criteria": CRITERIA["criteria"][1:]}
    write_cited_run("alpha", QUOTED, "r2", days=1, criteria=criteria)
    (decision,) = company("r2").decisions
    assert (decision.criterion_id, decision.is_open) == ("recurring", True)
    assert "On criteria that this run does not have" in service.get("/runs/r2/review/alpha.example").text


def test_a_wrong_or_empty_value_is_told_and_nothing_is_written(
    service: httpx.Client, alpha: Path, sender: Sender
) -> None:
    for kind, fields, words in (
        ("override", {"score": "6", "reason": "x"}, "from 0 to 5"),
        ("override", {"score": "nan", "reason": "x"}, "from 0 to 5"),
        ("override", {"score": "3"}, "Say why"),
        ("comment", {}, "Write the comment"),
        ("assignment", {}, "Say who"),
        ("quote/accepted/0000", {}, "no such quotation"),
        ("undo/7", {}, "no such decision"),
        ("nonsense", {}, "incomplete"),
    ):
        answer = sender()(kind, **fields)
        assert 400 <= answer.status_code < 500
        assert words in answer.text
    assert company().decisions == []


def test_a_quotation_that_a_person_rejected_is_marked(service: httpx.Client, alpha: Path, sender: Sender) -> None:
    page = service.get(REVIEW, headers=PAGE).text
    kind = page[page.index("quote/rejected/") :].split('"', 1)[0]
    assert sender()(kind).status_code == 303
    assert company().criteria[0].quotes[0].decision == "rejected"
    assert company().decisions == []


def test_forms_of_other_pages_and_sites_write_nothing(service: httpx.Client, alpha: Path, sender: Sender) -> None:
    decide = sender()
    assert decide("flag", token="0" * 64).status_code == 403
    page = httpx.get(f"{service.base_url}{REVIEW}", headers=PAGE)
    sent = {"token": field(page.text, "token"), "criterion_id": "recurring", "kind": "flag", "follows": "0"}
    assert service.post(REVIEW, data=sent, headers=PAGE).status_code == 403  # the token of another browser
    assert company().decisions == []
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_a_reader_looks_and_a_reviewer_decides(service: httpx.Client, alpha: Path, log_in: LogIn) -> None:
    add_person("rita", Role.READER)
    add_person("vera")
    stranger = service.get(REVIEW, headers=PAGE)
    assert (stranger.status_code, stranger.headers["location"].startswith("/login?next=")) == (303, True)
    assert log_in("rita", "wrong").get(REVIEW).status_code == 303
    reader = log_in("rita")
    page = reader.get(REVIEW)
    assert (page.status_code, "Sign off" in page.text) == (200, False)
    sent = {"token": field(page.text, "token"), "criterion_id": "recurring", "kind": "flag", "follows": "0"}
    assert reader.post(REVIEW, data=sent).status_code == 403
    reviewer = log_in("vera")
    sent["token"] = field(reviewer.get(REVIEW).text, "token")
    assert reviewer.post(REVIEW, data=sent).status_code == 303
    assert company().decisions[0].by == "vera"
    assert service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}).status_code == 401


def test_the_log_has_every_act_and_no_formula(service: httpx.Client, alpha: Path, sender: Sender) -> None:
    sender()("comment", reason="=HYPERLINK(1)")
    sender()("undo/1")
    log = service.get("/runs/r1/decisions.json").json()
    assert [(row["kind"], row["undoes"]) for row in log] == [("comment", None), ("undo", 1)]
    assert log[0]["evidence"]["quotes"][0]["text"] == QUOTED["Revenue.txt"][0]
    assert "'=HYPERLINK(1)" in service.get("/runs/r1/decisions.csv").text
    assert company().criteria[0].status is ScoreStatus.SCORED
