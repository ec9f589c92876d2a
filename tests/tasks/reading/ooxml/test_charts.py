"""The words and values of charts, as they come through the formats that hold them."""

from pathlib import Path

from tasks.reading.ooxml import drawings as drawings_module
from tasks.reading.ooxml.drawings import Drawings
from tasks.reading.ooxml.package import Package
from tests.cases import cases
from tests.tasks.reading.ooxml.packages import CHART, CHART_LINES, DIAGRAM, NAMES, package, relationships


def strings(*values: str) -> str:
    points = "".join(f"<c:pt idx='{index}'><c:v>{value}</c:v></c:pt>" for index, value in enumerate(values))
    return f"<c:strRef><c:strCache>{points}</c:strCache></c:strRef>"


def numbers(points: dict[int, str], code: str = "General") -> str:
    listed = "".join(f'<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>' for index, value in points.items())
    return f"<c:numRef><c:numCache><c:formatCode>{code}</c:formatCode>{listed}</c:numCache></c:numRef>"


def lines(*series: str, around: str = "") -> list[str]:
    held = "".join(f"<c:ser>{each}</c:ser>" for each in series)
    return list(
        drawings_module.chart_values(f"<c:chartSpace>{around}<c:barChart>{held}</c:barChart></c:chartSpace>".encode())
    )


def test_values_stand_beside_their_categories_where_one_is_missing() -> None:
    series = f"<c:cat>{strings('Q1', 'Q2', 'Q3')}</c:cat><c:val>{numbers({0: '1', 2: '3'})}</c:val>"
    assert lines(series) == ["Q1\t1", "Q2", "Q3\t3"]


def test_categories_of_several_levels_are_joined() -> None:
    levels = "<c:lvl><c:pt idx='0'><c:v>Q1</c:v></c:pt></c:lvl><c:lvl><c:pt idx='0'><c:v>2024</c:v></c:pt></c:lvl>"
    series = f"<c:cat><c:multiLvlStrRef>{levels}</c:multiLvlStrRef></c:cat><c:val>{numbers({0: '7'})}</c:val>"
    assert lines(series) == ["2024 Q1\t7"]


@cases(
    ("code", "stored", "shown"),
    [("0%", "0.25", "25%"), ("yyyy-mm-dd", "45292", "2024-01-01"), ("General", "0.30000000000000004", "0.3")],
)
def test_values_are_shown_as_their_format_says(code: str, stored: str, shown: str) -> None:
    assert lines(f"<c:val>{numbers({0: stored}, code)}</c:val>") == [shown]


def test_a_point_may_have_a_format_of_its_own() -> None:
    point = (
        "<c:numLit><c:formatCode>General</c:formatCode><c:pt formatCode='0%' idx='0'><c:v>0.5</c:v></c:pt></c:numLit>"
    )
    assert lines(f"<c:val>{point}</c:val>") == ["50%"]


def test_points_of_a_scatter_or_bubble_chart_have_all_their_values_and_labels() -> None:
    label = "<c15:dlblRangeCache><c:pt idx='0'><c:v>Alpha</c:v></c:pt></c15:dlblRangeCache>"
    labels = f"<c:dLbls><c:dLbl><c:tx>{strings('not its name')}</c:tx></c:dLbl></c:dLbls>"
    series = (
        f"<c:tx><c:v>Deals &amp; more</c:v></c:tx>{labels}"
        f"<c:xVal>{numbers({0: '1'})}</c:xVal><c:yVal>{numbers({0: '2'})}</c:yVal>"
        f"<c:bubbleSize>{numbers({0: '3'})}</c:bubbleSize><c:extLst>{label}</c:extLst>"
    )
    assert lines(series) == ["Deals & more", "1\t2\t3\tAlpha"]


def test_a_title_that_a_cell_gives_comes_after_the_series() -> None:
    title = f"<c:title><c:tx>{strings('Revenue')}</c:tx></c:title>"
    assert lines(f"<c:tx>{strings('Alpha')}</c:tx>", around=title) == ["Alpha", "Revenue"]


def test_a_chart_of_the_newer_kind_gives_its_points() -> None:
    points = b"<cx:lvl><cx:pt idx='0'>North</cx:pt><cx:pt> </cx:pt><cx:pt>South</cx:pt></cx:lvl>"
    assert list(drawings_module.chart_values(b"<cx:chartSpace>" + points + b"</cx:chartSpace>")) == ["North", "South"]


