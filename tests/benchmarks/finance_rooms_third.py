"""Twenty rooms by hand in wordings, scales, periods and currencies that no room before has; `finance_rooms` halves them by a seed."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, chart, deck, letter, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def molnet(room: Path) -> Expected:
    """Swedish software: TSEK against MSEK; omsättning of the deck and kassa of the mail contradict."""
    printed(
        room / "Årsredovisning 2024.pdf", "# Molntorget AB", "Årsredovisning för räkenskapsåret 2024-01-01 – 2024-12-31. Belopp i tkr om inget annat anges.",
        [["Resultaträkning", "2024", "2023"], ["Nettoomsättning", "48 212", "41 077"], ["Rörelseresultat", "5 130", "3 946"], ["Årets resultat", "3 887", "2 951"]],
        [["Balansräkning", "2024-12-31", "2023-12-31"], ["Likvida medel", "9 405", "7 218"], ["Summa eget kapital", "21 660", "17 773"], ["Summa tillgångar", "39 014", "35 480"]],
    )  # fmt: skip
    deck(room / "Investerarpresentation.pptx", (
        "Nyckeltal", [["MSEK", "2022", "2023", "2024"], ["Nettoomsättning", "35,2", "41,1", "53,6"], ["Rörelseresultat", "2,8", "3,9", "5,1"], ["Antal anställda", "38", "44", "51"]]))  # fmt: skip
    mail(
        room / "Kassan.eml", "Kassan vid årsskiftet", "Wed, 15 Jan 2025 08:12:00 +0100",
        "Hej!\n\nLikvida medel uppgick till 6,9 MSEK den 31 december 2024. Eget kapital var 21,7 MSEK.\n\nHälsningar\nMaja",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def fazenda(room: Path) -> Expected:
    """Brazilian food: R$ mil, milhões; lucro líquido, empréstimos contradict; adjusted EBITDA is another."""
    book(room / "DRE e balanço 2024.xlsx", {
        "DRE": [["Fazenda Boa Vista Alimentos S.A."], ["Em milhares de reais (R$ mil)"], [], ["", "2023", "2024"], ["Receita líquida de vendas", 182400, 201950], ["Lucro bruto", 60100, 68340],
                ["EBITDA", 21050, 24870], ["Lucro líquido do exercício", 9120, 11340]],
        "Balanço": [["R$ mil", "31/12/2023", "31/12/2024"], ["Caixa e equivalentes de caixa", 14300, 17880], ["Empréstimos e financiamentos", 62000, 58450], ["Patrimônio líquido", 71200, 79400], ["Ativo total", 190300, 204700]],
    })  # fmt: skip
    deck(
        room / "Apresentação a bancos.pptx",
        ("Destaques financeiros", [["R$ milhões", "2023", "2024"], ["Receita líquida", "182,4", "202,0"], ["EBITDA", "21,1", "24,9"], ["EBITDA ajustado", "24,0", "29,3"], ["Lucro líquido", "9,1", "14,6"]]),
    )  # fmt: skip
    (room / "nota do banco.txt").write_text(
        "Posição em 31/12/2024\n\nOs empréstimos e financiamentos somavam R$ 66,2 milhões em 31 de dezembro de 2024.\nO caixa e equivalentes de caixa era de R$ 17,9 milhões em 31 de dezembro de 2024.\n"
    )
    return {("net_income", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def care_homes(room: Path) -> Expected:
    """A UK operator with a March year: turnover, staff and borrowings contradict; occupancy is no figure of the ledger."""
    book(room / "Management accounts Mar-24.xlsx", {
        "P&L": [["Larkfield Care Group – £'000"], [], ["Year to 31 March", "2023", "2024"], ["Turnover", 28410, 31265], ["Staff costs", -17020, -18890], ["EBITDAR", 6110, 6890], ["EBITDA", 3904, 4412], ["Operating profit", 2610, 3018]],
        "Balance sheet": [["£'000", "31 Mar 23", "31 Mar 24"], ["Cash at bank and in hand", 2045, 2377], ["Loans and borrowings", 14900, 13650], ["Net assets", 9980, 11870]],
        "Homes": [["", "Mar-23", "Mar-24"], ["Registered beds", 712, 712], ["Occupancy", percent(0.881), percent(0.904)], ["Total staff", 1012, 1064]],
    })  # fmt: skip
    letter(
        room / "Information memorandum.docx", "# Larkfield at a glance",
        "In the financial year ended 31 March 2024 turnover rose to £34.1 million and EBITDA to £4.4 million.",
        "Operating profit was £3.0m (FY23: £2.6m). The board expects turnover of £36m in FY25.",
        "The group had 1,190 employees at 31 March 2024 and looks after 640 residents.",
    )  # fmt: skip
    mail(
        room / "Facility letter.eml", "Your facilities", "Fri, 19 Apr 2024 11:00:00 +0100",
        "Dear Mrs Cole,\n\nTotal borrowings under the facilities stood at £15.2 million on 31 March 2024. Your cash balance with us was £2.4 million at that date.\n\nYours sincerely",
    )  # fmt: skip
    return {("revenue", "2024-03-31", ""), ("headcount", "2024-03-31", ""), ("debt", "2024-03-31", "")}


def medtech(room: Path) -> Expected:
    """A US filer with a September year: gross profit, cash and shares of other documents differ from the filing's page."""
    page(
        room / "annual-report.html", "# Corvane Medical, Inc. Form 10-K, fiscal year ended September 30, 2024", "CONSOLIDATED STATEMENTS OF OPERATIONS (in thousands)",
        [["", "Fiscal year ended September 30,", ""], ["", "2024", "2023"], ["Net sales", "$ 88,214", "$ 79,530"], ["Cost of sales", "37,905", "35,112"], ["Gross profit", "50,309", "44,418"], ["Income from operations", "9,870", "7,225"], ["Net income", "7,011", "5,302"]],
        "CONSOLIDATED BALANCE SHEETS (in thousands)",
        [["", "September 30, 2024", "September 30, 2023"], ["Cash and cash equivalents", "$ 31,462", "$ 27,090"], ["Total assets", "112,880", "104,377"], ["Total stockholders' equity", "83,940", "76,012"]],
    )  # fmt: skip
    deck(
        room / "Lender update.pptx",
        ("FY24 in numbers", ["Net sales of $88.2M, up 11%", "Gross profit of $46.8M in fiscal 2024", "Net income of $7.0M in fiscal 2024"]),
        ("Capital", [["", "Sep 30, 2024"], ["Cash and equivalents ($M)", "35.9"], ["Shares outstanding (thousands)", "18,400"]]),
    )  # fmt: skip
    book(
        room / "Cap table.xlsx",
        {
            "Cap table": [
                ["As of September 30, 2024"],
                ["Holder", "Shares"],
                ["Founders", 9200000],
                ["Funds", 6300000],
                ["Employees", 1150000],
                ["Total shares", 16650000],
            ]
        },
    )
    return {("gross_profit", "2024-09-30", ""), ("cash", "2024-09-30", ""), ("shares", "2024-09-30", "")}


