"""Tagged numbers (inline XBRL, instances): what their tags say counts, broken tags are left out and counted."""

import base64
from decimal import Decimal
from itertools import starmap
from pathlib import Path

import pytest

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Findings, read_taxonomy, taxonomy
from tasks.reading import read_document
from tasks.reading.text_writer import TAGGED
from tests.cases import cases

_HEAD = """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body>
<div style="display:none"><ix:header><ix:hidden><ix:nonFraction name="x:Turnover" contextRef="y" unitRef="e">9
</ix:nonFraction></ix:hidden><ix:resources>{contexts}
<xbrli:unit id="e"><xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unit>
<xbrli:unit id="n"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>
"""
_PERIOD = "2024-01-01/2024-12-31"
_END = "<xbrli:instant>2024-12-31</xbrli:instant>"
_YEAR = "<xbrli:startDate>2024-01-01</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate>"


def _context(name: str, period: str, member: str = "", entity: str = "1") -> str:
    segment = f"<xbrli:segment>{member}</xbrli:segment>" if member else ""
    return (
        f'<xbrli:context id="{name}"><xbrli:entity><xbrli:identifier scheme="s">{entity}</xbrli:identifier>{segment}'
        f"</xbrli:entity><xbrli:period>{period}</xbrli:period></xbrli:context>"
    )


def _member(axis: str, member: str) -> str:
    return f'<xbrldi:explicitMember dimension="x:{axis}">x:{member}</xbrldi:explicitMember>'


_CONTEXTS = "".join(
    (
        _context("y", _YEAR),
        _context("d", _END),
        _context("s", _YEAR, _member("BusinessSegmentsAxis", "NorthSeaMember")),
        _context("p", _YEAR, _member("ConsolidatedAndSeparateFinancialStatementsAxis", "SeparateMember")),
        _context("c", _END, _member("MaturitiesOrExpirationPeriodsDimension", "WithinOneYear")),
        _context("q", _END, _member("ComponentsOfEquityAxis", "IssuedCapitalMember")),
        _context("r", _YEAR, _member("ResultForecastAxis", "ResultMember")),
        _context("f", _YEAR, _member("ResultForecastAxis", "ForecastMember")),
        _context("u", _YEAR, _member("ResultForecastAxis", "UpperMember")),
        _context("nbb", _END, "".join(starmap(_member, (("part", "m1"), ("bas", "m25"), ("prd", "m1"))))),
        _context("nbb-before", _END, "".join(starmap(_member, (("bas", "m59"), ("part", "m4"), ("prd", "m2"))))),
        _context("o", _YEAR, entity="2"),
        _context("broken", "<xbrli:startDate>2024-13-01</xbrli:startDate>"),
    )
)


def _tag(name: str, words: str, context: str = "y", unit: str = "e", **attributes: str) -> str:
    more = "".join(f' {key}="{value}"' for key, value in {"format": "ixt:num-dot-decimal", **attributes}.items())
    return f'<ix:nonFraction name="x:{name}" contextRef="{context}" unitRef="{unit}"{more}>{words}</ix:nonFraction>'


def _page(*rows: tuple[str, str]) -> bytes:
    cells = "".join(f"<tr><td>{label}</td><td>{cell}</td></tr>" for label, cell in rows)
    return (
        _HEAD.format(contexts=_CONTEXTS) + f"<table><tr><td></td><td>2024</td></tr>{cells}</table></body></html>"
    ).encode()


def _found(page: bytes, ending: str = ".xhtml", concepts: Path | None = None) -> tuple[Findings, str]:
    reading = read_document(page, ending)
    document = LedgerDocument(reading.text, reading.places, f"accounts{ending}")
    return find_figures(document, read_taxonomy(concepts) if concepts else taxonomy()), document.text


