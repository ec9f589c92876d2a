"""Fifteen rooms in English, each as another company would fill it; `finance_rooms` halves them and nine in other languages by a seed."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import Shown, book, chart, deck, letter, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def harbour(room: Path) -> Expected:
    """Subscription software with a January year: run rate, logos and cash at bank contradict; bookings and a target are others."""
    deck(
        room / "Harbour - Growth equity deck.pptx",
        ("Harbour in one slide", ["Headline run rate: $18.4M ARR at 31 January 2025", "612 logos at 31 January 2025", "140 FTEs at 31 January 2025", "Target: $30M ARR by January 2026"]),
        ("Unit economics", [["", "FY24", "FY25"], ["Gross margin", "71%", "74%"], ["Net revenue retention", "108%", "112%"], ["Bookings ($M)", "9.1", "12.6"]]),
    )  # fmt: skip
    book(room / "Harbour KPI pack.xlsx", {
        "SaaS metrics": [["Harbour Analytics Inc. - fiscal year ends 31 January"], ["", "31-Jan-24", "31-Jan-25"], ["ARR ($)", 12750000, 15930000], ["Logo count", 498, 571], ["FTEs", 121, 140]],
        "Bank": [["USD", "31-Jan-24", "31-Jan-25"], ["Cash at bank", 6120455, 4388120]],
    })  # fmt: skip
    mail(
        room / "RE cash.eml", "RE: cash", "Mon, 3 Feb 2025 09:40:00 -0500",
        "Sam,\n\nCash at bank was $5.2M on 31 January 2025. Net revenue retention for FY25 was 112%. We had 140 FTEs at the end of January.\n\nKim",
    )  # fmt: skip
    return {("recurring_revenue", "2025-01-31", ""), ("customers", "2025-01-31", ""), ("cash", "2025-01-31", "")}


def pellow(room: Path) -> Expected:
    """A wholesaler whose year ends in March: turnover and bank debt contradict; a budget, a rounding and net debt do not."""
    book(room / "Pellow TB summary.xlsx", {
        "FY24-25": [["Pellow Trade Supplies Limited"], ["Year ended 31 March 2025, £"], [], ["Turnover", 22418306], ["Cost of sales", -15102877], ["Gross profit", 7315429], ["Operating profit", 1604218]],
        "FY23-24": [["Pellow Trade Supplies Limited"], ["Year ended 31 March 2024, £"], [], ["Turnover", 20955120], ["Cost of sales", -14286004], ["Gross profit", 6669116], ["Operating profit", 1377902]],
        "FY25-26 budget": [["Budget, year ending 31 March 2026, £"], [], ["Turnover", 24500000], ["Operating profit", 1900000]],
    })  # fmt: skip
    letter(
        room / "Pellow - business overview.docx", "# Trading",
        "Pellow turned over £24.4 million in FY24/25 (FY23/24: £21.0 million) and made a gross profit of £7.3 million in FY24/25.",
        "For FY25/26 the directors have budgeted turnover of £24.5 million.", "# Funding",
        [["As at 31 March 2025", "£m"], ["Bank loans", "3.9"], ["Cash at bank", "1.1"], ["Net debt", "2.8"]],
    )  # fmt: skip
    mail(
        room / "Bank letter.eml", "Pellow Trade Supplies Limited", "Wed, 9 Apr 2025 14:03:00 +0100",
        "Dear Sirs\n\nAs at 31 March 2025 bank loans totalled £4.6 million and the current account stood at £1.1 million in credit.\n\nYours faithfully",
    )  # fmt: skip
    return {("revenue", "2025-03-31", ""), ("debt", "2025-03-31", "")}


def closed_at(room: Path) -> Expected:
    """An agency that talks: what it closed the year at, its people and its EBITDA differ from the accounts; another year does not."""
    printed(
        room / "Brightside accounts 2024.pdf", "# Brightside Media LLC", "Income statement for the twelve months ended December 31, 2024 (US$ thousands)",
        [["", "2024", "2023"], ["Net sales", "11,284", "9,870"], ["Gross profit", "6,020", "5,133"], ["EBITDA", "1,742", "1,310"], ["Net income", "1,012", "741"]],
        "Headcount at December 31, 2024 was 83 (2023: 77).",
    )  # fmt: skip
    mail(
        room / "intro to Brightside.eml", "Brightside intro", "Tue, 18 Feb 2025 10:30:00 -0800",
        "Hi Dana,\n\nGreat to meet. Quick numbers: we closed FY24 at $12.9M in revenue and $1.7M of EBITDA. In FY23 we did $9.9M in net sales.\nWe expect to reach $15M in FY25.\n\nBest\nLou",
    )  # fmt: skip
    (room / "call notes.md").write_text(
        "# Call with Lou, 2025-02-20\n\n- EBITDA was $2.3M in 2024\n- 96 employees at 31 December 2024\n- net income about $1.0M in 2024\n- adjusted EBITDA of $2.6M in 2024, after owner's salary\n"
    )
    return {("revenue", "2024-12-31", ""), ("ebitda", "2024-12-31", ""), ("headcount", "2024-12-31", "")}


def lender(room: Path) -> Expected:
    """Last twelve months to September beside the year before: LTM EBITDA and total debt contradict; calendar years do not."""
    book(room / "Compliance certificate Sep-24.xlsx", {
        "Covenants": [["Tarrant Packaging BV, EUR thousand"], ["", "FY23", "LTM Sep-24"], ["Net sales", 88410, 93260], ["EBITDA", 11890, 13075], ["Capital expenditure", 3610, 4120]],
        "Debt": [["EUR thousand", "31-Dec-23", "30-Sep-24"], ["Term loan", 41000, 38500], ["Revolver drawn", 2500, 4000], ["Total debt", 43500, 42500]],
    })  # fmt: skip
    deck(
        room / "Refinancing presentation.pptx",
        ("Credit highlights", [["EURm", "Dec-22", "Dec-23", "LTM Sep-24"], ["Net sales", "81.7", "88.4", "93.3"], ["EBITDA", "10.4", "11.9", "14.8"], ["Pro forma EBITDA", "11.0", "12.6", "16.2"]]),
        ("Capital structure at 30 September 2024", [["EURm", "Amount"], ["Total debt", "46.0"], ["Cash", "5.3"], ["Net debt", "40.7"]]),
    )  # fmt: skip
    return {("ebitda", "2024-09-30", ""), ("debt", "2024-09-30", "")}


def year_to_date(room: Path) -> Expected:
    """Q3 and the year to date side by side: the quarter's gross profit and YTD revenue contradict; the same words of another period agree."""
    book(room / "Q3 24 board pack.xlsx", {
        "Summary": [["Oakmere Garden Centres – £k"], ["", "Q3 24", "Q3 23", "Q3 24 YTD", "Q3 23 YTD"], ["Revenue", 8740, 8215, 27960, 26020], ["Gross profit", 3930, 3655, 12610, 11580], ["EBITDA", 905, 812, 3340, 2985]],
    })  # fmt: skip
    letter(
        room / "Minutes 22 October 2024.docx", "# Oakmere Garden Centres Limited – minutes of the board", "Present: A. Dyer, M. Holt, P. Singh.",
        "Mr Holt reported that revenue in Q3 2024 was £8.7 million, with gross profit of £4.4 million.",
        "For the nine months to 30 September 2024 revenue was £29.3 million and EBITDA £3.3 million.",
        "It was noted that revenue for the full year 2024 was now forecast at £37 million.",
    )  # fmt: skip
    return {("gross_profit", "2024-07-01/2024-09-30", ""), ("revenue", "2024-01-01/2024-09-30", "")}


