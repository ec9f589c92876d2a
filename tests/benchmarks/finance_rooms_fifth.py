"""Thirteen rooms in English of software, factories, clinics, shops, banks and funds; `finance_rooms` halves them by a seed with the others."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import Chart, book, deck, drawn, letter, listing, mail, page, printed

Expected = set[tuple[str, str, str]]


def dentware(room: Path) -> Expected:
    """Software for dentists: the deck's ARR and the founder's cash are not those of the metrics; peers, a target and quarters are others."""
    deck(
        room / "Dentware Series B.pptx",
        ("Where we are today", ["$11.2m ARR (December 2024)", "NRR 118%", "1,340 practices on paid plans", "96 people in Leeds and Porto"]),
        ("ARR, $m", Chart(["2022", "2023", "2024"], {"ARR": [5.9, 8.1, 11.2]})),
        ("The market", [["Company", "ARR 2024 ($m)", "Customers"], ["Curvetooth", "48.0", "5,200"], ["Plaque Cloud", "31.5", "4,100"], ["Recall.io", "19.0", "2,350"]]),
        ("Where we are going", ["$16m ARR by the end of 2025", "1,900 practices"]),
    )  # fmt: skip
    book(room / "Dentware_metrics_2024.xlsx", {
        "SaaS": [["USD", "Q1-24", "Q2-24", "Q3-24", "Q4-24"], ["Closing ARR", 8412000, 8820500, 9266000, 9871300], ["Paying customers", 1105, 1180, 1262, 1340], ["Net new ARR", 312000, 408500, 445500, 605300]],
        "Position": [["USD", "31/12/2023", "31/12/2024"], ["Cash and cash equivalents", 7640220, 4902118], ["Trade receivables", 801220, 954300], ["Deferred income", 2210450, 2604118]],
    })  # fmt: skip
    mail(
        room / "Re bank balance.eml", "Re: bank balance", "Mon, 6 Jan 2025 18:12:00 +0000",
        "Hi Priya,\n\nwe went into the new year with $6.4m in the bank (31 December 2024). We have raised $21m since we started.\n\nTom",
    )  # fmt: skip
    return {("recurring_revenue", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def fasteners(room: Path) -> Expected:
    """A maker of screws: sales, additions to fixed assets and staff contradict; nine months, a plan and a rounding do not."""
    printed(
        room / "Statutory accounts FY2024 signed.pdf", "# Holloway Fasteners Limited", "Profit and loss account for the year ended 30 September 2024",
        [["", "2024 £000", "2023 £000"], ["Turnover", "38,914", "36,207"], ["Cost of sales", "(25,310)", "(24,118)"], ["Gross profit", "13,604", "12,089"], ["Operating profit", "3,655", "2,980"], ["Profit for the financial year", "2,611", "2,077"]],
        "The average monthly number of employees during the year was 251 (2023: 244). Additions to tangible fixed assets amounted to £1,872,000 (2023: £1,140,000).",
    )  # fmt: skip
    letter(
        room / "Management presentation script.docx", "# Trading in the year to September 2024",
        "Holloway had net sales of £41.3 million in the year to 30 September 2024, against £36.2 million the year before. Operating profit came in at £3.7 million.",
        "Capital expenditure was £2.9 million in FY2024, most of it for the second heading line.",
        "For FY2025 we plan net sales of £44 million and capital expenditure of £1.2 million.", "# Current trading",
        "In the nine months to 30 June 2024 net sales were £29.6 million.",
    )  # fmt: skip
    book(
        room / "YTD flash.xlsx",
        {
            "Flash": [
                ["Holloway Fasteners, £'000", "9 months to Jun-24", "9 months to Jun-23"],
                ["Sales", 29602, 27110],
                ["EBITDA", 4310, 3702],
            ]
        },
    )
    return {("revenue", "2024-09-30", ""), ("capital_expenditure", "2024-09-30", "")}


def dermatology(room: Path) -> Expected:
    """A group of clinics: net patient revenue and EBITDA contradict, of one clinic too; adjusted and pro forma figures do not."""
    book(room / "Lakeside Derm model inputs.xlsx", {
        "P&L": [["Lakeside Dermatology Partners"], ["US$", "FY2022", "FY2023", "FY2024"], ["Net patient service revenue", 21400311, 24918540, 27660902], ["Physician compensation", 9210400, 10640200, 11902118], ["EBITDA", 3620118, 4470220, 4911870], ["Owner add-backs", 410000, 520000, 690000], ["Adjusted EBITDA", 4030118, 4990220, 5601870]],
        "By clinic": [["Net patient revenue, US$", "FY2023", "FY2024"], ["Madison", 11204118, 12310220], ["Waukesha", 8410300, 9240510], ["Racine", 5304122, 6110172]],
    })  # fmt: skip
    deck(
        room / "Lakeside CIM extract.pptx",
        ("Financial highlights", [["$ in millions", "2023A", "2024A", "2025E"], ["Net revenue", "24.9", "29.8", "33.5"], ["Adjusted EBITDA", "5.0", "5.6", "7.1"], ["Pro forma adjusted EBITDA", "5.4", "6.9", "8.0"]]),
        ("Our people", ["212 employees at 31 December 2024, 38 of them physicians", "Three clinics in Wisconsin"]),
    )  # fmt: skip
    mail(
        room / "QoE call.eml", "Quality of earnings call", "Thu, 13 Mar 2025 11:00:00 -0600",
        "Team,\n\nas discussed: EBITDA for FY2024 was $4.1 million before any add-backs. Headcount was 212 at 31 December 2024.\nThe seller guides to revenue of $33 million for 2025.\n\nRuth",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("ebitda", "2024-12-31", "")}


def garden_centres(room: Path) -> Expected:
    """A retailer of 52 weeks: the bottom line and bank debt contradict; like-for-like growth, another year and net debt do not."""
    drawn(
        room / "Board pack P12.pdf",
        [
            "Thornbury Garden Centres plc - board pack period 12", "52 weeks ended 29 September 2024", ["£m", "2024", "2023"], ["Revenue", "118.4", "112.9"], ["Gross profit", "55.1", "51.7"],
            ["EBITDA", "14.2", "13.3"], ["Profit before tax", "6.1", "5.2"], ["Profit after tax", "4.6", "3.9"], ["Bank loans", "27.5", "31.0"], ["Cash", "5.8", "4.1"],
        ],
    )  # fmt: skip
    letter(
        room / "Chairman's letter.docx", "Thornbury Garden Centres plc",
        "In the 52 weeks ended 29 September 2024 we grew sales to £118.4m; like-for-like sales rose by 3.1%. Profit after tax was £5.9m (2023: £3.9m), and we propose a dividend of 4.2p a share.",
        "Net debt fell to £21.7m at 29 September 2024.",
    )  # fmt: skip
    mail(
        room / "facility reporting.eml", "Facility reporting September", "Fri, 11 Oct 2024 10:00:00 +0100",
        "Dear all,\n\nthe bank confirms loans outstanding of £32.5m as at 29 September 2024. The facility is £40m. Cash stood at £5.8m.\n\nTreasury",
    )  # fmt: skip
    return {("net_income", "2024-09-29", ""), ("debt", "2024-09-29", "")}


def savings_bank(room: Path) -> Expected:
    """A small bank: total assets and net income contradict; deposits, peers, quarters and shares are others."""
    printed(
        room / "Call report summary.pdf", "# First Alder Savings Bank", "Selected balances, December 31, 2024 and 2023 (dollars in thousands)",
        [["", "2024", "2023"], ["Total assets", "1,482,310", "1,398,774"], ["Loans, net", "1,102,418", "1,031,220"], ["Deposits", "1,214,006", "1,150,910"], ["Total shareholders' equity", "148,220", "139,905"]],
        "Net income was $14,118 thousand for 2024 and $13,402 thousand for 2023.",
    )  # fmt: skip
    deck(
        room / "First Alder investor day.pptx",
        ("A bank of its region", ["Total assets of $1.61 billion at December 31, 2024", "Shareholders' equity of $148.2 million", "Net income of $14.1 million in 2024, $1.92 per share"]),
        ("Peers", [["Bank", "Total assets ($bn)", "Net income ($m)"], ["Pine River Bancorp", "2.4", "22.0"], ["Old Mill Savings", "0.9", "7.4"]]),
        ("Net income by quarter ($m)", Chart(["Q1 2024", "Q2 2024", "Q3 2024", "Q4 2024"], {"Net income": [3.3, 3.5, 3.6, 3.7]})),
    )  # fmt: skip
    (room / "minutes-alco.md").write_text(
        "# ALCO minutes, January 22, 2025\n\n- Equity stood at $139.1 million at December 31, 2024\n- Deposits: $1.21 billion\n- The 2025 budget has net income of $15.5 million\n"
    )
    return {("total_assets", "2024-12-31", ""), ("equity", "2024-12-31", "")}


def growth_fund(room: Path) -> Expected:
    """A holding of a fund: its valuation of June and its top line differ between reports; an earlier round and the fund's own assets do not."""
    letter(
        room / "LP letter H1 2024.docx", "# Portfolio: Marlowe Robotics",
        [["Marlowe Robotics, $m", "2022", "2023"], ["Revenue", "14.8", "21.3"], ["EBITDA", "(3.1)", "(1.2)"], ["Employees at year end", "118", "151"]],
        "Our fund had net assets of $412 million at 30 June 2024.",
    )  # fmt: skip
    book(room / "Marlowe reporting template.xlsx", {
        "Annual": [["Marlowe Robotics Inc."], ["USD thousand", "FY2022", "FY2023", "FY2024 forecast"], ["Revenue", 14790, 18640, 27500], ["EBITDA", -3080, -1210, 900], ["Gross profit", 6100, 8020, 12400]],
        "Cash": [["USD thousand", "31 Dec 2022", "31 Dec 2023"], ["Cash at bank", 9410, 6220], ["Venture debt", 2000, 3500]],
    })  # fmt: skip
    deck(
        room / "Marlowe update.pptx",
        ("2023 in review", ["Revenue run rate of $25m in January 2024", "Venture debt of $5.0m at 31 December 2023", "Cash at bank: $6.2m at 31 December 2023", "151 employees at the end of 2023"]),
    )  # fmt: skip
    return {("revenue", "2023-12-31", ""), ("debt", "2023-12-31", "")}


