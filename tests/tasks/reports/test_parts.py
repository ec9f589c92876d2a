"""A report is written a company at a time: the same files as of the whole one, and the old ones stand until then."""

import gc
import json
import os
import signal
import weakref
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from storage import database
from storage.documents import DocumentStatus
from storage.errors import DatabaseUnavailable
from storage.scores import ScoreStatus
from tasks.errors import BadRequest
from tasks.reports.company import company_report
from tasks.reports.files import render, write_report, write_reports
from tasks.reports.html import HtmlReport, cut_section
from tasks.reports.models import CompanyReport, QuoteBox, Report, ReportInParts
from tasks.reports.report import build, build_in_parts
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.full_disk import TOLD, room_in_files
from tests.tasks.reports.many import report_of
from tests.tasks.reports.rows import document, outcome, quote, write_company
from tests.tasks.reports.test_company_pages import write_many


def with_boxes() -> Report:
    report = report_with_everything()
    quote = next(quote for one in report.companies for criterion in one.criteria for quote in criterion.quotes)
    quote.text = '{\n  "page": 1,\n  "left": 2.0,\n  "top": 3.0,\n  "right": 4.0,\n  "bottom": 5.0\n}'
    quote.boxes = [QuoteBox(page=page, left=1.5, top=2, right=3.25, bottom=-4e-7) for page in (1, 2)]
    return report


def test_json_in_pieces_is_the_report_itself(tmp_path: Path) -> None:
    whole = with_boxes()
    for report in (whole, Report(run=whole.run, companies=[])):
        written = write_report(report, "json", tmp_path).read_bytes()
        assert written == render(report, "json")
        assert json.loads(written) == json.loads(report.model_dump_json())
    lines = render(whole, "json").decode().split("\n")
    assert [line.strip() for line in lines if line.strip().startswith('{"page"')] == [
        f'{{"page": {page}, "left": 1.5, "top": 2.0, "right": 3.25, "bottom": -4e-7}}{"," if page == 1 else ""}'
        for page in (1, 2)
    ]


@pytest.mark.parametrize("count", [0, 1, 4, 21])
def test_files_of_a_run_are_those_of_its_whole_report(tmp_path: Path, count: int) -> None:
    write_many("earlier", count, days=-1)
    write_many("r1", count)
    for n in range(count):
        found = [document(f"accounts {n}"), document("minutes", status=DocumentStatus.FAILED, warning="It is damaged.")]
        founded = outcome("established", n % 3, ScoreStatus.SCORED)
        write_company("r1", f"c{n}.example", documents=found, outcomes=[(founded, [quote()])])
    whole = build("r1")
    assert [company.stability is None for company in whole.companies] == [count == 1] * count
    write_reports("r1", tmp_path / "parts")
    assert (tmp_path / "parts" / "report.json").read_bytes() == render(whole, "json")
    write_report(whole, "html", tmp_path / "whole")
    written = {path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.html")}
    assert len(written) == (22 if count == 21 else 1)
    for path in written:
        assert (tmp_path / "parts" / path).read_bytes() == (tmp_path / "whole" / path).read_bytes()


def test_what_a_page_shows_of_a_company_is_rendered_again_where_it_may_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_over: list[str] = []

    def cut(page: str) -> Markup:
        taken_over.append(page)
        return cut_section(page)

    monkeypatch.setattr("tasks.reports.files.cut_section", cut)
    write_many("r1", 21)
    write_company("r1", "c1.example", documents=[document("accounts")])
    write_reports("r1", tmp_path / "out")
    assert not taken_over
    write_many("r2", 21, days=1)  # its pages say what has not changed, and those of the first run nothing
    write_company("r2", "c1.example", documents=[document("accounts", status=DocumentStatus.UNCHANGED)])
    write_reports("r2", tmp_path / "out")
    assert len(taken_over) == 21
    write_reports("r2", tmp_path / "afresh")
    assert files_in(tmp_path / "out" / "companies") == files_in(tmp_path / "afresh" / "companies")
    taken_over.clear()
    write_many("r3", 21, days=2)
    write_company("r3", "c1.example", documents=[document("accounts", status=DocumentStatus.UNCHANGED)])
    write_company("r3", "c0.example", documents=[document("accounts")])
    edited = next(page for page in sorted((tmp_path / "out" / "companies").iterdir()) if b"C7" in page.read_bytes())
    edited.write_bytes(edited.read_bytes().replace(b"proven", b"Proven"))
    write_reports("r3", tmp_path / "out")
    assert len(taken_over) == 19  # not that of C0, nor the one that was edited
    write_reports("r3", tmp_path / "afresh")
    assert files_in(tmp_path / "out" / "companies") == files_in(tmp_path / "afresh" / "companies")


def test_a_report_in_parts_is_the_whole_one_each_time() -> None:
    write_many("r1", 3)
    parts = build_in_parts("r1")
    for _ in range(2):
        assert Report(run=parts.run, companies=list(parts.companies())) == build("r1")


def test_the_first_page_of_many_companies_is_never_in_memory_whole() -> None:
    report = report_of(60)
    html = HtmlReport(report.run, ReportInParts.of(report).listed)
    for company in report.companies:
        html.add(company)
    pieces = list(html.first_page())
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 2


@pytest.mark.parametrize("count", [3, pytest.param(21, marks=pytest.mark.slow)])
def test_documents_of_one_company_are_in_memory_while_it_is_written_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    write_many("r1", count)
    for n in range(count):
        write_company("r1", f"c{n}.example", documents=[document(f"accounts {n}")])
    seen: list[weakref.ref[object]] = []
    most = 0

    def counted(*rows: Any, **options: Any) -> CompanyReport:
        nonlocal most
        gc.collect()
        most = max(most, sum(reference() is not None for reference in seen))
        built = company_report(*rows, **options)
        seen.append(weakref.ref(built.documents[0]))
        return built

    monkeypatch.setattr("tasks.reports.report.company_report", counted)
    write_reports("r1", tmp_path)
    assert len(seen) == count
    assert most <= 1


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".part")
    }