def shoes(room: Path) -> Expected:
    """A retailer restated for leases: both columns stand; net income of one and the number of staff of the other document contradict."""
    page(
        room / "annual-report-2023.html", "# Strand Footwear plc", "Group income statement (£ million)",
        [["", "52 weeks ended 30 December 2023", "52 weeks ended 31 December 2022 (restated)"], ["Revenue", "318.4", "296.7"], ["Operating profit", "24.9", "20.3"], ["Profit for the period", "15.6", "12.2"]],
        "The average number of employees was 2,870. At 30 December 2023 the Group employed 2,914 people.",
    )  # fmt: skip
    book(room / "Strand five year record.xlsx", {
        "Record": [["£m", "2021", "2022 as reported", "2022 restated", "2023"], ["Revenue", 281.2, 296.7, 296.7, 318.4], ["Operating profit", 17.9, 18.8, 20.3, 24.9], ["Profit for the year", 11.5, 13.1, 12.2, 13.9]],
    })  # fmt: skip
    letter(
        room / "HR due diligence.docx", "# Workforce", "Strand Footwear employed 3,260 people at 30 December 2023, of whom 2,100 work in stores.",
        "Revenue per store was £1.9 million in 2023.",
    )  # fmt: skip
    return {("net_income", "2023-12-30", ""), ("headcount", "2023-12-30", "")}


