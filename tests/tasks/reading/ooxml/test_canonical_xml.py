"""The one form of Office XML: left as it stands where it is in it, rewritten where it is not."""

import pytest

from tasks.reading.ooxml.xml import canonical
from tests.cases import cases

OFFICE = "http://schemas.openxmlformats.org"
WORD, DRAWN = f"{OFFICE}/wordprocessingml/2006/main", f"{OFFICE}/drawingml/2006/main"
CHOICES = f"{OFFICE}/markup-compatibility/2006"
STRICT = "http://purl.oclc.org/ooxml"


def part(declarations: str, body: str, root: str = "w:document") -> bytes:
    return f"<{root} {declarations}>{body}</{root}>".encode()


def test_a_part_in_the_usual_form_stays_as_it_is() -> None:
    data = part(f'xmlns:w="{WORD}" xmlns:ve="{CHOICES}" ve:Ignorable="w14"', "<w:p><w:t>a &lt; b</w:t></w:p>")
    assert canonical(b'<?xml version="1.0" encoding="UTF-8"?>\n' + data) == (data, True)


@pytest.mark.parametrize(
    ("declarations", "body", "root"),
    [
        (f'xmlns:x="{WORD}"', "<x:p><x:t>words</x:t></x:p>", "x:document"),
        (f'xmlns="{WORD}"', "<p><t>words</t></p>", "document"),
        (f'xmlns:w="{STRICT}/wordprocessingml/main"', "<w:p><w:t>words</w:t></w:p>", "w:document"),
        (f'xmlns:w="{WORD}" xmlns:a="http://example.org"', "<w:p><a:t>other</a:t><w:t>words</w:t></w:p>", "w:document"),
    ],
    ids=["prefix", "default", "strict", "taken"],
)
def test_names_come_with_their_usual_prefix(declarations: str, body: str, root: str) -> None:
    data, whole = canonical(part(declarations, body, root))
    assert whole
    assert data.startswith(b"<w:document")
    assert b"<w:t>words</w:t>" in data
    assert b"<a:t>" not in data


def test_a_strict_namespace_is_found_wherever_it_is_declared() -> None:
    graphic = f'<a:p xmlns:a="{STRICT}/drawingml/main"><a:r><a:t>drawn</a:t></a:r></a:p>'
    data, whole = canonical(part(f'xmlns:w="{WORD}"', "<w:p/>" * 2000 + graphic))
    assert whole
    assert data.endswith(graphic.replace(f"{STRICT}/drawingml/main", DRAWN).encode() + b"</w:document>")


def test_pictures_in_strict_documents_keep_their_prefix() -> None:
    names = f'xmlns:w="{WORD}" xmlns:wp="{STRICT}/drawingml/wordprocessingDrawing"'
    picture = '<wp:docPr id="1" name="Picture 1" descr="a red house"/>'
    data, whole = canonical(part(names, picture))
    assert whole
    assert picture.encode() in data


def test_an_unknown_strict_namespace_ends_the_search_for_others() -> None:
    data = part(f'xmlns:w="{STRICT}/of/the/future"', "<w:p><w:t>words</w:t></w:p>")
    assert canonical(data) == (
        data.replace(f' xmlns:w="{STRICT}/of/the/future"'.encode(), b"").replace(b"w:", b"other:"),
        True,
    )


def test_alternatives_under_an_unusual_prefix_come_once() -> None:
    choices = "<ve:AlternateContent><ve:Choice><w:t>one</w:t></ve:Choice><ve:Fallback><w:t>one</w:t></ve:Fallback>"
    data, _ = canonical(part(f'xmlns:w="{WORD}" xmlns:ve="{CHOICES}"', choices + "</ve:AlternateContent>"))
    assert data.count(b"one") == 1


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\r\n"], ids=["space", "line", "tab", "return"])
def test_an_unusual_prefix_of_an_attribute_is_noticed_behind_any_white_space(space: str) -> None:
    names = f'xmlns:w="{WORD}" xmlns:x="{OFFICE}/officeDocument/2006/relationships"'
    data, _ = canonical(part(names, f'<w:footerReference{space}x:id="rId1"/>'))
    assert b' r:id="rId1"' in data


@cases("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_the_strict_form_may_have_any_prefix_and_encoding(encoding: str) -> None:
    names = f'xmlns:x="{STRICT}/wordprocessingml/main" xmlns:y="{STRICT}/officeDocument/relationships"'
    whole = part(names, '<x:p y:id="rId1"><x:t>words é</x:t></x:p>', "x:document").decode()
    prolog = f'<?xml version="1.0" encoding="{encoding[:6] if "16" in encoding else encoding}"?>'
    data, complete = canonical(("\ufeff" * (encoding == "utf-16-be") + prolog + whole).encode(encoding))
    assert complete
    assert '<w:p r:id="rId1"><w:t>words é</w:t></w:p>'.encode() in data


@pytest.mark.parametrize(
    ("around", "choice", "kept"),
    [
        ("", 'xmlns:wps="http://example.org"', b"second"),
        (f'xmlns:wps="{OFFICE}/other"', "", b"first"),
        ("", "", b"second"),
    ],
    ids=["known before and unknown at the choice", "unknown before and known around it", "unknown"],
)
def test_a_choice_is_judged_by_what_its_prefix_stands_for_there(around: str, choice: str, kept: bytes) -> None:
    outer = "http://example.org" if "xmlns" not in choice else f"{OFFICE}/other"
    words = "<w:r><w:t>{}</w:t></w:r>"
    data, whole = canonical(
        part(
            f'xmlns:w="{WORD}" xmlns:mc="{CHOICES}" xmlns:wps="{outer}"',
            f'<w:p><mc:AlternateContent {around}><mc:Choice Requires="wps" {choice}>{words.format("first")}</mc:Choice>'
            f"<mc:Fallback>{words.format('second')}</mc:Fallback></mc:AlternateContent></w:p>",
        )
    )
    assert whole
    assert [one in data for one in (b"first", b"second")] == [one == kept for one in (b"first", b"second")]
