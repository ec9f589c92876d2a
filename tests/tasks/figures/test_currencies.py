"""Currencies of figures: by marks, codes and names of any country; none that a document does not name is guessed."""

from tasks.figures.conflicts import RULE, RoomFigure, find_conflicts
from tasks.figures.derived import derive
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.scoring.rules import parse_condition
from tests.cases import cases


def _units(text: str) -> list[tuple[str, str]]:
    found = find_figures(LedgerDocument(text, [], "accounts.csv"), taxonomy())
    return [(figure.concept, figure.unit) for figure in found.figures]


@cases(
    ("written", "currency"),
    [
        ("₱{}", "PHP"),
        ("P={}", "PHP"),
        ("RM{}", "MYR"),
        ("Rp {}", "IDR"),
        ("R {}", "ZAR"),
        ("R{}", "ZAR"),
        ("{} zł", "PLN"),
        ("{} Kč", "CZK"),
        ("{} Ft", "HUF"),
        ("{} lei", "RON"),
        ("฿{}", "THB"),
        ("{} ₫", "VND"),
        ("₦{}", "NGN"),
        ("KSh {}", "KES"),
        ("NT${}", "TWD"),
        ("HK${}", "HKD"),
        ("S${}", "SGD"),
        ("A${}", "AUD"),
        ("C${}", "CAD"),
        ("R$ {}", "BRL"),
        ("₲{}", "PYG"),
    ],
)
def test_a_currency_is_known_by_its_mark_and_holds_for_rows_without(written: str, currency: str) -> None:
    text = f"Income statement\n\t2024\nRevenue\t{written.format('4,120,000')}\nGross profit\t1,200,000\n"
    assert _units(text) == [("revenue", currency), ("gross_profit", currency)]


@cases(
    ("words", "currency"),
    [
        ("Philippine pesos", "PHP"),
        ("Malaysian Ringgit", "MYR"),
        ("Kenya shillings", "KES"),
        ("South African Rand", "ZAR"),
        ("New Taiwan dollars", "TWD"),
        ("Kwacha", "unknown"),
    ],
)
def test_a_currency_is_known_by_its_name(words: str, currency: str) -> None:
    assert _units(f"Amounts expressed in {words}\n\t2024\nRevenue\t4,120,000\n") == [("revenue", currency)]


@cases("mark", ["NT$", "HK$", "S$", "A$"])
def test_a_dollar_sign_is_that_of_the_dollar_which_the_document_marks(mark: str) -> None:
    (_, marked), (_, bare) = _units(f"\t2024\nRevenue\t{mark}4,120,000\nGross profit\t$1,200,000\n")
    assert bare == marked != "USD"


@cases(
    ("words", "currency"),
    [
        ("VALORES EM UNIDADES DE REAL", "BRL"),
        ("Fornecedor: Exemplo Ltda, CNPJ 11.222.333/0001-81", "unknown"),
        ("The subsidiary Muster GmbH, HRB 12345, reports under HGB", "unknown"),
        ("Input CGST 12,34,567.00 of 1,02,345.50", "INR"),
        ("Input CGST 12,34,567.00 of 1,02,345.50 and 4,120,000", "unknown"),
        ("Input CGST 12,34,567.00 of 1,02,345.50. Mills Limited, Karachi, Pakistan", "unknown"),
        ("Input CGST 12,34,567.00 of 1,02,345.50. NPR 12", "NPR"),
        ("Mills of India, 12,34,567.00 of 1,02,345.50", "INR"),
        ("Mills of India and Nepal, 12,34,567.00 of 1,02,345.50", "unknown"),
        ("Purchases 12,34,567.00 of 1,02,345.50. Mills Limited, Dhaka", "unknown"),
        ("The parent reports under Ind AS 115", "unknown"),
    ],
)
def test_accounts_without_a_currency_are_in_the_one_that_their_own_numbers_show(words: str, currency: str) -> None:
    assert _units(f"{words}\n\t2024\nRevenue\t320500\n") == [("revenue", currency)]


def test_a_row_of_selling_expenses_is_no_sol() -> None:
    assert _units("\t2024\nRevenue\t4,120,000\nS/E\t12,000\nGroup+S/E\t13,000\n") == [("revenue", "unknown")]
    assert _units("(S/)\t2024\nRevenue\t4,120,000\n") == [("revenue", "PEN")]


