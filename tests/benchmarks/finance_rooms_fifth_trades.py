"""Twelve more rooms in English, of trades, energy, insurance and services; `finance_rooms` halves them by a seed with the others."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import Chart, book, deck, drawn, letter, listing, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def telecom(room: Path) -> Expected:
    """A broadband provider: subscribers and churn of the year contradict; homes passed, a monthly churn and a goal do not."""
    deck(
        room / "Fibrenorth lenders presentation.pptx",
        ("Operating metrics", [["", "Dec-22", "Dec-23", "Dec-24"], ["Homes passed", "210,400", "268,900", "301,200"], ["Subscribers", "48,100", "66,300", "91,500"], ["ARPU, £", "31.20", "32.05", "32.90"]]),
        ("Loyal customers", ["Annual churn of 9.5% in 2024", "Target: 120,000 subscribers at the end of 2025"]),
    )  # fmt: skip
    book(room / "KPI databook.xlsx", {
        "KPIs": [["", "31 December 2022", "31 December 2023", "31 December 2024"], ["Subscribers (number)", 48102, 66290, 83774], ["Customer churn, % per year", percent(0.131), percent(0.127), percent(0.124)]],
        "P&L": [["£'000", "2022", "2023", "2024"], ["Revenue", 15120, 22310, 30118], ["EBITDA", -2110, 1870, 6440]],
    })  # fmt: skip
    mail(
        room / "December churn.eml",
        "December churn",
        "Tue, 7 Jan 2025 09:00:00 +0000",
        "All,\n\nmonthly churn was 0.9% in December 2024. Revenue for 2024 came to £30.1 million.\n\nSal",
    )
    return {("customers", "2024-12-31", ""), ("churn", "2024-12-31", "")}


def broker(room: Path) -> Expected:
    """An insurance broker: commission income of the year and net earnings contradict; premiums placed, a part and LTM do not."""
    book(room / "Kestrel Insurance Brokers - consolidated.xlsx", {
        "Summary": [["Kestrel Insurance Brokers Inc (C$000)"], ["Fiscal year ended October 31", 2023, 2024], ["Premiums placed", 142300, 156800], ["Total revenue", 21410, 23960], ["Operating income", 4120, 4805], ["Net earnings", 2906, 3377]],
        "Lines": [["Revenue by line, C$000", 2023, 2024], ["Commercial", 12870, 14502], ["Personal", 5910, 6240], ["Benefits", 2630, 3218]],
    })  # fmt: skip
    letter(
        room / "Kestrel story.docx", "# Kestrel at a glance", "Fiscal 2024 revenues were C$26.4 million, up from C$21.4 million in fiscal 2023. The fiscal year ends on October 31.",
        "Net earnings for the year ended October 31, 2024 were C$2.7 million.", "In the twelve months to January 31, 2025 revenues were C$24.6 million.",
        "We placed premiums of C$156.8 million in fiscal 2024, of which our largest insurer wrote 22%.",
    )  # fmt: skip
    return {("revenue", "2024-10-31", ""), ("net_income", "2024-10-31", "")}


def wind(room: Path) -> Expected:
    """Wind farms: project debt and EBITDA contradict, capex agrees after rounding; pipeline, guidance and cumulative spend are others."""
    deck(
        room / "Norrvind capital markets day.pptx",
        ("2023 results", [["EURm", "2022", "2023"], ["Revenue", "88.2", "97.9"], ["EBITDA", "61.3", "71.2"], ["Capital expenditure", "112.0", "143.7"]]),
        ("EBITDA, EURm", Chart(["2021", "2022", "2023"], {"EBITDA": [50.9, 61.3, 71.2]})),
        ("Outlook", ["EBITDA of EUR 80m expected for 2024", "1.2 GW pipeline", "EUR 610m invested since 2016"]),
    )  # fmt: skip
    printed(
        room / "Norrvind Holding consolidated financial statements 2023.pdf", "# Norrvind Holding S.à r.l.", "Consolidated statements for the year ended 31 December 2023 (EUR thousand)",
        [["", "2023", "2022"], ["Revenue", "97,912", "88,204"], ["EBITDA", "66,480", "61,322"], ["Result for the year", "14,006", "11,870"], ["Investments in property, plant and equipment", "143,688", "112,040"]],
        [["", "31.12.2023", "31.12.2022"], ["Total assets", "804,210", "702,118"], ["Interest-bearing debt", "502,118", "431,870"], ["Cash and cash equivalents", "38,402", "40,011"]],
    )  # fmt: skip
    mail(
        room / "leverage.eml",
        "Leverage",
        "Wed, 14 Feb 2024 13:00:00 +0100",
        "Hi Lea,\n\ninterest-bearing debt was EUR 461 million at 31 December 2023, with cash of EUR 38.4 million.\n\nErik",
    )
    return {("ebitda", "2023-12-31", ""), ("debt", "2023-12-31", "")}


def staffing(room: Path) -> Expected:
    """A staffing firm: its own staff and gross profit contradict; temps on assignment, a quarter and a budget do not."""
    book(room / "Brightpath P&L FY23-24.xlsx", {
        "P&L": [["Brightpath Staffing, year ended 31 March 2024", None, None], ["£", "FY24", "FY23"], ["Sales", 64118220, 58920114], ["Gross profit", 11902330, 10880121], ["EBITDA", 2911804, 2604118]],
        "FY25 budget": [["£", "FY25 budget"], ["Sales", 70000000], ["Gross profit", 13100000], ["EBITDA", 3300000]],
        "People": [["", "31 March 2023", "31 March 2024"], ["Employees", 168, 181], ["Temps on assignment", 2210, 2380]],
    })  # fmt: skip
    deck(
        room / "Brightpath sell-side deck.pptx",
        ("FY24 in figures", ["£64.1m sales in FY24", "£13.2m gross profit in FY24", "240 employees at 31 March 2024", "2,400 temps on assignment on an average day"]),
        ("Latest", ["Q1 FY25 sales of £16.9m", "FY24 ended on 31 March 2024"]),
    )  # fmt: skip
    return {("gross_profit", "2024-03-31", ""), ("headcount", "2024-03-31", "")}


def game_studio(room: Path) -> Expected:
    """Games: half-year sales and free cash contradict between a report and a post; lifetime sales, constant currency and guidance do not."""
    page(
        room / "Half-year report 2024.html", "# Emberfall Studios AB", "Half-year report, January to June 2024. All amounts in SEK million.",
        [["", "Jan–Jun 2024", "Jan–Jun 2023", "Jan–Dec 2023"], ["Net revenue", "184.2", "161.9", "371.0"], ["Operating profit", "31.8", "24.6", "70.4"], ["Cash flow from operating activities", "42.5", "33.3", "88.9"]],
        [["", "30 June 2024", "31 Dec 2023"], ["Cash", "212.6", "188.1"], ["Equity", "340.9", "318.2"]],
    )  # fmt: skip
    (room / "investor blog.md").write_text(
        "# The first half of 2024\n\nNet revenue in January to June 2024 was SEK 201 million; in constant currency it would have been SEK 190 million.\n\n"
        "- Cash of SEK 212.6 million at 30 June 2024\n- Equity of SEK 372 million at 30 June 2024\n- Lifetime sales of the Hollow series: SEK 1.4 billion\n- We still guide for net revenue of SEK 400 million in 2024\n"
    )
    letter(
        room / "Audit committee notes.docx",
        "Operating profit for January–June 2024 was SEK 31.8 million.",
        "Operating profit for the full year 2023 was SEK 70.4 million.",
    )
    return {("revenue", "2024-01-01/2024-06-30", ""), ("equity", "2024-06-30", "")}


def vets(room: Path) -> Expected:
    """Animal hospitals: revenue of a segment and the group's EBITDA; other segments, the eliminations and a multiple do not."""
    book(room / "Pawprint segments.xlsx", {
        "Segments": [["Pawprint Group, $ thousand", "2023", "2024"], ["Hospitals", 81240, 90118], ["Diagnostics", 22104, 24870], ["Pharmacy", 14002, 13880], ["Eliminations", -2118, -2402], ["Total revenue", 115228, 126466]],
        "Group": [["$ thousand", "2023", "2024"], ["Revenue", 115228, 126466], ["EBITDA", 19870, 22318], ["Capex", 6120, 7044], ["Net income", 8120, 9406]],
    })  # fmt: skip
    printed(
        room / "Pawprint information memorandum.pdf", "# Business lines", "Revenue by segment, in millions of dollars",
        [["", "2023", "2024"], ["Hospitals", "81.2", "90.1"], ["Diagnostics", "22.1", "31.5"], ["Pharmacy", "14.0", "13.9"]],
        "# Group results", "EBITDA amounted to $26.0 million in 2024 (2023: $19.9 million). Buyers have paid 11 times EBITDA for peers.", "Net income was $9.4 million in 2024.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", "Diagnostics"), ("ebitda", "2024-12-31", "")}


