"""What criteria ask of figures, and which value of a room answers."""

from decimal import Decimal

from tasks.figures.derived import FigureValue, read_expression, value_at


def test_a_year_that_ended_on_new_years_day_is_the_year_before() -> None:
    ends = ("2022-01-02", "2023-01-01", "2023-12-31", "2024-12-29")
    values = [FigureValue("revenue", Decimal(1), "USD", end, "", ()) for end in ends]
    asked = [value_at(values, year, read_expression("cash")) for year in ("2021", "2022", "2023", "2024")]
    assert [value.period for value in asked if value] == list(ends)
