"""The sample batch: README.md says what is planted in its documents.

The sample's scan: its words, nothing but a warning where scans are not read.
"""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path, PurePosixPath

import openpyxl
import pypdfium2
import pytest
from openpyxl.utils import range_boundaries

from flows.batch_file import read_batch
from tasks.companies.profile import CompanyProfile
from tasks.errors import Damaged
from tasks.language.words import tokens
from tasks.reading.embedded import read_with_embedded
from tasks.scoring.criteria import DocumentCheck, FactRule, FigureRule, Judged
from tests.cases import cases
from tests.deployments.test_command_line import run

SAMPLE = Path(__file__).parents[2] / "deployments" / "sample"
ROOMS = SAMPLE / "rooms"
COMPANIES = ("fjordvarm", "kessler-prueftechnik", "cuidara")
SCAN = "fjordvarm/03 Contracts/Bank facility letter 2023 (scan).pdf"
OLD_ENCODING = "kessler-prueftechnik/Gesellschaft/Notiz Nachfolge.txt"
DAMAGED = "kessler-prueftechnik/Personal/Pensionsgutachten 2024.pdf"


def documents(room: Path) -> list[Path]:
    return sorted(path for path in room.rglob("*") if path.is_file())


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in documents(root)]


@cache
def text(name: str) -> str:
    return read_with_embedded(ROOMS / name, PurePosixPath(name).suffix).text


@cases("company", COMPANIES)
def test_each_room_holds_all_five_formats_over_several_folders(company: str) -> None:
    room = documents(ROOMS / company)
    assert 8 <= len(room) <= 15
    assert {path.suffix for path in room} == {".docx", ".pptx", ".xlsx", ".pdf", ".txt"}
    assert len({path.parent for path in room}) >= 4


def test_the_sample_is_small_enough_to_keep_in_the_repository() -> None:
    assert sum(path.stat().st_size for path in documents(ROOMS)) < 1_500_000


def test_the_batch_and_its_criteria_can_be_run() -> None:
    batch = read_batch(SAMPLE / "batch.yaml")
    kinds = [type(criterion) for criterion in batch.criteria.criteria]
    assert len(kinds) >= 10
    assert set(kinds) == {Judged, FactRule, DocumentCheck, FigureRule}
    assert all((SAMPLE / company.folder).is_dir() for company in batch.companies)
    assert all(company.domain.endswith(".example") for company in batch.companies)


def test_each_company_has_a_profile_with_something_unknown() -> None:
    for company in read_batch(SAMPLE / "batch.yaml").companies:
        written = json.loads((SAMPLE / "facts" / f"{company.domain}.json").read_text("utf-8"))
        profile = CompanyProfile.model_validate(written)
        assert set(written) == set(CompanyProfile.model_fields)
        assert profile.founded_year is not None
        assert None in written.values()


@cases("name", [name for name in names(ROOMS) if name not in (SCAN, DAMAGED, OLD_ENCODING)])
def test_every_other_document_reads_without_a_warning(name: str) -> None:
    reading = read_with_embedded(ROOMS / name, PurePosixPath(name).suffix)
    assert len(reading.text) > 200
    assert reading.warnings == []


def test_the_note_in_an_old_encoding_keeps_its_umlauts() -> None:
    assert b"\xfc" in (ROOMS / OLD_ENCODING).read_bytes()
    assert "Notiz zum Gespräch über die Nachfolge" in text(OLD_ENCODING)
    assert "1,5 Mio. €" in text(OLD_ENCODING)


def test_nothing_of_the_damaged_document_can_be_saved() -> None:
    with pytest.raises(Damaged):
        text(DAMAGED)


def test_the_scan_has_pages_and_no_text() -> None:
    with pypdfium2.PdfDocument(ROOMS / SCAN) as scan:
        assert [page.get_textpage().get_text_bounded() for page in scan] == ["", ""]
    assert (ROOMS / SCAN).stat().st_size < 300_000


def test_the_deck_and_the_audited_accounts_contradict_each_other() -> None:
    assert "(ARR) of €9.4m at the end of 2024" in text("cuidara/Cuidara Investor Deck Feb 2025.pptx")
    accounts = " ".join(text("cuidara/Financials/Audited accounts FY2024.pdf").split())
    assert "was 7.1 million euros at 31 December 2024" in accounts


def test_a_hidden_sheet_says_how_the_two_figures_differ() -> None:
    book = openpyxl.load_workbook(ROOMS / "cuidara/Financials/Model v14 FINAL (2).xlsx", data_only=True)
    bridge = book["ARR bridge deck"]
    assert bridge.sheet_state == "hidden"
    assert [bridge[cell].value for cell in ("B2", "B5")] == [7_100, 9_400]


def test_only_cuidara_lacks_a_document_that_is_asked_for() -> None:
    wanted = [
        criterion.document
        for criterion in read_batch(SAMPLE / "batch.yaml").criteria.criteria
        if isinstance(criterion, DocumentCheck)
    ]
    lacking = [(company, document) for company in COMPANIES for document in wanted if not holds(company, document)]
    assert lacking == [("cuidara", "data protection policy")]


def holds(company: str, document: str) -> bool:
    """Whether a document of the room has every word in its name or its opening."""
    told = (f"{name} {text(name)[:600]}" for name in names(ROOMS) if name.startswith(company) and name != DAMAGED)
    return any(set(tokens(document)) <= set(tokens(words)) for words in told)


@cases("name", [name for name in names(ROOMS) if name.endswith(".xlsx")])
def test_sums_in_the_workbooks_add_up(name: str) -> None:
    formulas, values = openpyxl.load_workbook(ROOMS / name), openpyxl.load_workbook(ROOMS / name, data_only=True)
    sums = 0
    for sheet in formulas.worksheets:
        shown = values[sheet.title]
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            summed = re.fullmatch(r"=SUM\(([A-Z]+\d+:[A-Z]+\d+)\)", str(cell.value))
            if summed:
                left, top, right, bottom = range_boundaries(summed[1])
                rows = shown.iter_rows(top, bottom, left, right, values_only=True)
                addends = [value for row in rows for value in row if isinstance(value, int | float)]
                assert shown[cell.coordinate].value == pytest.approx(sum(addends)), cell.coordinate
                sums += 1
    assert sums > 0


WORDS = Path(__file__).with_name("sample_scan.txt")


@pytest.mark.slow
def test_the_scan_says_its_words(tmp_path: Path) -> None:
    said = run(["text", ROOMS / SCAN], tmp_path).stdout
    typed, recognised = (Counter(re.findall(r"\w+", text)) for text in (WORDS.read_text("utf-8"), said))
    same = (typed & recognised).total()
    assert same / typed.total() > 0.97
    assert same / recognised.total() > 0.97


def test_a_scan_that_is_not_recognised_has_no_text_and_a_warning_that_says_why(tmp_path: Path) -> None:
    done = run(["text", ROOMS / SCAN], tmp_path, DILIGENCE_OCR="off")
    assert done.stdout == ""
    assert "DILIGENCE_OCR is off" in done.stderr
