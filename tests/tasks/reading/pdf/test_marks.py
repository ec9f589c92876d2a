"""The marks of a form's boxes beside the words that say what they mean, and values in any letters."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, TextStringObject
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.pdf import reader
from tests.cases import cases

Box = tuple[str, float, float]
"""The name that the file has for the mark of a box that is checked ("" where it is not), and where the box stands."""


def draw(
    words: Sequence[tuple[str, float, float]], boxes: Sequence[Box], more: Callable[[Canvas], object] = lambda _: None
) -> bytes:
    canvas = Canvas(BytesIO(), A4)
    for text, x, y in words:
        canvas.drawString(x, y, text)
    for number, (state, x, y) in enumerate(boxes):
        canvas.acroForm.checkbox(name=f"box{number}", checked=bool(state), x=x, y=y, size=10, borderWidth=0)
    more(canvas)
    writer = PdfWriter(clone_from=PdfReader(BytesIO(canvas.getpdfdata())))
    states: dict[Any, str] = {f"box{number}": state for number, (state, _, _) in enumerate(boxes)}
    for widget in [item.get_object() for item in writer.pages[0].get("/Annots", ())]:
        if state := states.get(widget["/T"], ""):
            widget[NameObject("/V")] = widget[NameObject("/AS")] = NameObject(f"/{state}")
            for appearances in widget["/AP"].values():
                appearances[NameObject(f"/{state}")] = appearances.raw_get("/Yes")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def read_lines(form: bytes) -> list[str]:
    lines = reader.read(form).text.splitlines()
    return [" ".join(line.split()) for line in lines if line.strip()]


def write_on(name: str, *, height: float = 16, y: float = 696) -> Callable[[Canvas], object]:
    """What puts a field of text on a page."""
    return lambda canvas: canvas.acroForm.textfield(
        name="f", value=name, x=140, y=y, width=300, height=height, borderWidth=0
    )


def refill(data: bytes, value: str) -> bytes:
    """The form with another value in its only field, and no appearance: a viewer is to draw it."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    annotations: Any = writer.pages[0]["/Annots"]
    widget = annotations[0].get_object()
    widget[NameObject("/V")] = TextStringObject(value)
    del widget["/AP"]
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


LANGUAGES = [("German", 90, 700), ("English", 190, 700), ("French", 290, 700)]


def test_a_mark_stands_before_the_words_behind_its_box() -> None:
    boxes = [("", 74, 698), ("Yes", 174, 698), ("Yes", 274, 698)]
    assert read_lines(draw(LANGUAGES, boxes)) == ["German ☒ English ☒ French"]


def test_what_the_file_calls_a_mark_is_not_said_of_the_words_beside_another_box() -> None:
    words = [("Outside work", 72, 700), ("Yes", 190, 700), ("No", 240, 700)]
    assert read_lines(draw(words, [("", 174, 698), ("Yes", 225, 698)])) == ["Outside work Yes ☒ No"]


def test_a_mark_stands_against_the_words_before_its_box_where_others_follow() -> None:
    words = [("Resident", 72, 700), ("yes", 150, 700), ("no", 230, 700)]
    assert read_lines(draw(words, [("on", 172, 698), ("", 246, 698)])) == ["Resident yes☒ no"]


def test_a_mark_stands_behind_the_only_words_of_its_line() -> None:
    assert read_lines(draw([("Driving licence:", 72, 700)], [("Yes", 170, 698)])) == ["Driving licence: ☒"]


def test_a_question_that_ends_in_a_colon_is_not_what_a_box_behind_it_means() -> None:
    words = [("Insured:", 72, 700), ("alone", 137, 700), ("with parents", 220, 700)]
    assert read_lines(draw(words, [("1", 120, 698), ("", 205, 698)])) == ["Insured: ☒ alone with parents"]


def test_a_box_that_is_not_checked_has_no_mark() -> None:
    assert read_lines(draw(LANGUAGES, [("", 74, 698), ("", 174, 698)])) == ["German English French"]