def payments(room: Path) -> Expected:
    """A payments company: its last post-money valuation, customers and net loss; volume processed, an older round and a peer's value do not."""
    letter(
        room / "Board consent Series C.docx", "# Written consent of the board, 12 May 2025",
        "The company sells Series C preferred shares at a post-money valuation of $240 million.",
        "The Series B of 2022 was at a post-money valuation of $110 million.", "The net loss for 2024 was $9.8 million.",
    )  # fmt: skip
    book(room / "Quillpay annual figures.xlsx", {
        "FY": [["USD million", "FY23", "FY24"], ["Payment volume", 910, 1480], ["Net revenue", 11.9, 18.6], ["Net loss", -11.2, -12.4], ["Merchants (number)", 2140, 3305]],
        "Cash": [["USD million", "31-Dec-23", "31-Dec-24"], ["Cash", 24.1, 13.5], ["Debt", 4.0, 4.0]],
    })  # fmt: skip
    deck(
        room / "Quillpay teaser.pptx",
        ("Quillpay", ["$1.5bn payment volume in 2024", "Net revenue of $21.9m in 2024", "Cash $13.5m at 31 December 2024", "Stripe was valued at $91.5bn in February 2025"]),
    )  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("revenue", "2024-12-31", "")}


def implants(room: Path) -> Expected:
    """Implants: the share of the largest customer and capital expenditure; the top ten's share, a budget and cost of goods do not."""
    printed(
        room / "Customer concentration memo.pdf", "# Orthova Medical", "In 2024 the largest customer accounted for 21% of revenue, the ten largest for 58%. In 2023 the largest customer accounted for 23%.",
        [["€ thousand", "2023", "2024"], ["Revenue", "31,240", "34,118"], ["Cost of goods sold", "14,802", "15,910"], ["Capital expenditure", "2,204", "3,918"]],
    )  # fmt: skip
    letter(
        room / "Answers to buyer Q&A.docx", "# Round 2",
        "Q14. How concentrated are sales? A: Our largest customer stood for 34% of revenue in 2024. The top ten customers stood for 58%.",
        "Q15. What was spent on equipment? A: Capex was €2.6 million in 2024; we have budgeted €5 million for 2025.", "Q16. Revenue 2024? A: €34.1 million.",
    )  # fmt: skip
    return {("largest_customer_share", "2024-12-31", ""), ("capital_expenditure", "2024-12-31", "")}


