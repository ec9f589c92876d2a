"""Fjordvarm's workbooks. Amounts in Danish kroner; the year is 2024."""

from datetime import date

from tests.sample_rooms.workbooks.sheets import Cell, Row, Sheet, head, total, write

_MONTHS = [date(2024, month, 1) for month in range(1, 13)]
_COLUMNS = "BCDEFGHIJKLM"  # January to December
_REVENUE = {
    "Subscriptions": [5_460, 5_540, 5_650, 5_720, 5_830, 5_900, 6_010, 6_120, 6_240, 6_380, 6_550, 6_700],  # 72,100
    "Managed services": [510, 520, 530, 540, 550, 550, 560, 570, 580, 590, 600, 600],  # 6,700
    "Implementation projects": [390, 450, 410, 380, 420, 330, 210, 460, 480, 470, 450, 450],  # 4,900
    "Sensors": [180, 210, 190, 170, 160, 120, 110, 290, 360, 370, 310, 230],  # 2,700
}
_COSTS = {
    "Hosting and sensors bought": [1_080, 1_110, 1_100, 1_080, 1_090, 1_060, 1_050, 1_190, 1_260, 1_290, 1_260, 1_230],
    "Staff": [3_650, 3_660, 3_700, 3_720, 3_760, 3_800, 3_820, 3_900, 3_960, 4_010, 4_080, 4_140],
    "Other external": [880, 900, 930, 900, 940, 890, 820, 960, 1_010, 1_040, 1_030, 1_000],
}
_BRIDGE = {
    "ARR 31 December 2023": 66_000,
    "New customers": 10_500,
    "Expansion": 9_800,
    "Contraction": -1_900,
    "Churn (two utilities merged)": -1_800,
}
_CASH = {
    date(2023, 12, 31): 24_000,
    date(2024, 3, 31): 29_400,
    date(2024, 6, 30): 27_100,
    date(2024, 9, 30): 25_600,
    date(2024, 12, 31): 31_700,
}
_CUSTOMERS: list[tuple[str, str, int, date, date, float]] = [
    ("Østerå Forsyning", "DK", 9_750, date(2019, 10, 1), date(2027, 9, 30), 0.020),
    ("Sundkøbing Fjernvarme", "DK", 6_190, date(2018, 4, 1), date(2026, 3, 31), 0.020),
    ("Varmeværk Vest", "DK", 5_020, date(2020, 1, 1), date(2025, 12, 31), 0.025),
    ("Limhavn Energi AB", "SE", 4_130, date(2021, 7, 1), date(2026, 6, 30), 0.020),
    ("Stadtwerke Rodenau", "DE", 3_240, date(2022, 9, 1), date(2027, 8, 31), 0.030),
    ("Hvidbjerg Varme", "DK", 2_880, date(2017, 5, 1), date(2026, 4, 30), 0.020),
    ("Nordkyst Fjernvarme", "DK", 2_610, date(2019, 1, 1), date(2025, 12, 31), 0.020),
    ("Gävlinge Energi AB", "SE", 2_430, date(2022, 3, 1), date(2027, 2, 28), 0.020),
    ("Skovlund Forsyning", "DK", 2_200, date(2016, 11, 1), date(2025, 10, 31), 0.020),
    ("Stadtwerke Altenfeld", "DE", 2_050, date(2023, 6, 1), date(2028, 5, 31), 0.030),
    ("Brønsholm Varmeværk", "DK", 1_880, date(2018, 8, 1), date(2026, 7, 31), 0.020),
    ("Kalvø Energi", "DK", 1_640, date(2020, 10, 1), date(2026, 9, 30), 0.020),
    ("Tørring Syd Varme", "DK", 1_470, date(2021, 2, 1), date(2026, 1, 31), 0.020),
    ("Lindesund Kommune", "SE", 1_330, date(2023, 1, 1), date(2027, 12, 31), 0.025),
    ("Vesterhede Varme", "DK", 1_260, date(2019, 6, 1), date(2025, 5, 31), 0.020),
    ("46 further utilities, each below 1,200", "DK, SE, DE", 34_520, date(2016, 1, 1), date(2027, 12, 31), 0.020),
]
_HOLDERS: list[tuple[str, str, int, date]] = [
    ("Mette Lindhardt Holding ApS (CEO)", "A", 337_500, date(2014, 3, 17)),
    ("Brix Invest ApS (CTO)", "A", 262_500, date(2014, 3, 17)),
    ("Employees (22 persons, warrants exercised)", "A", 62_500, date(2021, 12, 15)),
    ("Kattegat Growth Fund II K/S", "B", 400_000, date(2022, 5, 30)),
    ("Klimafonden Øst P/S", "B", 187_500, date(2022, 5, 30)),
]


def management_accounts() -> bytes:
    """Profit and loss by month, the bridge of the recurring revenue, cash. In thousands."""
    return write(
        [
            Sheet("P&L", _profit_and_loss(), ["text", *["count"] * 13], [44, *[9] * 12, 11]),
            Sheet("ARR", _recurring(), ["text", "count"], [38, 12]),
            Sheet("Cash", [head("Cash, DKK thousand", "Balance"), *_balances()], ["date", "count"], [22, 12]),
        ],
        "Management accounts 2024",
        "Line Overgaard",
        date(2025, 2, 10),
    )


