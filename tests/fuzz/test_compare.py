"""Our readers beside the plain ones, on files whose XML another writer could have written so."""

import random
import zipfile
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from tests.fuzz import compare, legal, legal_packages
from tests.fuzz.plain_readers import docx, pptx, xlsx
from tests.fuzz.plain_readers.stories import Story
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.pptx import decks


@cache
def seeds() -> list[compare.Document]:
    return compare.read_seeds(None)


def differences(seed: int, cases: int) -> list[str]:
    documents = seeds()
    found = [f"{document.name}: {document.difference}" for document in documents if not document.reasons]
    found = [line for line in found if not line.endswith(": ()")]
    for outcome in compare.compare(documents, seed, cases):
        if outcome.difference:
            found.append(f"case {outcome.number}, {outcome.changes}: {outcome.difference}")
    return found


def test_legal_changes_make_no_difference() -> None:
    assert differences(seed=1, cases=60) == []


@pytest.mark.nightly
@pytest.mark.slow
def test_many_legal_changes_make_no_difference() -> None:
    assert differences(seed=2, cases=2_000) == []


def test_the_plain_readers_read_what_stands_there(tmp_path: Path) -> None:
    word = packages.docx(tmp_path / "a.docx", packages.p("one two") + packages.p("<!-- no -->three"))
    deck = decks.pptx(tmp_path / "a.pptx", [decks.slide(decks.shape("one two"), decks.shape("three"))])
    cells = (
        '<row><c><v>4</v></c><c t="inlineStr"><is><t>four</t></is></c></row><row r="7"><c r="C7"><f>A1*2</f></c></row>'
    )
    book = packages.xlsx(tmp_path / "a.xlsx", cells)
    assert [story.words for story in docx.read(word.read_bytes())] == [["one", "two", "three"]]
    assert [story.words for story in pptx.read(deck.read_bytes())[0]] == [["one", "two"], ["three"]]
    assert [tuple(cell) for cell in xlsx.read(book.read_bytes())[0][1]] == [
        (1, 1, None, False),
        (1, 2, "four", False),
        (7, 3, None, True),
    ]


def test_a_reader_that_loses_or_moves_words_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word = packages.docx(tmp_path / "a.docx", packages.p("one two") + packages.p("three")).read_bytes()
    assert compare.difference_of(word, ".docx") == ()
    monkeypatch.setattr(docx, "read", lambda _: [Story("body", ["one", "three", "two", "four"])])
    assert compare.difference_of(word, ".docx") == (("missing", "four 1"),)
    monkeypatch.setattr(docx, "read", lambda _: [Story("body", ["one", "three", "two"])])
    assert compare.difference_of(word, ".docx") == (("order of body", "one three two"),)


def test_relationships_in_another_order_leave_the_comments_round_them(tmp_path: Path) -> None:
    word = packages.docx(tmp_path / "a.docx", packages.p("one two"))
    with zipfile.ZipFile(word) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    related = [b'<Relationship Id="a%d" Type="t" Target="x%d.xml"/>' % (number, number) for number in range(3)]
    parts["_rels/.rels"] = b"<!-- before --><Relationships>%b</Relationships><!-- after -->" % b"".join(related)
    orders = {
        legal_packages.CHANGES["order of relationships"](random.Random(seed), parts)["_rels/.rels"] for seed in range(9)
    }
    assert len(orders) > 1
    for changed in orders:
        assert changed.startswith(b"<!-- before --><Relationships><Relationship ")
        assert changed.endswith(b"</Relationships><!-- after -->")
        assert all(relationship in changed for relationship in related)


def test_a_change_that_leaves_no_xml_is_a_difference_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.docx(tmp_path / "a.docx", packages.p("one two"))
    monkeypatch.setattr(docx, "read", lambda _: etree.fromstring("<a/><b/>"))
    document = compare.Document("a.docx", ".docx", (tmp_path / "a.docx").read_bytes(), "one two", (), ())
    differences = [outcome.difference for outcome in compare.compare([document], seed=1, cases=9) if outcome.changes]
    assert differences
    assert all(difference[0][0] == "unreadable" for difference in differences)


@pytest.mark.parametrize("name", legal.NAMES)
def test_each_change_leaves_xml_that_says_the_same(tmp_path: Path, name: str) -> None:
    part = (
        f'<w:document {packages.NAMES}><w:body><w:p w:rsidR="1" w:rsidP="2"><w:r><w:t>one &amp; two</w:t><w:br/></w:r>'
        "<w:r><w:t>three</w:t></w:r></w:p></w:body></w:document>"
    )
    changed = legal.changed(random.Random(3), part.encode(), name)
    file = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": changed})
    assert changed != part.encode() or name in ("default namespace by a prefix", "no prolog")
    assert [story.words for story in docx.read(file.read_bytes())] == [["one", "&", "two", "three"]]