def landlord(room: Path) -> Expected:
    """Property: rental income, net assets and debt; a loan's own balance, fair value per share and committed rent are others."""
    drawn(
        room / "Annual accounts 2024.pdf",
        [
            "Castlegate Properties plc", "Group income statement for the year ended 31 March 2024", ["", "2024", "2023"], ["", "£'000", "£'000"], ["Revenue", "24,118", "22,902"], ["Operating profit", "15,660", "14,981"],
            ["Profit for the year", "6,204", "9,113"],
        ],
        [
            "Group balance sheet as at 31 March 2024", ["", "2024", "2023"], ["", "£'000", "£'000"], ["Investment property", "310,450", "322,100"], ["Cash", "9,118", "7,440"], ["Total assets", "322,904", "333,018"],
            ["Borrowings", "(148,200)", "(152,600)"], ["Net assets", "160,311", "163,870"],
        ],
    )  # fmt: skip
    deck(
        room / "Castlegate results presentation.pptx",
        ("Year to 31 March 2024", [["£m", "FY23", "FY24"], ["Revenue", "22.9", "24.1"], ["Operating profit", "15.0", "17.2"], ["Net assets per share (p)", "311", "304"]]),
        ("Balance sheet", ["Net assets of £171.0m at 31 March 2024", "Borrowings of £148.2m at 31 March 2024, of which £60m from Aviva", "Committed rent roll £25.6m"]),
    )  # fmt: skip
    return {("operating_income", "2024-03-31", ""), ("equity", "2024-03-31", "")}


