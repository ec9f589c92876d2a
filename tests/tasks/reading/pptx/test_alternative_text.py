"""Alternative texts of pictures, frames and groups: what tells something stands in the text, once."""

from pathlib import Path

from tasks.reading.pptx import reader
from tests.cases import cases
from tests.tasks.reading.pptx import decks

DECORATIVE = (
    '<a:extLst><a:ext uri="{C183D7F6-B498-43B3-948B-1728B52AA6E4}"><adec:decorative'
    ' xmlns:adec="http://schemas.microsoft.com/office/drawing/2017/decorative" val="VALUE"/></a:ext></a:extLst>'
)


def read(tmp_path: Path, *shapes: str) -> str:
    return reader.read(decks.pptx(tmp_path / "a.pptx", [decks.slide(*shapes)])).text


def test_a_picture_says_what_it_shows(tmp_path: Path) -> None:
    slide = decks.slide(decks.picture("Bar chart: revenue&#10;2021 4m &amp; 2022 9m", name="Chart"))
    reading = reader.read(decks.pptx(tmp_path / "a.pptx", [slide]))
    words = "Bar chart: revenue 2021 4m & 2022 9m\n"
    assert reading.text == words
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("slide", "1", words),
        ("shape", "Chart", words),
        ("alternative_text", "", words),
    ]


@cases(
    "description",
    [
        "image1.png",
        "Picture 2",
        "Grafik 11",
        "Gráfico 2",
        "meeting2",
        "gg-09",
        "!_Of2K1",
        "C:\\Users\\me\\Pictures\\plan of the house",
        "/home/me/chart",
        "https://example.com/a.gif?t=1",
        "Screen Shot 2020-01-01 at 10.00.00.JPG",
        "shutterstock_123456789",
        "Beautiful name",
        " ",
    ],
)
def test_a_description_that_tells_nothing_is_left_out(tmp_path: Path, description: str) -> None:
    assert read(tmp_path, decks.picture(description, name="Beautiful name")) == ""


def test_decoration_is_left_out(tmp_path: Path) -> None:
    decorative, telling = DECORATIVE.replace("VALUE", "1"), DECORATIVE.replace("VALUE", "0")
    assert read(tmp_path, decks.picture("A wavy line", below=decorative)) == ""
    assert read(tmp_path, decks.picture("A wavy line", below=telling)) == "A wavy line\n"


def test_what_the_shape_or_another_one_says_already_is_not_said_again(tmp_path: Path) -> None:
    said = decks.shape("Our plan", name='Box" descr="Our plan')
    assert read(tmp_path, said, decks.picture("A logo"), decks.picture("A logo")) == "Our plan\nA logo\n"


def test_groups_and_frames_have_alternative_texts_too(tmp_path: Path) -> None:
    group = decks.group(decks.shape("inside")).replace(
        "<p:nvGrpSpPr/>", '<p:nvGrpSpPr><p:cNvPr id="4" name="G" descr="Two trees"/></p:nvGrpSpPr>'
    )
    frame = decks.frame("<dgm:relIds r:dm='rId9'/>", name='D" descr="Steps from order to payment')
    assert read(tmp_path, group, frame) == "Two trees\ninside\nSteps from order to payment\n"
