"""Five rooms in German, French, Spanish, Italian and Dutch; `finance_rooms` halves them by a seed with those in English."""

from pathlib import Path
from typing import Final

from tests.benchmarks.room_writing import Chart, book, deck, letter, mail, page, printed

Expected = set[tuple[str, str, str]]


def zerspanung(room: Path) -> Expected:
    """German machinists: sales, staff and bank debt contradict; a plan, an order intake, a quarter and a rounding do not."""
    book(room / "BWA und Bilanz 2024.xlsx", {
        "GuV": [["Kern Zerspanung GmbH, Angaben in TEUR"], ["", "2023", "2024", "Plan 2025"], ["Umsatzerlöse", 27840, 29415, 31000], ["Rohertrag", 15220, 16104, 17100], ["EBITDA", 4110, 4387, 4900], ["Jahresüberschuss", 1502, 1633, 1900]],
        "Bilanz": [["TEUR", "31.12.2023", "31.12.2024"], ["Kassenbestand und Guthaben bei Kreditinstituten", 1904, 2210], ["Verbindlichkeiten gegenüber Kreditinstituten", 8120, 7640], ["Eigenkapital", 9880, 10722], ["Bilanzsumme", 24110, 25304]],
    })  # fmt: skip
    letter(
        room / "Unternehmensprofil.docx", "# Kern auf einen Blick", "Im Geschäftsjahr 2024 erzielten wir einen Umsatz von 32,6 Mio. € (Vorjahr: 27,8 Mio. €) und ein EBITDA von 4,4 Mio. €.",
        "Der Auftragseingang betrug 2024 30,1 Mio. €. Im ersten Quartal 2025 lag der Umsatz bei 7,2 Mio. €.", "Zum 31. Dezember 2024 beschäftigte Kern 164 Mitarbeiter.",
    )  # fmt: skip
    mail(
        room / "AW Bankgespraech.eml", "AW: Bankgespräch", "Thu, 13 Feb 2025 09:15:00 +0100",
        "Sehr geehrte Frau Lutz,\n\nzum 31.12.2024 beliefen sich unsere Verbindlichkeiten gegenüber Kreditinstituten auf 9,3 Mio. EUR. Das Eigenkapital lag bei 10,7 Mio. EUR. "
        "Wir hatten zum 31.12.2024 191 Mitarbeiter.\n\nMit freundlichen Grüßen",
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("debt", "2024-12-31", ""), ("headcount", "2024-12-31", "")}


def laboratoires(room: Path) -> Expected:
    """French laboratories with a June year: operating result and cash; a comparable perimeter, a half-year and a budget do not."""
    printed(
        room / "Comptes consolidés 2023-2024.pdf", "# Laboratoires Vauquelin SAS", "Compte de résultat consolidé, exercice clos le 30 juin 2024 (en milliers d'euros)",
        [["", "30/06/2024", "30/06/2023"], ["Chiffre d'affaires", "46 218", "42 907"], ["Résultat d'exploitation", "5 114", "4 630"], ["Résultat net", "3 402", "3 011"], ["Trésorerie", "6 880", "5 214"], ["Capitaux propres", "19 450", "16 720"]],
    )  # fmt: skip
    deck(
        room / "Présentation investisseurs.pptx",
        ("Exercice 2023/2024", ["Chiffre d'affaires de 46,2 M€ sur l'exercice clos le 30 juin 2024", "Résultat d'exploitation : 6,3 M€ sur l'exercice clos le 30 juin 2024", "À périmètre comparable, le chiffre d'affaires aurait été de 44,9 M€"]),
        ("Perspectives", ["Budget 2024/2025 : chiffre d'affaires de 50 M€", "Chiffre d'affaires du premier semestre 2024/2025 : 24,1 M€"]),
    )  # fmt: skip
    mail(
        room / "trésorerie.eml", "Position de trésorerie", "Mon, 8 Jul 2024 11:00:00 +0200",
        "Bonjour,\n\nau 30 juin 2024, la trésorerie du groupe s'élevait à 5,1 M€ et les capitaux propres à 19,5 M€.\n\nBien à vous",
    )  # fmt: skip
    return {("operating_income", "2024-06-30", ""), ("cash", "2024-06-30", "")}


