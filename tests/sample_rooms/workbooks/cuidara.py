"""Cuidara's workbooks. Amounts in thousands of euros."""

from datetime import date

from tests.sample_rooms.workbooks.sheets import Cell, Row, Sheet, head, total, write

_QUARTERS = {
    "Subscriptions": [1_190, 1_330, 1_470, 1_610],  # 5,600
    "Onboarding and services": [190, 180, 150, 180],  # 700
    "Hosting and support": [-430, -460, -490, -520],  # -1,900
    "Personnel": [-1_460, -1_520, -1_580, -1_640],  # -6,200
    "Other external": [-520, -560, -590, -630],  # -2,300
}
_BRIDGE = [
    ("ARR 31 December 2023", 4_600),
    ("New customers", 3_100),
    ("Expansion", 500),
    ("Contraction", -200),
    ("Churn", -900),
]
_DECK = [
    ("Live and invoiced on 31 December 2024", 7_100),
    ("Signed, not live, not invoiced", 1_500),
    ("Pilots without fee and letters of intent", 800),
]
_CUSTOMERS = [
    ("Grupo Hospitalar Atlântico", "PT", 1_700, date(2022, 3, 1), date(2026, 2, 28)),
    ("Casa Serena Residências", "PT", 850, date(2021, 9, 1), date(2025, 8, 31)),
    ("Misericórdia do Vale", "PT", 570, date(2022, 1, 1), date(2025, 12, 31)),
    ("Hogar Levante SL", "ES", 500, date(2024, 9, 1), date(2027, 8, 31)),
    ("Domicare Ibérica SL", "ES", 430, date(2023, 5, 1), date(2026, 4, 30)),
    ("58 further customers", "PT, ES", 3_050, None, None),
]
_LOST = [
    ("Rede Amparo", 310, date(2024, 3, 31), "went to a competitor after two outages"),
    ("Clínica Santa Brígida", 240, date(2024, 6, 30), "insolvent"),
    ("Cuidados Tejo", 200, date(2024, 9, 30), "price"),
    ("Nine small customers", 150, date(2024, 12, 31), "several reasons"),
]
_HOLDERS = [
    ("Inês Valadares (CEO)", "Ordinary", 620_000),
    ("Tomás Riba (former CTO)", "Ordinary", 360_000),
    ("Employee pool, granted", "Ordinary", 80_000),
    ("Six angels", "Seed", 120_000),
    ("Baía Ventures FCR", "Series A", 520_000),
    ("Mondego Health Fund", "Series A", 300_000),
]


def model() -> bytes:
    """The finance model: the year by quarter, the cash runway, and on a hidden sheet how the deck counts."""
    lines: list[Row] = [
        [Cell("Cuidara: actuals 2024, EUR thousand", "title")],
        head("", "Q1", "Q2", "Q3", "Q4", "2024"),
    ]
    for name, quarters in _QUARTERS.items():
        row = len(lines) + 1
        lines.append([name, *quarters, Cell(sum(quarters), "keur", f"=SUM(B{row}:E{row})")])
    sums = [sum(column) for column in zip(*_QUARTERS.values(), strict=True)]
    cells = [Cell(value, "keur", f"=SUM({letter}3:{letter}7)") for letter, value in zip("BCDE", sums, strict=True)]
    lines.append(["EBITDA", *cells, Cell(sum(sums), "keur", "=SUM(B8:E8)")])
    lines.append(["Subscriptions, share of revenue", *[None] * 4, Cell(5_600 / 6_300, "percent", "=F3/(F3+F4)")])
    runway: list[Row] = [
        head("Runway", ""),
        ["Cash 31 December 2024", 3_400],
        ["Mean net burn a month, second half of 2024", 380],
        ["Months left", Cell(3_400 / 380, "count", "=B2/B3")],
        ["Cash runs out", Cell(date(2025, 9, 30), "month")],
        ["Budget assumes Series B of", 12_000],
    ]
    bridge: list[Row] = [head("ARR by contract status", "EUR thousand")]
    bridge += [[name, value] for name, value in _DECK]
    bridge.append(["ARR as shown to investors", total([line[1] for line in _DECK], "B", 2, "keur")])
    bridge += [[], ["IV: the deck uses the total, the auditor only accepts the first line. Do not send this sheet."]]
    money = ["text", *["keur"] * 5]
    return write(
        [
            Sheet("Actuals", lines, money, [34, 11, 11, 11, 11, 12]),
            Sheet("Runway", runway, money, [46, 14]),
            Sheet("ARR bridge deck", bridge, money, [46, 14], hidden=True),
        ],
        "Model v14",
        "Sofia Quintela",
        date(2025, 2, 3),
    )