def subscriptions(room: Path) -> Expected:
    """US SaaS by quarter: closing ARR, net retention and gross churn of the memo contradict the metrics; MRR is no ARR."""
    book(room / "SaaS metrics.xlsx", {
        "Definitions": [["All amounts in US dollars. Calendar year."]],
        "KPI": [["Metric", "Q1 2024", "Q2 2024", "Q3 2024", "Q4 2024", "FY 2024"], ["Closing ARR", 7210000, 7655000, 8120000, 8790000, 8790000], ["MRR", 600800, 637900, 676700, 732500, 732500],
                ["Paying customers", 212, 221, 230, 247, 247], ["Net revenue retention", None, None, None, None, percent(1.09)], ["Gross churn", None, None, None, None, percent(0.064)]],
    })  # fmt: skip
    letter(
        room / "Investor memo.docx", "# Why now", "ARR stood at $9.6 million on December 31, 2024, from 247 paying customers.",
        [["KPI", "2023", "2024"], ["Net revenue retention", "107%", "116%"], ["Gross churn", "7.1%", "4.0%"]],
        "We plan to reach ARR of $13 million by December 31, 2025.",
    )  # fmt: skip
    (room / "call notes.txt").write_text(
        "Call with CFO, 22 January 2025\n- ARR was $8.8m at December 31, 2024\n- number of paying customers: 247 at December 31, 2024\n"
    )
    return {("recurring_revenue", "2024-12-31", ""), ("retention", "2024-12-31", ""), ("churn", "2024-12-31", "")}


