"""Nine rooms in German, French, Spanish, Italian and Dutch; `finance_rooms` halves them with those of `finance_rooms_fourth`."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import book, chart, deck, letter, mail, page, percent, printed

Expected = set[tuple[str, str, str]]


def werkzeug(room: Path) -> Expected:
    """Toolmaker with a broken year to September: Umsatzerlöse and Mitarbeiter contradict; Auftragseingang and plan do not."""
    printed(
        room / "Jahresabschluss 2023-24.pdf", "# Brenner Werkzeugbau GmbH", "Gewinn- und Verlustrechnung vom 1. Oktober 2023 bis 30. September 2024, Angaben in TEUR",
        [["", "2023/24", "2022/23"], ["Umsatzerlöse", "34.610", "32.085"], ["Betriebsergebnis", "2.940", "2.515"], ["Jahresüberschuss", "1.870", "1.602"]],
        "Am 30. September 2024 beschäftigte die Gesellschaft 214 Mitarbeiter (Vorjahr: 206).",
    )  # fmt: skip
    deck(
        room / "Unternehmenspräsentation.pptx",
        ("Kennzahlen", [["Mio. €", "GJ 2022/23", "GJ 2023/24", "Plan 2024/25"], ["Umsatz", "32,1", "37,9", "40,0"], ["Auftragseingang", "35,5", "41,2", "43,0"], ["Betriebsergebnis", "2,5", "2,9", "3,4"]]),
        ("Menschen", ["248 Mitarbeiter zum 30. September 2024", "davon 31 Auszubildende"]),
    )  # fmt: skip
    mail(
        room / "Bankauskunft.eml", "Bankauskunft", "Mon, 14 Oct 2024 08:20:00 +0200",
        "Guten Tag,\n\nder Jahresüberschuss 2023/24 beträgt 1,9 Mio. €. Der Umsatz lag 2022/23 bei 32,1 Mio. €.\n\nMit freundlichen Grüßen",
    )  # fmt: skip
    return {("revenue", "2024-09-30", ""), ("headcount", "2024-09-30", "")}


def berlin(room: Path) -> Expected:
    """Software with monthly figures: ARR, liquide Mittel and Kunden contradict; MRR and a plan are others."""
    book(room / "Reporting Dezember 2024.xlsx", {
        "KPI": [["Werte in EUR", "31.12.2023", "31.12.2024"], ["ARR", 4210000, 6480000], ["Anzahl Kunden", 318, 402], ["Anzahl Mitarbeitende", 58, 66]],
        "Liquidität": [["TEUR", "31.12.2023", "31.12.2024"], ["Liquide Mittel", 3150, 2310]],
    })  # fmt: skip
    deck(
        room / "Pitchdeck Serie A.pptx",
        ("Wachstum", ["ARR von 7,6 Mio. € per 31.12.2024", "MRR von 540 T€ im Dezember 2024", "445 Kunden per 31.12.2024", "Ziel: 12 Mio. € ARR bis Ende 2025"]),
        ("Team", ["66 Mitarbeitende per 31.12.2024"]),
    )  # fmt: skip
    letter(
        room / "Protokoll Beirat.docx", "# Protokoll der Beiratssitzung vom 23. Januar 2025",
        "Die liquiden Mittel betrugen zum 31. Dezember 2024 rund 2,9 Mio. €.", "Der ARR betrug zum 31. Dezember 2023 4,2 Mio. €.",
    )  # fmt: skip
    return {("recurring_revenue", "2024-12-31", ""), ("cash", "2024-12-31", ""), ("customers", "2024-12-31", "")}


def zug(room: Path) -> Expected:
    """Swiss trader in CHF with apostrophes: Reingewinn and Eigenkapital contradict; euros beside them are a translation."""
    page(
        room / "erfolgsrechnung.html", "# Alprose Handels AG, Erfolgsrechnung 2024", "in CHF",
        [["", "2024", "2023"], ["Nettoerlös", "28'415'300", "26'903'110"], ["EBITDA", "3'120'450", "2'890'700"], ["Reingewinn", "1'744'200", "1'590'300"]],
        "Bilanz in CHF", [["", "31.12.2024", "31.12.2023"], ["Flüssige Mittel", "2'610'900", "2'204'500"], ["Bilanzsumme", "17'905'000", "17'110'400"], ["Eigenkapital", "9'322'700", "8'178'500"]],
    )  # fmt: skip
    letter(
        room / "Kurzprofil.docx", "# Alprose Handels AG", "Im Jahr 2024 erzielte Alprose einen Nettoerlös von CHF 28,4 Mio. (EUR 29,8 Mio.) und einen Reingewinn von CHF 2,3 Mio.",
        [["CHF Mio.", "31.12.2023", "31.12.2024"], ["Flüssige Mittel", "2,2", "2,6"], ["Eigenkapital", "8,2", "10,9"]],
    )  # fmt: skip
    return {("net_income", "2024-12-31", ""), ("equity", "2024-12-31", "")}


def menuiserie(room: Path) -> Expected:
    """A French joiner: CA, effectif and dettes financières contradict; a budget and the year before do not."""
    book(room / "Tableau de bord 2024.xlsx", {
        "Exercice 2024": [["Menuiserie Garrigue SAS – K€"], ["", "2023", "2024"], ["CA", 12840, 13615], ["Marge brute", 5210, 5540], ["EBE", 1130, 1245], ["Résultat net", 560, 618]],
        "Bilan": [["K€", "31/12/2023", "31/12/2024"], ["Disponibilités", 940, 1085], ["Dettes financières", 2650, 2310], ["Capitaux propres", 3120, 3640]],
        "Budget 2025": [["K€", "Budget 2025"], ["CA", 14500], ["EBE", 1400]],
    })  # fmt: skip
    letter(
        room / "Présentation à l'acquéreur.docx", "# Menuiserie Garrigue", "Le CA s'est élevé à 15,1 M€ en 2024, contre 12,8 M€ en 2023. Le résultat net ressort à 0,6 M€ en 2024.",
        "L'effectif était de 97 salariés au 31 décembre 2024.",
        [["", "31/12/2023", "31/12/2024"], ["Effectif", "81", "84"]],
    )  # fmt: skip
    mail(
        room / "Banque.eml", "Encours", "Tue, 14 Jan 2025 15:10:00 +0100",
        "Bonjour,\n\nLes dettes financières s'élevaient à 2,9 M€ au 31 décembre 2024. Les disponibilités étaient de 1,1 M€.\n\nCordialement",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("headcount", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def nantes(room: Path) -> Expected:
    """A French scale-up with a June year: chiffre d'affaires of a chart and trésorerie contradict; EBITDA agrees."""
    chart(
        room / "Graphique.pptx",
        "Chiffre d'affaires (M€)",
        ["2021/22", "2022/23", "2023/24"],
        {"Chiffre d'affaires": [6.4, 9.2, 14.1]},
    )
    printed(
        room / "Comptes annuels 30 juin 2024.pdf", "# Ligérienne Robotique SA", "Compte de résultat, exercice du 1er juillet 2023 au 30 juin 2024 (en milliers d'euros)",
        [["", "2023/24", "2022/23"], ["Chiffre d'affaires net", "11 930", "9 180"], ["EBITDA", "1 410", "905"], ["Résultat net", "655", "210"]],
        [["", "30/06/2024", "30/06/2023"], ["Trésorerie", "3 480", "2 115"], ["Capitaux propres", "7 240", "6 585"]],
    )  # fmt: skip
    (room / "note.txt").write_text(
        "Point de trésorerie\n\nLa trésorerie atteignait 4,4 M€ au 30 juin 2024 et 2,1 M€ au 30 juin 2023.\nL'EBITDA de l'exercice 2023/24 est de 1,4 M€.\n",
        "utf-8",
    )
    return {("revenue", "2024-06-30", ""), ("cash", "2024-06-30", "")}


