"""A weak model, and one that was never tried, are told in the headline of every format; what a cut answer kept, too."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook

from storage.runs import ModelTrial
from storage.scores import ScoreStatus
from tasks.reports import docx, html, pptx, xlsx
from tasks.reports.models import Report
from tasks.reports.report import build, load_results, result_lines
from tests.tasks.reports.rows import company, outcome, quote, write_company, write_run

WORDS = {
    ModelTrial.WEAK: "The model is weak: it did poorly when it was tested (diligence doctor --model). "
    "Take its scores as hints only.",
    ModelTrial.UNTRIED: "The model was never tested. The command diligence doctor --model shows how well it judges.",
}


def written(trial: ModelTrial | None) -> Report:
    write_run("r1", [company("Alpha", total=0.8, coverage=0.5, rank=1)], answerer="tiny", model_trial=trial)
    cut = outcome("recurring", None, ScoreStatus.UNSCORED, reason="The answer was cut.")
    write_company("r1", "alpha.example", outcomes=[(cut, [quote("It recurs.", stance="for")])])
    return build("r1")


def in_office(content: bytes) -> str:
    with ZipFile(BytesIO(content)) as file:
        return " ".join(file.read(name).decode() for name in file.namelist() if name.endswith(".xml"))


@pytest.mark.parametrize("trial", [ModelTrial.WEAK, ModelTrial.UNTRIED], ids=str)
def test_every_format_says_what_is_known_of_the_model(trial: ModelTrial) -> None:
    report = written(trial)
    assert json.loads(report.model_dump_json())["run"]["model_trial"] == trial
    page = html.render(report)
    header = page[page.index("<header") : page.index("</header>")]
    assert WORDS[trial] in header
    assert "`" not in header
    for content in (docx.render(report), pptx.render(report), xlsx.render(report)):
        assert WORDS[trial][:20] in in_office(content)
    assert any(WORDS[trial] in line for line in result_lines(load_results("r1")))


@pytest.mark.parametrize("trial", [ModelTrial.PASSED, None], ids=str)
def test_nothing_is_said_of_a_model_that_passed(trial: ModelTrial | None) -> None:
    report = written(trial)
    assert "doctor --model" not in html.render(report)
    assert not any("doctor" in line for line in result_lines(load_results("r1")))


def test_quotations_of_a_cut_answer_are_told_as_quotations() -> None:
    report = written(None)
    assert "✓ verified" in html.render(report)
    book = load_workbook(BytesIO(xlsx.render(report)))
    assert "It recurs." in [cell for row in book["Quotes"].values for cell in row]
    assert "Passage, not judged" not in in_office(docx.render(report))
