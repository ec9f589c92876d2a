"""JSON and XML are read as the text that they are."""

from tasks.reading import txt as json_reader
from tasks.reading import xml_text as xml_reader
from tests.cases import cases


def test_json_keeps_its_lines() -> None:
    text = '{\n  "name": "Größe",\n  "values": [1, 2\n'
    assert json_reader.read(text.encode()).text == text


@cases("encoding", ["utf-8", "iso-8859-15", "windows-1251", "utf-16"])
def test_xml_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    words = "Договор" if encoding == "windows-1251" else "Prix en €"
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<a>\n  <b>{words}</b>\n</a>\n'
    reading = xml_reader.read(text.encode(encoding))
    assert reading.text == text
    assert reading.warnings == []


def test_a_declaration_that_the_bytes_contradict_does_not_count() -> None:
    text = '<?xml version="1.0" encoding="ascii"?><a>é</a>'
    assert xml_reader.read(text.encode()).text == text


def test_no_entity_is_expanded() -> None:
    text = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname"><!ENTITY c "d">]><a>&b;&c;</a>'
    assert xml_reader.read(text.encode()).text == text