@cases(
    ("tag", "figure"),
    [
        (_tag("TurnoverRevenue", "41,210"), ("revenue", 41210, "EUR", _PERIOD, None)),
        (_tag("Revenue", "41,210.5", scale="6"), ("revenue", 41210500000, "EUR", _PERIOD, None)),
        (_tag("Revenue", "41.210,5", format="ixt:numdotcomma"), ("revenue", Decimal("41210.5"), "EUR", _PERIOD, None)),
        (
            _tag("ProfitLoss", "1 200,5", format="ixt:numspacecomma", sign="-"),
            ("net_income", Decimal("-1200.5"), "EUR", _PERIOD, None),
        ),
        (_tag("Assets", "—", "d", format="ixt:fixed-zero"), ("total_assets", 0, "EUR", "2024-12-31", None)),
        (_tag("AverageNumberEmployeesDuringPeriod", "12", unit="n"), ("headcount", 12, "count", _PERIOD, None)),
        (_tag("Revenue", "7", "s"), ("revenue", 7, "EUR", _PERIOD, "North Sea")),
        (_tag("Revenue", "7", "p"), ("revenue", 7, "EUR", _PERIOD, "parent company")),
        (_tag("NetSales", "308,335", "r"), ("revenue", 308335, "EUR", _PERIOD, None)),
        (_tag("TotaleAttivo", "500", "d"), ("total_assets", 500, "EUR", "2024-12-31", None)),
        (_tag("Creditors", "500", "c"), ("current_liabilities", 500, "EUR", "2024-12-31", None)),
        (_tag("NetSalesUS", "7", "r"), ("revenue", 7, "EUR", _PERIOD, None)),
        (_tag("TotalAssetsIFRSSummaryOfBusinessResults", "7", "d"), ("total_assets", 7, "EUR", "2024-12-31", None)),
        (_tag("am1", "7", "nbb"), ("total_assets", 7, "EUR", "2024-12-31", None)),
        (_tag("am2", "7", "nbb-before"), ("net_income", 7, "EUR", "2023-01-01/2023-12-31", None)),
        (_tag("PatrimonioNeto", "7", "d"), ("equity", 7, "EUR", "2024-12-31", None)),
    ],
)
def test_a_tag_gives_the_figure_of_its_number(tag: str, figure: tuple[object, ...]) -> None:
    found, text = _found(_page(("What the row is called", f"({tag})")))
    (one,) = found.figures
    assert (one.concept, one.value, one.unit, one.period, one.entity) == figure
    assert tag.partition(">")[2].startswith(text[one.start : one.end])


def test_a_tag_of_a_forecast_gives_no_actual_figure() -> None:
    found, _ = _found(_page(("Sales, EUR", _tag("NetSales", "9,100", "f"))))
    assert [(figure.concept, figure.basis) for figure in found.figures] == [("revenue", "forecast")]
    bound = ("Sales at most, EUR", _tag("NetSales", "9,900", "u"))
    found, _ = _found(_page(bound, ("Sales, EUR", _tag("NetSales", "9,100", "r"))))
    assert [(int(figure.value), figure.basis != "forecast") for figure in found.figures if figure.entity is None] == [
        (9100, True)
    ]


def test_a_tag_counts_where_the_row_or_the_column_says_otherwise() -> None:
    found, _ = _found(
        _page(("Revenue, EUR", _tag("Revenue", "9,100")), ("Net income, EUR", _tag("ProfitLoss", "300", scale="3")))
    )
    assert [(figure.concept, int(figure.value), figure.label) for figure in found.figures] == [
        ("revenue", 9100, "Revenue, EUR"), ("net_income", 300000, "Net income, EUR"),
    ]  # fmt: skip
    untagged, _ = _found(_page(("Revenue, EUR", _tag("Revenue", "9,100")), ("Revenue, EUR thousand", "9")))
    assert [figure.value for figure in untagged.figures] == [9100]


@cases(
    ("tag", "why"),
    [
        (_tag("Revenue", "9,100", "missing"), "tags with a broken context"),
        (_tag("Revenue", "9,100", "broken"), "tags with a broken context"),
        (_tag("Revenue", "9,100", unit="missing"), "tags with a broken unit"),
        (_tag("Revenue", "9,100", scale="12"), "tags with a scale or an amount that cannot be"),
        (_tag("Revenue", "9,100,000,000", scale="9"), "tags with a scale or an amount that cannot be"),
        (_tag("Revenue", "9,100", "o"), "tags of another entity"),
        (_tag("Revenue", "9,100", format="ixt-sec:numwordsen"), "tags whose text is not a number in their format"),
        (_tag("Revenue", "9,100") + _tag("Revenue", "9,900"), "tags that contradict each other"),
        (_tag("Equity", "9,100", "q"), None),
        (_tag("Revenue", "9,100", **{"xsi:nil": "true"}), None),
    ],
)
def test_a_broken_tag_gives_no_figure_and_is_counted(tag: str, why: str | None) -> None:
    found, _ = _found(_page(("Something in EUR", tag)))
    assert found.figures == []
    assert why is None or why in found.left_out


