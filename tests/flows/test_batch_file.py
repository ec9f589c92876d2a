"""Batch files, YAML and CSV: read whole, or every mistake told before anything runs."""

from pathlib import Path

import pytest

from flows.batch_file import Batch, BatchCompany, read_batch
from storage.settings import override_settings
from tasks.companies.profile import CompanySettings
from tasks.documents.drive.local import LocalDriveSettings
from tasks.errors import BadRequest
from tasks.reading.configuration import ReadingSettings
from tasks.spending.budget import SpendingSettings
from tests.cases import cases

CRITERIA = "criteria:\n  - {id: cap_table, document: cap table}\n"
WHOLE = """\
name: Autumn screen
criteria: criteria.yaml
fact_sources: [files]
facts: profiles/
drive_root: .
document_timeout: 30
companies:
  - {name: Alpha, domain: alpha.example, folder: rooms/alpha}
  - {name: "NO", domain: Müller.example., folder: 0B7-folder-id}
"""


@pytest.fixture(autouse=True)
def _own_home(home: Path, tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text(CRITERIA, encoding="utf-8")


def batch(tmp_path: Path, text: str | bytes, name: str = "batch.yaml") -> Batch:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_batch(path, tmp_path / "criteria.yaml" if name.endswith(".csv") else None)


def mistakes(tmp_path: Path, text: str | bytes, name: str = "batch.yaml") -> list[str]:
    with pytest.raises(BadRequest) as caught:
        batch(tmp_path, text, name)
    return caught.value.message.splitlines()


def test_a_batch_file_is_read(tmp_path: Path) -> None:
    read = batch(tmp_path, WHOLE)
    assert read.name == "Autumn screen"
    assert [criterion.id for criterion in read.criteria.criteria] == ["cap_table"]
    assert read.companies == [
        BatchCompany("Alpha", "alpha.example", "rooms/alpha"),
        BatchCompany("NO", "xn--mller-kva.example", "0B7-folder-id"),
    ]
    assert read.extent == "2 companies, 1 criterion"


def test_settings_rule_while_the_batch_runs_and_paths_count_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "99")
    monkeypatch.chdir("/")
    read = batch(tmp_path, WHOLE)
    with override_settings(read.settings):
        assert CompanySettings.current().fact_sources == ("files",)
        assert CompanySettings.current().facts == tmp_path / "profiles"
        assert LocalDriveSettings.current().drive_root == tmp_path
        assert ReadingSettings.current().document_timeout == 30
    assert ReadingSettings.current().document_timeout == 99


def test_a_list_is_joined_and_names_may_stand_in_one_text(tmp_path: Path) -> None:
    for written in ("[files]", "files"):
        assert batch(tmp_path, WHOLE.replace("[files]", written)).settings["fact_sources"] == "files"


def test_facts_beside_the_batch_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = WHOLE.replace("facts: profiles/\n", "")
    assert "facts" not in batch(tmp_path, without).settings
    (tmp_path / "facts").mkdir()
    assert batch(tmp_path, without).settings["facts"] == str(tmp_path / "facts")
    assert batch(tmp_path, WHOLE).settings["facts"] == str(tmp_path / "profiles")
    monkeypatch.setenv("DILIGENCE_FACTS", "elsewhere")
    assert "facts" not in batch(tmp_path, without).settings


def test_the_criteria_file_that_is_given_comes_before_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(CRITERIA.replace("cap_table", "other"), encoding="utf-8")
    (tmp_path / "batch.yaml").write_text(WHOLE.replace("criteria: criteria.yaml\n", ""), encoding="utf-8")
    read = read_batch(tmp_path / "batch.yaml", tmp_path / "other.yaml")
    assert [criterion.id for criterion in read.criteria.criteria] == ["other"]


def test_what_a_run_may_cost_is_a_setting_and_no_part_of_the_fingerprint(tmp_path: Path) -> None:
    with_budget = batch(tmp_path, WHOLE + "ai_budget: .5usd\nai_prices: our prices.toml\n")
    assert with_budget.fingerprint("small") == batch(tmp_path, WHOLE).fingerprint("small")
    with override_settings(with_budget.settings):
        settings = SpendingSettings.current()
    assert (settings.ai_budget, settings.ai_prices) == ("0.50 USD", tmp_path / "our prices.toml")