def alpenwerk(room: Path) -> Expected:
    """Swiss manufacturer: apostrophes, TCHF; Nettoerlös, Eigenkapital and Vollzeitstellen contradict."""
    book(room / "Jahresrechnung 2023.xlsx", {
        "ER": [["Alpenwerk AG, Erfolgsrechnung"], ["in TCHF"], [], ["", "2022", "2023"], ["Nettoerlöse aus Lieferungen und Leistungen", 61240, 66415], ["EBITDA", 7320, 8105], ["Betriebsergebnis (EBIT)", 4510, 5002], ["Jahresgewinn", 3300, 3716]],
        "Bilanz": [["in TCHF", "31.12.2022", "31.12.2023"], ["Flüssige Mittel", 5120, 6044], ["Total Aktiven", 58700, 61930], ["Total Eigenkapital", 27450, 30166]],
    })  # fmt: skip
    letter(
        room / "Verkaufsdokumentation.docx", "# Alpenwerk AG", "Der Nettoerlös betrug im Geschäftsjahr 2023 CHF 71,8 Mio. (2022: CHF 61,2 Mio.).",
        [["CHF", "31.12.2022", "31.12.2023"], ["Flüssige Mittel", "5'120'311", "6'043'880"], ["Eigenkapital", "27'450'002", "33'900'150"]],
        "Am 31. Dezember 2023 beschäftigte das Unternehmen 284 Mitarbeitende.",
    )  # fmt: skip
    mail(
        room / "HR-Zahlen.eml", "HR-Zahlen", "Mon, 22 Jan 2024 14:00:00 +0100",
        "Grüezi\n\nPer 31. Dezember 2023 zählten wir 251 Mitarbeitende. Der Jahresgewinn 2023 beträgt CHF 3,7 Mio.\n\nFreundliche Grüsse",
    )  # fmt: skip
    return {("revenue", "2023-12-31", ""), ("equity", "2023-12-31", ""), ("headcount", "2023-12-31", "")}


def biotech_lyon(room: Path) -> Expected:
    """French laboratory with a June year: K€ and euros; chiffre d'affaires and trésorerie contradict, effectif moyen is another."""
    printed(
        room / "Comptes sociaux juin 2024.pdf", "# Laboratoires Verchère SA", "Exercice du 1er juillet 2023 au 30 juin 2024 – montants en K€",
        [["", "Exercice clos le 30/06/2024", "Exercice clos le 30/06/2023"], ["Chiffre d'affaires", "15 842", "14 107"], ["Résultat d'exploitation", "1 204", "985"], ["Résultat net de l'exercice", "902", "711"]],
        [["", "30/06/2024", "30/06/2023"], ["Trésorerie et équivalents de trésorerie", "2 318", "1 940"], ["Total des capitaux propres", "6 455", "5 553"], ["Dettes financières", "3 020", "3 480"]],
    )  # fmt: skip
    deck(room / "Présentation fonds.pptx", (
        "Chiffres clés", ["CA de l'exercice clos le 30 juin 2024 : 17,9 M€", "Résultat net de l'exercice clos le 30 juin 2024 : 0,9 M€", "Effectif moyen de l'exercice : 96 personnes"]))  # fmt: skip
    mail(
        room / "Tréso.eml", "Point trésorerie", "Tue, 16 Jul 2024 18:30:00 +0200",
        "Bonjour,\n\nAu 30 juin 2024, la trésorerie s'élevait à 1 655 000 €. Les dettes financières étaient de 3,0 M€ au 30 juin 2024.\n\nCordialement",
    )  # fmt: skip
    return {("revenue", "2024-06-30", ""), ("cash", "2024-06-30", "")}