def test_a_mark_far_from_all_words_keeps_the_name_that_the_file_has_for_it() -> None:
    assert read_lines(draw([("How content are you?", 72, 700)], [("very", 400, 500)])) == [
        "How content are you?",
        "☒ very",
    ]


def test_marks_above_their_labels_keep_their_names() -> None:
    words = [("bad", 72, 680), ("fair", 172, 680), ("good", 272, 680)]
    assert "☒ 2" in read_lines(draw(words, [("", 74, 700), ("2", 174, 700), ("", 274, 700)]))


def test_marks_of_lines_below_each_other_stand_each_in_its_own() -> None:
    words = [(f"Clause {number} applies", 90, 700 - 16 * number) for number in range(6)]
    boxes = [("Yes" if number in {1, 4} else "", 74, 698 - 16 * number) for number in range(6)]
    assert read_lines(draw(words, boxes)) == [
        f"{'☒ ' if number in {1, 4} else ''}Clause {number} applies" for number in range(6)
    ]


def test_a_mark_in_a_table_stands_in_its_cell() -> None:
    rows = [("Item", "Amount", "Paid"), ("Rent", "1,200", "yes"), ("Water", "300", "yes")]
    xs = (76, 176, 292)
    words = [(text, x, 706 - 20 * row) for row, cells in enumerate(rows) for text, x in zip(cells, xs, strict=True)]
    boxes = [("Yes", 278, 684), ("", 278, 664)]
    form = draw(words, boxes, lambda canvas: canvas.grid([72, 172, 272, 372], [720, 700, 680, 660]))
    lines = [line.split("\t") for line in reader.read(form).text.splitlines()]
    assert lines == [["Item", "Amount", "Paid"], ["Rent", "1,200", "☒ yes"], ["Water", "300", "yes"]]


def test_a_mark_takes_the_place_of_the_empty_box_that_is_printed() -> None:
    def draw_box(canvas: Canvas) -> None:
        canvas.setFont("ZapfDingbats", 10)
        canvas.drawString(75, 699, "o")

    assert read_lines(draw([("the article applies", 90, 700)], [("Oui", 74, 698)], draw_box)) == [
        "☒ the article applies"
    ]


def test_a_mark_on_a_page_that_lies_on_its_side_keeps_its_name() -> None:
    form = draw(LANGUAGES, [("Ja", 174, 698)], lambda canvas: canvas.setPageRotation(90))
    assert "☒ Ja" in " ".join(read_lines(form))


def test_the_state_of_a_field_of_words_is_no_mark() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(draw([("Country:", 72, 700)], [("Norway", 130, 698)]))))
    annotations: Any = writer.pages[0]["/Annots"]
    annotations[0].get_object()[NameObject("/FT")] = NameObject("/Ch")
    out = BytesIO()
    writer.write(out)
    assert read_lines(out.getvalue()) == ["Country: Norway"]


@cases(
    "value",
    ["Zákřejsova 5, Poříčí", "Ελλάδα ΑΕ", "ООО Ромашка", "株式会社東京", "Łódź 12,5 zł", "Ţară şi oraş", "a ≤ b ☒"],
)
def test_values_in_any_letters_stand_behind_their_labels(value: str) -> None:
    form = draw([("Name", 72, 700), ("Town", 72, 660)], [], write_on("x"))
    lines = reader.read(refill(form, value)).text.splitlines()
    assert [line.split("\t") for line in lines] == [["Name", value], ["Town"]]


def test_words_written_from_the_right_are_kept_whole() -> None:
    form = draw([("Name", 72, 700)], [], write_on("x"))
    assert "שלום עולם" in reader.read(refill(form, "שלום עולם")).text


def test_a_value_of_several_lines_stands_below_its_label_and_not_at_the_end() -> None:
    words = [("5. The restrictions are", 140, 700), ("6. The value is", 140, 560)]
    value = "The shares are subject to vesting. " * 9
    lines = read_lines(refill(draw(words, [], write_on("x", height=114, y=580)), value))
    assert lines == [f"5. The restrictions are {value.strip()}", "6. The value is"]