def customers() -> bytes:
    """Recurring revenue by customer, its bridge over the year, and who left."""
    whole = sum(line[2] for line in _CUSTOMERS)
    rows: list[Row] = [head("Customer", "Country", "ARR, EUR thousand", "Share", "Since", "Term ends")]
    for number, (name, country, arr, since, ends) in enumerate(_CUSTOMERS, start=2):
        share = Cell(arr / whole, "percent", f"=C{number}/C$8")
        rows.append([name, country, arr, share, Cell(since, "date"), Cell(ends, "date")])
    rows.append(
        [
            "Total, 63 customers",
            None,
            total([line[2] for line in _CUSTOMERS], "C", 2, "keur"),
            Cell(1.0, "percent", "=SUM(D2:D7)"),
        ]
    )
    bridge: list[Row] = [head("ARR bridge 2024", "EUR thousand")]
    bridge += [[name, value] for name, value in _BRIDGE]
    bridge.append(["ARR 31 December 2024", total([line[1] for line in _BRIDGE], "B", 2, "keur")])
    bridge.append(["Churn, share of opening ARR", Cell(900 / 4_600, "percent", "=-B6/B2")])
    bridge.append(["Net revenue retention", Cell(4_000 / 4_600, "percent", "=(B2+B4+B5+B6)/B2")])
    lost: list[Row] = [head("Lost in 2024", "ARR, EUR thousand", "Ended", "Reason")]
    lost += [[name, arr, Cell(ended, "date"), reason] for name, arr, ended, reason in _LOST]
    lost.append(["Total", total([line[1] for line in _LOST], "B", 2, "keur")])
    looks = ["text", "text", "keur", "percent", "date", "date"]
    return write(
        [
            Sheet("Customers", rows, looks, [32, 9, 16, 9, 12, 12]),
            Sheet("Bridge", bridge, ["text", "keur"], [32, 16]),
            Sheet("Churned", lost, ["text", "keur", "date"], [28, 16, 12, 40]),
        ],
        "Customers and churn",
        "Sofia Quintela",
        date(2025, 1, 28),
    )


def cap_table() -> bytes:
    """The shares after Series A, and what the convertible note would become."""
    whole = sum(line[2] for line in _HOLDERS)
    rows: list[Row] = [head("Cap table, Cuidara, S.A.", "Class", "Shares", "Share")]
    for number, (name, kind, shares) in enumerate(_HOLDERS, start=2):
        rows.append([name, kind, shares, Cell(shares / whole, "percent", f"=C{number}/C$8")])
    rows.append(
        [
            "Total issued",
            None,
            total([line[2] for line in _HOLDERS], "C", 2, "count"),
            Cell(1.0, "percent", "=SUM(D2:D7)"),
        ]
    )
    rows += [
        [],
        ["Series A: 1x participating liquidation preference, capped at 2x; full-ratchet anti-dilution."],
        ["Tomás Riba's shares: the company says 195,000 unvested shares lapse; he disputes it."],
    ]
    note: list[Row] = [
        head("Convertible note, 18 October 2024", ""),
        ["Holder", "Baía Ventures FCR"],
        ["Principal, EUR thousand", Cell(1_500, "keur")],
        ["Interest", Cell(0.08, "percent")],
        ["Discount", Cell(0.20, "percent")],
        ["Valuation cap, EUR thousand", Cell(18_000, "keur")],
        ["Repayable on demand from", Cell(date(2025, 10, 18), "date")],
    ]
    return write(
        [
            Sheet("Cap table", rows, ["text", "text", "count", "percent"], [40, 11, 14, 10]),
            Sheet("Note", note, ["text", "text"], [36, 22]),
        ],
        "Cap table post Series A",
        "Sofia Quintela",
        date(2024, 12, 2),
    )


WORKBOOKS = {
    "cuidara/Financials/Model v14 FINAL (2).xlsx": model,
    "cuidara/Financials/Customers & churn.xlsx": customers,
    "cuidara/Legal/Cap Table post-Series A.xlsx": cap_table,
}
