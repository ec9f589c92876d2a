"""Markup, values and Rich Text that mean harm: deep, endless, unclosed, or meant a million times."""

from tests.tasks.reading.hostile_files import MARKER

_RTF = b"{\\rtf1\\ansi " + MARKER.encode() + b"\\par "
_PAGE = f"<p>{MARKER}</p>".encode()
_TICKS = b"|" + b" ".join(b"`" * count for count in range(1, 190)) + b"\n"
_VALUES = f"{MARKER},b\n".encode()
_WORKBOOK = (
    b'<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet><Table><Row><Cell><Data>'
    + MARKER.encode()
    + b"</Data></Cell>"
)


def documents() -> dict[str, bytes]:
    """The documents, by name; each begins with the marker, which must be read."""
    return {
        "deep.html": _PAGE + b"<div>" * 1_000_000 + b"x",
        "mismatched.html": _PAGE + b"<div>" * 20_000 + b"</b>" * 200_000,
        "tables.html": _PAGE + b"<table><tr><td>" * 100_000,
        "spans.html": _PAGE + b"<table>" + b"<tr><td colspan=1000 rowspan=60000>x" * 20_000,
        "rules.html": b"<style>" + b"a," * 500_000 + b"{display:none}</style>" + _PAGE,
        "open_attribute.html": _PAGE + b"<p title='" + b"x" * 20_000_000,
        "line.html": _PAGE + b"word " * 4_000_000,
        "line.csv": _VALUES + b"a," * 10_000_000,
        "open_quotes.csv": _VALUES + b'x,"y\n' * 1_000_000,
        "one_quote.csv": _VALUES + b'x,"' + b"y,z\n" * 2_000_000,
        "quotes.csv": _VALUES + b'"' * 5_000_000,
        "lines.md": MARKER.encode() + b"\n" + b"# a\n" * 3_000_000,
        "ticks.md": MARKER.encode() + b"\n|a|\n|-|\n" + _TICKS * 100,
        "brackets.json": MARKER.encode() + b"[" * 20_000_000,
        "elements.xml": f"<{MARKER}>".encode() + b"<a>" * 5_000_000,
        "cells.xml": _WORKBOOK + b"<Cell/>" * 500_000,
        "comments.xml": _WORKBOOK + b"<Cell><Comment><Data>abc</Data></Comment></Cell>" * 100_000,
        "deep_cells.xml": _WORKBOOK + b"<Cell>" * 500_000,
        "groups.rtf": _RTF + b"{" * 2_000_000,
        "digits.rtf": _RTF + b"\\b" + b"1" * 10_000_000 + b" x",
        "notes.rtf": _RTF + b"{\\footnote x" * 100_000,
        "destinations.rtf": _RTF + b"{\\*\\nothing x" * 300_000,
        "picture.rtf": _RTF + b"{\\pict " + b"00" * 10_000_000,
        "cells.rtf": _RTF + b"\\intbl x\\cell" * 100_000,
        "binary.rtf": _RTF + b"\\bin999999999 x",
    }
