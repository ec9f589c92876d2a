"""Markdown: the text as it is, with its headings and tables known."""

from tasks.reading import markdown as reader
from tests.cases import cases


def places_of(text: str) -> list[tuple[str, str, str]]:
    reading = reader.read(text.encode())
    return [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places]


def test_the_text_stands_as_it_is() -> None:
    text = "---\ntitle: Offer\n---\n# Terms #\n\n- one\n  * two\n\n> quote **bold**  \n\n    code | x\n"
    assert reader.read(text.encode()).text == text


def test_front_matter_is_not_shown_and_other_words_between_rules_are() -> None:
    fields = "---\nlayout: default\ntitle: Offer\ntags:\n- a\n---\n"
    assert places_of(f"{fields}# Terms\n") == [("unseen", "front matter", fields), ("heading", "Terms", "# Terms\n")]
    assert places_of(fields) == [], "it has nothing else to say"
    contents = "title: Lease\n- Rent: EUR 5,000", "- Rent", "  A dividend was approved.", "title: Lease\nlaw: Germany"
    for lines in (*contents, "We offer 5 EUR.", "From: A\nTo: B", "date: 4 May 2024\nWe offer 5 EUR."):
        assert places_of(f"---\n{lines}\n---\nThe end.\n") == []


def test_headings_reach_to_the_next_one() -> None:
    assert places_of("# A *b* #\none\n\nC\n---\ntwo\n") == [
        ("heading", "A b", "# A *b* #\none\n\n"),
        ("heading", "C", "C\n---\ntwo\n"),
    ]


@cases("text", ["```\n# no\n```", "~~~ x\n# no\n```\n# no\n~~~", "    # no", "#no", "- item\n---", "---\n# no\n---"])
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert places_of(text) == []


def test_rows_of_tables_have_their_cells_split_by_tabs() -> None:
    table = "| Item | `a|b` \\| c | 2023 |\n|:--|:-:|--:|\n| x | | 5 |\ny | z\n\n"
    assert places_of(table + "end | x\n") == [("table", "1", "Item\t`a|b` | c\t2023\nx\t\t5\ny\tz\n")]
    assert reader.read((table + "end | x\n").encode()).text.endswith("\n\nend | x\n")
