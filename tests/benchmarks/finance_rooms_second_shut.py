"""Ten rooms by hand in other words, layouts, formats and languages than those before, opened once at the end."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, chart, deck, letter, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def boulangerie(room: Path) -> Expected:
    """French bakery chain: liasse, note de synthèse and mail; chiffre d'affaires HT of the note and effectif contradict."""
    printed(
        room / "Comptes annuels 2023.pdf", "# Maison Lavigne SAS", "Comptes annuels – exercice clos le 31 décembre 2023", "Montants exprimés en euros",
        [["Compte de résultat", "31/12/2023", "31/12/2022"], ["Chiffre d'affaires net", "27 418 332", "24 906 115"], ["Résultat d'exploitation", "1 905 640", "1 511 080"],
         ["Résultat net", "1 288 411", "1 002 377"]],
        [["Bilan", "31/12/2023", "31/12/2022"], ["Disponibilités", "3 140 226", "2 655 018"], ["Capitaux propres", "8 870 554", "7 582 143"], ["Total de l'actif", "19 660 902", "18 004 771"]],
        "Rapport du commissaire aux comptes : nous certifions que les comptes annuels sont réguliers et sincères.",
    )  # fmt: skip
    letter(
        room / "Note de synthèse.docx", "# Note de synthèse pour les investisseurs",
        "Le chiffre d'affaires s'est élevé à 29,1 M€ en 2023, contre 24,9 M€ en 2022.", "Le résultat net de l'exercice 2023 ressort à 1,3 M€.",
        "Le groupe prévoit un chiffre d'affaires de 33 M€ en 2024.",
        "Au 31 décembre 2023, l'effectif était de 342 salariés. La trésorerie atteignait 3,1 M€ au 31 décembre 2023.",
    )  # fmt: skip
    book(room / "Suivi RH.xlsx", {
        "Effectifs": [["Effectif au", "31/12/2022", "31/12/2023"], ["Production", 181, 197], ["Vente", 88, 95], ["Siège", 17, 19], ["Effectif total", 286, 311]],
    })  # fmt: skip
    return {("revenue", "2023-12-31", ""), ("headcount", "2023-12-31", "")}


def astillero(room: Path) -> Expected:
    """Spanish yard: miles de euros against euros, EBITDA of the cuaderno and deuda financiera of the bank's letter."""
    book(room / "Cuentas de gestión.xlsx", {
        "PyG": [["Astilleros del Miño, S.A."], ["(miles de euros)"], [], ["Concepto", "2021", "2022", "2023 (ppto.)", "2023"], ["Importe neto de la cifra de negocios", 41200, 45880, 50000, 48310],
                ["EBITDA", 3890, 4410, 5600, 4725], ["Resultado del ejercicio", 1210, 1544, 2200, 1690]],
        "Balance": [["(miles de euros)", "31-12-2022", "31-12-2023"], ["Tesorería", 2240, 1985], ["Deuda financiera", 12150, 11400], ["Patrimonio neto", 15010, 16700], ["Total activo", 52300, 53940]],
    })  # fmt: skip
    deck(
        room / "Cuaderno de venta.pptx",
        (
            "Magnitudes clave",
            [
                ["M€", "2022", "2023"],
                ["Ingresos", "45,9", "48,3"],
                ["EBITDA", "4,4", "6,1"],
                ["EBITDA ajustado", "5,0", "7,2"],
            ],
        ),
        ("Plantilla", ["La plantilla a 31 de diciembre de 2023 era de 268 empleados"]),
    )
    mail(
        room / "Banco.eml", "Posición de riesgo", "Thu, 11 Jan 2024 10:05:00 +0100",
        "Buenos días:\n\nLa deuda financiera a 31 de diciembre de 2023 ascendía a 14.250.000 euros.\n\nUn saludo",
    )  # fmt: skip
    return {("ebitda", "2023-12-31", ""), ("debt", "2023-12-31", "")}


