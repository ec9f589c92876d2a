"""Delimited values: the delimiter, the encoding and the quoting are found; cells stand as the file writes them."""

from tasks.reading import delimited as reader
from tests.cases import cases


@cases(
    ("file", "rows"),
    [
        ("Name,Amount\nRent,5\n", ["Name\tAmount", "Rent\t5"]),
        ("Name;Betrag\r\nMiete;1.234,50\r\nStrom;2,5\r\n", ["Name\tBetrag", "Miete\t1.234,50", "Strom\t2,5"]),
        ("A;1,5\nB;2,5\n", ["A\t1,5", "B\t2,5"]),
        ("A\t1,5\tx, y\nB\t2,5\tz\n", ["A\t1,5\tx, y", "B\t2,5\tz"]),
        ("a|b\n1|2\n", ["a\tb", "1\t2"]),
        ("Wert\n1.234,5\n-2,75\n3\n", ["Wert", "1.234,5", "-2,75", "3"]),
        ("Wert\n1,5\nx,y\n", ["Wert", "1\t5", "x\ty"]),
        ("1,5\n2,75\n", ["1\t5", "2\t75"]),
        ("sep=|\na,b|c\nd,e|f\n", ["a,b\tc", "d,e\tf"]),
        ("a,b;c,d\n1,2;3,4\n", ["a\tb;c\td", "1\t2;3\t4"]),
        (
            "note\nA long sentence, with a comma.\nanother\nlast\n",
            ["note", "A long sentence, with a comma.", "another", "last"],
        ),
        ('"x;1";2\n"y;3";4\n', ["x;1\t2", "y;3\t4"]),
    ],
)
def test_the_delimiter_is_found(file: str, rows: list[str]) -> None:
    assert reader.read(file.encode()).text.splitlines() == rows


@cases(
    ("file", "rows"),
    [
        ("a,,c\n,,d\n", ["a\t\tc", "\t\td"]),
        ('a,"two\nlines"\nb,c\n', ["a\ttwo lines", "b\tc"]),
        ('"he said ""no""",x\ny,z\n', ['he said "no"\tx', "y\tz"]),
        ('"he said "no" twice",x\ny,z\n', ['he said "no" twice\tx', "y\tz"]),
        ('5" pipe,x\ny,z\n', ['5" pipe\tx', "y\tz"]),
        ("a  b , c\td\ne,f\n", ["a b\tc d", "e\tf"]),
        ("a,b,c\nd\ne,f\n", ["a\tb\tc", "d", "e\tf"]),
        ("a,b\n\nc,d\n", ["a\tb", "", "c\td"]),
    ],
)
def test_cells_stand_as_the_file_writes_them(file: str, rows: list[str]) -> None:
    assert reader.read(file.encode()).text.split("\n")[:-1] == rows


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    reading = reader.read(b'5,"Pump,100\n6,Valve,200\n7,"Seal, large",300\n')
    assert reading.text.splitlines() == ['5\t"Pump\t100', "6\tValve\t200", "7\tSeal, large\t300"]
    assert "never closed (1)" in reading.warnings[0]


@cases(
    ("file", "label"),
    [
        ("Item,2023\nRent,5\nPower,6\n", "1"),
        ("Day,Text\n2023-01-05,x\n2023-01-06,y\n", "1"),
        ("Rent,5\nPower,6\n", ""),
        ("a,b\nc,d\n", ""),
        ("Report\nItem,2023\nRent,5\n", ""),
    ],
)
def test_the_table_knows_its_header_where_that_is_sure(file: str, label: str) -> None:
    reading = reader.read(file.encode())
    assert [(place.kind, place.label) for place in reading.places] == [("table", label)]
    assert (reading.places[0].start, reading.places[0].end) == (0, len(reading.text))


@cases("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_encoding_is_found(encoding: str) -> None:
    file = "Käufer;Betrag\nMüller & Söhne;5\nGroß;6\n"
    assert reader.read(file.encode(encoding)).text == file.replace(";", "\t")


def test_nuls_and_empty_files() -> None:
    assert reader.read(b"a\0b,c\nd,e").text == "a b\tc\nd\te\n"
    assert reader.read(b"").text == ""
    assert reader.read(b'""').text == ""
