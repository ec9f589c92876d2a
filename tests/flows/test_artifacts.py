"""What the Prefect UI shows, as a Markdown reader of its kind makes of it."""

import re

import pytest
from markdown_it import MarkdownIt

from flows.artifacts import batch_key, company_key, escape, prefix_keys, scorecard
from storage.scores import ScoreStatus
from tasks.reports.report import build
from tests.cases import cases
from tests.tasks.reports.rows import company, outcome, write_company, write_run

pytestmark = pytest.mark.usefixtures("home")
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@cases(
    "text",
    [
        "a | b",
        "[click](https://evil.example)",
        "![pixel](https://evil.example/x.png)",
        "<img src=x onerror=alert(1)>",
        "<https://evil.example>",
        "`code` and ``more``",
        "*strong* **words** _here_ ~~gone~~",
        "# heading",
        "- item",
        "12345. item",
        "> said",
        "&lt;b&gt; &amp; &#60;",
        "back\\slash \\| pipe",
        "---",
        "[ref]: https://evil.example",
        "line one\n\n# line two",
    ],
)
def test_text_from_elsewhere_is_shown_and_does_nothing(text: str) -> None:
    tokens = READER.parse(f"| a | b |\n|---|---|\n| {escape(text)} | x |\n\n- {escape(text)}\n")
    kinds = {child.type for token in tokens for child in (token.children or [])}
    assert kinds <= {"text", "text_special"}
    shown = ["".join(child.content for child in token.children or []) for token in tokens if token.type == "inline"]
    words = " ".join(text.split())
    assert shown == ["a", "b", words, "x", words]
    assert [token.type for token in tokens].count("bullet_list_open") == 1
    assert not any(token.type in ("heading_open", "ordered_list_open", "hr", "blockquote_open") for token in tokens)


@pytest.mark.parametrize("text", ["https://evil.example/x", "www.evil.example", "WWW.evil.example", "a@evil.example"])
def test_bare_address_is_broken_up_for_readers_that_would_link_it(text: str) -> None:
    assert text not in escape(text)
    assert READER.renderInline(escape(text)) == text


def test_ordinary_words_stay_legible() -> None:
    sentence = "Revenue of customer_a grew by 3.5 % (from 2.1 to 2.2 million) – see note 4, well-documented!"
    assert escape(sentence) == sentence


def test_scorecard_ranks_criteria_by_weight_and_says_each_status() -> None:
    write_run("r1", [company("Alpha | Co", domain="alpha.example", total=0.75, coverage=0.5, rank=2)])
    write_company(
        "r1",
        "alpha.example",
        outcomes=[
            (outcome("recurring", 4, ScoreStatus.SCORED, reason="word " * 200), []),
            (outcome("established", 2, ScoreStatus.UNSUPPORTED), []),
            (outcome("audited", None, ScoreStatus.MISSING, missing="audited accounts"), []),
        ],
    )
    report = build("r1")
    card = scorecard(report.companies[0], report.run)
    assert card.startswith("# Alpha \\| Co\n\nalpha.example · rank 2 · 38 % proven, 50 % open")
    assert "[Report and evidence](http://127.0.0.1:8000/runs/r1/report.html)" in card
    rows = [line for line in card.splitlines() if line.startswith("| ")][1:]
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| recurring", "3", "4 / 5", "scored"],
        ["| audited", "2", "–", "missing: not found"],
        ["| established", "1", "(2 / 5)", "unsupported"],
    ]
    assert len(rows[0]) < 250
    assert "## To ask the company for\n\n- audited accounts\n" in card


def test_scorecard_of_a_company_with_nothing_scored_says_so() -> None:
    report = build(write_run("r1", [company("Alpha", problem="The folder is gone.")]))
    card = scorecard(report.companies[0], report.run)
    assert "alpha.example · not ranked · 0 % proven, 100 % open" in card
    assert "**This company's run failed.** The folder is gone." in card


def test_scorecard_of_a_run_under_way_says_nothing_of_ranks() -> None:
    report = build(write_run("r1", [company("Alpha")], finished_at=None, reported_at=None))
    assert "alpha.example · 0 % proven, 100 % open" in scorecard(report.companies[0], report.run)


def key_in(batch: str | None, domain: str) -> str:
    with prefix_keys(batch):
        return company_key("scorecard", domain)


def test_artifacts_of_a_company_have_a_key_for_each_batch() -> None:
    assert key_in("Autumn screen", "alpha.example") == "scorecard-autumn-screen--alpha-example"
    assert key_in("Winter screen", "alpha.example") == "scorecard-winter-screen--alpha-example"
    assert key_in(None, "alpha.example") == "scorecard-alpha-example"
    assert batch_key("ranking", "Autumn screen") == "ranking-autumn-screen"


def test_keys_of_names_that_look_alike_differ_and_are_what_prefect_takes() -> None:
    batches = ["Autumn screen", "Autumn: screen", "Autumn-screen", "Ängste & Söhne", "秋", "x" * 300, "x" * 301]
    keys = {key_in(batch, domain) for batch in batches for domain in ("a-b.example", "a.b.example", "b.example")}
    keys |= {batch_key("ranking", batch) for batch in batches}
    assert len(keys) == 4 * len(batches)
    assert all(re.fullmatch("[a-z0-9-]{1,100}", key) for key in keys)
    assert key_in("Screen a", "b.example") != key_in("Screen", "a.b.example")
    assert key_in("b.example", "b.example") != key_in(None, "b.example")
