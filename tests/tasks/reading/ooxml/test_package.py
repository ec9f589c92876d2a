"""Packages: where their parts lead, in whatever form programs write that down."""

import zipfile
from pathlib import Path

import pytest

from tasks.reading.ooxml.package import Package, Relationship
from tests.cases import cases
from tests.tasks.reading.ooxml.packages import OFFICE

PARTS = ("word/document.xml", "word/media/my plan.xml", "word/sub/part.xml", "docProps/app.xml", "top.xml")
USUAL = '<Relationship Id="r1" Type="T/image" Target="{}"/>'
FORMS = {
    "usual": USUAL,
    "of the SDK": '<Relationship Type="T/image" Target="{}" Id="r1" />',
    "closed by a tag": '<Relationship Id="r1" Type="T/image" Target="{}"></Relationship>',
    "another order": '<Relationship Target="{}" Id="r1" Type="T/image"/>',
    "single quotes": "<Relationship Id='r1' Type='T/image' Target='{}' TargetMode='Internal'/>",
}


def relationships(tmp_path: Path, items: str) -> list[Relationship]:
    rels = f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{items}'
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for part in PARTS:
            archive.writestr(part, "<x/>")
        archive.writestr("word/_rels/document.xml.rels", rels.replace('"T/', f'"{OFFICE}/') + "</Relationships>")
    with Package(tmp_path / "a.docx") as package:
        return package.relationships("word/document.xml")


@cases("form", FORMS.values())
@cases(
    ("target", "part"),
    [
        ("sub/part.xml", "word/sub/part.xml"),
        ("../docProps/app.xml", "docProps/app.xml"),
        ("/top.xml", "top.xml"),
        ("../top.xml", "top.xml"),
        ("../../../top.xml", "top.xml"),
        ("./sub/../sub//part.xml", "word/sub/part.xml"),
        ("sub\\part.xml", "word/sub/part.xml"),
        ("media/my%20plan.xml", "word/media/my plan.xml"),
        ("sub/part.xml#there", "word/sub/part.xml"),
        ("sub/a&amp;b.xml", "word/sub/a&b.xml"),
    ],
)
def test_a_relationship_leads_to_the_same_part_in_whatever_form(
    tmp_path: Path, form: str, target: str, part: str
) -> None:
    assert relationships(tmp_path, form.format(target)) == [Relationship("r1", "image", part)]


@cases("form", FORMS.values())
@cases("target", ["NULL", "", "#there", "http://example.org/a"])
def test_what_leads_nowhere_inside_is_left_out(tmp_path: Path, form: str, target: str) -> None:
    assert relationships(tmp_path, form.format(target) + USUAL.format("sub/part.xml"))[-1].target == "word/sub/part.xml"
    assert len(relationships(tmp_path, form.format(target) + USUAL.format("sub/part.xml"))) == 1


def test_what_is_declared_to_lie_outside_is_left_out(tmp_path: Path) -> None:
    items = '<Relationship Id="r0" Type="T/package" Target="secret.docx" TargetMode="External"/>'
    assert [item.id for item in relationships(tmp_path, items + USUAL.format("sub/part.xml"))] == ["r1"]


def test_a_part_without_relationships_leads_nowhere(tmp_path: Path) -> None:
    relationships(tmp_path, "")
    with Package(tmp_path / "a.docx") as package:
        assert package.relationships("word/sub/part.xml") == []
        assert not package.damaged


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\r\n  "], ids=["space", "line", "tab", "lines"])
def test_relationships_may_have_any_white_space(space: str, tmp_path: Path) -> None:
    item = f'<Relationship{space}Id="rId1"{space}Type="{OFFICE}/header"{space}Target="sub/part.xml"{space}/>'
    assert [relationship.target for relationship in relationships(tmp_path, item)] == ["word/sub/part.xml"]


@cases("name", ["word/Part.xml", "WORD\\part.xml", "/word/part.xml"])
@cases("others", [0, 100])
def test_a_part_is_found_however_its_name_is_written(name: str, others: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/part.xml.rels", "<longer/>")
        archive.writestr(name, "<x/>")
        archive.writestr("backup/word/part.xml", "<other/>")
        for number in range(others):
            archive.writestr(f"word/media/{number}.xml", "<m/>")
    with Package(tmp_path / "a.docx") as package:
        assert package.scan("word/part.xml") == b"<x/>"
        assert "part.xml" not in package
        assert "word/none.xml" not in package


def test_of_two_parts_of_one_name_the_last_one_counts(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/part.xml", "<old/>")
        archive.writestr("word/PART.xml", "<new/>")
    with Package(tmp_path / "a.docx") as package:
        assert package.scan("word/part.xml") == b"<new/>"
