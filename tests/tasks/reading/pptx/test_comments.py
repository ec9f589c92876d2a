"""Comments on slides: of the older kind and threads, with author and date."""

from pathlib import Path

from tasks.reading.pptx import reader
from tests.tasks.reading.ooxml.packages import relationships
from tests.tasks.reading.pptx import decks

THREADS = 'xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main"'


def deck(tmp_path: Path, comments: str, authors: str = "", kind: str = "authors") -> Path:
    main = relationships(("slide", "slides/slide1.xml"), (kind, "authors.xml"))
    return decks.pptx(
        tmp_path / "a.pptx",
        [decks.slide(decks.shape("words"))],
        {"ppt/comments.xml": comments, "ppt/authors.xml": authors, "ppt/_rels/presentation.xml.rels": main},
        slide1=[("comments", "../comments.xml")],
    )


def test_an_older_comment_says_who_wrote_it_and_when(tmp_path: Path) -> None:
    comments = (
        f"<p:cmLst {decks.NAMES}><p:cm authorId='1' dt='2006-08-28T17:26:44.129' idx='1'><p:pos x='10' y='10'/>"
        "<p:text>Is this\nthe &lt;latest&gt;?</p:text></p:cm>"
        "<p:cm authorId='7'><p:text>Nobody knows.</p:text></p:cm><p:cm authorId='1'><p:text/></p:cm></p:cmLst>"
    )
    authors = f'<p:cmAuthorLst {decks.NAMES}><p:cmAuthor id="1" name="Ann &amp; Bo" initials="AB"/></p:cmAuthorLst>'
    reading = reader.read(deck(tmp_path, comments, authors, "commentAuthors"))
    assert reading.text == (
        "words\n[comment, Ann & Bo, 2006-08-28T17:26:44.129: Is this the <latest>?]\n[comment: Nobody knows.]\n"
    )
    assert [(place.kind, place.label) for place in reading.places if place.kind == "comment"] == [
        ("comment", "Ann & Bo, 2006-08-28T17:26:44.129"),
        ("comment", ""),
    ]


def test_replies_of_a_thread_follow_what_they_answer(tmp_path: Path) -> None:
    def remark(name: str, author: str, words: str, inside: str = "") -> str:
        attributes = f'id="{{1}}" authorId="{{{author}}}" created="2024-05-01T10:00:00.000"'
        body = f"<p188:txBody><a:bodyPr/>{decks.paragraph(words)}{decks.paragraph('Second.')}</p188:txBody>"
        return f"<p188:{name} {attributes}>{inside}{body}</p188:{name}>"

    thread = remark("cm", "A", "Why?", f"<p188:replyLst>{remark('reply', 'B', 'Because.')}</p188:replyLst>")
    comments = f"<p188:cmLst {decks.NAMES} {THREADS}>{thread}{remark('cm', 'B', 'And?')}</p188:cmLst>"
    authors = (
        f'<p188:authorLst {THREADS}><p188:author id="{{A}}" name="Ann" initials="A"/>'
        '<p188:author id="{B}" name="Bo"/></p188:authorLst>'
    )
    assert reader.read(deck(tmp_path, comments, authors)).text.split("\n")[1:-1] == [
        "[comment, Ann, 2024-05-01T10:00:00.000: Why? Second.]",
        "[comment, Bo, 2024-05-01T10:00:00.000: Because. Second.]",
        "[comment, Bo, 2024-05-01T10:00:00.000: And? Second.]",
    ]


def test_comments_that_break_off_or_nest_without_end_are_read(tmp_path: Path) -> None:
    broken = f"<p188:cmLst {decks.NAMES} {THREADS}><p188:cm><p188:txBody><a:p><a:r><a:t>cut o"
    assert reader.read(deck(tmp_path, broken)).text == "words\n[comment: cut o]\n"
    nested = (
        f"<p:cmLst {decks.NAMES}>" + "<p:cm>" * 50_000 + "<p:text>deep</p:text>" + "</p:cm>" * 50_000 + "</p:cmLst>"
    )
    assert reader.read(deck(tmp_path, nested)).text == "words\n[comment: deep]\n"
