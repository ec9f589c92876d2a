"""Ten rooms as finance people write them, on which the ledger was mended. Each function writes one and says what contradicts.

An expectation is a concept, its period (a day, the last day of a year, or both days of a part of a year), and the part of
the company ("" for the whole).
"""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, deck, letter, mail, percent, printed

Expected = set[tuple[str, str, str]]


def nordlicht(room: Path) -> Expected:
    """German software: revenue of deck and accounts, cash of mail and balance; plan, average and end of staff differ."""
    book(room / "BWA 2024.xlsx", {
        "BWA": [
            ["Nordlicht Software GmbH – BWA"], ["Angaben in TEUR"], [],
            ["", "Ist 2023", "Ist 2024", "Plan 2024", "Plan 2025"],
            ["Umsatzerlöse", 16140, 18402, 19500, 23000], ["Materialaufwand", -2210, -2650, -2700, -3100],
            ["Rohertrag", 13930, 15752, 16800, 19900], ["Personalaufwand", -9100, -10300, -10400, -12100],
            ["EBITDA", 2130, 2480, 3100, 4200], ["Jahresüberschuss", 890, 1105, 1500, 2100],
        ],
        "Bilanz": [
            ["Bilanz", "31.12.2023", "31.12.2024"], ["in TEUR"], ["Sachanlagen", 1200, 1340],
            ["Liquide Mittel", 2870, 3210], ["Bilanzsumme", 9800, 10950], ["Eigenkapital", 4100, 5205],
        ],
    })  # fmt: skip
    letter(
        room / "Lagebericht 2024.docx", "# Lagebericht für das Geschäftsjahr 2024",
        "Die Umsatzerlöse stiegen im Geschäftsjahr 2024 um 14 % auf 18,4 Mio. EUR (Vorjahr: 16,1 Mio. EUR).",
        "Im Jahresdurchschnitt waren 131 Mitarbeiter beschäftigt. Zum 31.12.2024 beschäftigte die Gesellschaft 142 Mitarbeiter.",
        "Für das Geschäftsjahr 2025 plant die Geschäftsführung Umsatzerlöse von 23,0 Mio. EUR.",
        "Die Bilanzsumme betrug zum 31. Dezember 2024 10,95 Mio. EUR, das Eigenkapital 5,2 Mio. EUR.",
    )  # fmt: skip
    deck(
        room / "Unternehmenspräsentation.pptx",
        ("Nordlicht auf einen Blick", ["Umsatz 2024: 21,2 Mio. €", "142 Mitarbeiter", "EBITDA 2024: 2,5 Mio. €"]),
    )
    mail(
        room / "Liquidität.eml", "Liquidität zum Jahresende", "Mon, 13 Jan 2025 09:12:00 +0100",
        "Hallo zusammen,\n\nder Kassenbestand zum 31.12.2024 betrug 2,1 Mio. EUR.\n\nViele Grüße\nJana",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def harbour(room: Path) -> Expected:
    """US SaaS of a June year: ARR of deck and metrics, churn of memo; ARR is no revenue, LTM no fiscal year."""
    book(room / "SaaS metrics.xlsx", {
        "KPIs": [
            ["Harbour Analytics, Inc. – SaaS metrics (fiscal year ends June 30)"], [],
            ["USD in thousands", "Jun-23", "Jun-24"],
            ["Ending ARR", 14820, 19350], ["Customers", 212, 268], ["Gross retention", percent(0.91), percent(0.93)],
            ["Net revenue retention", percent(1.06), percent(1.09)],
        ],
        "P&L": [
            ["USD in thousands", "FY23", "FY24", "LTM Dec-24"], ["Revenue", 13110, 16980, 18240],
            ["Gross profit", 10100, 13250, 14300], ["Operating income", -2140, -1310, -900],
        ],
    })  # fmt: skip
    deck(
        room / "Harbour management presentation.pptx",
        ("Traction", [["", "30 June 2023", "30 June 2024"], ["ARR ($m)", "14.8", "23.1"], ["Customers", "212", "268"]]),
        ("Financials", ["Revenue of $17.0 million in fiscal 2024", "LTM revenue of $18.2 million to December 2024"]),
    )
    (room / "call notes.txt").write_text(
        "Call with CFO, 14 Feb 2025\n\n- Fiscal year ends 30 June.\n- Revenue for the year ended June 30, 2024 was $17.0m.\n"
        "- Operating loss was $1.9m in the year ended June 30, 2024, CFO says.\n"
        "- At 30 June 2024 the company had 268 customers.\n"
    )
    return {("recurring_revenue", "2024-06-30", ""), ("operating_income", "2024-06-30", "")}


def millbrook(room: Path) -> Expected:
    """UK manufacturer: debt of the facility letter against net debt as decoy, EBITDA adjusted and reported, headcount."""
    printed(
        room / "Statutory accounts 2024.pdf", "# Millbrook Castings Limited",
        "Annual report and financial statements for the year ended 31 March 2024", "Independent auditor's report: we have audited the financial statements.",
        [["£'000", "2024", "2023"], ["Turnover", "48,215", "45,902"], ["Cost of sales", "(33,118)", "(32,001)"],
         ["Gross profit", "15,097", "13,901"], ["Operating profit", "4,011", "3,215"],
         ["Profit for the financial year", "2,604", "2,110"]],
        [["£'000", "31 March 2024", "31 March 2023"], ["Cash at bank and in hand", "1,482", "2,076"],
         ["Total borrowings", "11,900", "13,250"]],
        "The average number of employees during the year was 402 (2023: 398).",
    )  # fmt: skip
    book(room / "Management accounts Mar-24.xlsx", {
        "Summary": [
            ["Millbrook Castings – management accounts"], ["£000", "FY24 Actual", "FY24 Budget", "FY23 Actual"],
            ["Turnover", 48215, 50000, 45902], ["EBITDA", 6320, 7000, 5480],
            ["Adjusted EBITDA", 7105, 7400, 6010], ["Headcount (year end)", 411, 420, 399],
        ],
    })  # fmt: skip
    letter(
        room / "Information memorandum.docx", "# Financial summary",
        "Turnover in the year ended 31 March 2024 was £48.2 million. EBITDA was £7.9 million in the year ended 31 March 2024.",
        "At 31 March 2024 the group had total borrowings of £11.9 million and net debt of £10.4 million.",
        "As at 31 March 2024 the company had 411 employees.",
    )  # fmt: skip
    mail(
        room / "Bank.eml", "Facilities", "Thu, 18 Apr 2024 11:00:00 +0100",
        "Dear all,\n\nTotal debt at 31 March 2024 stood at £14.6m across the term loan and the invoice facility.\n\nRegards",
    )  # fmt: skip
    return {("ebitda", "2024-03-31", ""), ("debt", "2024-03-31", "")}


def alpine(room: Path) -> Expected:
    """Swiss medtech: segments that differ from the group are decoys; one segment's sales contradict, and capex does."""
    book(room / "Segment report.xlsx", {
        "Segments": [
            ["Net sales by segment, CHF million"], ["Segment", 2022, 2023],
            ["Implants", 61.2, 66.8], ["Instruments", 28.4, 30.1], ["Total", 89.6, 96.9],
        ],
        "Cash flow": [
            ["CHF million", 2022, 2023], ["Cash flow from operating activities", 14.2, 16.9],
            ["Capital expenditure", -5.1, -6.4], ["Cash and cash equivalents at end of year", 21.0, 24.3],
        ],
    })  # fmt: skip
    printed(
        room / "Annual report 2023.pdf", "# Alpine Implants AG – Annual report 2023",
        "Net sales reached CHF 96.9 million in 2023 (2022: CHF 89.6 million).",
        "Capital expenditure was CHF 9.8 million in 2023.", "Cash and cash equivalents amounted to CHF 24.3 million at 31 December 2023.",
        [["CHF million", "2023", "2022"], ["Net sales", "96.9", "89.6"], ["EBITDA", "19.8", "17.7"], ["Net profit", "9.1", "8.0"]],
    )  # fmt: skip
    deck(
        room / "Lender presentation.pptx",
        ("Segment sales", [["Net sales, CHF m", "2022", "2023"], ["Implants", "61.2", "72.5"], ["Instruments", "28.4", "30.1"]]),
        ("Outlook", ["Net sales of CHF 105 million expected in 2024", "Net profit 2023: CHF 9.1 million"]),
    )  # fmt: skip
    return {("capital_expenditure", "2023-12-31", ""), ("revenue", "2023-12-31", "Implants")}


def quarterly(room: Path) -> Expected:
    """A start-up by quarters: the quarter's revenue contradicts, the year's does not; burn of memo and model."""
    book(room / "Financial model v7.xlsx", {
        "Actuals": [
            ["Pebble Robotics", "", "", "", "", ""], ["$ in 000s", "Q1 2024", "Q2 2024", "Q3 2024", "Q4 2024", "FY 2024"],
            ["Revenue", 410, 455, 520, 615, 2000], ["Gross profit", 190, 220, 262, 318, 990],
            ["EBITDA", -910, -880, -870, -820, -3480],
        ],
        "Cash": [
            ["$ in 000s", "31 Dec 2024", "31 Jan 2025"], ["Cash balance", 5120, 4790], ["Monthly net burn", 310, 330],
        ],
    })  # fmt: skip
    letter(
        room / "Investor update Q4 2024.docx", "# Investor update, fourth quarter 2024",
        "Revenue was $0.7m in Q4 2024, up from $0.52m in Q3 2024.", "For the full year 2024 revenue was $2.0m.",
        "Cash at 31 December 2024 stood at $5.1m.", "EBITDA for 2024 was -$3.5m.",
    )  # fmt: skip
    deck(
        room / "Series A deck.pptx",
        ("Financial profile", ["2024 revenue: $2.0M", "Cash at 31 December 2024: $6.2M", "Budget 2025: revenue $4.5M"]),
    )
    return {("revenue", "2024-10-01/2024-12-31", ""), ("cash", "2024-12-31", "")}


def customers(room: Path) -> Expected:
    """Concentration and customers: the largest customer's share, and how many there are; shares are counts too."""
    book(room / "Customer list 2024.xlsx", {
        "Top customers": [
            ["Revenue by customer, EUR thousand"], ["Customer", "FY2023", "FY2024"],
            ["Hansa Logistik", 2100, 2460], ["Vertex BV", 1500, 1610], ["Others", 6400, 7130], ["Total", 10000, 11200],
        ],
        "KPI": [["KPI", "31.12.2023", "31.12.2024"], ["Number of customers", 143, 171], ["Customer churn p.a.", percent(0.062), percent(0.055)]],
    })  # fmt: skip
    letter(
        room / "Commercial DD.docx", "# Customers",
        "At 31 December 2024 the company served 171 customers.",
        [["Metric", "2023", "2024"], ["Revenue (EUR m)", "10.0", "11.2"], ["Largest customer share", "21 %", "22 %"],
         ["Annual churn", "6.2 %", "8.9 %"]],
        "Net revenue retention reached 104 % in 2024.",
    )  # fmt: skip
    deck(
        room / "Teaser.pptx",
        ("Highlights", ["Revenue 2024: € 11.2 million", "230 customers at 31 December 2024", "Largest customer share 2024: 15 %"]),
    )  # fmt: skip
    return {
        ("customers", "2024-12-31", ""), ("churn", "2024-12-31", ""), ("largest_customer_share", "2024-12-31", ""),
    }  # fmt: skip


def reisewerk(room: Path) -> Expected:
    """German travel group: Konzern and Einzelabschluss are two, Jahresüberschuss contradicts; gross bookings are no revenue."""
    printed(
        room / "Konzernabschluss 2023.pdf", "# Reisewerk AG – Konzernabschluss zum 31. Dezember 2023", "Bestätigungsvermerk: Wir haben den Konzernabschluss geprüft.",
        [["in T€", "2023", "2022"], ["Umsatzerlöse", "212.480", "184.910"], ["Betriebsergebnis", "11.320", "7.415"],
         ["Konzernjahresüberschuss", "6.948", "4.102"]],
        [["in T€", "31.12.2023", "31.12.2022"], ["Zahlungsmittel", "38.115", "29.870"], ["Summe Aktiva", "141.020", "129.433"],
         ["Finanzverbindlichkeiten", "42.300", "47.100"]],
    )  # fmt: skip
    book(room / "Kennzahlen.xlsx", {
        "Kennzahlen": [
            ["Reisewerk Konzern, Mio. €", 2022, 2023], ["Buchungsvolumen (brutto)", 611.0, 702.4],
            ["Umsatz", 184.9, 212.5], ["Bereinigtes EBITDA", 21.0, 26.3], ["EBITDA", 18.2, 22.9],
            ["Jahresüberschuss", 4.1, 8.3], ["Mitarbeiter (31.12.)", 1210, 1288],
        ],
    })  # fmt: skip
    letter(
        room / "Protokoll Aufsichtsrat.docx", "Protokoll der Sitzung des Aufsichtsrats vom 12. März 2024",
        "Der Vorstand berichtet: Der Umsatz lag 2023 bei 212,5 Mio. €, das EBITDA betrug 2023 22,9 Mio. €.",
        "Die Finanzverbindlichkeiten betrugen zum 31. Dezember 2023 51,7 Mio. €.",
        "Für 2024 wird ein Umsatz von 230 Mio. € erwartet.",
    )  # fmt: skip
    return {("net_income", "2023-12-31", ""), ("debt", "2023-12-31", "")}


def restated(room: Path) -> Expected:
    """Restated and reported stand apart; the currency as written is another figure; gross profit contradicts."""
    printed(
        room / "Annual report FY2024.pdf", "# Coral Foods plc", "Annual report for the year ended 30 September 2024",
        [["US$ million", "2024", "2023 (restated)"], ["Revenue", "318.4", "301.7"], ["Gross profit", "101.9", "95.0"],
         ["Net profit", "22.6", "20.4"]],
    )  # fmt: skip
    printed(
        room / "Annual report FY2023.pdf", "# Coral Foods plc", "Annual report for the year ended 30 September 2023",
        [["US$ million", "2023", "2022"], ["Revenue", "305.2", "280.0"], ["Gross profit", "96.8", "86.1"], ["Net profit", "21.1", "17.9"]],
    )  # fmt: skip
    book(room / "Databook.xlsx", {
        "PL": [
            ["Coral Foods – databook", None, None], ["USD m", "FY23A", "FY24A"], ["Revenue", 305.2, 318.4],
            ["COGS", -208.4, -212.9], ["Gross profit", 96.8, 105.5], ["Gross margin", percent(0.317), percent(0.331)],
        ],
        "Local": [["GBP m", "FY23A", "FY24A"], ["Revenue", 248.1, 252.7]],
    })  # fmt: skip
    letter(
        room / "Red flag report.docx", "# Findings",
        "Revenue for the year ended 30 September 2024 was US$318.4 million. Revenue was restated for the year before.",
        "Net profit for the year ended 30 September 2024 was US$22.6 million.",
    )  # fmt: skip
    return {("gross_profit", "2024-09-30", "")}


def hospital(room: Path) -> Expected:
    """A clinic group in rupees: crore and lakh agree; headcount and borrowings contradict; YTD is no year."""
    book(room / "MIS March 2024.xlsx", {
        "MIS": [
            ["Sanjeevani Clinics Pvt Ltd – MIS (₹ in lakhs)"], ["Particulars", "FY 2022-23", "FY 2023-24", "YTD Dec-24"],
            ["Revenue from operations", 14210, 16835, 13900], ["EBITDA", 2104, 2612, 2240],
            ["Profit after tax", 702, 911, 800],
        ],
        "HR": [["As at", "31-Mar-23", "31-Mar-24"], ["Headcount", 1840, 2012]],
    })  # fmt: skip
    letter(
        room / "Note to lenders.docx", "# Note to lenders",
        "Revenue from operations was ₹168.35 crore in the year ended 31 March 2024.",
        "Profit after tax was ₹13.4 crore for the year ended 31 March 2024.",
        "Total borrowings stood at ₹62.0 crore as at 31 March 2024.",
        "As at 31 March 2024 the company had 2,012 employees.",
    )  # fmt: skip
    printed(
        room / "Audited financials FY24.pdf", "# Sanjeevani Clinics Private Limited", "Balance sheet as at 31 March 2024. We have audited these statements.",
        [["₹ in lakhs", "31 March 2024", "31 March 2023"], ["Total borrowings", "7,450", "6,880"], ["Cash and cash equivalents", "1,115", "980"],
         ["Total assets", "21,300", "19,870"]],
        [["₹ in lakhs", "Year ended 31 March 2024", "Year ended 31 March 2023"], ["Revenue from operations", "16,835", "14,210"],
         ["Profit after tax", "911", "702"]],
    )  # fmt: skip
    return {("net_income", "2024-03-31", ""), ("debt", "2024-03-31", "")}


def energy(room: Path) -> Expected:
    """A utility: consolidated against parent, operating cash flow contradicts, equity does; guidance is a decoy."""
    printed(
        room / "Report and accounts 2024.pdf", "# Tidewater Energy ASA", "Annual report 2024. Independent auditor's report.",
        [["NOK million", "2024", "2023"], ["Total revenue", "4,812", "4,390"], ["Operating profit", "903", "811"], ["Net profit", "540", "498"]],
        [["NOK million", "2024", "2023"], ["Net cash flow from operating activities", "1,120", "1,004"], ["Purchase of property, plant and equipment", "(640)", "(598)"]],
        [["NOK million", "31.12.2024", "31.12.2023"], ["Total assets", "9,870", "9,210"], ["Total equity", "4,015", "3,702"]],
    )  # fmt: skip
    deck(
        room / "Q4 presentation.pptx",
        ("2024 in figures", ["Operating cash flow 2024: NOK 1.31 billion", "Revenue of NOK 4.8 billion in 2024", "Capital expenditure 2024: NOK 640 million"]),
        ("Guidance", ["Revenue of NOK 5.2 billion expected in 2025", "EBITDA target 2025: NOK 1.6 billion"]),
    )  # fmt: skip
    book(room / "Covenant model.xlsx", {
        "Covenants": [
            ["NOKm", "2023A", "2024A", "2025E", "2026E"], ["Revenue", 4390, 4812, 5200, 5450],
            ["Operating profit", 811, 903, 960, 1010], ["Total equity", 3702, 4266, 4500, 4700],
            ["Total assets", 9210, 9870, 10100, 10400], ["Equity ratio", percent(0.402), percent(0.432), percent(0.446), percent(0.452)],
        ],
    })  # fmt: skip
    return {("operating_cash_flow", "2024-12-31", ""), ("equity", "2024-12-31", "")}


ROOMS: Final = (nordlicht, harbour, millbrook, alpine, quarterly, customers, reisewerk, restated, hospital, energy)
