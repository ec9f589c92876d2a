"""Kessler Prüftechnik's workbooks. Amounts in euros."""

from datetime import date

from tests.sample_rooms.workbooks.sheets import Cell, Row, Sheet, head, total, write

_REVENUE = [
    ("Inspection systems", 12_200_000, 14_900_000),
    ("Maintenance contracts", 4_900_000, 4_600_000),
    ("Software subscriptions", 600_000, 400_000),
    ("Spare parts", 900_000, 1_000_000),
]
_OTHER = [
    ("Change in inventories", 300_000, 100_000),
    ("Other operating income", 400_000, 300_000),
    ("Cost of materials", -7_900_000, -9_000_000),
    ("Personnel expenses", -7_600_000, -7_400_000),
    ("Other operating expenses", -2_400_000, -2_300_000),
]
_CUSTOMERS = [
    ("Vossmann Automotive SE", "Stuttgart", 7_070_000, 8_360_000),
    ("Ostring Getriebe GmbH", "Salzgitter", 2_050_000, 2_300_000),
    ("Halvorsen Bearings AB", "Göteborg", 1_490_000, 1_250_000),
    ("Pressta Metallwerke GmbH", "Zwickau", 1_120_000, 1_460_000),
    ("Ibero Fundición S.A.", "Vitoria", 930_000, 880_000),
    ("74 further customers", "–", 5_940_000, 6_650_000),
]
_ORDERS = [
    ("A-24-071", "Vossmann Automotive SE", "2 × KPT-Inline 400, line 7", 1_940_000, date(2025, 4, 30)),
    ("A-24-078", "Ostring Getriebe GmbH", "KPT-Inline 200 upgrade", 610_000, date(2025, 3, 14)),
    ("A-24-080", "Halvorsen Bearings AB", "KPT-Ring 60", 880_000, date(2025, 6, 20)),
    ("A-24-083", "Pressta Metallwerke GmbH", "Camera replacement", 270_000, date(2025, 2, 28)),
    (
        "A-25-002",
        "Vossmann Automotive SE",
        "KPT-Inline 400, spare line (not yet confirmed)",
        970_000,
        date(2025, 9, 30),
    ),
]
_SHARES = [
    ("Dr.-Ing. Rainer Kessler", 170_000, date(1994, 10, 4)),
    ("Ute Kessler", 30_000, date(1994, 10, 4)),
    ("Jens Albrecht", 25_000, date(2016, 7, 1)),
    ("Petra Winkler", 25_000, date(2016, 7, 1)),
]


def management_accounts() -> bytes:
    """The year's profit and loss as the tax adviser's software prints it, and the maintenance contracts."""
    rows: list[Row] = [
        [Cell("Kessler Prüftechnik GmbH: BWA / management accounts 2024", "title")],
        head("EUR", "2024", "2023", "Change"),
    ]
    for name, now, before in _REVENUE:
        rows.append(_line(name, now, before, len(rows) + 1))
    rows.append(_sums("Umsatzerlöse / revenue", _REVENUE, 3))
    for name, now, before in _OTHER:
        rows.append(_line(name, now, before, len(rows) + 1))
    now = sum(line[1] for line in (*_REVENUE, *_OTHER))
    before = sum(line[2] for line in (*_REVENUE, *_OTHER))
    rows.append(
        [
            "EBITDA",
            Cell(now, "eur", "=B7+SUM(B8:B12)"),
            Cell(before, "eur", "=C7+SUM(C8:C12)"),
            Cell(now / before - 1, "percent", "=B13/C13-1"),
        ]
    )
    rows.append(
        [
            "Recurring share of revenue (maintenance, software)",
            Cell(5.5 / 18.6, "percent", "=(B4+B5)/B7"),
            Cell(5.0 / 20.9, "percent", "=(C4+C5)/C7"),
        ]
    )
    contracts: list[Row] = [
        head("Maintenance contracts", "Number"),
        ["In force on 1 January 2024", 312],
        ["Not renewed in 2024", -19],
        ["New in 2024", 24],
        ["In force on 31 December 2024", Cell(317, "count", "=SUM(B2:B4)")],
        ["Churn (not renewed, share of opening)", Cell(19 / 312, "percent", "=-B3/B2")],
        ["Average fee a year", Cell(15_457.41, "eur")],
    ]
    looks = ["text", "eur", "eur", "percent"]
    return write(
        [Sheet("BWA", rows, looks, [52, 18, 18, 10]), Sheet("Wartung", contracts, ["text", "count"], [42, 14])],
        "BWA 2024",
        "Petra Winkler",
        date(2025, 1, 27),
    )