def kraftwerk(room: Path) -> Expected:
    """A fund's web portal export: CSV, web page, deck with a native chart; net profit of the chart, equity of the page."""
    (room / "trial_export.csv").write_text(
        "Line item;Currency;FY2022;FY2023;FY2024\nNet turnover;EUR;8120400;9004150;9915600\nGross profit;EUR;3300100;3712000;4104900\n"
        "Net profit;EUR;512300;604800;690150\n"
    )
    chart(
        room / "Quarterly board slides.pptx",
        "Net profit (EUR k)",
        ["FY2022", "FY2023", "FY2024"],
        {"Net profit": [512, 605, 842]},
    )
    page(
        room / "portal.html", "# Reporting portal – Isar Hydro Group", "All amounts in EUR thousand.",
        [["", "31.12.2023", "31.12.2024"], ["Total assets", "14,205", "15,118"], ["Shareholders' equity", "6,930", "8,004"], ["Cash on hand and at banks", "1,120", "1,388"]],
    )  # fmt: skip
    letter(
        room / "Management letter.docx", "Dear investors,",
        "Shareholders' equity amounted to EUR 7.1 million as of 31 December 2024, and total assets stood at EUR 15.1 million.",
        "Turnover for fiscal year 2024 was EUR 9.9 million; for fiscal year 2025 management targets EUR 11 million.",
    )  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("equity", "2024-12-31", "")}


def bharat(room: Path) -> Expected:
    """Indian exporter with a March year: crore and lakh agree, PAT of the teaser and borrowings of the letter do not."""
    printed(
        room / "Audited financials FY24.pdf", "# Suryakant Textiles Private Limited", "Independent Auditor's Report: we have audited the accompanying financial statements.",
        "(All amounts in ₹ lakhs)",
        [["Particulars", "For the year ended 31 March 2024", "For the year ended 31 March 2023"], ["Revenue from operations", "21,480.55", "18,902.10"], ["Profit for the year", "1,312.40", "1,004.75"]],
        [["Particulars", "As at 31 March 2024", "As at 31 March 2023"], ["Total borrowings", "4,860.00", "5,215.30"], ["Cash and cash equivalents", "905.15", "611.20"], ["Total assets", "15,744.90", "14,020.35"]],
    )  # fmt: skip
    letter(
        room / "Teaser - Project Loom.docx", "Project Loom", [["₹ crore", "FY2022-23", "FY2023-24", "FY2024-25E"], ["Revenue from operations", "189.0", "214.8", "250.0"], ["Profit after tax", "10.0", "16.4", "20.1"]],
        "As at 31 March 2024 the company employed 1,240 people.",
    )  # fmt: skip
    mail(
        room / "Lender confirmation.eml", "Balance confirmation", "Mon, 15 Apr 2024 12:00:00 +0530",
        "Dear Sir,\n\nTotal borrowings as at 31 March 2024 stood at Rs. 56.2 crore including the working capital demand loan.\n\nRegards",
    )  # fmt: skip
    return {("net_income", "2024-03-31", ""), ("debt", "2024-03-31", "")}


