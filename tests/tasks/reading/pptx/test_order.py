"""The order of reading on a slide: titles, columns under their headings, rows."""

from pathlib import Path

from tasks.reading.pptx import reader
from tests.tasks.reading.pptx import decks

LINE = 370_000
INCH = 914_400


def read(tmp_path: Path, *shapes: str) -> list[str]:
    return reader.read(decks.pptx(tmp_path / "a.pptx", [decks.slide(*shapes)])).text.split("\n")[:-1]


def box(words: str, left: float, top: float, width: float, height: float) -> str:
    """A shape by its place in inches."""
    size = (int(width * INCH), int(height * INCH))
    return decks.shape(words, at=(int(left * INCH), int(top * INCH)), size=size)


def test_the_comparison_layout_reads_heading_body_heading_body(tmp_path: Path) -> None:
    layout = decks.tree(
        "sldLayout",
        decks.shape("", holder='type="title"', at=(457_200, 274_638), size=(8_229_600, 1_143_000)),
        decks.shape("", holder='type="body" idx="1"', at=(457_200, 1_535_113), size=(4_040_188, 639_762)),
        decks.shape("", holder='sz="half" idx="2"', at=(457_200, 2_174_875), size=(4_040_188, 3_951_288)),
        decks.shape(
            "", holder='type="body" sz="quarter" idx="3"', at=(4_645_025, 1_535_113), size=(4_041_775, 639_762)
        ),
        decks.shape("", holder='sz="quarter" idx="4"', at=(4_645_025, 2_174_875), size=(4_041_775, 3_951_288)),
    )
    slide = decks.slide(
        decks.shape("Before", holder='type="body" idx="1"'),
        decks.shape("After", holder='type="body" sz="quarter" idx="3"'),
        decks.shape("12 people", holder='sz="half" idx="2"'),
        decks.shape("40 people", holder='sz="quarter" idx="4"'),
        decks.shape("The merger", holder='type="title"'),
    )
    file = decks.pptx(
        tmp_path / "a.pptx",
        [slide],
        {"ppt/slideLayouts/layout.xml": layout},
        slide1=[("slideLayout", "../slideLayouts/layout.xml")],
    )
    assert reader.read(file).text == "The merger\nBefore\n12 people\nAfter\n40 people\n"


def test_free_shapes_under_headings_are_read_by_column(tmp_path: Path) -> None:
    lines = read(
        tmp_path,
        box("Strengths", 1, 2, 3, 0.4),
        box("Weaknesses", 5, 2, 3, 0.4),
        box("A patent until 2031 and a team that stayed", 1, 2.4, 3, 1.5),
        box("One customer brings half of the revenue", 5, 2.4, 3, 1.5),
        box("Opportunities", 1, 4.2, 3, 0.4),
        box("Threats", 5, 4.2, 3, 0.4),
        box("A second plant from next year on", 1, 4.6, 3, 1.5),
        box("Prices of energy, and a law that is not passed", 5, 4.6, 3, 1.5),
    )
    assert [line.split()[0] for line in lines] == [
        "Strengths",
        "A",
        "Weaknesses",
        "One",
        "Opportunities",
        "A",
        "Threats",
        "Prices",
    ]


def test_a_table_that_was_drawn_by_hand_is_read_by_row(tmp_path: Path) -> None:
    words = [["Year", "Revenue", "Staff"], ["2022", "4 m", "31"], ["2023", "9 m", "45"]]
    cells = [
        box(word, 1 + 2 * column, 2 + row * 0.5, 1.5, 0.4)
        for row, line in enumerate(words)
        for column, word in enumerate(line)
    ]
    assert read(tmp_path, *reversed(cells)) == [word for line in words for word in line]


def test_labels_close_under_figures_belong_to_them(tmp_path: Path) -> None:
    figures = [box(word, 1 + 3 * number, 2, 1, 0.5) for number, word in enumerate(("62 %", "4 m", "31"))]
    labels = [box(word, 1 + 3 * number, 2.5, 1, 0.3) for number, word in enumerate(("margin", "users", "staff"))]
    assert read(tmp_path, *figures, *labels) == ["62 %", "margin", "4 m", "users", "31", "staff"]


def test_columns_of_different_rows_are_read_one_after_the_other(tmp_path: Path) -> None:
    lines = read(
        tmp_path,
        box("left 1", 1, 2, 3, 1),
        box("right, as tall as all on the left", 5, 2, 3, 4),
        box("left 2", 1, 3.2, 3, 1),
        box("left 3", 1, 4.4, 3, 1.5),
        box("below both", 1, 6.5, 7, 0.5),
    )
    assert lines == ["left 1", "left 2", "left 3", "right, as tall as all on the left", "below both"]


def test_shapes_that_overlap_are_read_by_their_tops(tmp_path: Path) -> None:
    lines = read(tmp_path, box("under", 1, 3, 5, 3), box("right", 4, 1.1, 4, 4), box("left", 1, 1, 4, 4))
    assert lines == ["left", "right", "under"]


def test_the_title_comes_first_and_footers_last_wherever_they_stand(tmp_path: Path) -> None:
    lines = read(
        tmp_path,
        decks.shape("7", holder='type="sldNum" idx="12"', at=(0, 0)),
        decks.shape("kicker", at=(0, 100_000)),
        decks.shape("body", at=(0, 2_000_000)),
        decks.shape("title", holder='type="title"', at=(0, 900_000)),
    )
    assert lines == ["title", "kicker", "body", "7"]


def test_many_shapes_are_read_in_time(tmp_path: Path) -> None:
    stairs = [box(str(number), number / 50, number / 50, 1, 1) for number in range(3_000)]
    assert read(tmp_path, *stairs) == [str(number) for number in range(3_000)]
