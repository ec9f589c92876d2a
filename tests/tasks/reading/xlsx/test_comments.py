"""Comments in cells: whose they are, from when, and that they are no words of the sheet."""

from pathlib import Path

from tasks.reading.text_writer import Reading
from tasks.reading.xlsx import reader
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import OFFICE, SHEET, relationships

EXPLANATION = "[Threaded comment] Your version of Excel shows this."


def read(path: Path, comments: str, threads: str = "", people: str = "") -> Reading:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(
            ("threadedComment", "../threadedComments/t.xml"), ("comments", "../comments1.xml")
        ),
        "xl/_rels/workbook.xml.rels": relationships(
            ("worksheet", "worksheets/sheet1.xml"), ("person", "persons/p.xml")
        ),
        "xl/comments1.xml": f"<comments xmlns='{SHEET}'>{comments}</comments>",
        "xl/threadedComments/t.xml": f"<ThreadedComments xmlns='urn:t'>{threads}</ThreadedComments>",
        "xl/persons/p.xml": f"<personList xmlns='urn:t' xmlns:r='{OFFICE}'>{people}</personList>",
    }
    return reader.read(packages.xlsx(path / "a.xlsx", "", parts))


def note(cell: str, words: str, author: int | None = None) -> str:
    by = "" if author is None else f" authorId='{author}'"
    return f"<comment ref='{cell}'{by}><text><r><t>{words}</t></r></text></comment>"


def test_a_note_has_its_author_once(tmp_path: Path) -> None:
    authors = "<authors><author>A. Reader</author><author/><author>O&apos;Neil &amp; Co</author></authors>"
    notes = note("B2", "A. Reader:\nIs this final?", 0) + note("B3", "Signed.", 2) + note("C1", "Who?", 1)
    reading = read(tmp_path, f"{authors}<commentList>{notes}{note('D1', 'Lost.', 9)}</commentList>")
    assert reading.text == (
        "Ledger\nB2\t[comment, A. Reader: Is this final?]\nB3\t[comment, O'Neil & Co: Signed.]\n"
        "C1\t[comment: Who?]\nD1\t[comment: Lost.]\n"
    )
    assert [place.label for place in reading.places if place.kind == "comment"] == ["A. Reader", "O'Neil & Co", "", ""]


def test_a_thread_has_its_people_and_dates_and_is_read_once(tmp_path: Path) -> None:
    thread = (
        "<threadedComment ref='{}' dT='2024-05-01T10:00:0{}.25' personId='{}' id='1'><text>{}</text></threadedComment>"
    )
    copy = note("B2", f"{EXPLANATION}\n\nComment:\n    Is this &lt; final?\nReply:\n    Yes.", 0)
    reading = read(
        tmp_path,
        "<authors><author>tc={1}</author></authors>"
        f"<commentList>{copy}{copy.replace('B2', 'B9').replace('Is this', 'Is that')}{note('C3', 'Signed.')}"
        "</commentList>",
        thread.format("B2", 1, "{A}", "Is this &lt; final?")
        + thread.format("B2", 2, "{B}", "Yes.")
        + thread.format("B9", 3, "{C}", "Is that &lt; final?"),
        "<person displayName='Ada' id='{A}'/><person id='{B}' displayName='Bo'/>",
    )
    assert reading.text == (
        "Ledger\nC3\t[comment: Signed.]\n"
        "B2\t[comment, Ada, 2024-05-01T10:00:01: Is this < final?]\nB2\t[comment, Bo, 2024-05-01T10:00:02: Yes.]\n"
        "B9\t[comment, 2024-05-01T10:00:03: Is that < final?]\n"
        f"B2\t[comment: {EXPLANATION} Comment:]\n"
    )


def test_a_copy_of_a_thread_without_its_people_is_known_by_its_words(tmp_path: Path) -> None:
    threads = "<threadedComment ref='B2' id='1'><text>Yes.</text></threadedComment>"
    copied = f"<commentList>{note('B2', '[Commentaire]  Commentaire : Yes.')}</commentList>"
    assert (
        read(tmp_path, copied, threads).text
        == "Ledger\nB2\t[comment: Yes.]\nB2\t[comment: [Commentaire] Commentaire :]\n"
    )
