"""Ten more rooms by hand, opened once, after the ledger had been mended on the others."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, deck, letter, mail, percent, printed

Expected = set[tuple[str, str, str]]


def brewery(room: Path) -> Expected:
    """Revenue gross and net of excise, volume is no money; EBITDA and cash contradict."""
    book(room / "Trading pack Dec-23.xlsx", {
        "Summary P&L": [
            ["Old Ferry Brewing Co Ltd"], ["£k", "Dec-22 YTD", "Dec-23 YTD", "Budget Dec-23 YTD"],
            ["Gross revenue", 21400, 22950, 24000], ["Excise duty", -4100, -4420, -4600], ["Net revenue", 17300, 18530, 19400],
            ["Gross profit", 7900, 8610, 9000], ["EBITDA", 1905, 2240, 2600], ["Hectolitres sold", 98200, 101400, 108000],
        ],
        "Net debt": [["£k", "31/12/2022", "31/12/2023"], ["Bank debt", 5200, 4700], ["Cash", 830, 1265], ["Net debt", 4370, 3435]],
    })  # fmt: skip
    letter(
        room / "Vendor due diligence summary.docx", "# Summary",
        "Net revenue grew by 7.1% to £18.5m in the year ended 31 December 2023 (2022: £17.3m).",
        "Reported EBITDA of £2.7m in the year ended 31 December 2023; adjusted EBITDA of £3.1m.",
        "Gross profit was £8.6m in 2023.",
    )  # fmt: skip
    mail(
        room / "RE cash.eml", "RE: cash", "Tue, 9 Jan 2024 17:40:00 +0000",
        "Hi Tom,\n\nCash at 31 December 2023 was £0.9m, the VAT payment went out on the 29th.\n\nBest,\nSue",
    )  # fmt: skip
    return {("ebitda", "2023-12-31", ""), ("cash", "2023-12-31", "")}


def maschinenbau(room: Path) -> Expected:
    """German family firm with a September year: Umsatz of the Teaser, Mitarbeiter; Auftragseingang is no revenue."""
    printed(
        room / "Jahresabschluss 2023-24.pdf", "# Gebrüder Falk Maschinenbau GmbH", "Jahresabschluss zum 30. September 2024",
        "Gewinn- und Verlustrechnung für die Zeit vom 1. Oktober 2023 bis 30. September 2024",
        [["", "2023/24 EUR", "2022/23 EUR"], ["Umsatzerlöse", "34.812.455,10", "31.204.980,77"], ["Betriebsergebnis", "2.905.110,00", "2.300.415,31"],
         ["Jahresüberschuss", "1.944.087,65", "1.512.300,12"]],
    )  # fmt: skip
    letter(
        room / "Teaser Projekt Falke.docx", "Projekt Falke",
        [["in Mio. €", "GJ 2022/23", "GJ 2023/24", "GJ 2024/25 Plan"], ["Umsatz", "31,2", "38,5", "41,0"], ["Auftragseingang", "33,0", "36,4", "42,0"],
         ["Jahresüberschuss", "1,5", "1,9", "2,4"]],
        "Das Geschäftsjahr endet am 30. September. Zum 30. September 2024 waren 214 Mitarbeiter beschäftigt.",
    )  # fmt: skip
    book(room / "Personal.xlsx", {
        "Stand": [["Mitarbeiter", "30.09.2023", "30.09.2024"], ["Produktion", 120, 131], ["Verwaltung", 52, 58], ["Mitarbeiter gesamt", 172, 189]],
    })  # fmt: skip
    return {("revenue", "2024-09-30", ""), ("headcount", "2024-09-30", "")}


def payments(room: Path) -> Expected:
    """A payments company: volume is no revenue, monthly recurring is no ARR; net loss and customers contradict."""
    deck(
        room / "Board deck January 2025.pptx",
        ("Full-year results", [["$m", "FY2023", "FY2024", "FY2025B"], ["Payment volume", "1,820", "2,410", "3,300"], ["Revenue", "22.4", "29.8", "41.0"],
                               ["Net loss", "(8.1)", "(5.9)", "(2.0)"]]),
        ("KPIs", ["Customers at 31 December 2024: 3,450", "Net revenue retention 2024: 118%", "Average headcount 2024: 148"]),
    )  # fmt: skip
    book(room / "KPI tracker.xlsx", {
        "Tracker": [
            ["Metric", "Unit", "Dec-23", "Dec-24"], ["ARR", "$k", 20100, 27600], ["MRR", "$k", 1675, 2300], ["Customers", "#", 2610, 3105],
            ["Headcount", "#", 131, 160], ["Net revenue retention", "%", percent(1.12), percent(1.18)],
        ],
    })  # fmt: skip
    printed(
        room / "Financial statements 2024 signed.pdf", "# Quillpay Inc.", "Consolidated statements of operations", "(in thousands of US dollars)",
        [["", "Year ended December 31, 2024", "Year ended December 31, 2023"], ["Total revenue", "29,805", "22,391"], ["Gross profit", "17,320", "12,600"],
         ["Operating loss", "(6,980)", "(8,750)"], ["Net loss", "(7,412)", "(8,118)"]],
    )  # fmt: skip
    (room / "CFO call.txt").write_text(
        "CFO call 20 Jan 2025\nARR was $27.6m at 31 December 2024.\nRevenue in 2024: $29.8m; January 2025 alone did $2.9m.\n"
    )
    return {("net_income", "2024-12-31", ""), ("customers", "2024-12-31", "")}


def logistics(room: Path) -> Expected:
    """A carve-out: pro forma and reported stand apart, one region's revenue contradicts, total assets do."""
    book(room / "Carve-out financials.xlsx", {
        "Regions": [
            ["Revenue by region (EUR m)"], ["Region", "2023", "2024"], ["Nordics", 88.2, 91.5], ["Benelux", 54.0, 57.9], ["Iberia", 31.7, 35.2], ["Total", 173.9, 184.6],
        ],
        "BS": [["EUR m", "31 Dec 2023", "31 Dec 2024"], ["Total assets", 121.5, 129.8], ["Equity", 40.2, 44.0]],
        "PF": [["EUR m", "2024", "PF 2024"], ["Revenue", 184.6, 201.3], ["EBITDA", 18.9, 24.4]],
    })  # fmt: skip
    letter(
        room / "Tax memo.docx", "# Group structure and figures", "Total assets amounted to EUR 138.2 million at 31 December 2024.",
        "Pro forma revenue for 2024 was EUR 201.3 million, reported revenue was EUR 184.6 million in 2024.",
    )  # fmt: skip
    deck(
        room / "Lender deck.pptx",
        ("Revenue by region", [["Region", "2023", "2024"], ["Nordics", "88.2", "97.4"], ["Benelux", "54.0", "57.9"], ["Iberia", "31.7", "35.2"]]),
        ("Credit highlights", ["EBITDA 2024: EUR 18.9 million", "Equity of EUR 44.0 million at 31 December 2024"]),
    )  # fmt: skip
    return {("total_assets", "2024-12-31", ""), ("revenue", "2024-12-31", "Nordics")}


