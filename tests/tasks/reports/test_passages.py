"""How passages are shown: rows of tables as rows, and of a long one what speaks to the question."""

from tasks.reports.criteria import TRIMMED, PassageBlock, ShownPassage, trim_passage, whole


def words_of(passage: ShownPassage) -> str:
    return "\n".join(" ".join(row) for block in passage.blocks for row in block.rows)


def test_rows_of_tables_are_shown_as_rows() -> None:
    assert whole("Bridge\nARR\tEUR\n2023\t4.6\n\nIt grew.").blocks == [
        PassageBlock("paragraph", [["Bridge"]]),
        PassageBlock("table", [["ARR", "EUR"], ["2023", "4.6"]]),
        PassageBlock("paragraph", [["It grew."]]),
    ]


def test_short_passage_stays_whole() -> None:
    text = "Churn was 3 %.\nRenewals are yearly."
    assert trim_passage(text, "How high is the churn?") == whole(text)


def test_long_passage_is_trimmed_to_the_lines_that_speak_to_the_question() -> None:
    filler = [f"The weather in month {n} was neither good nor bad for anybody." for n in range(20)]
    passage = trim_passage(
        "\n".join([*filler, "Churn fell to 3 % of customers.", *filler]), "How high is churn of customers?"
    )
    assert "Churn fell to 3 %" in words_of(passage)
    assert len(words_of(passage)) <= TRIMMED + 20
    assert passage.before
    assert passage.behind


def test_table_keeps_its_first_row_and_the_row_in_question() -> None:
    rows = [f"Item {n}\t{n}" for n in range(40)]
    passage = trim_passage("\n".join(["Figure\tEUR", *rows, "Churn\t900", *rows]), "churn")
    [table] = passage.blocks
    assert table.rows[0] == ["Figure", "EUR"]
    assert ["Churn", "900"] in table.rows
    assert len(table.rows) <= 7


def test_heading_is_not_shown_without_what_follows() -> None:
    sentence = "The group asked to extend its contract to the northern network and to lower prices by a tenth of them. "
    passage = trim_passage("3. Largest customer\n" + sentence * 12, "Who is the largest customer?")
    assert "northern network" in words_of(passage)
    assert passage.behind


def test_one_word_without_end_is_cut() -> None:
    assert len(words_of(trim_passage("x" * 5_000, "question"))) <= TRIMMED + 2


def test_of_a_wide_row_its_name_and_its_first_cells_are_shown() -> None:
    rows = [[f"{name} {column}" for column in range(40)] for name in ("Month", "Churn", "Cash")]
    (table,) = trim_passage("\n".join(map("\t".join, rows)), "churn").blocks
    assert table.rows[:2] == [[*row[:8], "…"] for row in rows[:2]]
