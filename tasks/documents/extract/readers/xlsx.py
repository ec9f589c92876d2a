"""Workbooks: sheets in order, hidden ones too; on each its cells row by row, then what stands round and over them.

Comments come first of these, then text boxes, charts, diagrams, at last printed headers and footers.
"""

from typing import Final

from tasks.documents.extract import second
from tasks.documents.extract.office import attached
from tasks.documents.extract.office.package import CUT_OFF, Package
from tasks.documents.extract.reading import Reading, Source, Writer
from tasks.documents.extract.spreadsheet.around import Surroundings
from tasks.documents.extract.spreadsheet.pieces import pieces
from tasks.documents.extract.spreadsheet.sheet import Scanner
from tasks.documents.extract.spreadsheet.workbook import Workbook

CLIPPED: Final = "A cell holds more than a million characters: the rest of them was left out."

VERSION: Final = "xlsx-2"


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return second.asked_after(_read, second.xlsx, source)


def _read(source: Source) -> Reading:
    writer = Writer()
    with Package(source) as package:
        workbook = Workbook(package)
        scanner = Scanner(writer, workbook.kinds)
        surroundings = Surroundings(package, writer)
        read: set[str] = set()
        for sheet in workbook.sheets():
            with writer.part("sheet", sheet.name):
                writer.text(sheet.name)
                if sheet.part not in package:
                    package.note_damage()
                elif sheet.part not in read:
                    read.add(sheet.part)
                    printed = scanner.scan(pieces(package.chunks(sheet.part), b"row"))
                    surroundings.write(sheet.part)
                    for line in printed:
                        writer.text(line)
            if not scanner.whole:
                package.note_damage()
            if scanner.cut:
                writer.warn(scanner.cut)
                break
        attached.hand_on(package, surroundings.enclosed, writer)
        if workbook.kinds.clipped:
            writer.warn(CLIPPED)
        if package.damaged:
            writer.warn(CUT_OFF)
        return writer.reading()