def biotech(room: Path) -> Expected:
    """A biotech: burn monthly and quarterly, cash with securities is not cash; operating cash flow and cash contradict."""
    printed(
        room / "Annual report 2024.pdf", "# Meridian Therapeutics N.V.", "Annual report for the year ended 31 December 2024",
        [["(in € thousands)", "2024", "2023"], ["Net cash used in operating activities", "(41,820)", "(36,115)"], ["Purchases of property, plant and equipment", "(1,210)", "(2,044)"]],
        [["(in € thousands)", "31 December 2024", "31 December 2023"], ["Cash and cash equivalents", "58,930", "97,402"], ["Short-term investments", "25,000", "10,000"], ["Total assets", "96,412", "121,880"]],
    )  # fmt: skip
    deck(
        room / "JPM conference.pptx",
        ("Financial position", ["Cash and cash equivalents of €65.1 million at 31 December 2024", "Cash, cash equivalents and securities of €83.9 million", "Net cash used in operating activities: €38.0 million in 2024"]),
    )  # fmt: skip
    letter(
        room / "Minutes.docx", "Minutes of the supervisory board, 4 February 2025", "The company employed 96 people at 31 December 2024.",
        "Capital expenditure was €1.2 million in 2024. The budget 2025 foresees capital expenditure of €3.5 million in 2025.",
    )  # fmt: skip
    return {("cash", "2024-12-31", ""), ("operating_cash_flow", "2024-12-31", "")}


