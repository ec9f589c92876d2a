"""Attributes, entities and slices of Office XML."""

from tasks.reading.ooxml import xml
from tests.cases import cases


@cases(
    ("tag", "value"),
    [
        (b' w:id="7"/>', "7"),
        (b" w:idx='1' w:id = '7'>", "7"),
        (b' a="w:id=1 > 2" w:id="a &amp; &lt;b&#x3e;">', "a & <b>"),
        (b' w:id="">', ""),
        (b' w:ID="7" id="7" xw:id="7">', ""),
        (b' w:id="never closed>', ""),
    ],
)
def test_attributes(tag: bytes, value: str) -> None:
    assert xml.attribute(xml.read_tag_rest(b"<x" + tag + b"after", 2), b"w:id") == value


def test_the_rest_of_a_tag_ends_with_it() -> None:
    data = b"<w:tc a='1 > 2' b=\">\"/>text<w:tc><w:tc a='"
    assert xml.read_tag_rest(data, 5) == b" a='1 > 2' b=\">\"/>"
    assert xml.read_tag_rest(data, data.index(b"<w:tc>") + 5) == b">"
    assert xml.read_tag_rest(data, data.rindex(b"<w:tc") + 5) == b""


def test_entities_are_unescaped_once_and_only_those_of_xml() -> None:
    assert xml.unescape("&lt;&#65;&#x3B2;&apos;&amp;amp; &nbsp; & &#; &#x110000;|") == "<Aβ'&amp; &nbsp; & &#; |"


def test_what_is_escaped_comes_back() -> None:
    text = "a & b < c &lt; \N{GREEK SMALL LETTER BETA}"
    assert xml.unescape(xml.escape(text).decode()) == text


def test_elements_know_the_usual_prefixes_and_end_where_the_slice_does() -> None:
    element = xml.element(b"<m:oMath w14:odd='1'><m:r><m:t>x")
    assert element is not None
    assert element.tag == "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
    assert "".join(str(text) for text in element.itertext()) == "x"
    assert xml.element(b"no tags") is None


def test_elements_hold_text_whatever_their_bytes_refer_to() -> None:
    element = xml.element(b"<m:t>a&#55357;\xff&#xDC00;&#0;&#x110000;&lt;&#98;</m:t>")
    assert element is not None
    assert (element.text or "").startswith("a\N{REPLACEMENT CHARACTER}")
    assert (element.text or "").endswith("b")