def couriers(room: Path) -> Expected:
    """Parcels: revenue of the year and headcount contradict; the market's size, rivals, and depots do not."""
    page(
        room / "teaser.html", "# Project Swift", "Swiftline delivered 41 million parcels in 2023. The UK parcels market was worth £14.1 billion in 2023.",
        [["£m", "FY21", "FY22", "FY23"], ["Revenue", "96.2", "104.8", "117.5"], ["EBITDA", "7.7", "8.8", "10.9"]],
        "Financial years end on 31 December. The group employed 1,240 people at 31 December 2023.",
    )  # fmt: skip
    listing(
        room / "trial balance export.csv",
        [
            ["Swiftline Couriers Ltd, GBP", "FY2022", "FY2023"],
            ["Revenue", 104802114, 109330871],
            ["Direct costs", 71204118, 73302998],
            ["EBITDA", 8790331, 10912008],
        ],
    )
    letter(
        room / "HR disclosure.docx", "# Workforce", "At 31 December 2023 Swiftline had 1,415 employees. A further 620 couriers are self-employed.",
        [["Depot", "Staff"], ["Reading", "410"], ["Wigan", "505"], ["Perth", "500"]],
        "DHL, our largest rival, employed some 600,000 people in 2023.",
    )  # fmt: skip
    return {("revenue", "2023-12-31", ""), ("headcount", "2023-12-31", "")}