def test_the_text_of_a_tagged_page_is_that_of_the_page() -> None:
    page = _page(
        ("Revenue", f"€ {_tag('Revenue', '9,100')}"),
        ("Loss", f"({_tag('ProfitLoss', ' 300 ')})"),
        ("None", _tag("Assets", "")),
    )
    plain = read_document(page.replace(b"http://www.xbrl.org/2013/inlineXBRL", b"http://example.com"), ".html")
    tagged = read_document(page, ".html")
    assert tagged.text == plain.text
    words = [tagged.text[place.start : place.end] for place in tagged.places if place.kind == TAGGED]
    assert words == ["9,100", "300"]
    assert not [place for place in plain.places if place.kind == TAGGED]


def test_a_file_of_concepts_adds_tags(tmp_path: Path) -> None:
    file = tmp_path / "concepts.toml"
    file.write_text('[bookings]\nkind = "duration"\ntags = ["OrderIntake"]\n')
    found, _ = _found(_page(("x", _tag("OrderIntake", "9,100"))), concepts=file)
    assert [(figure.concept, int(figure.value)) for figure in found.figures] == [("bookings", 9100)]


def test_an_instance_is_read_by_its_facts() -> None:
    unit = '<unit id="e"><measure>iso4217:EUR</measure></unit>'
    contexts = _CONTEXTS.replace("xbrli:", "")
    facts = '<f:Revenue contextRef="y" unitRef="e">-5000</f:Revenue>'
    facts += '<f:Assets contextRef="d" unitRef="e">70000</f:Assets>'
    facts += '<f:CashPaidForNothing contextRef="d" unitRef="e">1</f:CashPaidForNothing>'
    facts += '<f:Equity contextRef="q" unitRef="e">-24</f:Equity>'
    root = '<xbrl xmlns="http://www.xbrl.org/2003/instance" xmlns:f="f" xmlns:xbrldi="d">'
    page = f"{root}{contexts}{unit}{facts}</xbrl>"
    for ending in (".xbrl", ".xml"):
        found, text = _found(page.encode(), ending)
        assert [(figure.concept, int(figure.value)) for figure in found.figures] == [("total_assets", 70000)]
        assert "Assets, 2024-12-31: EUR 70000" in text


def test_a_form_that_nobody_filled_in_gives_nothing() -> None:
    names = ("Revenue", "GrossProfit", "OperatingProfitLoss", "ProfitLoss", "CostOfSales")
    found, _ = _found(_page(*((name, _tag(name, "0")) for name in names)))
    assert found.figures == []
    assert found.left_out["noughts of a template"] == len(names)


@cases(
    ("last", "stands"),
    [("0", False), ("-", False), ("7", True)],
)
def test_a_tagged_form_of_noughts_gives_no_number_of_its_words(last: str, *, stands: bool) -> None:
    names = ("Revenue", "GrossProfit", "OperatingProfitLoss", "ProfitLoss", "Assets", "Equity")
    tags = [(name, _tag(name, "0", "d" if name in {"Assets", "Equity"} else "y")) for name in names]
    found, _ = _found(_page(*tags, ("CostOfSales", _tag("CostOfSales", last)), ("EBITDA", "41,210")))
    assert bool(found.figures) is stands


_POLISH = """<tns:Jednostka{kind} xmlns:tns="http://www.mf.gov.pl/schematy/SF/2018/07/09/Jednostka{kind}">
<Naglowek><OkresOd>{begin}</OkresOd><OkresDo>2024-12-31</OkresDo></Naglowek>
<Bilans><Pasywa><Pasywa_A><KwotaA>812.5</KwotaA><KwotaB>700</KwotaB></Pasywa_A></Pasywa></Bilans>
<RZiS><RZiSPor><A><KwotaA>2000</KwotaA><KwotaB>1500</KwotaB></A><L><KwotaA>-31</KwotaA></L></RZiSPor></RZiS>
<Zmiany><A><KwotaA>7</KwotaA></A></Zmiany></tns:Jednostka{kind}>"""