def bolt_on(room: Path) -> Expected:
    """A group with an acquisition: pro forma figures are their own; reported revenue, pro forma EBITDA and capex contradict."""
    letter(
        room / "Lender memo.docx", "# Kestrel Dental Group, 2024", "Reported revenue was $46.2 million in 2024. Pro forma revenue, as if Smile Partners had been owned all year, was $58.9 million in 2024.",
        [["$ million", "2024 reported", "2024 pro forma"], ["Revenue", "46.2", "58.9"], ["EBITDA", "8.1", "10.7"]],
        "Capital expenditure was $3.4 million in 2024.",
    )  # fmt: skip
    book(room / "Kestrel databook.xlsx", {
        "P&L": [["Kestrel Dental Group, $000, year ended 31 December 2024"], ["", "Reported", "Pro forma"], ["Revenue", 43870, 58940], ["EBITDA", 8120, 11900]],
        "Cash flow": [["$000", "2023", "2024"], ["Cash generated from operations", 5980, 7310], ["Capital expenditure", -2260, -4710]],
    })  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("ebitda", "2024-12-31", ""), ("capital_expenditure", "2024-12-31", "")}


def divisions(room: Path) -> Expected:
    """Two divisions in C$: one division's revenue and the group's operating income contradict; divisions against the group do not."""
    book(room / "Segment note FY2024.xlsx", {
        "Segments": [["Northvale Industries, C$ thousands, year ended December 31, 2024"], ["", "Fasteners", "Coatings", "Total"], ["Revenue", 40215, 27940, 68155], ["Operating income", 5120, 2260, 7380]],
    })  # fmt: skip
    deck(
        room / "Management presentation.pptx",
        ("Divisions 2024", [["C$m", "Fasteners", "Coatings", "Group"], ["Revenue", "40.2", "31.8", "68.2"], ["Operating income", "5.1", "2.3", "8.9"]]),
        ("Outlook 2025", ["Group revenue of C$74m expected in 2025", "Coatings to open a plant in Guelph"]),
    )  # fmt: skip
    (room / "ceo letter.txt").write_text(
        "Northvale in 2024\n\nRevenue of the group was C$68.2 million in 2024. Fasteners brought in C$40.2 million of it.\nOperating income was C$7.4 million in 2024.\n"
    )
    return {("revenue", "2024-12-31", "Coatings"), ("operating_income", "2024-12-31", "")}


def clinic(room: Path) -> Expected:
    """A biotech without revenue: burn, cash and staff contradict; money raised since it was founded is cumulative."""
    (room / "investor update 2024-09.md").write_text(
        "# Noveli Therapeutics, investor update September 2024\n\nBurn was $1.35M in September 2024. We ended September with $14.2M in cash.\n\n- 41 FTEs on 30 September 2024\n- $62M raised since inception\n- R&D spend of $9.8M in the nine months ended September 30, 2024\n"
    )
    book(room / "Noveli cash model v7.xlsx", {
        "Actuals": [["US$", "Jul-24", "Aug-24", "Sep-24"], ["Net burn", 1210000, 1284000, 1690000], ["Closing cash", 17174000, 15890000, 14200000]],
        "Forecast": [["US$ forecast", "Oct-24", "Nov-24", "Dec-24"], ["Net burn", 1700000, 1750000, 1800000], ["Closing cash", 12500000, 10750000, 8950000]],
    })  # fmt: skip
    letter(
        room / "Audit committee.docx", "# Audit committee, 14 November 2024",
        "Cash and cash equivalents amounted to $12.6 million as of September 30, 2024.", "The company had 35 full-time employees as of September 30, 2024.",
    )  # fmt: skip
    return {
        ("monthly_burn", "2024-09-01/2024-09-30", ""),
        ("cash", "2024-09-30", ""),
        ("headcount", "2024-09-30", ""),
    }