def orders_and_customers() -> bytes:
    """Revenue by customer and the orders in hand."""
    customers: list[Row] = [head("Kunde / customer", "Ort", "Umsatz 2024", "Anteil", "Umsatz 2023")]
    for number, (name, town, now, before) in enumerate(_CUSTOMERS, start=2):
        customers.append([name, town, now, Cell(now / 18_600_000, "percent", f"=C{number}/C$8"), before])
    customers.append(
        [
            "Summe",
            None,
            total([line[2] for line in _CUSTOMERS], "C", 2, "eur"),
            Cell(1.0, "percent", "=SUM(D2:D7)"),
            total([line[3] for line in _CUSTOMERS], "E", 2, "eur"),
        ]
    )
    orders: list[Row] = [head("Auftrag", "Kunde", "Gegenstand", "Wert", "Liefertermin")]
    orders += [[number, name, what, value, Cell(due, "date")] for number, name, what, value, due in _ORDERS]
    orders.append(["Auftragsbestand", None, None, total([line[3] for line in _ORDERS], "D", 2, "eur")])
    return write(
        [
            Sheet("Kundenumsätze", customers, ["text", "text", "eur", "percent", "eur"], [30, 14, 18, 9, 18]),
            Sheet("Auftragsbestand", orders, ["text", "text", "text", "eur", "date"], [16, 28, 46, 18, 13]),
        ],
        "Auftragsbestand und Kundenumsätze",
        "Petra Winkler",
        date(2025, 1, 30),
    )


def cap_table() -> bytes:
    """The list of shareholders that the commercial register keeps."""
    whole = sum(line[1] for line in _SHARES)
    rows: list[Row] = [
        [Cell("Gesellschafterliste / cap table, Kessler Prüftechnik GmbH, HRB 21877 Chemnitz", "title")],
        head("Gesellschafter / shareholder", "Nennbetrag", "Anteil", "Seit"),
    ]
    for number, (name, nominal, since) in enumerate(_SHARES, start=3):
        rows.append([name, nominal, Cell(nominal / whole, "percent", f"=B{number}/B$7"), Cell(since, "date")])
    rows.append(
        [
            "Stammkapital / share capital",
            total([line[1] for line in _SHARES], "B", 3, "eur"),
            Cell(1.0, "percent", "=SUM(C3:C6)"),
        ]
    )
    rows += [[], ["No options, convertible loans, silent partners or trusts. As filed on 5 July 2016."]]
    return write(
        [Sheet("Liste", rows, ["text", "eur", "percent", "date"], [34, 18, 9, 13])],
        "Gesellschafterliste",
        "Petra Winkler",
        date(2024, 11, 4),
    )


def _line(name: str, now: int, before: int, row: int) -> Row:
    return [name, now, before, Cell(now / before - 1, "percent", f"=B{row}/C{row}-1")]


def _sums(name: str, lines: list[tuple[str, int, int]], first: int) -> Row:
    now, before = (
        total([line[1] for line in lines], "B", first, "eur"),
        total([line[2] for line in lines], "C", first, "eur"),
    )
    row = first + len(lines)
    share = sum(line[1] for line in lines) / sum(line[2] for line in lines) - 1
    return [name, now, before, Cell(share, "percent", f"=B{row}/C{row}-1")]


WORKBOOKS = {
    "kessler-prueftechnik/Finanzen/BWA 2024.xlsx": management_accounts,
    "kessler-prueftechnik/Finanzen/Auftragsbestand & Kundenumsätze 2024.xlsx": orders_and_customers,
    "kessler-prueftechnik/Gesellschaft/Gesellschafterliste - cap table.xlsx": cap_table,
}