def hotels(room: Path) -> Expected:
    """Hotels in euros told in dollars too: EBITDA and loans contradict in euros; converted figures and a monthly figure do not."""
    book(room / "Hotel group consolidated.xlsx", {
        "IS 2024": [["Costa Alta Hotels, EUR"], ["", "2024", "2023"], ["Total revenue", 64210800, 58904300], ["Gross operating profit", 24110200, 21506400], ["EBITDA", 17330900, 15402700], ["Profit for the year", 5210300, 4106800]],
        "BS 2024": [["EUR", "31.12.2024", "31.12.2023"], ["Cash", 8802400, 6911300], ["Bank loans", 71400000, 76900000], ["Total equity", 42118000, 38120500]],
    })  # fmt: skip
    deck(
        room / "Costa Alta for US investors.pptx",
        ("Key figures 2024", [["", "€m", "US$m at 1.08"], ["Total revenue", "64.2", "69.3"], ["EBITDA", "20.1", "21.7"], ["Profit for the year", "5.2", "5.6"]]),
        ("August", ["Revenue of €11.3m in August 2024", "RevPAR of €142"]),
    )  # fmt: skip
    printed(
        room / "Bank comfort letter.pdf",
        "To whom it may concern",
        "As of 31 December 2024 Costa Alta Hotels owed us loans of EUR 78.2 million. Balances on current accounts amounted to EUR 8.8 million.",
    )
    return {("ebitda", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def marketplace(room: Path) -> Expected:
    """Second-hand bicycles: revenue of the third quarter, burn and cash contradict; merchandise volume, a target and cumulative sales do not."""
    deck(
        room / "Spoke seed extension.pptx",
        ("Traction", [["", "Q1 2025", "Q2 2025", "Q3 2025"], ["GMV, €k", "1,905", "2,240", "2,612"], ["Net revenue, €k", "210", "262", "345"], ["Active sellers", "3,110", "3,620", "4,204"]]),
        ("Runway", ["Cash of €1.4m at 30 September 2025", "Monthly burn €95k in September 2025", "Goal: €1m net revenue a quarter in 2026"]),
    )  # fmt: skip
    book(room / "Spoke monthly.xlsx", {
        "Results": [["EUR", "Q1 2025", "Q2 2025", "Q3 2025"], ["Gross merchandise value", 1905220, 2240118, 2611940], ["Net revenue", 210110, 261890, 291400], ["Contribution", 61200, 80110, 95040]],
        "Cash": [["EUR", "Jul-25", "Aug-25", "Sep-25"], ["Net burn", 118200, 124900, 131050], ["Cash at month end", 1655600, 1530700, 1399650]],
    })  # fmt: skip
    mail(
        room / "sales since launch.eml",
        "Numbers for the blog",
        "Thu, 2 Oct 2025 08:00:00 +0200",
        "Hi,\n\nsince launch we have had net revenue of €1.9m and sold 21,000 bicycles.\n\nJette",
    )
    return {("revenue", "2025-07-01/2025-09-30", ""), ("monthly_burn", "2025-09-01/2025-09-30", "")}


def biotech(room: Path) -> Expected:
    """No sales yet: the loss of the year and shares outstanding contradict; the accumulated deficit, options and a quarter do not."""
    page(
        room / "10-K excerpt.html", "# Calder Therapeutics, Inc.", "Statements of operations (in thousands, except per share data)",
        [["", "Year ended December 31, 2024", "Year ended December 31, 2023"], ["Research and development", "41,206", "33,870"], ["General and administrative", "11,904", "10,118"], ["Operating loss", "(53,110)", "(43,988)"], ["Net loss", "(50,871)", "(42,204)"], ["Net loss per share", "(1.62)", "(1.49)"]],
        "As of December 31, 2024 we had an accumulated deficit of $188.4 million. We had 31,402,118 shares of common stock outstanding as of December 31, 2024.",
    )  # fmt: skip
    deck(
        room / "Calder corporate deck.pptx",
        ("Capitalisation at December 31, 2024", [["", "Number"], ["Common shares outstanding", "35,900,000"], ["Options", "4,210,000"], ["Warrants", "650,000"]]),
        ("Financials", ["Net loss of $44.3 million in 2024", "Operating loss of $53.1 million in 2024", "Net loss of $12.0 million in Q4 2024", "Cash of $96 million at December 31, 2024 funds us into 2027"]),
    )  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("shares", "2024-12-31", "")}


def contractor(room: Path) -> Expected:
    """Civil engineering: operating result and cash from operations contradict; a restated year, backlog and a joint venture's part do not."""
    printed(
        room / "Annual report 2024 extract.pdf", "# Brennan Civil Group", "Consolidated results for the year ended 31 December, in millions of Australian dollars",
        [["", "2024", "2023 restated"], ["Revenue", "512.6", "470.3"], ["Operating profit", "24.8", "17.1"], ["Net profit after tax", "15.9", "10.4"], ["Net cash from operating activities", "31.7", "22.5"]],
        "Work in hand stood at A$1.1 billion at 31 December 2024.",
    )  # fmt: skip
    printed(
        room / "Annual report 2023 extract.pdf", "# Brennan Civil Group", "Consolidated results for the year ended 31 December, in millions of Australian dollars",
        [["", "2023", "2022"], ["Revenue", "470.3", "455.8"], ["Operating profit", "21.3", "19.9"], ["Net profit after tax", "13.2", "12.6"], ["Net cash from operating activities", "22.5", "18.0"]],
    )  # fmt: skip
    letter(
        room / "Board minutes Feb 2025.docx", "# Minutes, 18 February 2025",
        "The CFO tabled the results. Revenue for 2024 was A$512.6 million. Operating profit was A$29.5 million in 2024, and operating cash flow A$19.2 million.",
        "The Westlink joint venture contributed revenue of A$61 million, our half of it.",
        "The board adopted the 2025 budget with revenue of A$560 million and operating profit of A$33 million.",
    )  # fmt: skip
    return {("operating_income", "2024-12-31", ""), ("operating_cash_flow", "2024-12-31", "")}


def dairy(room: Path) -> Expected:
    """A dairy that counts in thousands of francs: net result, equity and staff; a half-year, a dividend and FTE's average do not contradict."""
    book(room / "Alpmilch Konzern summary EN.xlsx", {
        "Key data": [["CHF 1,000", "2023", "2024"], ["Net sales", 301220, 312904], ["EBIT", 14118, 15720], ["Net profit", 10204, 11388], ["Shareholders' equity", 121804, 128330], ["Headcount at 31 December", 702, 718]],
        "Half-years": [["CHF 1,000", "H1 2024", "H2 2024"], ["Net sales", 151003, 161901], ["EBIT", 7010, 8710]],
    })  # fmt: skip
    printed(
        room / "Press release March 2025.pdf", "# Alpmilch with a solid year", "Net sales of the dairy group rose by 3.9 % to CHF 312.9 million in 2024. The net profit reached CHF 13.1 million (2023: CHF 10.2 million).",
        "The board proposes a dividend of CHF 18 per share. Shareholders' equity amounted to CHF 128.3 million at the end of 2024. 655 people worked for Alpmilch at 31 December 2024.",
        "For 2025 Alpmilch expects net sales of CHF 320 million.",
    )  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("headcount", "2024-12-31", "")}