def hoteles(room: Path) -> Expected:
    """Spanish hotels by half-year: ventas and EBITDA of the first half of 2024 contradict; the year 2023 agrees."""
    book(room / "Seguimiento semestral.xlsx", {
        "Cuenta": [["Hoteles Brisa del Sur, S.L."], ["Miles de euros"], [], ["", "1S 2023", "2S 2023", "2023", "1S 2024"], ["Ventas netas", 18240, 24110, 42350, 20085], ["EBITDA", 3110, 5870, 8980, 3640], ["Resultado neto", 720, 2480, 3200, 905]],
    })  # fmt: skip
    letter(
        room / "Nota para el comité.docx", "# Evolución del primer semestre",
        [["Millones de euros", "Primer semestre 2023", "Primer semestre 2024"], ["Ventas netas", "18,2", "23,4"], ["EBITDA", "3,1", "4,6"]],
        "En 2023 las ventas netas fueron de 42,4 millones de euros. El presupuesto de 2024 prevé unas ventas netas de 46 millones de euros.",
    )  # fmt: skip
    (room / "deuda.txt").write_text("La deuda bancaria ascendía a 12,6 millones de euros a 30 de junio de 2024.\n")
    book(
        room / "Pool bancario.xlsx",
        {
            "Pool": [
                ["Miles de euros", "31/12/2023", "30/06/2024"],
                ["Deuda bancaria", 13400, 12615],
                ["Efectivo y equivalentes", 2900, 3377],
            ]
        },
    )
    return {("revenue", "2024-01-01/2024-06-30", ""), ("ebitda", "2024-01-01/2024-06-30", "")}


