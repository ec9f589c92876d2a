"""Eight more rooms by hand, in other words, layouts, formats and languages than the first twenty, to mend the ledger on."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, chart, deck, letter, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def cave(room: Path) -> Expected:
    """French wine house with a June year: exercice 2023/2024 in k€; EBITDA of the memo and dettes financières contradict."""
    book(room / "Reporting groupe.xlsx", {
        "Synthèse": [["Domaines Clairval – reporting groupe"], ["en k€", "Réalisé 2022/2023", "Réalisé 2023/2024", "Budget 2023/2024"], ["Chiffre d'affaires", 38120, 41305, 42000], ["Marge brute", 15210, 16640, 17100],
                     ["EBITDA", 5120, 5744, 6000], ["Résultat net", 2004, 2390, 2600]],
        "Bilan": [["en k€", "30/06/2023", "30/06/2024"], ["Trésorerie", 3340, 2980], ["Dettes financières", 16400, 15150], ["Capitaux propres", 21500, 23890]],
    })  # fmt: skip
    letter(
        room / "Mémorandum d'information.docx", "# Chiffres clés", "L'exercice clos le 30 juin 2024 affiche un chiffre d'affaires de 41,3 M€.",
        "L'EBITDA de l'exercice clos le 30 juin 2024 s'établit à 6,9 M€.", "L'exercice social se termine le 30 juin.",
    )  # fmt: skip
    mail(
        room / "Confirmation banque.eml", "Encours", "Tue, 9 Jul 2024 09:00:00 +0200",
        "Bonjour,\n\nLes dettes financières s'élevaient à 17,8 millions d'euros au 30 juin 2024.\n\nCordialement",
    )  # fmt: skip
    return {("ebitda", "2024-06-30", ""), ("debt", "2024-06-30", "")}


def fintech_br(room: Path) -> Expected:
    """Brazil, in English and Portuguese: R$ million against thousands; net income and customers contradict; TPV is no revenue."""
    printed(
        room / "Demonstrações financeiras 2024.pdf", "# Ponte Pagamentos S.A.", "Demonstrações financeiras em 31 de dezembro de 2024 (em milhares de reais – R$)",
        [["", "2024", "2023"], ["Receita líquida", "412.905", "355.118"], ["Lucro bruto", "201.340", "166.902"], ["Lucro líquido do exercício", "38.744", "21.015"]],
        [["", "31/12/2024", "31/12/2023"], ["Caixa e equivalentes de caixa", "150.220", "118.760"], ["Patrimônio líquido", "320.118", "281.374"], ["Ativo total", "905.410", "799.020"]],
    )  # fmt: skip
    deck(
        room / "Roadshow.pptx",
        ("2024 highlights", [["R$ million", "2023", "2024"], ["TPV", "18,200", "23,950"], ["Net revenue", "355.1", "412.9"], ["Net income", "21.0", "52.3"]]),
        ("Clients", ["Active customers: 61,400 at December 31, 2024"]),
    )  # fmt: skip
    book(room / "KPI monitor.xlsx", {
        "KPIs": [["KPI", "4Q23", "4Q24"], ["Active customers (#, end of period)", 48900, 57300], ["Headcount (end of period)", 512, 590]],
    })  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("customers", "2024-12-31", "")}


def dockyard(room: Path) -> Expected:
    """UK firm: CSV ledger extract, web page, PDF; turnover of the page, capital expenditure of the board paper."""
    (room / "five_year_summary.csv").write_text(
        "£000,2020,2021,2022,2023,2024\nTurnover,11020,12450,14006,15310,16244\nOperating profit,802,910,1015,1144,1208\nCapital expenditure,410,388,902,655,731\n"
    )
    page(
        room / "about-us.html", "# About Kelsey Marine Ltd", "Founded in 1974, we employ over 90 people.", "In 2024 we achieved turnover of £18.1 million and an operating profit of £1.2 million.",
        [["Year", "Turnover (£m)"], ["2022", "14.0"], ["2023", "15.3"]],
    )  # fmt: skip
    letter(
        room / "Board paper 7 – capex.docx", "# Board paper 7", "Capital expenditure in 2024 came to £1.05m (2023: £0.66m).", "The Board approved capital expenditure of £1.4m for 2025.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("capital_expenditure", "2024-12-31", "")}


def chart_room(room: Path) -> Expected:
    """A US software deck of charts: ARR by chart and by workbook, FY ends in March; retention contradicts too."""
    chart(
        room / "Growth story.pptx", "ARR ($ in millions)", ["Mar-23", "Mar-24", "Mar-25"], {"ARR": [12.4, 17.9, 27.5]}
    )
    book(room / "Subscription metrics.xlsx", {
        "SaaS": [
            ["Fiscal year ending 31 March"], ["$000s", "31-Mar-23", "31-Mar-24", "31-Mar-25"], ["Annualised recurring revenue", 12410, 17880, 24310],
            ["NRR %", percent(1.07), percent(1.10), percent(1.14)], ["Logo churn %", percent(0.09), percent(0.08), percent(0.08)],
        ],
    })  # fmt: skip
    (room / "diligence-notes.md").write_text(
        "## Management session\n\n- NRR was 121% at 31 March 2025.\n- Annualised recurring revenue stood at $17.9m on 31 March 2024.\n- They forecast ARR of $34m at 31 March 2026.\n"
    )
    return {("recurring_revenue", "2025-03-31", ""), ("retention", "2025-03-31", "")}


def nordisk(room: Path) -> Expected:
    """Danish and Swedish: nettoomsætning in tkr., balance sheet; profit of the presentation and cash of the note."""
    printed(
        room / "Årsrapport 2023.pdf", "# Skagen Vinduer A/S", "Årsrapport for regnskabsåret 1. januar – 31. december 2023 (DKK '000)",
        [["", "2023", "2022"], ["Nettoomsætning", "184.220", "171.905"], ["Resultat af primær drift", "14.318", "12.760"], ["Årets resultat", "9.870", "8.644"]],
        [["", "31/12 2023", "31/12 2022"], ["Likvide beholdninger", "11.402", "13.890"], ["Egenkapital", "64.120", "58.250"], ["Aktiver i alt", "142.800", "139.110"]],
    )  # fmt: skip
    deck(
        room / "Company presentation.pptx",
        (
            "Key financials (DKKm)",
            [
                ["", "2022A", "2023A", "2024B"],
                ["Revenue", "171.9", "184.2", "195.0"],
                ["EBIT", "12.8", "14.3", "16.0"],
                ["Net profit", "8.6", "13.1", "12.0"],
            ],
        ),
    )
    (room / "bank note.txt").write_text(
        "Cash and bank balances were DKK 7.9m at 31 December 2023. Equity: DKK 64.1m at 31 December 2023.\n"
    )
    return {("net_income", "2023-12-31", ""), ("cash", "2023-12-31", "")}


def minutes(room: Path) -> Expected:
    """Minutes and a data book by half-years: the half's revenue contradicts, the year's gross margin agrees, headcount does not."""
    letter(
        room / "Minutes 2025-02-11.docx", "# Minutes of the meeting of the board of Ashdown Labs Limited", "Held on 11 February 2025. Present: the directors.",
        "The CFO reported revenue of £3.4m for H2 2024 and £6.1m for the full year 2024.", "Headcount stood at 74 on 31 December 2024.",
        "The board noted that gross margin for 2024 was 61% and approved the 2025 budget of £7.5m revenue.",
    )  # fmt: skip
    book(room / "Data book.xlsx", {
        "P&L": [["£", "H1 2024", "H2 2024", "FY 2024"], ["Revenue", 3012440, 3087905, 6100345], ["Gross profit", 1816500, 1904600, 3721100]],
        "Staff": [["Date", "Permanent staff", "Contractors", "Total headcount"], ["30/06/2024", 55, 6, 61], ["31/12/2024", 60, 8, 68]],
    })  # fmt: skip
    return {("revenue", "2024-07-01/2024-12-31", ""), ("headcount", "2024-12-31", "")}


def semi(room: Path) -> Expected:
    """A Japanese supplier: JPY million and oku in English; fiscal 2024 ends in March 2025; operating income and total assets."""
    printed(
        room / "Kessan tanshin FY2024.pdf", "# Aomori Precision Co., Ltd.", "Consolidated financial results for the fiscal year ended March 31, 2025", "(Millions of yen, rounded down)",
        [["", "Year ended March 31, 2024", "Year ended March 31, 2025"], ["Net sales", "48,205", "52,911"], ["Operating income", "3,904", "4,416"], ["Profit attributable to owners of parent", "2,611", "3,020"]],
        [["", "As of March 31, 2024", "As of March 31, 2025"], ["Total assets", "61,330", "64,870"], ["Net assets", "30,115", "32,640"]],
    )  # fmt: skip
    book(room / "Analyst model.xlsx", {
        "Model": [["¥ bn", "Mar-24A", "Mar-25A", "Mar-26E"], ["Net sales", 48.2, 52.9, 56.0], ["Operating income", 3.9, 5.2, 5.6], ["Total assets", 61.3, 69.4, 70.0]],
    })  # fmt: skip
    mail(
        room / "IR call.eml", "IR call", "Wed, 14 May 2025 17:00:00 +0900",
        "Hi,\n\nNet sales for the year ended March 31, 2025 were JPY 52.9 billion, and guidance is JPY 56 billion for the year to March 2026.\n\nK.",
    )  # fmt: skip
    return {("operating_income", "2025-03-31", ""), ("total_assets", "2025-03-31", "")}


def spalten(room: Path) -> Expected:
    """German holding: periods down the rows, concepts across; Monatswerte; Eigenkapital of letter and EBIT of the deck."""
    book(room / "Kennzahlen.xlsx", {
        "Jahre": [["Geschäftsjahr", "Umsatz (T€)", "EBIT (T€)", "Mitarbeiter (Stichtag)"], ["2022", 8820, 640, 71], ["2023", 9410, 702, 74], ["2024", 10055, 781, 79]],
        "Bilanz": [["Stichtag", "Eigenkapital (T€)", "Bilanzsumme (T€)", "Liquide Mittel (T€)"], ["31.12.2023", 2410, 6105, 812], ["31.12.2024", 2790, 6480, 930]],
    })  # fmt: skip
    letter(
        room / "Schreiben an die Gesellschafter.docx", "Sehr geehrte Gesellschafter,", "der Umsatz betrug im Geschäftsjahr 2024 rund 10,1 Mio. Euro.",
        "Das Eigenkapital belief sich zum 31. Dezember 2024 auf 3,3 Mio. Euro, die Bilanzsumme auf 6,5 Mio. Euro.",
    )  # fmt: skip
    deck(
        room / "Kurzprofil.pptx",
        (
            "Auf einen Blick",
            [
                ["Kennzahl", "2023", "2024"],
                ["Umsatz, Mio. €", "9,4", "10,1"],
                ["EBIT, Mio. €", "0,7", "1,1"],
                ["Mitarbeiter", "74", "79"],
            ],
        ),
    )
    return {("equity", "2024-12-31", ""), ("operating_income", "2024-12-31", "")}


ROOMS: Final = (cave, fintech_br, dockyard, chart_room, nordisk, minutes, semi, spalten)
