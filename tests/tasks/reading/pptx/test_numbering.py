"""Numbers in front of paragraphs, as PowerPoint shows them."""

from pathlib import Path

from tasks.reading.pptx.reader import read
from tasks.reading.pptx.slides import paragraphs
from tests.cases import cases
from tests.tasks.reading.pptx import decks


def paragraph(text: str, level: int = 0, scheme: str = "", more: str = "") -> str:
    bullet = f'<a:buAutoNum type="{scheme}"{more}/>' if scheme else more
    run = f"<a:r><a:t>{text}</a:t></a:r>" if text else ""
    return f'<a:p><a:pPr lvl="{level}">{bullet}</a:pPr>{run}</a:p>'


def numbered(*content: str, style: str = "") -> list[str]:
    body = f"<a:bodyPr/><a:lstStyle>{style}</a:lstStyle>{''.join(content)}".encode()
    return paragraphs(body, 0, len(body))


@cases(
    ("scheme", "shown"),
    [
        ("arabicPeriod", "2."), ("arabicParenR", "2)"), ("arabicParenBoth", "(2)"), ("arabicPlain", "2"),
        ("alphaLcPeriod", "b."), ("alphaUcParenR", "B)"), ("romanLcParenBoth", "(ii)"), ("romanUcPeriod", "II."),
        ("circleNumDbPlain", "②"), ("ea1JpnKorPeriod", "2."), ("", ""),
    ],
)  # fmt: skip
def test_each_scheme_is_written_as_it_is_shown(scheme: str, shown: str) -> None:
    assert numbered(paragraph("x", 0, scheme), paragraph("x", 0, scheme))[1] == f"{shown} x".lstrip()


def test_levels_count_for_themselves_and_begin_anew_below_a_higher_one() -> None:
    two = "arabicPeriod", "alphaLcParenR"
    levels = [0, 1, 1, 0, 1]
    content = [paragraph("x", level, two[level]) for level in levels]
    assert numbered(*content) == ["1. x", "a) x", "b) x", "2. x", "a) x"]


def test_a_list_begins_where_it_says_and_anew_after_another_bullet() -> None:
    content = [paragraph("x", 0, "arabicPeriod", ' startAt="4"')] * 2
    plain = paragraph("y", 0, "", '<a:buChar char="-"/>')
    assert numbered(*content, paragraph(""), content[0], plain, content[0]) == [
        "4. x", "5. x", "6. x", "y", "4. x",
    ]  # fmt: skip


def test_the_list_style_of_a_shape_counts_unless_the_paragraph_says_otherwise() -> None:
    style = '<a:lvl1pPr><a:buAutoNum type="arabicPeriod"/></a:lvl1pPr>'
    content = "<a:p><a:r><a:t>x</a:t></a:r></a:p>"
    assert numbered(content, paragraph("y"), paragraph("z", 0, "", "<a:buNone/>"), style=style) == ["1. x", "2. y", "z"]


def test_shapes_with_more_paragraphs_than_are_counted_keep_their_words() -> None:
    assert numbered(*[paragraph("x", 0, "arabicPeriod")] * 10_001) == ["x"] * 10_001


def test_a_slide_shows_its_numbers(tmp_path: Path) -> None:
    content = paragraph("one", 0, "arabicPeriod") + paragraph("two", 0, "arabicPeriod")
    shape = decks.shape("x").replace(decks.paragraph("x"), content)
    assert read(decks.pptx(tmp_path / "a.pptx", [decks.slide(shape)])).text == "1. one\n2. two\n"