def retailer(room: Path) -> Expected:
    """A retailer of 52 weeks: like-for-like and total sales; operating profit before and after items; capex and debt."""
    printed(
        room / "Preliminary results.pdf", "# Larkfield Stores plc", "Results for the 52 weeks ended 30 March 2024",
        [["£m", "52 weeks ended 30 March 2024", "52 weeks ended 1 April 2023"], ["Revenue", "1,204.5", "1,151.0"], ["Gross profit", "398.2", "371.6"],
         ["Operating profit", "71.3", "60.4"], ["Profit for the year", "48.8", "40.1"]],
        "Adjusted operating profit was £79.9m for the 52 weeks ended 30 March 2024. Like-for-like sales rose by 3.1%.",
        "Capital expenditure was £38.4m for the 52 weeks ended 30 March 2024.",
    )  # fmt: skip
    book(room / "Lender model.xlsx", {
        "Model": [
            ["£m", "FY23A", "FY24A", "FY25F"], ["Revenue", 1151.0, 1204.5, 1260], ["Operating profit", 60.4, 71.3, 78], ["Capex", -31.0, -44.9, -50],
            ["Total debt", 210.0, 195.0, 180.0],
        ],
        "Info": [["Fiscal year end", "30 March"]],
    })  # fmt: skip
    letter(
        room / "Credit memo.docx",
        "Revenue was £1.2bn in the year ended 30 March 2024.",
        "Net profit was £55.0m in the year ended 30 March 2024.",
    )
    return {("capital_expenditure", "2024-03-30", ""), ("net_income", "2024-03-30", "")}