def pune(room: Path) -> Expected:
    """IT services in crore and in dollars: converted figures agree; PAT and the largest client's share contradict."""
    printed(
        room / "Financials FY24 audited.pdf", "# Sahyadri Infotech Private Limited", "Statement of profit and loss for the year ended 31 March 2024 (INR crore)",
        [["Particulars", "FY 2023-24", "FY 2022-23"], ["Revenue from operations", "412.60", "358.25"], ["EBITDA", "78.40", "66.10"], ["Profit after tax", "49.15", "41.70"]],
    )  # fmt: skip
    deck(
        room / "Teaser Sahyadri.pptx",
        ("Financial snapshot", [["US$ m (1 US$ = INR 83)", "FY23", "FY24"], ["Revenue", "43.2", "49.7"], ["EBITDA", "8.0", "9.4"]]),
        ("Financial snapshot in INR", [["INR Cr", "FY23", "FY24", "FY25 (P)"], ["Revenue", "358.3", "412.6", "480.0"], ["PAT", "41.7", "56.9", "62.0"]]),
        ("Clients", ["Largest client: 31% of revenue in FY24", "118 active clients at 31 March 2024"]),
    )  # fmt: skip
    book(room / "Client concentration.xlsx", {"Top clients": [["Share of revenue", "FY23", "FY24"], ["Largest client", percent(0.26), percent(0.24)], ["Top 5 clients", percent(0.58), percent(0.55)], ["Active clients", 104, 118]]})  # fmt: skip
    return {("net_income", "2024-03-31", ""), ("largest_customer_share", "2024-03-31", "")}


def per_share(room: Path) -> Expected:
    """A listed small cap: net income and shares in issue contradict; earnings, assets and dividends per share are others."""
    printed(
        room / "Preliminary results 2024.pdf", "# Tolland Marine plc – preliminary results for the year ended 30 June 2024",
        [["", "2024 £000", "2023 £000"], ["Revenue", "37,218", "35,040"], ["Operating profit", "4,466", "4,012"], ["Profit for the year", "3,218", "2,906"], ["Basic earnings per share (pence)", "14.3", "12.9"], ["Dividend per share (pence)", "5.0", "4.6"]],
        "At 30 June 2024 there were 22,503,118 ordinary shares in issue. Net assets were 96 pence per share.",
    )  # fmt: skip
    letter(
        room / "Broker note.docx", "# Tolland Marine: steady as she goes", "Revenue of £37.2 million and net profit of £3.9 million in the year to 30 June 2024 were in line. EPS was 14.3p.",
        [["Year to June", "2023A", "2024A", "2025E"], ["Revenue (£m)", "35.0", "37.2", "39.5"], ["EPS (p)", "12.9", "14.3", "15.5"]],
    )  # fmt: skip
    book(room / "Share register.xlsx", {"30 June 2024": [["Holder", "Number of shares"], ["Tolland family", 9412000], ["Institutions", 13210400], ["Retail", 2005200], ["Shares in issue", 24627600]]})  # fmt: skip
    return {("net_income", "2024-06-30", ""), ("shares", "2024-06-30", "")}


def sydney(room: Path) -> Expected:
    """An Australian clinic chain, June year: total revenue, net assets and borrowings contradict; 1H is half a year."""
    printed(
        room / "Annual Financial Report FY24.pdf", "# Banksia Health Pty Ltd", "Statement of profit or loss for the year ended 30 June 2024",
        [["", "2024 A$'000", "2023 A$'000"], ["Total revenue", "54,370", "49,105"], ["Profit after tax", "4,215", "3,507"]],
        "Statement of financial position as at 30 June 2024",
        [["", "2024 A$'000", "2023 A$'000"], ["Cash and cash equivalents", "6,940", "5,215"], ["Total assets", "61,080", "57,330"], ["Borrowings", "18,200", "20,450"], ["Net assets", "27,615", "23,400"]],
    )  # fmt: skip
    deck(
        room / "Banksia IM.pptx",
        ("FY24 highlights", ["Revenue A$58.1m in FY24", "NPAT A$4.2m in FY24", "1H FY24 revenue A$26.0m"]),
        ("Balance sheet (A$m)", [["", "30 June 2023", "30 June 2024"], ["Cash", "5.2", "6.9"], ["Borrowings", "20.5", "18.2"], ["Net assets", "23.4", "30.2"]]),
    )  # fmt: skip
    mail(
        room / "From the bank.eml", "Banksia facilities", "Thu, 11 Jul 2024 09:00:00 +1000",
        "Hello\n\nBanksia's borrowings with us totalled A$21.3 million at 30 June 2024. Cash held with us was A$6.9 million.\n\nRegards",
    )  # fmt: skip
    return {("revenue", "2024-06-30", ""), ("equity", "2024-06-30", ""), ("debt", "2024-06-30", "")}


