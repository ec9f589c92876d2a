"""Column files: what they may say, and how mistakes are named."""

from pathlib import Path

import pytest

from tasks.errors import BadRequest
from tasks.table.cells import read_cells
from tasks.table.columns import read_columns, set_names
from tests.cases import cases


def test_the_sets_of_the_program_hold_together() -> None:
    for name in set_names():
        columns = read_columns(name)
        assert len({column.id for column in columns.columns}) == len(columns.columns)
        assert all(column.find for column in columns.columns)
    assert read_columns("leases").takes("lease")
    assert not read_columns("leases").takes("nda")
    assert read_columns("contracts").takes("nda")


CONTRACT = (
    'SUBCONTRACT by and between Alder Ltd ("Contractor") and Birch Ltd ("Subcontractor"). '
    "It shall be governed by the laws of the State of Texas. Neither party may assign without prior consent. "
    "For a period of eighteen months Birch Ltd shall not compete.\n"
)


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (CONTRACT, ["contracts"]),
        (f"{CONTRACT}The rent is EUR 900 a month. The initial term is three years.", ["contracts", "leases"]),
    ],
)
def test_a_document_of_no_known_kind_is_a_row_of_the_sets_that_it_answers(text: str, sets: list[str]) -> None:
    known = {name: read_columns(name) for name in set_names()}
    assert [name for name, set_ in known.items() if set_.takes_unknown(read_cells(text, set_.columns))] == sets


def test_a_file_that_asks_for_what_each_contract_states_takes_any_that_states_it(tmp_path: Path) -> None:
    (tmp_path / "columns.yaml").write_text("kinds: [lease]\ncolumns: [parties, governing_law, assignment, rent]\n")
    read = read_columns("columns.yaml", tmp_path)
    assert read.takes_unknown(read_cells(CONTRACT, read.columns))


def test_a_file_names_known_columns_and_its_own(tmp_path: Path) -> None:
    (tmp_path / "columns.yaml").write_text(
        "kinds: [lease]\ncolumns:\n  - expiry\n  - {id: rent, find: price}\n"
        "  - {id: pets, type: yes_no, ask: 'Are pets allowed?'}\n"
    )
    read = read_columns("columns.yaml", tmp_path)
    assert [(column.id, column.type, column.find) for column in read.columns] == [
        ("expiry", "date", "expiry"),
        ("rent", "money", "price"),
        ("pets", "yes_no", None),
    ]


@cases(
    ("written", "message"),
    [
        ("columns: [expiri]\n", "line 1, columns.0: there is no column 'expiri' in the program; did you mean expiry?"),
        ("columns:\n  - {id: a}\n", "line 2, columns.0: needs ask, the question, or find"),
        ("columns:\n  - {id: a, ask: 'A?', type: colour}\n", "line 2, columns.0.type: must be"),
        ("columns:\n  - {id: a, ask: 'A?', type: choice}\n", "columns.0.choices: it is missing"),
        (
            "kinds: [leese]\ncolumns: [expiry]\n",
            "line 1, kinds.0: there is no kind of document 'leese'; did you mean lease?",
        ),
        ("columns: []\n", "columns: it is empty"),
    ],
)
def test_mistakes_name_line_field_and_what_is_allowed(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "columns.yaml").write_text(written)
    with pytest.raises(BadRequest) as error:
        read_columns("columns.yaml", tmp_path)
    assert message in error.value.message


def test_an_unknown_name_lists_the_sets() -> None:
    with pytest.raises(BadRequest, match="contracts, leases, employment"):
        read_columns("contrats")
