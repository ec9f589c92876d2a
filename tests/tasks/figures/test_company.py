"""Whose figures a document has, and rooms whose documents are of several companies."""

from dataclasses import replace
from decimal import Decimal

from tasks.figures.conflicts import RoomFigure, find_company, find_conflicts, name_other_companies
from tasks.figures.derived import choose_counted_figures
from tasks.figures.figure import Figure
from tests.cases import cases


@cases(
    ("text", "name", "company"),
    [
        ("SEVEN A.D. INC.\nSTATEMENTS OF FINANCIAL POSITION\nCash\t5", "accounts.pdf", "SEVEN A.D. INC."),
        ("\tJan 2025\nASSETS\t\nDue from Skuxs LLC\t200", "FOMIN+LLC_Balance+Sheet.pdf", "FOMIN LLC"),
        ("Assets, 2020-07-31: DKK 5\nName Of Reporting Entity: Rengøring & Co ApS", "a.xml", "Rengøring & Co ApS"),
        ("Nazwa Firmy: Alfa Polska Sp. z o.o.\nAktywa: 5", "case.xml", "Alfa Polska Sp. z o.o."),
        ("# Muster Verlag für Bau GmbH\nBilanz", "bilanz.md", "Muster Verlag für Bau GmbH"),
        ("<h1>DataFlex</h1>\nNASDAQ: DFLX\n", "report.md", "DFLX"),
        ("Loan agreement\nAcme Ltd\nBeta Ltd\n", "loan.pdf", ""),
        ("Revenue by customer\nBig Lots Stores Inc\t19,920\nRoss Stores Inc\t50\n", "sales.pdf", ""),
        ("STATEMENT OF FINANCIAL POSITION AS\nof December 31, 2024\n", "balance.pdf", ""),
        ("Revenue of the company\nHolding Company\nAbout Acme Inc.\n", "memo.pdf", ""),
        ("Project Falcon\nGoldman Sachs & Co. LLC\nRevenue 5", "teaser.pdf", ""),
        ("Company name: TBD\nPublic Limited Company\nBalance Sheet Co.", "template.xlsx", ""),
        ("Acme Ltd\n" + "Revenue grew in all our markets.\n" * 200, "letter.pdf", ""),
    ],
)
def test_a_document_names_its_own_company(text: str, name: str, company: str) -> None:
    assert find_company(text, name) == company


def test_a_name_that_recognition_read_once_is_not_sure() -> None:
    assert find_company("SAHYUE LIMITED\nRevenue\t5", "scan.pdf", recognised=True) == ""


def _row(value: int, text_id: int, concept: str = "revenue") -> RoomFigure:
    period = "2024-01-01/2024-12-31"
    figure = Figure(concept, "Revenue", Decimal(value), "EUR", "", Decimal(1), period, None, None, "", "p", 0, 1)
    return RoomFigure(figure, "management", f"{text_id}", f"{text_id}.pdf", "", deck=False, dated=None, text_id=text_id)


def test_figures_of_another_company_contradict_nothing_and_answer_nothing() -> None:
    texts = ["Acme GmbH\nRevenue 500", "Acme deck", "Beta Trading Ltd\nRevenue 700"]
    rows = name_other_companies(
        [_row(500, 0), _row(700, 2)], {0: "Acme GmbH", 1: None, 2: "Beta Trading Ltd"}, texts.__getitem__
    )
    assert [row.figure.entity for row in rows] == [None, "Beta Trading Ltd"]
    assert find_conflicts(rows) == []
    assert [row.figure.value for row in choose_counted_figures(rows)] == [500]


@cases(
    "other",
    [
        "Beta Trading Ltd, formerly Acme GmbH",
        "Beta Trading Ltd\nparent company: ACME",
        "Beta Trading Ltd\nwww.acmerobotics.com",
        "Beta Trading Ltd\nAccounts of the ARH group",
    ],
)
def test_documents_that_mention_each_other_are_of_one_room(other: str) -> None:
    companies = {0: "Acme Robotics Holding GmbH", 1: "Beta Trading Ltd"}
    if "www" in other:
        companies[0] = "Acme Robotics GmbH"
    rows = name_other_companies([_row(500, 0), _row(700, 1)], companies, ["Acme", other].__getitem__)
    assert len(find_conflicts(rows)) == 1


def test_of_two_companies_that_no_document_connects_none_is_the_rooms() -> None:
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1)], {0: "Acme AG", 1: "Beta SE"}, ["Acme", "Beta"].__getitem__
    )
    assert choose_counted_figures(rows) == []


def test_documents_that_differ_tenfold_in_all_they_share_are_not_of_one_company() -> None:
    shared = [_row(26_914, 0), _row(1_000, 1), _row(10_041, 0, "ebitda"), _row(280, 1, "ebitda")]
    assert find_conflicts(shared) == []
    assert len(find_conflicts(shared[:2])) == 1
    agreeing = [*shared, _row(77, 0, "cash"), _row(77, 1, "cash")]
    assert len(find_conflicts(agreeing)) == 2
    inflated = [replace(row, figure=replace(row.figure, value=row.figure.value * 3)) for row in shared[::2]]
    doubled = [replace(row, document_id="1", document_name="1.pdf") for row in inflated]
    assert len(find_conflicts([*shared[::2], *doubled])) == 2


@cases("called", ["Acme", "ACME AG"])
def test_the_company_that_the_batch_names_is_the_rooms(called: str) -> None:
    named = {0: "Acme AG", 1: "Beta SE", 2: "Beta SE"}
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1), _row(700, 2)], named, ["Acme", "Beta", "Beta"].__getitem__, called
    )
    assert [row.figure.value for row in choose_counted_figures(rows)] == [500]


@cases("called", ["", "Project Falcon", "Beta Health"])
def test_a_batch_that_names_none_of_them_leaves_it_to_the_documents(called: str) -> None:
    named = {0: "Acme AG", 1: "Beta Trading SE", 2: "Beta Trading SE"}
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1), _row(700, 2)], named, ["Acme", "Beta", "Beta"].__getitem__, called
    )
    assert [row.figure.value for row in choose_counted_figures(rows)] == [700]