def replaceable(folder: Path) -> tuple[Path, dict[str, bytes]]:
    """A folder with a report of the run r1, and its files; the run r2 is one of a day later."""
    out = folder / "out"
    write_many("r1", 21)
    write_reports("r1", out)
    before = files_in(out)
    write_many("r2", 21, days=1)
    return out, before


def failing_at(third: BaseException | int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the third company that is built raise this, or kill the process with this signal."""
    built = 0

    def fails(*rows: Any, **options: Any) -> CompanyReport:
        nonlocal built
        built += 1
        if built == 3 and isinstance(third, int):
            os.kill(os.getpid(), third)
        elif built == 3 and isinstance(third, BaseException):
            raise third
        return company_report(*rows, **options)

    monkeypatch.setattr("tasks.reports.report.company_report", fails)


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), DatabaseUnavailable("It is gone.")])
def test_a_failure_at_one_company_leaves_the_old_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    out, before = replaceable(tmp_path)
    failing_at(failure, monkeypatch)
    with pytest.raises(type(failure)):
        write_reports("r2", out)
    assert files_in(out) == before
    assert not list(out.rglob("*.part"))


def test_a_kill_at_one_company_leaves_the_old_report_whole_and_the_next_one_clears_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, before = replaceable(tmp_path)
    database.close()
    if (child := os.fork()) == 0:
        failing_at(signal.SIGKILL, monkeypatch)
        write_reports("r2", out)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert files_in(out) == before
    assert len(list(out.rglob("*.part"))) == 3  # of report.json, and of two companies
    write_many("few", 2, days=2)
    write_reports("few", out)
    assert not list(out.rglob("*.part"))
    assert files_in(out) != before


def test_a_disk_that_is_full_at_one_company_is_told_and_leaves_the_old_report_whole(tmp_path: Path) -> None:
    out, before = replaceable(tmp_path)
    pages = max(path.stat().st_size for path in (out / "companies").iterdir())
    whole = (out / "report.json").stat().st_size
    assert pages < whole
    with (
        room_in_files((pages + whole) // 2),
        pytest.raises(BadRequest, match=f"report.json cannot be written .{TOLD}.. Choose another"),
    ):
        write_reports("r2", out)
    assert files_in(out) == before
    assert not list(out.rglob("*.part"))