def polder(room: Path) -> Expected:
    """Dutch logistics: jaarrekening and bestuursverslag; omzet of the presentation and liquide middelen of the note."""
    printed(
        room / "Jaarrekening 2024.pdf", "# Van der Meulen Transport B.V.", "Jaarrekening 2024 (bedragen x € 1.000)",
        [["", "2024", "2023"], ["Netto-omzet", "63.415", "59.870"], ["Bedrijfsresultaat", "3.108", "2.790"], ["Nettoresultaat", "2.204", "1.955"]],
        [["", "31-12-2024", "31-12-2023"], ["Liquide middelen", "2.918", "3.304"], ["Eigen vermogen", "14.770", "13.066"], ["Balanstotaal", "38.240", "36.981"]],
    )  # fmt: skip
    deck(
        room / "Investeerderspresentatie.pptx",
        ("Kerncijfers", ["Omzet 2024: € 68,0 miljoen", "Bedrijfsresultaat 2024: € 3,1 miljoen"]),
    )
    (room / "notitie kas.txt").write_text(
        "Liquiditeit\nDe liquide middelen bedroegen per 31 december 2024 € 1,9 miljoen.\n"
    )
    return {("revenue", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def saas_board(room: Path) -> Expected:
    """A January year: FY25 is the year to January 2025; gross profit of the memo, ending customers of the deck."""
    book(room / "Board metrics FY25.xlsx", {
        "Read me": [["Fiscal year ends January 31. FY25 = year ended January 31, 2025. Amounts in USD thousands unless noted."]],
        "Metrics": [
            ["", "FY24", "Q1 FY25", "Q2 FY25", "Q3 FY25", "Q4 FY25", "FY25"], ["Total revenue", 30450, 9120, 9780, 10340, 11020, 40260], ["Gross profit", 22600, 6870, 7405, 7850, 8400, 30525],
            ["Ending customers (#)", 905, 960, 1012, 1077, 1131, 1131], ["Net revenue retention", percent(1.11), percent(1.12), percent(1.12), percent(1.13), percent(1.14), percent(1.14)],
        ],
    })  # fmt: skip
    letter(
        room / "Board memo March 2025.docx", "# Fiscal 2025 wrap-up",
        "Total revenue reached $40.3 million for the fiscal year ended January 31, 2025, up 32%.",
        "Gross profit for the fiscal year ended January 31, 2025 was $28.9 million.",
        "In the fourth quarter, revenue was $11.0 million.",
    )  # fmt: skip
    deck(
        room / "Series C update.pptx",
        ("Customers", [["", "Jan 31, 2024", "Jan 31, 2025"], ["Customers", "905", "1,260"]]),
        ("Plan", ["FY26 revenue plan: $55 million"]),
    )
    return {("gross_profit", "2025-01-31", ""), ("customers", "2025-01-31", "")}


def clinic(room: Path) -> Expected:
    """US clinics by site in blocks, one sheet a year; the location's revenue contradicts, and operating cash flow does."""
    book(room / "Site P&Ls.xlsx", {
        "2023": [["Pinegrove Dental Partners – calendar year 2023", None, None, None], ["$ actual dollars", "Austin", "Dallas", "Total"], ["Net revenue", 4120350, 6330900, 10451250], ["EBITDA", 702110, 1180400, 1882510]],
        "2024": [["Pinegrove Dental Partners – calendar year 2024", None, None, None], ["$ actual dollars", "Austin", "Dallas", "Total"], ["Net revenue", 4402900, 6915600, 11318500], ["EBITDA", 751300, 1340950, 2092250]],
    })  # fmt: skip
    printed(
        room / "Compiled statements 2024.pdf", "# Pinegrove Dental Partners LLC", "Statements of cash flows, years ended December 31",
        [["", "2024", "2023"], ["Net cash provided by operating activities", "$ 1,684,220", "$ 1,512,008"], ["Purchases of equipment", "(410,300)", "(388,115)"], ["Cash, end of year", "$ 988,410", "$ 702,655"]],
    )  # fmt: skip
    letter(
        room / "Quality of earnings draft.docx", "# Quality of earnings – draft for discussion",
        [["US$ thousands", "CY23", "CY24"], ["Net revenue – Austin", "4,120", "4,403"], ["Net revenue – Dallas", "6,331", "7,420"], ["Net revenue", "10,451", "11,319"], ["Reported EBITDA", "1,883", "2,092"], ["Adjusted EBITDA", "2,140", "2,391"]],
        "Cash flow from operations was $2.1 million in calendar year 2024.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", "Dallas"), ("operating_cash_flow", "2024-12-31", "")}


def vetreria(room: Path) -> Expected:
    """Italian glassworks: bilancio and teaser; ricavi agree in migliaia, utile and posizione debitoria do not; vendite budget."""
    printed(
        room / "Bilancio d'esercizio 2023.pdf", "# Vetreria Lagunare S.p.A.", "Bilancio al 31 dicembre 2023 – importi in migliaia di euro",
        [["Conto economico", "2023", "2022"], ["Ricavi delle vendite", "18.940", "17.205"], ["Risultato operativo", "1.377", "1.190"], ["Utile dell'esercizio", "861", "744"]],
        [["Stato patrimoniale", "31/12/2023", "31/12/2022"], ["Disponibilità liquide", "1.402", "1.118"], ["Patrimonio netto", "6.215", "5.354"], ["Debiti verso banche", "4.930", "5.480"]],
    )  # fmt: skip
    letter(
        room / "Teaser Progetto Murano.docx", "I ricavi sono stati pari a 18,9 milioni di euro nel 2023.", "L'utile netto del 2023 è stato di 1,2 milioni di euro.",
        "Il budget 2024 prevede ricavi per 20,5 milioni di euro.", "Il patrimonio netto al 31 dicembre 2023 era di 7,4 milioni di euro.",
    )  # fmt: skip
    return {("net_income", "2023-12-31", ""), ("equity", "2023-12-31", "")}


def hardware(room: Path) -> Expected:
    """A start-up's markdown updates: burn a month, runway, headcount; cash of the update and burn of the model differ."""
    (room / "investor-update-2025-03.md").write_text(
        "# Investor update, March 2025\n\n| Metric | Feb 2025 | Mar 2025 |\n|---|---|---|\n| Cash in bank ($k) | 2,410 | 2,115 |\n| Net burn ($k) | 301 | 295 |\n"
        "| MRR ($k) | 84 | 91 |\n| Headcount | 22 | 23 |\n\nWe expect $2.5m of new money in Q2 2025.\n"
    )
    book(room / "Operating model.xlsx", {
        "Monthly": [["USD", "31-Jan-25", "28-Feb-25", "31-Mar-25"], ["Cash balance", 2711000, 2410000, 1870000], ["Headcount", 21, 22, 23]],
        "Burn": [["USD", "Jan-25", "Feb-25", "Mar-25"], ["Monthly net burn", 310000, 388000, 295000]],
    })  # fmt: skip
    mail(
        room / "Re numbers.eml", "Re: numbers", "Fri, 4 Apr 2025 09:00:00 -0700",
        "Sam,\n\nHeadcount at March 31, 2025 was 23. ARR was $1.1 million at March 31, 2025.\n\nKim",
    )  # fmt: skip
    return {("cash", "2025-03-31", ""), ("monthly_burn", "2025-02-01/2025-02-28", "")}


def holding(room: Path) -> Expected:
    """A group with a subsidiary: consolidated against company-only, continuing operations; assets and headcount differ."""
    printed(
        room / "Consolidated accounts 2024.pdf", "# Thornbury Group plc", "Consolidated statement of financial position", "at 31 December 2024, in £ millions",
        [["", "2024", "2023"], ["Total assets", "612.4", "588.0"], ["Total equity", "241.9", "230.5"], ["Borrowings", "188.2", "195.1"]],
        "The average number of persons employed by the Group during 2024 was 2,310. At 31 December 2024 the Group had 2,385 employees.",
    )  # fmt: skip
    printed(
        room / "Company accounts 2024.pdf", "# Thornbury Trading Limited (a subsidiary of Thornbury Group plc)", "Balance sheet at 31 December 2024, £ millions",
        [["", "2024", "2023"], ["Trade debtors", "31.0", "29.2"], ["Stocks", "18.4", "17.7"]],
    )  # fmt: skip
    deck(
        room / "Debt investor presentation.pptx",
        (
            "Balance sheet",
            [["£m", "Dec-23", "Dec-24"], ["Total assets", "588", "655"], ["Total equity", "230.5", "241.9"]],
        ),
        ("People", ["2,610 employees at 31 December 2024", "Average headcount of 2,310 in 2024"]),
    )
    book(room / "KPIs.xlsx", {
        "KPI": [["Measure", "2023", "2024", "Change"], ["Borrowings (£m)", 195.1, 188.2, percent(-0.035)], ["Employees at year end", 2290, 2385, percent(0.041)]],
    })  # fmt: skip
    return {("total_assets", "2024-12-31", ""), ("headcount", "2024-12-31", "")}


ROOMS: Final = (
    boulangerie,
    astillero,
    kraftwerk,
    bharat,
    polder,
    saas_board,
    clinic,
    vetreria,
    hardware,
    holding,
)