def conservas(room: Path) -> Expected:
    """A Spanish cannery: sales, net profit; a subsidiary's sales, adjusted EBITDA and an estimate do not."""
    book(room / "Cuentas anuales 2023.xlsx", {
        "PyG": [["Conservas Ribeira, S.A. (miles de euros)"], ["", "2022", "2023"], ["Importe neto de la cifra de negocios", 51204, 55871], ["EBITDA", 6110, 6902], ["Resultado del ejercicio", 2408, 2870]],
        "Balance": [["Miles de euros", "31/12/2022", "31/12/2023"], ["Tesorería", 3110, 2874], ["Patrimonio neto", 18204, 20511], ["Total activo", 48220, 50902]],
    })  # fmt: skip
    letter(
        room / "Carta del presidente.docx", "# Ejercicio 2023", "Las ventas alcanzaron 60,4 millones de euros en 2023, frente a 51,2 millones en 2022.",
        "El resultado del ejercicio 2023 fue de 3,6 millones de euros. El EBITDA ajustado fue de 7,5 millones de euros.", "El patrimonio neto ascendía a 20,5 millones de euros a 31 de diciembre de 2023.",
        "Para 2024 estimamos unas ventas de 62 millones de euros.",
    )  # fmt: skip
    return {("revenue", "2023-12-31", ""), ("net_income", "2023-12-31", "")}


def ceramiche(room: Path) -> Expected:
    """Italian tiles: net financial debt apart from bank debt, headcount and EBITDA; the order book and a plan do not contradict."""
    page(
        room / "Bilancio sintetico.html", "# Ceramiche Valsenio S.p.A.", "Dati di sintesi in migliaia di euro",
        [["", "2023", "2024"], ["Ricavi", "72.410", "75.832"], ["EBITDA", "10.204", "11.318"], ["Utile netto", "3.907", "4.220"], ["Patrimonio netto al 31 dicembre", "38.114", "41.006"], ["Debiti verso banche al 31 dicembre", "22.800", "21.450"]],
    )  # fmt: skip
    deck(
        room / "Presentazione aziendale.pptx",
        ("Risultati 2024", [["Milioni di euro", "2023", "2024", "Piano 2025"], ["Ricavi", "72,4", "75,8", "80,0"], ["EBITDA", "10,2", "13,1", "14,0"], ["Utile netto", "3,9", "4,2", "5,0"]]),
        ("Persone", ["318 dipendenti al 31 dicembre 2024", "Portafoglio ordini di 24 milioni di euro"]),
    )  # fmt: skip
    mail(
        room / "per la banca.eml", "Dati per la banca", "Tue, 4 Mar 2025 10:30:00 +0100",
        "Buongiorno,\n\nal 31 dicembre 2024 i debiti verso banche erano pari a 24,9 milioni di euro; i dipendenti erano 318. L'indebitamento finanziario netto era di 17,2 milioni di euro.\n\nCordiali saluti",
    )  # fmt: skip
    return {("ebitda", "2024-12-31", ""), ("debt", "2024-12-31", "")}


def kwekerij(room: Path) -> Expected:
    """A Dutch grower: turnover and equity contradict; a forecast, solvency, a quarter and hectares do not."""
    printed(
        room / "Jaarrekening 2024.pdf", "# Kwekerij De Linde B.V.", "Winst-en-verliesrekening over 2024 (in euro's)",
        [["", "2024", "2023"], ["Netto-omzet", "12.418.220", "11.870.114"], ["Bedrijfsresultaat", "1.204.330", "1.118.902"], ["Nettowinst", "870.118", "804.220"]],
        "Balans per 31 december", [["", "2024", "2023"], ["Liquide middelen", "604.118", "518.220"], ["Eigen vermogen", "5.210.440", "4.702.118"], ["Balanstotaal", "13.402.118", "13.011.870"]],
    )  # fmt: skip
    deck(
        room / "Bedrijfspresentatie.pptx",
        ("Omzet (mln euro)", Chart(["2022", "2023", "2024"], {"Omzet": [11.2, 11.9, 13.9]})),
        ("Kerncijfers 2024", ["Nettowinst van € 0,87 mln in 2024", "Eigen vermogen van € 6,1 mln per 31 december 2024", "Solvabiliteit 39%", "14 hectare glas"]),
        ("Vooruitblik", ["Verwachte omzet 2025: € 14,5 mln", "Omzet eerste kwartaal 2025: € 3,6 mln"]),
    )  # fmt: skip
    return {("revenue", "2024-12-31", ""), ("equity", "2024-12-31", "")}


ROOMS: Final = [zerspanung, laboratoires, conservas, ceramiche, kwekerij]
