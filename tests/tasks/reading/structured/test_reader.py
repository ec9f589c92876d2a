"""JSON and XML are read as the text that they are."""

import pytest

from tasks.reading import detect, formats
from tasks.reading import txt as json_reader
from tasks.reading import xml_text as xml_reader
from tasks.reading.libreoffice import XML
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


WORKBOOK = (
    '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n'
    '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
    'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">'
    '<Styles><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style></Styles><Worksheet ss:Name="Ledger"><Table>'
    '<Row><Cell><Data ss:Type="String">Größe</Data></Cell><Cell ss:Index="3"><Data ss:Type="Number">1.5</Data></Cell>'
    "</Row>"
    '<Row><Cell ss:StyleID="p"><Data ss:Type="Number">0.125</Data></Cell></Row></Table></Worksheet></Workbook>\n'
)


@cases("name", [".xls", ".xlsx", ".xml"])
def test_a_workbook_in_xml_is_known_under_the_names_of_workbooks(name: str) -> None:
    assert detect.detect_format(WORKBOOK.encode(), name) == ".xml"


@pytest.mark.skipif(formats.program(XML.library) is None, reason="needs LibreOffice (libreoffice-calc)")
def test_a_workbook_in_xml_is_read_through_libreoffice() -> None:
    reading = xml_reader.read(WORKBOOK.encode())
    assert reading.text == "Ledger\nGröße\t\t1.5\n12.50%\n"
    assert reading.warnings == [
        "A file from before Office 2007 (.xml): it was read through LibreOffice.",
        xml_reader.TIMES,
    ]


def test_without_libreoffice_a_warning_says_that_the_cells_stand_in_the_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    reading = xml_reader.read(WORKBOOK.encode())
    assert reading.text == WORKBOOK
    assert reading.warnings == [
        f"LibreOffice is not installed (package libreoffice-calc): it was read without it. {XML.lost}"
    ]


def test_a_workbook_in_xml_with_entities_goes_to_no_program() -> None:
    text = WORKBOOK.replace("<Workbook", '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><Workbook')
    assert xml_reader.read(text.encode()).text == text


def test_a_declaration_that_the_bytes_contradict_does_not_count() -> None:
    text = '<?xml version="1.0" encoding="ascii"?><a>é</a>'
    assert xml_reader.read(text.encode()).text == text


def test_no_entity_is_expanded() -> None:
    text = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname"><!ENTITY c "d">]><a>&b;&c;</a>'
    assert xml_reader.read(text.encode()).text == text