def _profit_and_loss() -> list[Row]:
    rows: list[Row] = [
        [Cell("Fjordvarm A/S: management accounts 2024, DKK thousand", "title")],
        ["Unaudited; agrees with the annual report 2024 in the year's totals"],
        [Cell("", "head"), *(Cell(month, "month") for month in _MONTHS), Cell("2024", "head")],
    ]
    for name, months in _REVENUE.items():
        rows.append([name, *months, _across(months, len(rows) + 1)])
    income = [sum(column) for column in zip(*_REVENUE.values(), strict=True)]
    sums = [Cell(value, "count", f"=SUM({at}4:{at}7)") for at, value in zip(_COLUMNS, income, strict=True)]
    rows.append(["Revenue", *sums, _across(income, 8)])
    for name, months in _COSTS.items():
        rows.append([name, *months, _across(months, len(rows) + 1)])
    costs = [sum(column) for column in zip(*_COSTS.values(), strict=True)]
    result = [earned - spent for earned, spent in zip(income, costs, strict=True)]
    cells = [Cell(value, "count", f"={at}8-SUM({at}9:{at}11)") for at, value in zip(_COLUMNS, result, strict=True)]
    rows.append(["EBITDA", *cells, _across(result, 12)])
    recurring = sum(_REVENUE["Subscriptions"]) + sum(_REVENUE["Managed services"])
    for name, share, formula in (
        ("Recurring share of revenue (subscriptions, managed services)", recurring / sum(income), "=(N4+N5)/N8"),
        ("EBITDA margin", sum(result) / sum(income), "=N12/N8"),
    ):
        rows.append([name, *[None] * 12, Cell(share, "percent", formula)])
    return rows


def _recurring() -> list[Row]:
    rows: list[Row] = [head("ARR bridge, DKK thousand", "2024")]
    rows += [[name, value] for name, value in _BRIDGE.items()]
    rows += [
        ["ARR 31 December 2024", total(_BRIDGE.values(), "B", 2, "count")],
        ["Gross churn, share of opening ARR", Cell(1_800 / 66_000, "percent", "=-B6/B2")],
        ["Net revenue retention", Cell(72_100 / 66_000, "percent", "=(B2+B4+B5+B6)/B2")],
        ["Customers lost in 2024", 2],
        ["Customers 31 December 2024", 61],
    ]
    return rows


def _balances() -> list[Row]:
    return [[Cell(day, "date"), balance] for day, balance in _CASH.items()]


def customer_list() -> bytes:
    """Recurring revenue by customer, with the contract's dates. In thousands."""
    rows: list[Row] = [
        head(
            "Customer",
            "Country",
            "ARR, DKK thousand",
            "Share of ARR",
            "Customer since",
            "Term ends",
            "Yearly price increase",
        ),
    ]
    whole = sum(customer[2] for customer in _CUSTOMERS)
    for number, (name, country, arr, since, ends, rise) in enumerate(_CUSTOMERS, start=2):
        share = Cell(arr / whole, "percent", f"=C{number}/C$18")
        rows.append([name, country, arr, share, Cell(since, "date"), Cell(ends, "date"), Cell(rise, "percent")])
    rows.append(
        [
            "Total, 61 customers",
            None,
            total([customer[2] for customer in _CUSTOMERS], "C", 2, "count"),
            Cell(1.0, "percent", "=SUM(D2:D17)"),
        ]
    )
    five = sum(customer[2] for customer in _CUSTOMERS[:5])
    rows += [
        [],
        ["Five largest customers", None, Cell(five, "count", "=SUM(C2:C6)"), Cell(five / whole, "percent", "=C20/C18")],
    ]
    looks = ["text", "text", "count", "percent", "date", "date", "percent"]
    return write(
        [Sheet("Customers 2024-12-31", rows, looks, [38, 11, 14, 11, 14, 12, 12])],
        "Customer list",
        "Line Overgaard",
        date(2025, 1, 20),
    )


def cap_table() -> bytes:
    """Who holds the shares, as issued and fully diluted."""
    issued = sum(holder[2] for holder in _HOLDERS)
    rows: list[Row] = [
        [Cell("Fjordvarm A/S: cap table at 15 January 2025", "title")],
        ["Shares of DKK 1 nominal. B shares: liquidation preference 1x, non-participating."],
        head("Shareholder", "Class", "Shares", "Held since", "Share", "Fully diluted"),
    ]
    for number, (name, kind, shares, since) in enumerate(_HOLDERS, start=4):
        rows.append(
            [
                name,
                kind,
                shares,
                Cell(since, "date"),
                Cell(shares / issued, "percent", f"=C{number}/C$9"),
                Cell(shares / (issued + 93_750), "percent", f"=C{number}/C$11"),
            ]
        )
    rows += [
        [
            "Issued share capital",
            None,
            total([holder[2] for holder in _HOLDERS], "C", 4, "count"),
            None,
            Cell(1.0, "percent", "=SUM(E4:E8)"),
        ],
        ["Warrants granted, not exercised (strike DKK 41.20)", None, 93_750],
        ["Fully diluted", None, Cell(issued + 93_750, "count", "=C9+C10")],
    ]
    looks = ["text", "text", "count", "date", "percent", "percent"]
    return write(
        [Sheet("Cap table", rows, looks, [48, 8, 12, 12, 10, 13])], "Cap table", "Line Overgaard", date(2025, 1, 15)
    )


def _across(months: list[int], row: int) -> Cell:
    return Cell(sum(months), "count", f"=SUM(B{row}:M{row})")


WORKBOOKS = {
    "fjordvarm/01 Finance/Management accounts 2024.xlsx": management_accounts,
    "fjordvarm/01 Finance/Customer list 2024-12.xlsx": customer_list,
    "fjordvarm/02 Corporate/Cap table 2025-01.xlsx": cap_table,
}
