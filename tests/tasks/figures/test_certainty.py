"""Which figures of workbooks and lists are certain enough to be stated, and what the others are counted as."""

import pytest

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Findings, taxonomy

FILLING = "".join(f"Bagel {at}\t{at}7\n" for at in range(1, 20))


def read(text: str, name: str = "a.xlsx", dates: str = "") -> Findings:
    places = [(0, len(text), "file_dates", dates)] * bool(dates) + [(0, len(text), "sheet", "P&L")]
    return find_figures(LedgerDocument(text, places, name), taxonomy())


def values(found: Findings) -> list[int]:
    return [int(figure.value) for figure in found.figures]


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
def test_a_long_table_counts_where_three_figures_of_one_time_stand_in_it(name: str) -> None:
    two = f"Model, EUR\t2024\n{FILLING}Total revenue\t500,000\nGross profit\t200,000\n"
    assert read(two, name).left_out == {"long tables of few figures": 2}
    assert values(read(f"{two}Net income\t20,000\n", name)) == [500_000, 200_000, 20_000]
    assert values(read(two.replace(FILLING, ""), name)) == [500_000, 200_000]
    assert values(read(f"Income statement\n{two}", name)) == [500_000, 200_000]


LONG = f"{{}}\t2024\n{FILLING}Total revenue\t{{}}\nGross profit\t20,000\nNet income\t2,000\n"


def test_a_long_table_without_a_scale_beside_one_in_thousands_lacks_its_own() -> None:
    scaled = "EUR thousand\t2023\nRevenue\t4,000\n\nNotes\n\n"
    assert values(read(LONG.format("Model, EUR", "50,000"))) == [50_000, 20_000, 2_000]
    assert values(read(scaled + LONG.format("Model, EUR", "500,000"))) == [4_000_000]
    assert values(read(scaled + LONG.format("Model, EUR", "5,000,000"))) == [4_000_000, 5_000_000, 20_000, 2_000]


def test_a_sentence_in_a_cell_states_no_figure() -> None:
    said = "In 2023 our revenue was EUR 4.2 million.\n"
    assert (values(read(said)), values(read(said, "a.txt"))) == ([], [4_200_000])