@pytest.mark.parametrize(
    ("kind", "begin", "expected"),
    [
        ("Inna", "2024-01-01", {
            "812.5 2024-12-31", "700 2023-12-31", f"2000 {_PERIOD}", "1500 2023-01-01/2023-12-31", f"-31 {_PERIOD}",
        }),
        ("InnaWTys", "2024-04-01", {
            "812500 2024-12-31", "700000 2024-03-31", "2000000 2024-04-01/2024-12-31", "-31000 2024-04-01/2024-12-31",
        }),
        ("Inna", "", set()),
    ],
)  # fmt: skip
def test_lines_of_polish_accounts_are_figures_of_this_year_and_the_one_before(
    tmp_path: Path, kind: str, begin: str, expected: set[str]
) -> None:
    file = tmp_path / "accounts.xml"
    file.write_text(_POLISH.format(kind=kind, begin=begin))
    reading = read_document(file, None)
    found = find_figures(LedgerDocument(reading.text, reading.places, file.name), taxonomy()).figures
    assert {f"{each.value:f} {each.period}" for each in found} == expected
    assert {each.unit for each in found} <= {"PLN"}


def test_signed_polish_accounts_are_read_whole(tmp_path: Path) -> None:
    inner = _POLISH.format(kind="InnaWTys", begin="2024-01-01").replace(
        "<KwotaB>700</KwotaB>", "<KwotaB>700</KwotaB><KwotaB1>650</KwotaB1>"
    )
    enclosed = base64.b64encode(b"The lease ends in 2031.").decode()
    more = f"""<P_7A>Before the break<br/>and after it</P_7A>
    <Plik><Nazwa>note.txt</Nazwa><Zawartosc>{enclosed}</Zawartosc></Plik><Zmiany>"""
    file = tmp_path / "accounts.xml"
    file.write_text(
        f"""<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>x</ds:SignedInfo>
        <ds:KeyInfo>{"MII" * 4000}</ds:KeyInfo>
        <ds:Object>{inner.replace("<Zmiany>", more)}</ds:Object></ds:Signature>"""
    )
    reading = read_document(file, None)
    assert "Pasywa_A, Kwota B1: 650\n" in reading.text
    assert "RZiSPor.A, 2024-01-01 to 2024-12-31: PLN 2000\n" in reading.text
    assert "P_7A: Before the break and after it\n" in reading.text
    assert "The lease ends in 2031." in reading.text
    assert "MII" not in reading.text
    found = find_figures(LedgerDocument(reading.text, reading.places, file.name), taxonomy()).figures
    assert {f"{each.value:f}" for each in found} == {"812500", "700000", "2000000", "1500000", "-31000"}


def test_lines_of_an_insurers_balance_sheet_are_not_those_of_a_companys(tmp_path: Path) -> None:
    file = tmp_path / "accounts.xml"
    text = _POLISH.format(kind="Inna", begin="2024-01-01").replace("Bilans>", "BilansZakladUbezpieczen>")
    file.write_text(text.replace("RZiS>", "Rachunek>").replace("RZiSPor>", "RachunekTechniczny>"))
    reading = read_document(file, None)
    assert "Pasywa_A, Kwota A: 812.5\n" in reading.text
    assert not find_figures(LedgerDocument(reading.text, reading.places, file.name), taxonomy()).figures


_AUSTRIAN_3 = """<UEBERMITTLUNG xmlns="https://finanzonline.bmf.gv.at/bilanz"><BILANZ_GLIEDERUNG><ALLG_JUSTIZ>
<GJ><BEGINN>2024-04-01</BEGINN><ENDE>2025-03-31</ENDE></GJ>
<VOR_GJ><BEGINN>2023-04-01</BEGINN><ENDE>2024-03-31</ENDE><WERT_TSD>{thousands}</WERT_TSD></VOR_GJ>
<WAEHRUNG>EUR</WAEHRUNG></ALLG_JUSTIZ>
<HGB_224_3_A><POSTENZEILE><BETRAG>837.5</BETRAG><BETRAG_VJ>-28</BETRAG_VJ></POSTENZEILE></HGB_224_3_A>
<HGB_231_2><HGB_231_2_1><POSTENZEILE><BETRAG>900.00</BETRAG></POSTENZEILE></HGB_231_2_1></HGB_231_2>
<HGB_Form_3_9_1><BETRAG>5</BETRAG></HGB_Form_3_9_1><HGB_Form_3_16><ANZAHL>3</ANZAHL></HGB_Form_3_16>
</BILANZ_GLIEDERUNG></UEBERMITTLUNG>"""