def energieberater(room: Path) -> Expected:
    """German service firm: Mail, Notiz and BWA; Rohertrag and Bankverbindlichkeiten contradict, Quartal is no Jahr."""
    book(room / "SuSa und BWA 12-2024.xlsx", {
        "BWA": [
            ["Kurzfristige Erfolgsrechnung Dezember 2024", None, None, None], ["Bezeichnung", "Dez 2024 (EUR)", "Jan–Dez 2024 (EUR)", "Jan–Dez 2023 (EUR)"],
            ["Umsatzerlöse", 512300, 5640120, 4981200], ["Rohertrag", 351000, 3912450, 3480100], ["Betriebsergebnis", 61000, 640300, 522800],
        ],
    })  # fmt: skip
    letter(
        room / "Bericht Geschäftsführung.docx", "# Bericht der Geschäftsführung", "Der Umsatz lag im Jahr 2024 bei 5,64 Mio. €.",
        [["in T€", "2023", "2024"], ["Umsatz", "4.981", "5.640"], ["Rohertrag", "3.480", "4.205"], ["Jahresüberschuss", "361", "448"]],
        "Im vierten Quartal 2024 lag der Umsatz bei 1,5 Mio. €.", "Die Bankverbindlichkeiten betrugen zum 31. Dezember 2024 850 T€.",
    )  # fmt: skip
    mail(
        room / "Hausbank.eml", "Saldenbestätigung", "Wed, 15 Jan 2025 10:00:00 +0100",
        "Sehr geehrte Damen und Herren,\n\ndie Bankverbindlichkeiten betrugen zum 31. Dezember 2024 1.120.000 EUR.\n\nMit freundlichen Grüßen\nIhre Hausbank",
    )  # fmt: skip
    return {("gross_profit", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def edtech(room: Path) -> Expected:
    """Calendar against fiscal year, bookings against revenue: these agree; retention and ARR contradict."""
    book(room / "Cohorts and ARR.xlsx", {
        "ARR bridge": [
            ["ARR bridge ($000)", "FY2023", "FY2024"], ["Opening ARR", 6100, 8400], ["New", 3100, 3600], ["Churned", -800, -1100], ["Closing ARR", 8400, 10900],
        ],
        "Retention": [["", "FY2023", "FY2024"], ["Gross revenue retention", percent(0.88), percent(0.87)], ["Net revenue retention", percent(1.04), percent(1.01)]],
        "P&L": [["$000", "FY2023", "FY2024"], ["Bookings", 9900, 12100], ["Revenue", 7350, 9720], ["Gross profit", 5510, 7390]],
    })  # fmt: skip
    deck(
        room / "Growth equity deck.pptx",
        ("Metrics", [["", "FY2023", "FY2024"], ["ARR, $m", "8.4", "12.6"], ["Net revenue retention", "104%", "112%"], ["Revenue, $m", "7.4", "9.7"]]),
        ("Plan", [["", "FY2025 plan"], ["ARR, $m", "17.0"]]),
    )  # fmt: skip
    (room / "notes.txt").write_text(
        "Fiscal year = calendar year.\nFY2024 revenue: $9.7 million. Bookings in FY2024 came to $12.1 million.\n"
    )
    return {("recurring_revenue", "2024-12-31", ""), ("retention", "2024-12-31", "")}


def property_firm(room: Path) -> Expected:
    """A property firm: valuation and total assets, equity of two dates; shares outstanding contradict, equity does."""
    printed(
        room / "Interim report H1 2024.pdf", "# Kestrel Properties AB", "Interim report January–June 2024",
        [["SEK m", "30 Jun 2024", "31 Dec 2023"], ["Total assets", "8,214", "8,030"], ["Total equity", "3,377", "3,290"], ["Interest-bearing liabilities", "4,105", "4,020"]],
        [["SEK m", "Jan-Jun 2024", "Jan-Jun 2023", "Jan-Dec 2023"], ["Revenue", "291", "270", "549"], ["Operating profit", "188", "171", "352"]],
    )  # fmt: skip
    book(room / "Cap table.xlsx", {
        "Balance": [["SEK m", "31 Dec 2023", "30 Jun 2024"], ["Total assets", 8030, 8214], ["Equity", 3290, 3512], ["Interest-bearing liabilities", 4020, 4105]],
        "Income": [["SEK m", "2023", "H1 2024"], ["Revenue", 549, 291], ["Operating profit", 352, 206]],
    })  # fmt: skip
    letter(
        room / "Term sheet notes.docx",
        "Revenue was SEK 549 million in 2023.",
        "Total assets were SEK 8.2 billion at 30 June 2024.",
    )
    return {("equity", "2024-06-30", ""), ("operating_income", "2024-01-01/2024-06-30", "")}


def agency(room: Path) -> Expected:
    """An agency: gross billings, net revenue, headcount with FTE; revenue in words contradicts, and cash of a month's end."""
    mail(
        room / "FY24 flash.eml", "FY24 flash", "Fri, 10 Jan 2025 08:30:00 -0500",
        "Team,\n\nFY24 flash numbers: net revenue for 2024 came in at $15.9 million, EBITDA was $2.6 million in 2024.\nGross billings were $64 million.\nYear-end cash balance was $1.8 million at December 31, 2024.\n\nMike",
    )  # fmt: skip
    book(room / "Agency P&L.xlsx", {
        "PL": [
            ["Bright & Hale LLC", None, None, None], ["($ in thousands)", "2022", "2023", "2024"], ["Gross billings", 51200, 58800, 64010],
            ["Net revenue", 12900, 14350, 15920], ["EBITDA", 1810, 2105, 2590], ["Headcount (year-end)", 88, 97, 103],
        ],
        "Cash": [["Month end", "Cash balance ($)"], ["2024-10-31", 1423000], ["2024-11-30", 1688400], ["2024-12-31", 1802900]],
    })  # fmt: skip
    letter(
        room / "CIM.docx", "# Bright & Hale at a glance", "In 2024, net revenue was $17.8 million and EBITDA was $2.6 million.",
        "The company had 103 employees at December 31, 2024.", "At November 30, 2024 the company held cash of $2.2 million.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("cash", "2024-11-30", "")}


ROOMS: Final = (
    brewery,
    maschinenbau,
    payments,
    logistics,
    biotech,
    retailer,
    energieberater,
    edtech,
    property_firm,
    agency,
)