def test_crowns_are_those_of_the_documents_language() -> None:
    text = "Årsredovisning och belopp i kronor\n\t2024\nNettoomsättning\t4 120 000 kr\n"
    assert _units(text) == [("revenue", "SEK")]
    assert _units("\t2024\nRevenue\t4 120 000 kr\n") == [("revenue", "unknown")]


def test_two_currencies_in_one_table_each_keep_their_own() -> None:
    text = "\t2024\t2024\n\tEUR\tUSD\nRevenue\t4,120,000\t4,500,000\n"
    assert _units(text) == [("revenue", "EUR"), ("revenue", "USD")]


@cases(
    ("words", "units"),
    [
        ("Rs. in crores", ["INR", "INR"]), ("Taka", ["BDT", "BDT"]), ("тис. грн", ["UAH", "UAH"]),
        ("Restated", ["unknown"] * 2),
        ("Alpha GmbH", ["unknown"] * 2), ("Actual", ["unknown"] * 2), ("Group", ["unknown"] * 2),
        ("Kwanza", []), ("Zorkmids '000", []), ("Europe", []), ("HGB", []),
    ],
)  # fmt: skip
def test_words_under_all_years_are_units_and_no_part_and_without_known_ones_nothing_is_given(
    words: str, units: list[str]
) -> None:
    text = f"\tYear ended 31.03.2025\tYear ended 31.03.2024\n\t{words}\t{words}\nRevenue\t4,120,330\t3,880,100\n"
    found = find_figures(LedgerDocument(text, [], "accounts.csv"), taxonomy()).figures
    assert [(figure.unit, figure.entity) for figure in found] == [(unit, None) for unit in units]


@cases("label", ["R&D expenses", "Appendix R 3", "Lei e loro"])
def test_letters_that_are_no_currency_give_none(label: str) -> None:
    assert _units(f"{label}\n\t2024\nRevenue\t4,120,000\n") == [("revenue", "unknown")]


def _room(text: str, document: str) -> list[RoomFigure]:
    figures = find_figures(LedgerDocument(text, [], document), taxonomy()).figures
    return [
        RoomFigure(figure, "management", document, document, document, deck=False, dated=None) for figure in figures
    ]


def test_amounts_of_an_unknown_currency_make_ratios_and_growth_alone() -> None:
    text = "\t2024\t2023\nRevenue\t4,000,000\t2,000,000\nGross profit\t1,000,000\t900,000\n"
    rows = _room(text, "one.csv")
    computed = {(each.name, each.value, each.unit) for each in derive(rows, RULE) if each.period.endswith("2024-12-31")}
    assert {("revenue_growth", 100, "percent"), ("gross_margin", 25, "percent")} <= computed
    assert not parse_condition("revenue", ">= 1000000").fits("unknown")
    assert find_conflicts([*rows, *_room(text.replace("4,000,000", "5,000,000"), "two.csv")], RULE) == []


@cases(
    ("before", "currency"),
    [
        ("Mills Limited, Karachi, Pakistan", "unknown"),
        ("Mills Limited. All amounts in PKR", "PKR"),
        ("Mills Limited. NPR 12, NPR 15 and NPR 18", "NPR"),
        ("Mills Limited, Mumbai. NPR 12, NPR 15 and NPR 18", "unknown"),
        ("Mills Limited. Our first shop in Sri Lanka", "unknown"),
        ("Mills Limited, Bengaluru. Our first shop in Sri Lanka", "INR"),
        ("Mills Limited, Mumbai, India. Its subsidiary in Nepal", "INR"),
        ("Mills Limited", "INR"),
        ("Nepal, Nepal, Nepal. A loan of INR 5,000", "unknown"),
    ],
)
def test_rupees_are_those_of_the_country_that_a_document_names(before: str, currency: str) -> None:
    assert _units(f"{before}\n\t2024\n(Rs.)\t\nRevenue\t4,120,000\n") == [("revenue", currency)]


_RESULTS = """{before}

Estado de resultados de la sociedad por el año que terminó el 31 de diciembre de 2024
{head}
\t2024
Ingresos\t{mark}4,120,000
"""
_COLOMBIA = "Cali, Colombia. Colombia es el país de la sociedad, y Colombia su mercado"