def test_criteria_may_ask_for_concepts_of_the_batchs_own_file(tmp_path: Path) -> None:
    asks = 'criteria:\n  - {id: orders, figure: order intake, rule: ">= 5 m"}\n'
    (tmp_path / "orders.yaml").write_text(asks, encoding="utf-8")
    own = WHOLE.replace("criteria: criteria.yaml", "criteria: orders.yaml\nfigure_concepts: own.yaml")
    with pytest.raises(BadRequest, match=r"^own\.yaml: the file of concepts cannot be opened .*path right\?$"):
        batch(tmp_path, own)
    (tmp_path / "own.yaml").write_text("order_intake: {kind: duration, labels: [order intake]}\n")
    assert [criterion.id for criterion in batch(tmp_path, own).criteria.criteria] == ["orders"]
    with pytest.raises(BadRequest, match="there is no figure 'order intake'"):
        batch(tmp_path, own.replace("figure_concepts: own.yaml\n", ""))


def test_the_fingerprint_changes_with_what_is_asked_and_of_whom(tmp_path: Path) -> None:
    same = batch(tmp_path, WHOLE).fingerprint("extractive")
    assert batch(tmp_path, WHOLE + "# a remark\n").fingerprint("extractive") == same
    assert batch(tmp_path, WHOLE).fingerprint("small") != same
    for before, after in [("rooms/alpha", "rooms/a"), ("alpha.ex", "beta.ex"), ("Alpha", "A"), ("30", "31")]:
        assert batch(tmp_path, WHOLE.replace(before, after)).fingerprint("extractive") != same


# --- mistakes in a YAML file


@cases(
    ("before", "after", "told"),
    [
        ("Autumn screen", "2024", "line 1, name: must be text; put it in quotes."),
        ("name: Autumn screen", "nmae: Autumn", "line 1, name: it is missing."),
        (
            "alpha.example",
            "https://www.alpha.example/about",
            "line 8, companies.0.domain: holds a subdomain, a scheme, a path; send alpha.example",
        ),
        ("alpha.example", "co.uk", 'line 8, companies.0.domain: "co.uk" is an ending that companies register under'),
        ("alpha.example", "127.0.0.1", "line 8, companies.0.domain: is an IP address; send the company's"),
        ("name: Alpha, ", "", "line 8, companies.0.name: it is missing."),
        ("name: Alpha", "name: 7", "line 8, companies.0.name: must be text; put it in quotes."),
        ("name: Alpha", "name: true", "line 8, companies.0.name: must be text; put it in quotes."),
        ("folder: rooms/alpha", "folder: ''", "line 8, companies.0.folder: must not be empty."),
        ("folder: rooms/alpha", "folder: ", "line 8, companies.0.folder: must be text; put it in quotes."),
        ("criteria.yaml", "none.yaml", "line 2, criteria: there is no file none.yaml"),
        ("criteria: criteria.yaml\n", "", "line 1, criteria: it is missing: name the criteria file."),
        ("criteria.yaml", "[criteria.yaml]", "line 2, criteria: must be text; put it in quotes."),
        ("30", "soon", "line 6, document_timeout: must be a number."),
        ("30", "-1", "line 6, document_timeout: must be above 0."),
        ("30", "", "line 6, document_timeout: must be one value or a list of values."),
        ("30", "{a: 1}", "line 6, document_timeout: must be one value or a list of values."),
        ("facts: profiles/", "facts: 3", "line 4, facts: must be a path, which counts from this file."),
        ("facts: profiles/", "facts: [a, b]", "line 4, facts: must be a path, which counts from this file."),
        ("facts: profiles/", "openai_api_key: sk-1", "line 4, openai_api_key: a secret must not be in a file"),
        ("facts: profiles/", "home: x", "line 4, home: it is not a run's own setting"),
        ("facts: profiles/", "openai_base_url: http://a.example", "line 4, openai_base_url: it is not a run's own"),
        ("facts: profiles/", "web_allow: 10.0.0.0/8", "line 4, web_allow: it is not a run's own setting"),
    ],
)
def test_a_mistake_names_line_and_field_and_what_is_allowed(tmp_path: Path, before: str, after: str, told: str) -> None:
    listed = mistakes(tmp_path, WHOLE.replace(before, after, 1))
    assert any(each.startswith(f"batch.yaml, {told}") for each in listed)


