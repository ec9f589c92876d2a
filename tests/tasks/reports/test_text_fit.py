"""Words are measured as they are printed."""

from tasks.reports.wording import fit_text, line_count, wrap_text
from tests.cases import cases


def test_width_is_that_of_the_font() -> None:
    assert [line_count("Hello", width, 10) for width in (22.77, 22.79)] == [
        2,
        1,
    ]  # Liberation Sans, as Pillow measures it
    assert [line_count("日本", width, 10) for width in (19.9, 20)] == [2, 1]


def test_lines_break_between_words_and_within_those_that_are_too_long() -> None:
    assert wrap_text("ab ab ab", 25, 10) == ["ab", "ab", "ab"]
    assert wrap_text("ab ab ab", 26, 10) == ["ab ab", "ab"]
    assert wrap_text("a" * 10, 25, 10) == ["aaaa", "aaaa", "aa"]
    assert line_count("one\ntwo", 100, 10) == 2


@cases(
    "text",
    [
        "short",
        "many words " * 50,
        "w" * 255,
        "名" * 85,
        "word " * 3 + "x" * 300,
        "名前 " * 90,
        "",
        " \n\t ",
        "İ" * 100_000,
    ],
)
@cases("lines", [1, 2, 5])
def test_what_was_cut_fits(text: str, lines: int) -> None:
    cut = fit_text(text, 120, 10, lines)
    assert line_count(cut, 120, 10) <= lines
    whole = " ".join(text.split())
    assert cut == whole or (cut.endswith(" …") and whole.startswith(cut.removesuffix(" …")))


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert fit_text("Two  words\nand more", 500, 10) == "Two words and more"
