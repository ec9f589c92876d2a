"""Spreadsheets of OpenDocument and their templates, also as one XML file (.ods, .ots, .fods)."""

from typing import Final

from tasks.reading.odf import document_format

FORMAT: Final = document_format("spreadsheet", (".ods", ".ots", ".fods"), version="ods-4")