@cases(
    ("before", "after", "told"),
    [
        ("fact_sources", "fact_source", "fact_source: there is no such field or setting; did you mean fact_sources?"),
        ("companies", "company", "company: there is no such field or setting; did you mean companies?"),
        ("name: Alpha", "nam: Alpha", "companies.0.nam: there is no such field; did you mean name?"),
        ("[files]", "[]", "fact_sources: must name one or more of profile_api, files"),
        ("[files]", "[files, wikipedia]", "fact_sources: DILIGENCE_FACT_SOURCES names wikipedia, which is not a"),
        ("drive_root: .", "drive: dropbox", "drive: must be"),
    ],
)
def test_what_is_unknown_is_told_with_what_may_have_been_meant(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    assert any(told in mistake for mistake in mistakes(tmp_path, WHOLE.replace(before, after, 1)))


def test_two_companies_of_one_domain_are_told_with_both_lines(tmp_path: Path) -> None:
    twice = WHOLE + "  - {name: Alpha again, domain: ALPHA.example, folder: x}\n"
    (told,) = mistakes(tmp_path, twice)
    assert told.startswith("batch.yaml, line 10, companies.2.domain: alpha.example is the domain of Alpha (line 8)")


@pytest.mark.parametrize("companies", ["companies: []", "companies:", "companies: {a: 1}", "companies: [x]"])
def test_a_batch_needs_companies(tmp_path: Path, companies: str) -> None:
    (told,) = mistakes(tmp_path, f"name: A\ncriteria: criteria.yaml\n{companies}\n")
    assert told.startswith("batch.yaml, line 3, companies")


def test_the_environment_s_mistakes_are_not_the_file_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_AI_TIMEOUT", "soon")
    assert batch(tmp_path, WHOLE).name == "Autumn screen"


def test_the_mistakes_of_both_files_are_told_in_one_go(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("criteria:\n  - {id: a, docment: x1}\nscale: [5, 0]\n", encoding="utf-8")
    text = WHOLE.replace("Autumn screen", "2024").replace("alpha.example", "www.alpha.example").replace("30", "soon")
    assert [mistake.split(":")[0] for mistake in mistakes(tmp_path, text)] == [
        "batch.yaml, line 1, name",
        "batch.yaml, line 6, document_timeout",
        "batch.yaml, line 8, companies.0.domain",
        "criteria.yaml, line 2, criteria.0",
        "criteria.yaml, line 2, criteria.0.docment",
        "criteria.yaml, line 3, scale",
    ]


def test_no_message_shows_where_the_files_lie(tmp_path: Path) -> None:
    told = mistakes(tmp_path, WHOLE.replace("criteria.yaml", "none.yaml").replace("30", "soon"))
    assert not any(str(tmp_path) in each for each in told)


# --- CSV


COLUMNS = "the columns must be name, domain, folder. There are:"
CSV = "name,domain,folder\nAlpha,alpha.example,rooms/alpha\nBeta,beta.example,rooms/beta\n"


def test_a_csv_is_read(tmp_path: Path) -> None:
    read = batch(tmp_path, CSV, "Autumn screen.csv")
    assert read.name == "Autumn screen"
    assert read.companies == [
        BatchCompany("Alpha", "alpha.example", "rooms/alpha"),
        BatchCompany("Beta", "beta.example", "rooms/beta"),
    ]


@cases(
    "text",
    [
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace("\n", "\r\n"),
        "\ufeff" + CSV,
        CSV.replace("Alpha", '"Alpha"').replace("name,domain", "Name, Domain "),
        CSV.replace("\nBeta", "\n\n,,\n  , ,\nBeta"),
        "folder,name,domain\nrooms/alpha,Alpha,alpha.example\nrooms/beta,Beta,beta.example",
    ],
)
def test_a_csv_is_read_as_spreadsheets_write_it(tmp_path: Path, text: str) -> None:
    assert batch(tmp_path, text, "b.csv").companies == batch(tmp_path, CSV, "b.csv").companies


def test_a_quoted_name_may_hold_the_separator(tmp_path: Path) -> None:
    read = batch(tmp_path, CSV.replace("Alpha", '"Alpha, ""the"" Inc."'), "b.csv")
    assert read.companies[0].name == 'Alpha, "the" Inc.'


def test_a_csv_has_its_facts_beside_it(tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    assert batch(tmp_path, CSV, "b.csv").settings == {"facts": str(tmp_path / "facts")}


def test_a_csv_needs_its_criteria_named(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(CSV, encoding="utf-8")
    with pytest.raises(BadRequest, match="name its criteria file with --criteria FILE"):
        read_batch(tmp_path / "b.csv")


@cases(
    ("text", "told"),
    [
        ("", "b.csv, line 1: COLUMNS none."),
        ("name,domain\nA,a.example\n", "b.csv, line 1: COLUMNS name, domain."),
        (CSV.replace("folder", "room", 1), "b.csv, line 1: COLUMNS name, domain, room."),
        (CSV.replace("folder", "folder,note", 1), "b.csv, line 1: COLUMNS name, domain, folder, note."),
        (
            "name,domain,folder\n",
            "b.csv, line 1, the file: it contains no companies: write one per line, below the columns.",
        ),
        (CSV.replace("Alpha,", ","), "b.csv, line 2, name: must not be empty."),
        (CSV.replace(",rooms/beta", ""), "b.csv, line 3, the row: it has 2 cells, not 3"),
        (CSV.replace("Alpha", "Alpha, Inc."), "b.csv, line 2, the row: it has 4 cells, not 3"),
        (
            CSV.replace("beta.ex", "alpha.ex"),
            "b.csv, line 3, domain: alpha.example is the domain of Alpha (line 2) already",
        ),
        (CSV.replace("beta.example", "http://beta.example"), "b.csv, line 3, domain: holds a scheme"),
        (CSV.replace("Beta", '"Beta'), "b.csv, line 2, the file: the CSV is cut off below this line"),
        (CSV.replace("Alpha", "M\0"), "b.csv, line 2: the batch file holds a control character. Is it a text file?"),
        (
            CSV.replace("Alpha", "Müller").encode("latin-1"),
            "b.csv: the batch file is not UTF-8 text. Save it as UTF-8.",
        ),
    ],
)
def test_a_mistake_in_a_csv_names_its_line(tmp_path: Path, text: str | bytes, told: str) -> None:
    (mistake,) = mistakes(tmp_path, text, "b.csv")
    assert mistake.startswith(told.replace("COLUMNS", COLUMNS))


def test_all_mistakes_of_a_csv_and_its_criteria_are_told(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("criteria: []\n", encoding="utf-8")
    told = mistakes(tmp_path, CSV.replace("Alpha", "").replace("beta.example", "beta"), "b.csv")
    assert [each.split(":")[0] for each in told] == [
        "b.csv, line 2, name",
        "b.csv, line 3, domain",
        "criteria.yaml, line 1, criteria",
    ]


@pytest.mark.parametrize("name", ["none.yaml", "none.csv"])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match=rf"^{name}: the batch file cannot be opened \(No such file"):
        read_batch(tmp_path / name, tmp_path / "criteria.yaml")


def test_a_missing_criteria_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(CSV, encoding="utf-8")
    with pytest.raises(BadRequest, match=r"^none\.yaml: the criteria file cannot be opened"):
        read_batch(tmp_path / "b.csv", tmp_path / "none.yaml")
