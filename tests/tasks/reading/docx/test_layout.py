"""How words become lines: rows, frames, and what waits below them."""

from tasks.reading.docx.layout import PARAGRAPH, Layout, Marks


def words(layout: Layout, *paragraphs: str) -> None:
    for paragraph in paragraphs:
        layout.words.append(paragraph.encode())
        layout.words.append(PARAGRAPH)


def row(layout: Layout, *cells: list[str]) -> None:
    layout.start("row", closed=False)
    for cell in cells:
        layout.start("cell", closed=False)
        words(layout, *cell)
        layout.end("cell_end")
    layout.end("row_end")


def test_a_row_is_a_line_with_tabs_and_without_empty_cells_at_its_end() -> None:
    layout = Layout(Marks())
    row(layout, ["Year"], ["net", "sales"], [], [" two\twords "], ["\n"], [])
    assert layout.lines == ["Year\tnet sales\t\ttwo words"]


def test_a_nested_table_leaves_the_span_of_the_cell_round_it() -> None:
    layout = Layout(Marks())
    layout.start("row", closed=False)
    layout.start("cell", closed=False)
    layout.leave_columns(3)
    row(layout, ["in"], ["ner"])
    layout.end("cell_end")
    layout.start("cell", closed=False)
    words(layout, "last")
    layout.end("cell_end")
    layout.end("row_end")
    assert layout.lines == ["in ner\t\t\tlast"]


def test_a_single_cell_of_several_paragraphs_is_a_frame() -> None:
    layout = Layout(Marks())
    row(layout, [], ["first", "second"], [])
    row(layout, ["alone"])
    assert layout.lines == ["first", "second", "alone"]


def test_what_belongs_to_a_cell_waits_for_the_end_of_the_outermost_row() -> None:
    layout = Layout(Marks())
    layout.start("row", closed=False)
    layout.start("cell", closed=False)
    layout.below(["a note", " "])
    words(layout, "outer")
    row(layout, ["in"], ["ner"])
    layout.end("cell_end")
    layout.end("row_end")
    words(layout, "after")
    layout.finish()
    assert layout.lines == ["outer", "in\tner", "a note", "after"]


def test_headings_stand_outside_of_tables() -> None:
    layout = Layout(Marks())
    layout.start("row", closed=False)
    layout.mark_heading()
    layout.end("row_end")
    layout.mark_heading()
    words(layout, "a heading", "no heading")
    layout.finish()
    assert (layout.lines, layout.headings) == (["a heading", "no heading"], [0])


def test_rows_deeper_than_can_be_kept_apart_keep_their_words_and_their_order() -> None:
    layout = Layout(Marks())
    for number in range(200):
        layout.start("row", closed=False)
        layout.start("cell", closed=False)
        words(layout, str(number))
    for _ in range(200):
        layout.end("cell_end")
        layout.end("row_end")
    words(layout, "after")
    assert layout.depth == 0
    layout.finish()
    assert layout.lines == [*map(str, range(200)), "after"]


def test_a_cell_of_millions_of_words_keeps_its_row() -> None:
    layout = Layout(Marks())
    row(layout, ["word\t" * 1_000_000], ["b"])
    assert layout.lines == ["word " * 1_000_000 + "\tb"]