def bodega(room: Path) -> Expected:
    """Spanish wine: ventas netas, resultado neto and deuda contradict; previsión and litres do not."""
    printed(
        room / "Cuentas anuales 2024.pdf", "# Bodegas Peñalba S.L.", "Cuenta de pérdidas y ganancias del ejercicio 2024 (miles de euros)",
        [["", "2024", "2023"], ["Importe neto de la cifra de negocios", "19.340", "17.905"], ["EBITDA", "3.870", "3.455"], ["Resultado del ejercicio", "1.925", "1.640"]],
        [["Miles de euros", "31/12/2024", "31/12/2023"], ["Deuda financiera", "8.110", "8.950"], ["Patrimonio neto", "14.300", "12.900"]],
    )  # fmt: skip
    deck(
        room / "Cuaderno de venta.pptx",
        ("Cifras clave", [["M€", "2023", "2024", "2025 (previsión)"], ["Cifra de negocios", "17,9", "21,7", "23,0"], ["EBITDA", "3,5", "3,9", "4,4"], ["Resultado neto", "1,6", "2,5", "2,8"]]),
        ("Producción", ["4,1 millones de litros en 2024", "62 hectáreas propias"]),
    )  # fmt: skip
    mail(
        room / "Deuda.eml", "Saldo de deuda", "Wed, 22 Jan 2025 12:00:00 +0100",
        "Buenos días:\n\nLa deuda financiera ascendía a 9,4 millones de euros a 31 de diciembre de 2024.\n\nUn saludo",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("net_income", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def monterrey(room: Path) -> Expected:
    """A Mexican carrier in millions of pesos: ventas and empleados contradict; dollars are a translation."""
    book(room / "Estados financieros 2024.xlsx", {
        "Resultados": [["Transportes Cumbres S.A. de C.V."], ["Millones de pesos (MXN)"], ["", "2023", "2024"], ["Ventas netas", 812.4, 879.6], ["Utilidad de operación", 96.2, 104.8], ["Utilidad neta", 51.3, 57.7]],
        "Personal": [["", "31/12/2023", "31/12/2024"], ["Número de empleados", 1240, 1315]],
    })  # fmt: skip
    letter(
        room / "Resumen para inversionistas.docx", "# Transportes Cumbres", "Las ventas netas fueron de 951 millones de pesos en 2024 (47.6 millones de dólares). La utilidad neta fue de 57.7 millones de pesos en 2024.",
        "Al 31 de diciembre de 2024 la empresa contaba con 1,490 empleados.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("headcount", "2024-12-31", "")}


def ceramica(room: Path) -> Expected:
    """Italian tiles: fatturato, utile netto and disponibilità liquide contradict; a first half and a share are others."""
    book(room / "Bilancio riclassificato.xlsx", {
        "CE 2024": [["Ceramiche Valsesia S.p.A. – migliaia di euro"], ["", "2023", "2024"], ["Fatturato", 58140, 61390], ["EBITDA", 8210, 8865], ["Utile netto", 3305, 3610]],
        "SP": [["migliaia di euro", "31/12/2023", "31/12/2024"], ["Disponibilità liquide", 4410, 5230], ["Patrimonio netto", 26800, 29700]],
        "Clienti": [["", "2023", "2024"], ["Primo cliente (% del fatturato)", percent(0.18), percent(0.17)]],
    })  # fmt: skip
    letter(
        room / "Nota agli investitori.docx", "# Ceramiche Valsesia", "Nel 2024 il fatturato è stato di 66,2 milioni di euro (58,1 milioni nel 2023); nel primo semestre 2024 era stato di 30,4 milioni.",
        "L'utile netto del 2024 è pari a 4,7 milioni di euro.", "Le disponibilità liquide al 31 dicembre 2024 ammontavano a 6,8 milioni di euro.",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("net_income", "2024-12-31", ""), ("cash", "2024-12-31", "")}


def zuivel(room: Path) -> Expected:
    """A Dutch dairy: omzet, medewerkers and eigen vermogen contradict; a half-year and a prognosis do not."""
    printed(
        room / "Jaarrekening 2024.pdf", "# Zuivelhuis Friesland B.V.", "Winst-en-verliesrekening over 2024 (bedragen in duizenden euro's)",
        [["", "2024", "2023"], ["Netto-omzet", "41.870", "39.410"], ["EBITDA", "4.655", "4.230"], ["Nettoresultaat", "2.115", "1.920"]],
        [["", "31 december 2024", "31 december 2023"], ["Liquide middelen", "1.940", "1.615"], ["Eigen vermogen", "13.480", "12.200"]],
    )  # fmt: skip
    deck(
        room / "Informatiememorandum.pptx",
        ("Financieel", [["€ mln", "2023", "2024", "2025 (prognose)"], ["Omzet", "39,4", "45,2", "47,0"], ["EBITDA", "4,2", "4,7", "5,1"], ["Eigen vermogen", "12,2", "15,9", "17,0"]]),
        ("Organisatie", ["176 medewerkers per 31 december 2024", "Omzet eerste halfjaar 2024: € 20,3 mln"]),
    )  # fmt: skip
    book(room / "Personeel.xlsx", {"Aantallen": [["", "31-12-2023", "31-12-2024"], ["Aantal medewerkers", 148, 152]]})  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("headcount", "2024-12-31", ""), ("equity", "2024-12-31", "")}


ROOMS: Final = (
    werkzeug,
    berlin,
    zug,
    menuiserie,
    nantes,
    bodega,
    monterrey,
    ceramica,
    zuivel,
)