def marketplace(room: Path) -> Expected:
    """A marketplace: GMV is not revenue and users are no customers; revenue in a chart, churn and customers contradict."""
    chart(
        room / "Loopbay chart.pptx",
        "Net revenue, US$ million",
        ["2022", "2023", "2024"],
        {"Net revenue": [7.8, 11.4, 17.2]},
    )
    book(room / "Loopbay metrics.xlsx", {
        "Annual": [["", "2022", "2023", "2024"], ["GMV (US$)", 64200000, 91800000, 122500000], ["Net revenue (US$)", 7810000, 11402000, 14655000], ["Registered users", 210000, 305000, 412000], ["Paying customers", 3120, 4405, 5310], ["Monthly logo churn", percent(0.021), percent(0.019), percent(0.018)]],
    })  # fmt: skip
    letter(
        room / "Commercial review.docx", "# Loopbay in 2024", "GMV reached $122.5 million in 2024. Loopbay had 6,020 paying customers at the end of 2024, up from 4,405 at the end of 2023.",
        "Monthly logo churn was 2.9% in 2024, after 1.9% in 2023.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("customers", "2024-12-31", ""), ("churn", "2024-12-31", "")}


def builder(room: Path) -> Expected:
    """A contractor's minutes and ledgers: sales and cash contradict; backlog, cumulative contract sums and gross of retention do not."""
    letter(
        room / "Minutes - February 2025.docx", "# Holloway Civil Engineering Ltd: minutes of the meeting of 12 February 2025",
        "The finance director said that sales for the year to 31 December 2024 had come in at £63.8m and profit before tax at £2.7m.",
        "The order book stood at £118m at the year end. Work certified to date on the Avon contract was £41.2m, cumulative since 2022.",
        "Cash at 31 December 2024 was £9.7m, of which £1.2m is held in escrow.",
    )  # fmt: skip
    book(room / "Holloway mgmt accounts Dec24.xlsx", {
        "P&L Dec24": [["£'000", "Month", "YTD"], ["Sales", 5020, 58460], ["Gross profit", 610, 6975], ["Operating profit", 255, 2870]],
        "BS 31 Dec 24": [["£'000", "31 Dec 24"], ["Cash at bank", 7415], ["Trade debtors", 11280], ["Loans", 3300]],
        "Avon": [["£'000", "2022", "2023", "2024"], ["Certified in year", 9800, 17300, 14100], ["Certified to date", 9800, 27100, 41200]],
    })  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def minister(room: Path) -> Expected:
    """Quarters of a start-up in thousands: one quarter's revenue, its FTEs and its retention contradict; forecasts stand beside."""
    (room / "metrics.csv").write_text(
        "Metric,Q1 2025,Q2 2025,Q3 2025\nNet sales (USD k),1410,1655,1830\nGross profit (USD k),930,1109,1245\nFTEs,52,55,61\nNet dollar retention,109%,111%,111%\n"
    )
    deck(
        room / "Series A update.pptx",
        ("Traction", [["USD thousand", "Q1 25", "Q2 25", "Q3 25", "Q4 25F"], ["Net sales", "1,410", "1,655", "2,190", "2,300"], ["Gross profit", "930", "1,109", "1,245", "1,560"]]),
        ("Team", [["", "30 Jun 2025", "30 Sep 2025"], ["FTEs", "55", "74"]]),
        ("Retention", [["", "Q2 2025", "Q3 2025"], ["Net dollar retention", "111%", "119%"]]),
    )  # fmt: skip
    book(room / "Budget 2025.xlsx", {"Budget": [["Budget, USD", "Q1 2025", "Q2 2025", "Q3 2025", "Q4 2025"], ["Net sales", 1500000, 1700000, 1950000, 2250000], ["Headcount", Shown(50, "0"), Shown(58, "0"), Shown(66, "0"), Shown(70, "0")]]})  # fmt: skip
    return {
        ("revenue", "2025-07-01/2025-09-30", ""),
        ("headcount", "2025-09-30", ""),
        ("retention", "2025-07-01/2025-09-30", ""),
    }


ROOMS: Final = (
    harbour,
    pellow,
    closed_at,
    lender,
    year_to_date,
    shoes,
    bolt_on,
    divisions,
    clinic,
    pune,
    per_share,
    sydney,
    marketplace,
    builder,
    minister,
)