def shipyard(room: Path) -> Expected:
    """A yard with a crowded mail: four contradictions in one week; last year, the order book and a budget are others."""
    book(room / "Fjordbygg reporting pack Dec-24.xlsx", {
        "PL": [["NOK million", "Actual 2024", "Budget 2024", "Actual 2023"], ["Revenue", 842.1, 900.0, 791.5], ["EBITDA", 71.4, 88.0, 66.0], ["Net profit", 28.3, 39.0, 24.9]],
        "BS": [["NOK million", "31 Dec 2024", "31 Dec 2023"], ["Cash and bank deposits", 96.2, 81.0], ["Total equity", 204.5, 188.2], ["Interest-bearing debt", 310.0, 295.4]],
    })  # fmt: skip
    mail(
        room / "SV urgent numbers.eml", "SV: urgent numbers", "Fri, 31 Jan 2025 17:45:00 +0100",
        "Marit,\n\nfor the bank: revenue in 2024 was NOK 842 million, EBITDA NOK 79.6 million and net profit NOK 28 million.\n"
        "On 31 December 2024 we had cash of NOK 118 million, equity of NOK 204.5 million and interest-bearing debt of NOK 352 million.\nThe order book is NOK 2.2 billion.\n\nOle",
    )  # fmt: skip
    letter(
        room / "Styremøte note in English.docx",
        "Net profit for 2024 was NOK 33.9 million (2023: NOK 24.9 million).",
        "The 2025 budget shows revenue of NOK 910 million and EBITDA of NOK 92 million.",
    )
    return {
        ("ebitda", "2024-12-31", ""),
        ("cash", "2024-12-31", ""),
        ("debt", "2024-12-31", ""),
        ("net_income", "2024-12-31", ""),
    }


def coffee_brand(room: Path) -> Expected:
    """An online brand with monthly exports: a quarter's net sales and customers; gross sales, subscribers' share and a single month do not."""
    listing(
        room / "shop_export_q4_2024.csv",
        [["USD", "Oct 2024", "Nov 2024", "Dec 2024", "Q4 2024"], ["Gross sales", 1204110, 1611870, 1390220, 4206200], ["Discounts", -140220, -260310, -170118, -570648], ["Net sales", 1063890, 1351560, 1220102, 3635552]],
    )  # fmt: skip
    deck(
        room / "Ridge Coffee Q4 update.pptx",
        ("Q4 2024", ["Net sales of $4.2m in Q4 2024", "Best month ever: $1.4m net sales in November 2024", "61,000 customers at 31 December 2024", "38% of orders from subscribers"]),
        ("Net sales by quarter, $m", Chart(["Q1 2024", "Q2 2024", "Q3 2024"], {"Net sales": [2.6, 2.8, 3.1]})),
    )  # fmt: skip
    book(room / "Cohorts.xlsx", {"Base": [["", "30 Sep 2024", "31 Dec 2024"], ["Active customers", 47310, 52408], ["Subscribers' share of orders", percent(0.36), percent(0.38)]], "Quarters": [["USD thousand", "Q2 2024", "Q3 2024"], ["Net sales", 2796, 3104]]})  # fmt: skip
    return {("revenue", "2024-10-01/2024-12-31", ""), ("customers", "2024-12-31", "")}


def brewery(room: Path) -> Expected:
    """A brewery in rupees: crores and lakhs side by side; profit after tax and borrowings; excise, a quarter and a rival's sales are others."""
    printed(
        room / "Directors report 2023-24.pdf", "# Malabar Brewing Company Limited", "Financial results for the year ended 31 March 2024 (₹ in lakhs)",
        [["Particulars", "2023-24", "2022-23"], ["Revenue from operations", "18,742.50", "16,980.20"], ["Excise duty", "7,210.40", "6,544.10"], ["EBITDA", "2,910.30", "2,455.70"], ["Profit after tax", "1,204.80", "988.60"]],
        "Borrowings stood at ₹ 6,420 lakhs at 31 March 2024. United Breweries, the market's leader, had sales of ₹ 8,122 crore in 2023-24.",
    )  # fmt: skip
    deck(
        room / "Malabar pitch.pptx",
        ("FY24 (year to March 2024)", [["₹ crore", "FY23", "FY24"], ["Revenue from operations", "169.8", "187.4"], ["EBITDA", "24.6", "29.1"], ["PAT", "9.9", "15.6"]]),
        ("Funding", ["Borrowings of ₹ 52 crore at 31 March 2024", "Q4 FY24 revenue of ₹ 51 crore", "Target: ₹ 250 crore revenue in FY26"]),
    )  # fmt: skip
    return {("net_income", "2024-03-31", ""), ("debt", "2024-03-31", "")}


ROOMS: Final = [
    telecom,
    broker,
    wind,
    staffing,
    game_studio,
    vets,
    payments,
    implants,
    landlord,
    shipyard,
    coffee_brand,
    brewery,
]