_AUSTRIAN_4 = """<UEBERMITTLUNG xmlns="ns://justiz.gv.at/Bilanzierung/v4.0/Bilanz"><GESCHAEFTSJAHR>
<BEGINN>2024-04-01</BEGINN><ENDE>2025-03-31</ENDE><EINGABEDARSTELLUNG>
<DARSTELLUNG_EINGEREICHT><EINHEIT>E</EINHEIT></DARSTELLUNG_EINGEREICHT></EINGABEDARSTELLUNG><ZIELDARSTELLUNG>
<DARSTELLUNG_EINGEREICHT><EINHEIT>{unit}</EINHEIT></DARSTELLUNG_EINGEREICHT></ZIELDARSTELLUNG></GESCHAEFTSJAHR>
<BILANZ_WAEHRUNG>EUR</BILANZ_WAEHRUNG><PASSIVA><EIGENKAPITAL><POSTENZEILE><BETRAG_GJ>837.5</BETRAG_GJ></POSTENZEILE>
</EIGENKAPITAL></PASSIVA></UEBERMITTLUNG>"""

_AUSTRIAN_BEHIND = """<UEBERMITTLUNG xmlns="ns://justiz.gv.at/Bilanzierung/v4.0/Bilanz"><PASSIVA><EIGENKAPITAL>
<POSTENZEILE><BETRAG_GJ>837.5</BETRAG_GJ></POSTENZEILE></EIGENKAPITAL></PASSIVA><BILANZ_WAEHRUNG>EUR</BILANZ_WAEHRUNG>
<GESCHAEFTSJAHR><BEGINN>2024-04-01</BEGINN><ENDE>2025-03-31</ENDE>
<DARSTELLUNG_EINGEREICHT><EINHEIT>T</EINHEIT></DARSTELLUNG_EINGEREICHT></GESCHAEFTSJAHR></UEBERMITTLUNG>"""
_AUSTRIAN_YEAR = "2024-04-01/2025-03-31"


@cases(
    ("text", "expected"),
    [
        (_AUSTRIAN_3.format(thousands="n"), {
            "837.5 EUR 2025-03-31", "-28 EUR 2024-03-31", f"900 EUR {_AUSTRIAN_YEAR}", f"3 count {_AUSTRIAN_YEAR}",
        }),
        (_AUSTRIAN_3.format(thousands="j"), {
            "837.5 EUR 2025-03-31", "-28000 EUR 2024-03-31", f"900 EUR {_AUSTRIAN_YEAR}", f"3 count {_AUSTRIAN_YEAR}",
        }),
        (_AUSTRIAN_3.format(thousands="n").replace("WAEHRUNG", "OTHER"), {f"3 count {_AUSTRIAN_YEAR}"}),
        (_AUSTRIAN_4.format(unit="E"), {"837.5 EUR 2025-03-31"}),
        (_AUSTRIAN_4.format(unit="T"), set()),
        (_AUSTRIAN_4.format(unit="MIO").replace("<EINHEIT>E", "<EINHEIT>MIO"), set()),
        (_AUSTRIAN_BEHIND, {"837500 EUR 2025-03-31"}),
    ],
)  # fmt: skip
def test_lines_of_austrian_accounts_are_figures_of_this_year_and_the_one_before(
    tmp_path: Path, text: str, expected: set[str]
) -> None:
    file = tmp_path / "accounts.xml"
    file.write_text(text)
    reading = read_document(file, None)
    found = find_figures(LedgerDocument(reading.text, reading.places, file.name), taxonomy()).figures
    assert {f"{each.value.normalize():f} {each.unit} {each.period}" for each in found} == expected


def test_a_tag_without_the_sign_of_its_brackets_gives_no_figure() -> None:
    found, _ = _found(_page(("Equity, EUR", f"({_tag('NetAssets', '3,810', 'd')})")))
    assert not found.figures
    assert found.left_out["numbers read otherwise than the tags say"] == 1
    found, _ = _found(_page(("Equity, EUR", f"({_tag('NetAssets', '3,810', 'd', sign='-')})")))
    assert [figure.value for figure in found.figures] == [-3810]
