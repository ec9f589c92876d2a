"""Two pages on one scan are read one after the other; what is one table stays one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import pytest

from tasks.reading.ocr.page import RecognisedPage, RecognisedWord, ScanState

PITCH, LETTER = 34, 12
LEFT, RIGHT = 100, 1300
WIDTH, HEIGHT = 2380, 1684

WORDS = ("lender", "under", "borrower", "any", "notice", "holds", "the", "property", "delay", "within", "thirty")


def prose(paragraphs: Iterable[int], first: int = 0) -> Iterator[str]:
    """Paragraphs of so many lines, each of seven words, with an empty line behind each."""
    number = count(first)
    for lines in paragraphs:
        for line in range(lines):
            words = [WORDS[(next(number) * 7 + at) % len(WORDS)] for at in range(7)]
            yield " ".join(words) + ("." if line == lines - 1 else "")
        yield ""


def accounts(labels: Sequence[str]) -> list[str]:
    return ["Accounts", *(f"{label} matters|{at * 977 % 9000},{at % 10}00" for at, label in enumerate(labels, 1))]


def column(
    lines: Iterable[str], left: float, top: float = 100, pitch: float = PITCH
) -> Iterator[tuple[str, float, float]]:
    """The cells of lines (`|` parts them) with their left edges and tops."""
    for at, line in enumerate(lines):
        for cell, words in enumerate(filter(None, line.split("|"))):
            yield words, left + 600 * cell, top + pitch * at


def scan(*columns: Iterable[tuple[str, float, float]], size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
    """The text of a scan on which an engine read these cells, each as a line."""
    words = []
    for number, (text, left, top) in enumerate(cell for cells in columns for cell in cells):
        at = left
        for word in text.split():
            right = at + LETTER * len(word)
            words.append(RecognisedWord(word, at, top, right, top + 22, 0.99, number))
            at = right + LETTER
    return RecognisedPage(ScanState.READ, "an engine", *size, 0, words).text()


def parts(text: str, *lines: str) -> list[int]:
    return [text.index(line) for line in lines]


ASSETS = ("Software", "Goodwill", "Land", "Plant", "Tools", "Shares", "Loans", "Stocks", "Goods", "Debtors", "Cash")
ONE = list(prose([4, 6, 3, 7, 5, 6, 4]))
OTHER = list(prose([3, 5, 6, 4, 7, 5, 5], 5))
ROWS = accounts(ASSETS)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (column(ONE, LEFT), column(OTHER, RIGHT)),
        (column(filter(None, ONE), LEFT), column(filter(None, OTHER), RIGHT)),
        (column(ONE, LEFT), column(ROWS, RIGHT, 115, 36)),
        (column(ROWS, LEFT), column(ROWS[::-1], RIGHT, 110, 38)),
        (column([*ONE[:20], "14"], LEFT), column(["Signed by the lender", "at London", *[""] * 18, "15"], RIGHT)),
        (column(["14", *ROWS], LEFT), column(["15", *ROWS], RIGHT)),
    ],
    ids=["prose", "no paragraphs", "prose and accounts", "accounts", "a short page", "numbers above"],
)
def test_the_left_page_comes_before_the_right_one(
    left: Iterable[tuple[str, float, float]], right: Iterable[tuple[str, float, float]]
) -> None:
    left, right = list(left), list(right)
    lines = scan(left, right).replace("\ufdd0", "").replace("\ufdd1", "").split("\n")
    assert [line.split("\t")[0] for line in lines] == [text for text, at, _ in (*left, *right) if at in (LEFT, RIGHT)]


def test_words_are_boxed_in_the_order_of_the_text() -> None:
    page = RecognisedPage(
        ScanState.READ,
        "an engine",
        WIDTH,
        HEIGHT,
        0,
        [
            RecognisedWord(word, at, top, at + 100, top + 22, 0.99, number)
            for number, (word, at, top) in enumerate(
                (f"{name}{row}", left + 110 * step, 100 + PITCH * row + shift)
                for name, left, shift in (("a", LEFT, 0), ("b", RIGHT, 9))
                for row in range(12)
                for step in range(5)
            )
        ],
    )
    assert [box.text[0] for box in page.boxes()] == ["a"] * 60 + ["b"] * 60
    assert page.text().split() == [box.text for box in page.boxes()]


def rows(*cells: Sequence[str]) -> list[str]:
    return ["|".join(row) for row in zip(*cells, strict=True)]


FINDINGS = [line for at in range(8) for line in (*list(prose([3], at))[:3], "")]
ANSWERS = [line for at in range(8) for line in (*list(prose([2], at + 3))[:2], "", "")]


@pytest.mark.parametrize(
    ("left", "right", "size"),
    [
        (column(ROWS, LEFT), column(ROWS[::-1], RIGHT), (WIDTH, HEIGHT)),
        (column(FINDINGS, LEFT), column(ANSWERS, RIGHT), (WIDTH, HEIGHT)),
        (column(FINDINGS, LEFT), column(["Finance of the group"] * 8, RIGHT, 134, 4 * PITCH), (WIDTH, HEIGHT)),
        (column(FINDINGS, LEFT), column(["4,711"] * 8, RIGHT, 134, 4 * PITCH), (WIDTH, HEIGHT)),
        (column(["2022", *ASSETS], LEFT), column(["2023", *ASSETS], RIGHT), (WIDTH, HEIGHT)),
        (column(["1", *ASSETS], LEFT), column(["2", *ASSETS], RIGHT), (WIDTH, HEIGHT)),
        (column(ROWS * 4, LEFT), column(ROWS[::-1] * 4, RIGHT, 110, 38), (WIDTH, WIDTH)),
        (column(["A title " * 20, *ROWS], LEFT), column(ROWS[::-1], RIGHT, 140, 38), (WIDTH, HEIGHT)),
    ],
    ids=[
        "a balance sheet", "findings and answers", "owners in the middle of rows", "figures in the middle of rows",
        "years", "numbered columns", "a page that is not wide", "a title across",
    ],
)  # fmt: skip
def test_a_table_stays_a_table(
    left: Iterable[tuple[str, float, float]], right: Iterable[tuple[str, float, float]], size: tuple[int, int]
) -> None:
    left, right = list(left), list(right)
    text = scan(left, right, size=size)
    last, first = left[-1][0].split()[-1], right[0][0].split()[0]
    assert text.index(first) < text.rindex(last)