def schools(room: Path) -> Expected:
    """Private schools with a June year: income from fees, borrowings and cash; pupils, a plan and another school are others."""
    book(room / "Ashgrove Schools mgmt accounts June 24.xlsx", {
        "I&E": [["Ashgrove Schools Group - year to 30 June 2024 (£)"], ["", "This year", "Last year"], ["Total income", 18402118, 17011330], ["Staff costs", 11620400, 10904220], ["EBITDA", 2810440, 2502118], ["Surplus for the year", 1190220, 980114]],
        "Balance sheet": [["£", "30/06/2024", "30/06/2023"], ["Cash at bank and in hand", 2310118, 1904220], ["Borrowings", 8400000, 9200000], ["Net assets", 12011400, 10821180]],
        "Pupils": [["School", "Sep-22", "Sep-23"], ["Ashgrove", 412, 420], ["St Bride's", 288, 301]],
    })  # fmt: skip
    mail(
        room / "to lender.eml", "Ashgrove - information request", "Tue, 17 Sep 2024 16:20:00 +0100",
        "Dear Helen\n\nAt 30 June 2024 borrowings were £9.6 million and cash at bank £2.3 million. EBITDA for the year to 30 June 2024 was £3.4 million.\nWe forecast EBITDA of £3.9 million for the year to 30 June 2025.\n\nRegards",
    )  # fmt: skip
    deck(room / "Ashgrove overview.pptx", ("Ashgrove in 2023/24", ["Two schools, 721 pupils", "Net assets of £12.0 million at 30 June 2024", "St Bride's had income of £7.2 million in 2023/24"]), ("Fees", [["Fee per term", "2024"], ["Day pupil", "£6,200"], ["Boarder", "£11,400"]]))  # fmt: skip
    return {("debt", "2024-06-30", ""), ("ebitda", "2024-06-30", "")}


ROOMS: Final = [dentware, fasteners, dermatology, garden_centres, savings_bank, growth_fund, couriers, hotels, marketplace, biotech, contractor, dairy, schools]  # fmt: skip