@cases(
    ("before", "head", "mark", "currency"),
    [
        ("Santiago de Chile", "En miles de pesos", "", "CLP"),
        ("Ciudad de México", "Cifras en pesos", "$", "MXN"),
        (f"{_COLOMBIA}. México", "En pesos", "", "unknown"),
        (_COLOMBIA, "En pesos", "$", "COP"),
        ("La sociedad anónima", "En pesos", "", "unknown"),
        ("La sociedad anónima", "", "$", "unknown"),
        ("Quito, Ecuador. La sociedad tiene una sucursal en Colombia", "", "$", "unknown"),
        ("San Juan, Puerto Rico. La sociedad y la comunidad dominicana", "", "$", "unknown"),
        ("Bogotá. El cliente de la sociedad está en México", "En pesos", "", "unknown"),
        ("La sociedad anónima de Quito, Ecuador", "En dólares de los Estados Unidos de América", "$", "USD"),
        ("La sociedad anónima de Quito, Ecuador. Pagamos US$ 5", "", "$", "USD"),
        ("La sociedad anónima", "", "€", "EUR"),
        ("La sociedad anónima de México", "En USD", "", "USD"),
    ],
)
def test_pesos_are_those_of_the_country_that_a_document_names(before: str, head: str, mark: str, currency: str) -> None:
    assert {unit for _, unit in _units(_RESULTS.format(before=before, head=head, mark=mark))} == {currency}


@cases(
    ("line", "currency"),
    [
        ("Acme Corp. A loan of 5,000 pesos was repaid in Mexico", "USD"),
        ("Acme Corp. Plant in Mexico; the peso fell", "USD"),
        ("Acme Corp. A loan of 5,000 Canadian dollars was repaid", "USD"),
        ("Acme Inc., Manila, Philippines. Amounts in thousand pesos", "PHP"),
        ("Acme Inc. of Mexico. All amounts in Mexican pesos", "MXN"),
    ],
)
def test_english_dollars_stay_dollars_unless_pesos_are_stated(line: str, currency: str) -> None:
    mark = "$" if currency == "USD" else ""
    assert {unit for _, unit in _units(f"{line}\n\t2024\nRevenue\t{mark}4,120,000\n")} == {currency}


@cases(
    ("line", "currency"),
    [
        ("Under AASB 15 and AASB 16. " * 6, "AUD"),
        ("The Australian Accounting Standards apply. " * 12, "AUD"),
        ("Under AASB 15 and AASB 16. " * 2, "USD"),
        ("Under AASB 15 and AASB 16. " * 6 + "This report is presented in US dollars.", "USD"),
        ("Under AASB 15 and AASB 16. " * 6 + "A loan of US$5 million. " * 8, "USD"),
        ("Under AASB 15 and AASB 16. " * 6 + "Sales in US dollars rose. " * 8, "USD"),
        ("Under AASB 15 and AASB 16. " * 6 + "Amounts are expressed in Canadian dollars.", "CAD"),
        ("Under AASB 15 and AASB 16. " * 6 + "HK$5 million. " * 14, "HKD"),
        ("Under XAASB 15 and AASBX 16. " * 6, "USD"),
        ("A subsidiary in Australia. " * 20, "USD"),
        ("Sales of CAD 5 rose against US dollars. " * 12, "USD"),
    ],
)
def test_a_dollar_sign_is_that_of_the_standards_which_a_report_follows(line: str, currency: str) -> None:
    assert {unit for _, unit in _units(f"{line}\n\t2024\nRevenue\t$4,120,000\n")} == {currency}


@cases(
    ("line", "currency"),
    [("Hosting, USD 18", "unknown"), ("Paid $18 for a domain", "unknown"), ("Currency: USD", "USD"), ("$18", "USD")],
)
def test_a_currency_that_a_sheet_names_for_one_payment_is_not_that_of_all(line: str, currency: str) -> None:
    text = f"Ledger\t{line}\t18\n\n\t2024\nRevenue\t95,000\n"
    figures = find_figures(LedgerDocument(text, [], "ledger.csv", ".csv"), taxonomy()).figures
    assert [figure.unit for figure in figures] == [currency]