def moda(room: Path) -> Expected:
    """Italian fashion: ricavi agree; margine operativo lordo, dipendenti and posizione at banks contradict."""
    printed(
        room / "Bilancio consolidato 2024.pdf", "# Sartoria Bellosguardo S.p.A.", "Bilancio consolidato al 31 dicembre 2024, valori in Euro/000",
        [["", "2024", "2023"], ["Ricavi netti", "92.310", "85.044"], ["EBITDA", "13.220", "11.870"], ["Risultato operativo", "9.015", "8.102"], ["Risultato netto", "5.640", "4.980"]],
        [["", "31.12.2024", "31.12.2023"], ["Disponibilità liquide", "11.205", "9.330"], ["Debiti verso banche", "21.700", "24.150"], ["Patrimonio netto", "40.118", "35.700"], ["Totale attivo", "98.240", "94.005"]],
        "Alla data del 31 dicembre 2024 i dipendenti erano 412.",
    )  # fmt: skip
    deck(
        room / "Teaser.pptx",
        ("Dati economici", [["€m", "2023A", "2024A", "2025B"], ["Ricavi netti", "85,0", "92,3", "101,0"], ["EBITDA", "11,9", "15,8", "18,0"], ["Risultato netto", "5,0", "5,6", "7,2"]]),
        ("Organizzazione", [["", "31/12/2023", "31/12/2024"], ["Numero dipendenti", "398", "455"]]),
    )  # fmt: skip
    mail(
        room / "Circolarizzazione.eml", "Circolarizzazione bancaria", "Mon, 20 Jan 2025 09:15:00 +0100",
        "Buongiorno,\n\nal 31 dicembre 2024 i debiti verso banche erano pari a 25,9 milioni di euro. Le disponibilità liquide erano pari a 11,2 milioni di euro.\n\nCordiali saluti",
    )  # fmt: skip
    return {("ebitda", "2024-12-31", ""), ("headcount", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def tuinbouw(room: Path) -> Expected:
    """Dutch grower with a broken year 2023/2024 to June: nettowinst and bankschulden contradict, omzet agrees in miljoenen."""
    book(room / "Jaarcijfers.xlsx", {
        "W&V": [["Kwekerij De Lier B.V."], ["Boekjaar van 1 juli tot en met 30 juni"], ["€ x 1.000", "2022/2023", "2023/2024"], ["Netto-omzet", 22640, 24905], ["Brutomarge", 9110, 10020], ["Bedrijfsresultaat", 1890, 2210], ["Nettowinst", 1240, 1475]],
        "Balans": [["€ x 1.000", "30-06-2023", "30-06-2024"], ["Liquide middelen", 860, 1120], ["Bankschulden", 7400, 6950], ["Eigen vermogen", 8300, 9775]],
    })  # fmt: skip
    letter(
        room / "Verkoopmemorandum.docx", "# Kwekerij De Lier", "Het boekjaar eindigt op 30 juni.",
        [["€ miljoen", "2022/23", "2023/24", "2024/25 (begroting)"], ["Omzet", "22,6", "24,9", "27,0"], ["Bedrijfsresultaat", "1,9", "2,2", "2,6"], ["Nettowinst", "1,2", "1,9", "2,1"]],
    )  # fmt: skip
    mail(
        room / "Bank.eml", "Saldobevestiging", "Thu, 11 Jul 2024 10:00:00 +0200",
        "Geachte heer,\n\nDe bankschulden bedroegen per 30 juni 2024 € 7,8 miljoen. De liquide middelen bedroegen € 1,1 miljoen.\n\nMet vriendelijke groet",
    )  # fmt: skip
    return {("net_income", "2024-06-30", ""), ("debt", "2024-06-30", "")}


def vindmolle(room: Path) -> Expected:
    """Danish service firm: t.kr. and mio. kr.; nettoomsætning, egenkapital and medarbejdere contradict."""
    printed(
        room / "Årsrapport 2023.pdf", "# Fjordvind Service A/S", "Årsrapport 1. januar – 31. december 2023. Beløb i t.kr. (DKK)",
        [["Resultatopgørelse", "2023", "2022"], ["Nettoomsætning", "74.310", "66.905"], ["Bruttofortjeneste", "31.480", "28.112"], ["Årets resultat", "5.204", "4.417"]],
        [["Balance 31. december", "2023", "2022"], ["Likvide beholdninger", "8.840", "6.015"], ["Egenkapital", "24.660", "19.456"], ["Aktiver i alt", "52.118", "49.730"]],
    )  # fmt: skip
    deck(
        room / "Salgspræsentation.pptx",
        ("Hovedtal", [["DKK mio.", "2022", "2023"], ["Nettoomsætning", "66,9", "81,0"], ["Årets resultat", "4,4", "5,2"], ["Egenkapital", "19,5", "28,3"]]),
        ("Medarbejdere", [["", "31.12.2023"], ["Antal medarbejdere", "118"]]),
    )  # fmt: skip
    book(
        room / "Løn.xlsx",
        {
            "Antal": [
                ["Afdeling", "31.12.2022", "31.12.2023"],
                ["Montører", 58, 63],
                ["Kontor", 21, 24],
                ["Antal medarbejdere", 79, 87],
            ]
        },
    )
    return {("revenue", "2023-12-31", ""), ("equity", "2023-12-31", ""), ("headcount", "2023-12-31", "")}


def fintech_mumbai(room: Path) -> Expected:
    """Indian lender with a March year: crore, lakhs, a quarter beside the year; revenue from operations and PAT contradict."""
    printed(
        room / "Annual accounts FY25 signed.pdf", "# Nivara Fintech Private Limited", "Statement of profit and loss for the year ended March 31, 2025 (₹ in lakhs)",
        [["Particulars", "Year ended March 31, 2025", "Year ended March 31, 2024"], ["Revenue from operations", "9,842.10", "7,415.60"], ["Profit for the year", "611.35", "402.20"]],
        [["Particulars", "As at March 31, 2025", "As at March 31, 2024"], ["Cash and cash equivalents", "1,120.40", "870.15"], ["Borrowings", "3,905.00", "3,110.00"], ["Total assets", "12,660.75", "9,940.30"]],
    )  # fmt: skip
    deck(room / "Series B deck.pptx", (
        "Financials", [["INR Cr", "FY24", "Q4 FY25", "FY25", "FY26E"], ["Revenue from operations", "74.2", "28.9", "112.5", "150.0"], ["PAT", "4.0", "1.9", "8.4", "12.0"], ["Total assets", "99.4", "126.6", "126.6", "160.0"]]))  # fmt: skip
    mail(
        room / "Re- borrowings.eml", "Re: borrowings", "Tue, 15 Apr 2025 12:20:00 +0530",
        "Hi,\n\nTotal borrowings were Rs 39.05 crore as on March 31, 2025; cash and cash equivalents were Rs 11.2 crore as on March 31, 2025.\n\nThanks",
    )  # fmt: skip
    return {("revenue", "2025-03-31", ""), ("net_income", "2025-03-31", "")}


def restated(room: Path) -> Expected:
    """A year restated after an accounting change: that is no conflict; EBITDA and debt of the year after are."""
    printed(
        room / "Annual report 2022.pdf", "# Hadley Instruments plc", "Consolidated income statement, year ended 31 December 2022, £m",
        [["", "2022", "2021"], ["Revenue", "141.2", "130.8"], ["Operating profit", "17.5", "15.1"], ["Profit for the year", "12.3", "10.9"]],
    )  # fmt: skip
    printed(
        room / "Annual report 2023.pdf", "# Hadley Instruments plc", "Consolidated income statement, year ended 31 December 2023, £m",
        [["", "2023", "2022 (restated)"], ["Revenue", "156.9", "138.4"], ["EBITDA", "27.8", "23.0"], ["Operating profit", "19.6", "16.2"], ["Profit for the year", "13.8", "11.4"]],
        [["At 31 December", "2023", "2022 (restated)"], ["Total borrowings", "48.0", "51.5"], ["Total equity", "96.3", "88.0"]],
    )  # fmt: skip
    book(room / "Databook.xlsx", {
        "P&L": [["GBP million", "FY22 as previously reported", "FY22 restated", "FY23"], ["Revenue", 141.2, 138.4, 156.9], ["EBITDA", 24.1, 23.0, 31.4], ["Operating profit", 17.5, 16.2, 19.6]],
        "Debt": [["GBP million", "31-Dec-22", "31-Dec-23"], ["Total borrowings", 51.5, 54.7]],
    })  # fmt: skip
    return {("ebitda", "2023-12-31", ""), ("debt", "2023-12-31", "")}


def subsidiaries(room: Path) -> Expected:
    """A group by company: revenue of one subsidiary and the group's operating income contradict; the parent alone is another."""
    book(room / "Consolidation 2024.xlsx", {
        "FY2024": [["Amounts in EUR thousand, year 2024"], ["", "Meridian France", "Meridian Iberia", "Eliminations", "Group"], ["Revenue", 31200, 18450, -1150, 48500], ["Operating income", 3900, 1620, 0, 5520], ["Net income", 2610, 1040, 0, 3650]],
    })  # fmt: skip
    letter(
        room / "Group review.docx", "# Meridian Group in 2024", "The Group's revenue was EUR 48.5 million in 2024, operating income EUR 6.4 million.",
        [["EUR million", "2024"], ["Revenue – Meridian France", "31.2"], ["Revenue – Meridian Iberia", "21.0"]],
        "Net income of the Group was EUR 3.65 million in 2024.",
    )  # fmt: skip
    printed(
        room / "Meridian Holding standalone.pdf", "# Meridian Holding SA – separate financial statements of the parent company 2024", "EUR thousand",
        [["", "2024", "2023"], ["Dividends from subsidiaries", "2,000", "1,500"], ["Staff costs", "410", "395"]],
    )  # fmt: skip
    return {("revenue", "2024-12-31", "Meridian Iberia"), ("operating_income", "2024-12-31", "")}


def budgeted(room: Path) -> Expected:
    """Actual, budget, variance side by side: actual EBITDA contradicts, and so does next year's budget for revenue."""
    book(room / "Flash FY24.xlsx", {
        "Flash": [["Torrance Logistics Inc, USD '000"], ["", "FY2024", "FY2024", "", "FY2023"], ["", "Actual", "Budget", "Variance", "Actual"], ["Revenue", 64210, 66000, -1790, 60480], ["Gross profit", 15400, 16100, -700, 14210],
                  ["EBITDA", 6120, 6900, -780, 5540], ["Capex", 2310, 2500, -190, 1980]],
        "Budget 2025": [["USD '000", "Budget FY2025"], ["Revenue", 70300], ["EBITDA", 7400]],
    })  # fmt: skip
    letter(
        room / "Board minutes.docx", "# Minutes of the board meeting of January 28, 2025",
        "The CFO reported revenue of $64.2 million and EBITDA of $5.3 million for fiscal year 2024; capital expenditure was $2.3 million.",
        "The board approved the budget for fiscal year 2025: revenue of $75.0 million and EBITDA of $7.4 million.",
    )  # fmt: skip
    return {("ebitda", "2024-12-31", ""), ("revenue", "2025-12-31", "")}


def seed_round(room: Path) -> Expected:
    """A start-up's round: post-money valuation, monthly net burn and ending cash contradict; the team size agrees."""
    (room / "update-june.md").write_text(
        "# Tessella — June 2025 update\n\n| | May 2025 | June 2025 |\n|---|---|---|\n| Net burn ($k) | 212 | 205 |\n| Cash at end ($k) | 1,930 | 1,725 |\n| Team size | 14 | 15 |\n"
    )
    book(room / "Forecast model.xlsx", {
        "Actuals": [["$", "31 May 2025", "30 June 2025"], ["Cash in bank", 1930000, 1450000], ["Headcount", 14, 15]],
        "Burn": [["$", "May 2025", "June 2025"], ["Net burn", 265000, 205000]],
    })  # fmt: skip
    letter(
        room / "Term sheet.docx",
        "# Term sheet, 10 July 2025",
        [["Terms as of July 10, 2025", ""], ["Post-money valuation", "$18,000,000"], ["Investment", "$3,000,000"]],
    )
    mail(
        room / "lead.eml", "terms", "Thu, 10 Jul 2025 16:00:00 -0700",
        "Hi all,\n\nas of July 10, 2025 the post-money valuation is $21 million. We expect to close in August.\n\nRob",
    )  # fmt: skip
    return {("valuation", "2025-07-10", ""), ("monthly_burn", "2025-05-01/2025-05-31", ""), ("cash", "2025-06-30", "")}


def two_currencies(room: Path) -> Expected:
    """One company in dollars and in euros: translated figures are no conflict; total assets and net income in euros are."""
    printed(
        room / "Financial statements 2023.pdf", "# Oceanline Shipping Ltd", "Audited by Kinnear & Co. Amounts in thousands of euros",
        [["", "2023", "2022"], ["Revenue", "51,430", "47,206"], ["Net profit", "4,118", "3,690"]],
        [["", "31 December 2023", "31 December 2022"], ["Total assets", "88,904", "83,115"], ["Shareholders' equity", "37,260", "33,142"], ["Cash and cash equivalents", "6,072", "5,480"]],
    )  # fmt: skip
    book(room / "USD translation.xlsx", {
        "USD": [["USD thousand (convenience translation)", "2023", "2022"], ["Revenue", 55610, 49710], ["Net profit", 4453, 3886]],
        "USD BS": [["USD thousand", "31 December 2023"], ["Total assets", 98240], ["Cash and cash equivalents", 6710]],
    })  # fmt: skip
    letter(
        room / "Shareholder letter.docx", "Dear shareholders,", "revenue came to €51.4 million in 2023 and net profit to €4.9 million.",
        "At 31 December 2023 total assets were €95.2 million and shareholders' equity €37.3 million, or about $41.2 million.",
    )  # fmt: skip
    return {("net_income", "2023-12-31", ""), ("total_assets", "2023-12-31", "")}


def kyoto(room: Path) -> Expected:
    """A Japanese maker in English: millions of yen, a March year named by its first half; net sales and employees contradict."""
    page(
        room / "kessan.html", "# Kitayama Precision Co., Ltd. – Consolidated results for the fiscal year ended March 31, 2024", "(Millions of yen)",
        [["", "Fiscal year ended March 31, 2023", "Fiscal year ended March 31, 2024"], ["Net sales", "24,815", "26,940"], ["Operating profit", "2,310", "2,655"], ["Profit for the year", "1,544", "1,802"]],
        [["", "As of March 31, 2023", "As of March 31, 2024"], ["Cash and deposits", "4,120", "4,905"], ["Total assets", "31,700", "33,480"], ["Number of employees", "702", "731"]],
    )  # fmt: skip
    deck(
        room / "Company profile.pptx",
        ("Profile", ["Net sales: JPY 29.3 billion (fiscal year ended March 31, 2024)", "Operating profit: JPY 2.7 billion (fiscal year ended March 31, 2024)", "Number of employees: 690 (as of March 31, 2024)"]),
    )  # fmt: skip
    return {("revenue", "2024-03-31", ""), ("headcount", "2024-03-31", "")}


def nine_months(room: Path) -> Expected:
    """Quarter, nine months and last twelve months: the quarter's revenue and the nine months' EBITDA contradict."""
    book(room / "Q3 package.xlsx", {
        "P&L": [["Ridgeway Foods Ltd – €k"], ["", "Q3 2023", "Q3 2024", "9M 2023", "9M 2024", "LTM Sep-24"], ["Revenue", 12110, 13045, 35880, 38420, 51230], ["Gross profit", 3610, 3990, 10750, 11702, 15580], ["EBITDA", 1205, 1370, 3410, 3895, 5166]],
    })  # fmt: skip
    letter(
        room / "Lender report Q3.docx", "# Quarterly report to lenders", "In the third quarter of 2024, revenue was €14.2 million and EBITDA was €1.4 million.",
        "For the nine months ended 30 September 2024, revenue was €38.4 million and EBITDA was €4.6 million.",
        "For the twelve months ended 30 September 2024, revenue was €51.2 million.",
    )  # fmt: skip
    return {("revenue", "2024-07-01/2024-09-30", ""), ("ebitda", "2024-01-01/2024-09-30", "")}


def packaging(room: Path) -> Expected:
    """A supplier to few: the largest customer's share, capex and operating cash flow contradict; the deck's chart agrees."""
    (room / "cash_flow.csv").write_text(
        "EUR;2022;2023;2024\nCash flow from operating activities;4120000;4480000;5015000\nCapital expenditure;-1900000;-2310000;-2740000\nRevenue;38200000;40150000;43900000\n"
    )
    chart(
        room / "Revenue chart.pptx", "Revenue (EUR million)", ["2022", "2023", "2024"], {"Revenue": [38.2, 40.2, 43.9]}
    )
    book(
        room / "Customers.xlsx",
        {
            "Share of revenue": [
                ["KPI", "2023", "2024"],
                ["Largest customer (% of revenue)", percent(0.29), percent(0.27)],
                ["Number of customers", 61, 64],
            ]
        },
    )
    letter(
        room / "Vendor due diligence.docx", "# Key findings",
        [["", "2023", "2024"], ["Largest customer share of revenue", "29%", "34%"], ["Capital expenditure (€m)", "2.3", "3.6"]],
        "Cash flow from operating activities was €4.2 million in 2024 (2023: €4.5 million).",
        "The number of customers was 64 at 31 December 2024.",
    )  # fmt: skip
    return {
        ("largest_customer_share", "2024-12-31", ""),
        ("capital_expenditure", "2024-12-31", ""),
        ("operating_cash_flow", "2024-12-31", ""),
    }


ROOMS: Final = (
    molnet,
    fazenda,
    care_homes,
    medtech,
    subscriptions,
    alpenwerk,
    biotech_lyon,
    hoteles,
    moda,
    tuinbouw,
    vindmolle,
    fintech_mumbai,
    restated,
    subsidiaries,
    budgeted,
    seed_round,
    two_currencies,
    kyoto,
    nine_months,
    packaging,
)