def test_a_series_without_all_its_categories_has_those_of_the_first() -> None:
    def series(categories: str, values: str) -> str:
        return f"<c:ser><c:cat>{categories}</c:cat><c:val>{values}</c:val></c:ser>"

    first = series(strings("Austria", "Poland", "Spain"), numbers({0: "1", 1: "2", 2: "3"}))
    short = series(strings("Austria"), numbers({0: "4", 2: "5"}))
    others = series(strings("North"), numbers({0: "6", 1: "7"}))
    chart = f"<c:chartSpace>{first}{short}{others}</c:chartSpace>".encode()
    assert list(drawings_module.chart_values(chart)) == [
        "Austria\t1", "Poland\t2", "Spain\t3", "Austria\t4", "Spain\t5", "North\t6", "7",
    ]  # fmt: skip


def test_the_points_of_a_diagram_stand_by_how_they_hang_together() -> None:
    def point(name: str, words: str = "") -> str:
        return f'<dgm:pt modelId="{name}"><dgm:t><a:p><a:r><a:t>{words}</a:t></a:r></a:p></dgm:t></dgm:pt>'

    def below(source: str, number: int, name: str, rest: str = "") -> str:
        return f'<dgm:cxn modelId="x" {rest} srcId="{source}" destId="{name}" srcOrd="{number}" destOrd="0"/>'

    points = [
        point("a2", "Second of Buy"), point("lost", "Alone"), point("b", "Sell"), point("root"), point("a", "Buy"),
        point("a1", "First of Buy"), point("arrow", "then"), point("c", "Circle"),
    ]  # fmt: skip
    connections = [
        below("root", 1, "b"), below("root", 0, "a", 'sibTransId="arrow"'), below("a", 1, "a2"), below("a", 0, "a1"),
        below("b", 0, "a1", 'type="presOf"'), below("c", 0, "c"),
    ]  # fmt: skip
    data = f"<dgm:dataModel><dgm:ptLst>{''.join(points)}</dgm:ptLst><dgm:cxnLst>{''.join(connections)}</dgm:cxnLst>"
    assert drawings_module.diagram_lines(data.encode()) == [
        "Alone", "Buy", "First of Buy", "Second of Buy", "then", "Sell", "Circle",
    ]  # fmt: skip


def test_a_series_that_breaks_off_gives_what_is_there() -> None:
    whole = f"<c:chartSpace><c:ser><c:tx>{strings('Alpha')}</c:tx><c:cat>{strings('Q1', 'Q2')}"
    assert list(drawings_module.chart_values(whole[: whole.index("Q2")].encode())) == ["Alpha", "Q1"]


def drawn(path: Path) -> Path:
    shapes = f"<c:userShapes {NAMES}><a:p><a:r><a:t>drawn on it</a:t></a:r></a:p></c:userShapes>"
    return package(
        path,
        "ppt/slide.xml",
        {
            "ppt/slide.xml": "<p:sld/>",
            "ppt/_rels/slide.xml.rels": relationships(("chart", "chart.xml"), ("diagramData", "data.xml")),
            "ppt/chart.xml": CHART.replace("</c:chartSpace>", '<c:userShapes r:id="rId1"/></c:chartSpace>'),
            "ppt/_rels/chart.xml.rels": relationships(("chartUserShapes", "shapes.xml")),
            "ppt/shapes.xml": shapes,
            "ppt/data.xml": DIAGRAM,
        },
    )


def test_a_drawing_is_found_by_the_relationship_to_it(tmp_path: Path) -> None:
    with Package(drawn(tmp_path / "a.pptx")) as found:
        chart, diagram, none = (Drawings(found).lines("ppt/slide.xml", f"rId{number}") for number in (1, 2, 3))
    assert chart == [*CHART_LINES.splitlines(), "drawn on it"]
    assert (diagram, none) == (["Board", "Auditor"], [])


def test_a_drawing_that_is_shown_without_end_is_not_written_without_end(tmp_path: Path) -> None:
    file = drawn(tmp_path / "a.pptx")
    with Package(file) as found:
        drawings = Drawings(found)
        once = sum(map(len, drawings.lines("ppt/slide.xml", "rId1")))
        written = sum(len("".join(drawings.lines("ppt/slide.xml", "rId1"))) for _ in range((17 << 20) // once))
    assert 15 << 20 < written < 16 << 20
