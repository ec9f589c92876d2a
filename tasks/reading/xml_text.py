"""XML (.xml) as text: its lines stay as they are in the file, unless it is a document of a kind that is known.

A workbook in XML is read as a workbook, a Word document in XML as a document, an XBRL instance and Austrian and Polish
accounts as their facts. Other XML is not parsed: nothing is expanded, nothing is downloaded, and it need not be well
formed.

Excel 2002 and 2003 save workbooks in one XML file, as many exports still do ("XML Spreadsheet 2003", also under the
name .xls). [MS-OI29500] knows it as SpreadsheetML 2003, its namespace is urn:schemas-microsoft-com:office:spreadsheet.
The file is read cell by cell: only one of them is in memory, no entity is expanded, nothing fetched, and what is
damaged or cut off gives the cells before.
"""

import base64
import contextlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import ClassVar, Final, cast

from lxml import etree

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.language.periods import months_back
from tasks.reading import limits
from tasks.reading import txt as plain_text
from tasks.reading.docx import reader as docx
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.number_formats import show_number, without_noise
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.ooxml.xml import ElementStream, forget, whole_characters
from tasks.reading.text_writer import FOOTER, HEADER, TAGGED, Reading, Source, Writer
from tasks.reading.txt import TOO_LONG
from tasks.reading.xbrl import RESOURCES, Fact, Tags, local
from tasks.reading.xlsx.reader import CellsFullError, SheetWriter
from tasks.reading.xlsx.sheet import LATE, split_printed_words

_DECLARATION: Final = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']""")


def read(source: Source) -> Reading:
    """The text of the file in `source`, in its declared encoding; of a file above 64 MB the first 64 MB.

    A declaration that the bytes contradict is ignored.
    """
    data, complete = plain_text.read_beginning(source)
    if is_spreadsheet(data):
        return read_workbook(data, complete=complete)
    if complete and _is_word(data):
        return _read_word(data)
    head = data[:_HEAD]
    if _XBRL in head and _INSTANCE_ROOT.search(head):
        return _read_facts(data, _Instance(), complete=complete)
    for namespaces, accounts in ((_OF_POLAND, _PolishAccounts), (_OF_AUSTRIA, _AustrianAccounts)):
        if any(namespace in data[:_CHUNK] for namespace in namespaces):  # a signature may stand before the accounts
            return _read_facts(data, accounts(), complete=complete)
    return plain_text.read(data if complete else source, _read_declaration)


def _read_declaration(data: bytes) -> str | None:
    match = _DECLARATION.match(data[:1000])
    return match[1].decode() if match else None


# Word documents in one XML file: the flat form of a package, which holds the parts of a .docx as elements ("Flat OPC",
# https://learn.microsoft.com/openspecs/office_standards/ms-docx), and Word 2003, which has the same body under another
# namespace.
_PACKAGE: Final = "http://schemas.microsoft.com/office/2006/xmlPackage"
_OLD: Final = b"http://schemas.microsoft.com/office/word/2003/wordml"
_NEW: Final = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+<(?:[\w.-]++:)?(package|wordDocument)(?=\s)([^<>]*+)>",
    re.DOTALL,
)
_WORD_MAIN: Final = (
    "_rels/.rels",
    (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Type='
        b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        b'Target="word/document.xml"/></Relationships>'
    ),
)


def _is_word(data: bytes) -> bool:
    """Whether an XML file is a Word document in one of the two forms."""
    root = _WORD_ROOT.match(data)
    return root is not None and (_PACKAGE.encode() if root[1] == b"package" else _OLD) in root[2]


def _read_word(data: bytes) -> Reading:
    """The text of the document.

    Raises:
        Damaged: it is no whole XML, or holds no document.
    """
    try:
        root = etree.fromstring(data, xml.parser(recover=True))
    except etree.XMLSyntaxError as error:
        raise Damaged("The file is damaged: it is not valid XML. Ask for it again.") from error
    if root is None:
        raise Damaged("The file is damaged: it is not valid XML. Ask for it again.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in _parts(root):
            package.writestr(name, content)
    return docx.read(packed.getvalue())


def _parts(root: etree._Element) -> Iterator[tuple[str, bytes]]:
    if etree.QName(root).localname == "wordDocument":
        document = etree.tostring(root).replace(_OLD, _NEW)
        yield _WORD_MAIN
        yield "word/document.xml", document.replace(b":wordDocument", b":document")
        return
    for part in root.iterfind(f"{{{_PACKAGE}}}part"):
        name = part.get(f"{{{_PACKAGE}}}name", "").lstrip("/")
        for content in part:
            kind = etree.QName(content).localname
            if kind == "xmlData" and len(content):
                yield name, etree.tostring(content[0])
            elif kind == "binaryData":
                with contextlib.suppress(ValueError):  # binascii.Error: a part that is damaged
                    yield name, base64.b64decode(content.text or "")


# XBRL instances (.xbrl, .xml): accounts of tags alone, read as events by the XBRL 2.1 specification; a line for a fact.
_INSTANCE_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?xbrl[\s>]")
_XBRL: Final = b"http://www.xbrl.org/2003/instance"
_HEAD: Final = 8192
_CHUNK: Final = 1 << 16
_MARKUP: Final = re.compile(r"<[^<>]*>|&\w+;")
_HUMP: Final = re.compile(r"(?<!RZi)(?<=[a-z])(?=[A-Z])")


def _read_facts(data: bytes, target: "_Instance", *, complete: bool) -> Reading:
    """The facts of accounts, each with its name, period, unit and value; `complete`: this is the whole file."""
    writer = Writer()
    if not complete:
        writer.warn(plain_text.TOO_LONG)
    parser = xml.parser(recover=True, target=target)
    try:
        for at in range(0, len(data), _CHUNK):
            if limits.is_near():
                writer.warn(plain_text.TOO_LONG)
                break
            parser.feed(data[at : at + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:
        writer.warn("The file is damaged: only its beginning was read.")
    for fact in target.facts:
        words = one_line(_MARKUP.sub(" ", "".join(fact.words)))
        tag = target.tags.tag(fact) if "unitref" in fact.attributes else None
        named = _HUMP.sub(" ", fact.name)
        of_when = f", {tag.period.replace('/', ' to ')}: {tag.unit} " if tag is not None and tag.period else ": "
        if words:
            start = writer.position + len(named) + len(of_when)
            writer.line(named + of_when + words)
            if tag is not None:
                writer.mark(start, start + len(words), TAGGED, tag.label)
    for name, content in target.enclosed:
        try:
            writer.attach(name, base64.b64decode(content))
        except ValueError:  # binascii.Error: a file that is damaged
            writer.attach(name, None)
    return writer.reading()


class _Instance:
    """The target to which the parser reports its events."""

    def __init__(self) -> None:
        self.tags = Tags()
        self.facts: list[Fact] = []
        self.enclosed: list[tuple[str, str]] = []
        self._open: Fact | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the beginning of an element."""
        name = local(tag)
        plain = {key.lower(): value for key, value in attributes.items()}
        if name.lower() in RESOURCES and "contextref" not in plain:
            self.tags.resource(name.lower(), plain)
        elif "contextref" in plain:
            self._open = Fact(name, plain)
            self.facts.append(self._open)

    def data(self, text: str) -> None:
        """Handle characters."""
        self.tags.words(text)
        if self._open is not None:
            self._open.words.append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if (name := local(tag).lower()) in RESOURCES:
            self.tags.end_resource(name)
        elif self._open is not None and local(tag) == self._open.name:
            self._open = None

    def close(self) -> None:
        """Handle the end of the file."""


# Polish accounts (https://www.gov.pl/web/kas/struktury-e-sprawozdan): each line of the law's forms is an element, whose
# amounts of this year and of the year before are elements in it.
_OF_POLAND: Final = (b"www.mf.gov.pl/schematy/SF/", b"www.gov.pl/static/finanse/SF/")
_THIS_YEAR, _LAST_YEAR, _BEGIN, _END = "KwotaA", "KwotaB", "OkresOd", "OkresDo"
_DAYS: Final = {_BEGIN: _BEGIN, _END: _END, "DataOd": _BEGIN, "DataDo": _END}
_PERIOD: Final = "P_3"
"""The element whose days are the period, in accounts without a heading."""

_BALANCE, _INCOME = "Bilans", "RZiS"
_FORMS: Final = frozenset({_BALANCE, *(f"{_BALANCE}Jednostka{kind}" for kind in ("Inna", "Mala", "Mikro", "Op"))})
"""The balance sheets of companies and associations. The same lines of banks and insurers mean something else."""

_FILE, _FILE_NAME, _CONTENT = "Plik", "Nazwa", "Zawartosc"
_AMOUNT: Final = re.compile(r"Kwota[AB]\d?")
_NOT_READ: Final = frozenset({_CONTENT, "SignedInfo", "SignatureValue", "KeyInfo", "QualifyingProperties"})
"""An enclosed file, and the signature, which may itself enclose the accounts."""


def _is_markup(tag: str) -> bool:
    """Whether it is an element of HTML in an explanation; names of the law's forms begin with capitals."""
    return local(tag)[:1].islower()


class _Accounts(_Instance):
    """The facts of accounts in which each line of the law's forms is an element, under contexts such as XBRL has."""

    def __init__(self) -> None:
        super().__init__()
        self._path: list[str] = []
        self._words: list[list[str]] = [[]]
        self._days: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the parser calls it so
        """Handle the beginning of an element."""
        if _is_markup(tag):
            self._words[-1].append("\n")
        else:
            self._path.append(local(tag))
            self._words.append([])

    def data(self, text: str) -> None:
        """Handle characters."""
        self._words[-1].append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if not _is_markup(tag) and self._path:
            self._element(local(tag), "".join(self._path[-2:-1]), self._words.pop())
            del self._path[-1:]

    def _element(self, name: str, over: str, words: list[str]) -> None:
        """Take in an element with its words; `over` is the one around it."""

    def _declare(self, resource: str, name: str, **words: date | str) -> None:
        self.tags.resource(resource, {"id": name})
        for element, each in words.items():
            self.tags.resource(element, {})
            self.tags.words(str(each))
            self.tags.end_resource(element)
        self.tags.end_resource(resource)


class _PolishAccounts(_Accounts):
    """Polish accounts; a line of income is named after its form too."""

    _file_name = ""

    def _element(self, name: str, over: str, words: list[str]) -> None:
        if self._path[-2:] == [_FILE, _FILE_NAME]:
            self._file_name = one_line("".join(words))
        elif self._path[-2:] == [_FILE, _CONTENT]:
            self.enclosed.append((self._file_name, "".join(words)))
        if _NOT_READ.isdisjoint(self._path):
            if name in {_BEGIN, _END} or (name in _DAYS and over == _PERIOD):
                self._days.setdefault(_DAYS[name], "".join(words).strip())
            self.facts.append(self._amount(name, over, words) if _AMOUNT.fullmatch(name) else Fact(name, {}, words))

    def _amount(self, name: str, line: str, words: list[str]) -> Fact:
        """An amount of a line of a form: this year's, last year's, or another one of that line."""
        form = next((each for each in reversed(self._path) if each.startswith((_BALANCE, _INCOME))), "")
        kind = _INCOME if form.startswith(_INCOME) else _BALANCE if form in _FORMS else ""
        line = f"{form}.{line}" if kind == _INCOME else line
        if not kind or name not in {_THIS_YEAR, _LAST_YEAR}:
            return Fact(f"{line}, {name}", {}, words)
        scale = "3" if any(each.endswith("WTys") for each in self._path) else "0"
        return Fact(line, {"contextref": kind + name, "unitref": "PLN", "scale": scale}, words)

    def close(self) -> None:
        """Handle the end of the file: its days say which time the amounts are of."""
        with contextlib.suppress(KeyError, ValueError, OverflowError):
            begin, end = (date.fromisoformat(self._days[name]) for name in (_BEGIN, _END))
            before = begin - timedelta(1)
            self._declare("context", _BALANCE + _THIS_YEAR, instant=end)
            self._declare("context", _INCOME + _THIS_YEAR, startdate=begin, enddate=end)
            self._declare("context", _BALANCE + _LAST_YEAR, instant=before)
            if months_back(end, 12) == before:
                earlier = months_back(before, 12) + timedelta(1)
                self._declare("context", _INCOME + _LAST_YEAR, startdate=earlier, enddate=before)
            self._declare("unit", "PLN", measure="PLN")


# Austrian accounts (structured annual accounts of the commercial register, https://justizonline.gv.at, JAb 3 and 4.0):
# each line of UGB § 224 and § 231 is an element with its amounts of this year and of the year before.
_OF_AUSTRIA: Final = (b"https://finanzonline.bmf.gv.at/bilanz", b"ns://justiz.gv.at/Bilanzierung/")
_YEARS: Final = {
    "GJ": "this", "GESCHAEFTSJAHR": "this", "VOR_GJ": "last", "GESCHAEFTSJAHR_VORANGEGANGEN": "last",
    "DARSTELLUNG_EINGEREICHT": "this", "DARSTELLUNG_VORHERGEHEND": "last",
}  # fmt: skip
"""The elements around what is said of a year."""

_OF_YEARS: Final = {"BETRAG": "this", "BETRAG_GJ": "this", "BETRAG_VJ": "last"}
_EMPLOYEES: Final = "HGB_Form_3_16"
_CURRENCIES: Final = frozenset({"WAEHRUNG", "BILANZ_WAEHRUNG"})
_SCALES: Final = {"WERT_TSD": {"N": "0", "J": "3"}, "EINHEIT": {"E": "0", "T": "3"}}
"""What says whether the amounts of a year are in thousands, and the power of ten that each word of it means."""


class _AustrianAccounts(_Accounts):
    """Austrian accounts; a year whose amounts are in thousands in one place and not in another has no unit, nor has one
    with a word for it that is not known.
    """

    def __init__(self) -> None:
        super().__init__()
        self._scales: dict[str, set[str]] = {"this": set(), "last": set()}
        self._amounts: list[tuple[str, dict[str, str]]] = []
        self._currency = ""

    def _element(self, name: str, over: str, words: list[str]) -> None:
        said = "".join(words).strip()
        if over in _YEARS and name in {"BEGINN", "ENDE"}:
            self._days.setdefault(f"{_YEARS[over]} {name}", said)
        elif over in _YEARS and name in _SCALES:
            self._scales[_YEARS[over]].add(_SCALES[name].get(said.upper(), "?"))
        elif name in _CURRENCIES:
            self._currency = said
        if over == "POSTENZEILE" and name in _OF_YEARS and said:
            kind = "flow" if any(each.startswith(("HGB_231", "GUV")) for each in self._path) else "stock"
            year = _OF_YEARS[name]
            attributes = {"contextref": f"{kind} {year}"}
            self.facts.append(Fact("".join(self._path[-3:-2]), attributes, words))
            self._amounts.append((year, attributes))
        elif over == _EMPLOYEES and name == "ANZAHL":
            self.facts.append(Fact(over, {"contextref": "flow this", "unitref": "pure"}, words))
        elif said:
            self.facts.append(Fact(name, {}, words))

    def close(self) -> None:
        """Handle the end of the file: its days say which time the amounts are of, its head in which unit they are."""
        self._declare("unit", "money", measure=self._currency)
        self._declare("unit", "pure", measure="pure")
        for year, attributes in self._amounts:
            scale = "".join(self._scales[year] or "0")
            attributes.update({"unitref": "money", "scale": scale} if scale in {"0", "3"} else {"unitref": "unclear"})
        for year in self._scales:
            with contextlib.suppress(KeyError, ValueError):
                begin, end = (date.fromisoformat(self._days[f"{year} {day}"]) for day in ("BEGINN", "ENDE"))
                self._declare("context", f"stock {year}", instant=end)
                self._declare("context", f"flow {year}", startdate=begin, enddate=end)


STANDING: Final = (
    "Formulas without a stored value are shown as formulas: open the workbook in a spreadsheet program and save it, so "
    "that it holds their values."
)
_SS: Final = "{urn:schemas-microsoft-com:office:spreadsheet}"
_X: Final = "{urn:schemas-microsoft-com:office:excel}"
_DATA: Final = _SS + "Data"
_INDEX: Final = _SS + "Index"
_SPAN: Final = _SS + "Span"
_STYLE: Final = _SS + "StyleID"
_HIDDEN: Final = _SS + "Hidden"
_ROOT: Final = re.compile(
    r"\ufeff?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:[\w.-]++:)?Workbook(?=\s)[^<>]*?urn:schemas-microsoft-com:office:spreadsheet",
    re.DOTALL,
)
_WORKBOOK_HEAD: Final = 4096
_SHEETS: Final = re.compile(rb"<(?:[\w.-]++:)?(?:(Worksheet)(?=[\s>])|Visible\s*+>\s*+Sheet(?:Very)?Hidden)")
_CODES: Final = {
    "Short Date": "yyyy-mm-dd", "Medium Date": "yyyy-mm-dd", "Long Date": "yyyy-mm-dd",
    "General Date": "yyyy-mm-dd h:mm", "Short Time": "h:mm", "Medium Time": "h:mm", "Long Time": "h:mm:ss",
    "Percent": "0.00%", "Currency": '"$"#,##0.00', "Euro Currency": "[$€-2] #,##0.00",
    "General Number": "", "General": "", "Fixed": "", "Standard": "", "Scientific": "",
}  # fmt: skip
"""Formats that the file refers to by name."""

_PRINTED: Final = {f"{_X}Header": HEADER, f"{_X}Footer": FOOTER}
_MOST_STYLES: Final = 100_000
_MOST_PARENTS: Final = 20  # styles, each based on the next
_LONGEST: Final = 1 << 20
_LAST_ROW: Final = 1 << 20
_DAY_ZERO: Final = ("1899-12-30", "1899-12-31", "1900-01-00", "1904-01-01")


def is_spreadsheet(data: bytes) -> bool:
    """Whether this is the beginning of such a workbook."""
    wide = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
    return _ROOT.match(data[:_WORKBOOK_HEAD].decode(wide or "utf-8", "replace")) is not None


def read_workbook(data: bytes, *, complete: bool = True) -> Reading:
    """The text of the workbook, by sheet and cells; `complete`: this is the whole file."""
    writer = Writer()
    if not complete:
        writer.warn(TOO_LONG)
    encoding = None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data, encoding = data.decode("utf-16", "replace").encode("utf-8", "replace"), "utf-8"
    workbook = _Workbook(writer, _hidden_sheets(data))
    pieces = whole_characters(data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK))
    try:
        for begins, element in ElementStream(pieces, _Workbook.TAGS, encoding):
            workbook.take(element, begins=begins)
            if limits.is_near():
                workbook.sheets.cut = LATE
                break
    except CellsFullError:
        pass
    workbook.end_sheet()
    cut = workbook.sheets.cut or (CUT_OFF if complete and not workbook.ended else None)
    if cut is not None:
        writer.warn(cut)
    return writer.reading()


def _hidden_sheets(data: bytes) -> set[int]:
    """The numbers, from 0, of the sheets that say behind their cells that they are hidden."""
    hidden: set[int] = set()
    sheet = -1
    for found in _SHEETS.finditer(data):
        if found[1]:
            sheet += 1
        else:
            hidden.add(sheet)
    return hidden


class _Workbook:
    """Writes sheets as they come. `ended`: all of them have come."""

    def __init__(self, writer: Writer, hidden: set[int]) -> None:
        self.sheets = SheetWriter(writer)
        self.ended = False
        self._writer = writer
        self._hidden = hidden
        self._sheet = -1
        self._codes: dict[str, str] = {}  # by style
        self._parents: dict[str, str] = {}
        self._from_1904 = False
        self._row = -1
        self._row_style = ""
        self._next_row = self._next_cell = self._next_column = 0  # what comes next where no index is given
        self._printed: dict[str, str] = {}

    def take(self, element: etree._Element, *, begins: bool) -> None:
        """Handle an element that begins or ends, in the order of the file."""
        handle = (self._BEGINNINGS if begins else self._ENDS).get(element.tag)
        if handle is not None:
            handle(self, element)
        if not begins:
            forget(element)

    def end_sheet(self, _: etree._Element | None = None) -> None:
        """End the open sheet, if there is one."""
        for words, kind in self._printed.items():
            self.sheets.behind(kind, words)
        self._printed = {}
        self.sheets.end_sheet()

    def _take_style(self, style: etree._Element) -> None:
        if len(self._parents) < _MOST_STYLES:
            name = style.get(f"{_SS}ID", "")
            self._parents[name] = style.get(f"{_SS}Parent", "Default")
            for own in style.iterfind(f"{_SS}NumberFormat"):
                code = _value(own, f"{_SS}Format")
                self._codes[name] = _CODES.get(code, code)

    def _find_code(self, style: str) -> str:
        """The number format of a style, or of one that it is based on, which may stand behind it."""
        for _ in range(_MOST_PARENTS):
            if style in self._codes or style not in self._parents:
                break
            style = self._parents[style]
        return self._codes.get(style, "")

    def _begin_sheet(self, sheet: etree._Element) -> None:
        self.end_sheet()
        self._sheet += 1
        self.sheets.begin_sheet(_value(sheet, f"{_SS}Name"), hidden=self._sheet in self._hidden)
        self._row, self._next_row, self._next_column = -1, 0, 0

    def _take_column(self, column: etree._Element) -> None:
        first = _number(column, _INDEX, self._next_column + 1) - 1
        self._next_column = first + 1 + _number(column, _SPAN, 0)
        if column.get(_HIDDEN) == "1":
            self.sheets.hide_columns(first, self._next_column - 1)

    def _begin_row(self, row: etree._Element) -> None:
        self._row = _number(row, _INDEX, self._next_row + 1) - 1
        self._next_row = self._row + 1 + _number(row, _SPAN, 0)
        self._next_cell = 0
        self._row_style = row.get(_STYLE, "")
        if row.get(_HIDDEN) == "1":
            self.sheets.hide_row(self._row)

    def _take_cell(self, cell: etree._Element) -> None:
        column = _number(cell, _INDEX, self._next_cell + 1) - 1
        self._next_cell = column + 1 + _number(cell, f"{_SS}MergeAcross", 0)
        data = cell.find(_DATA)
        stored, kind = ("", "") if data is None else (_words(data), data.get(f"{_SS}Type", "String"))
        for comment in cell.iterfind(f"{_SS}Comment"):
            self.sheets.comment(self._row, column, _value(comment, f"{_SS}Author"), one_line(_words(comment)))
        if not stored and kind != "String" and (formula := _value(cell, f"{_SS}Formula")):
            self._writer.warn(STANDING)
            shown = formula if formula.startswith("=") else f"={formula}"
        else:
            shown = self._show(stored, kind, cell.get(_STYLE, self._row_style))
        if self.sheets.is_open and 0 <= self._row < _LAST_ROW:
            self.sheets.add(self._row, column, shown)

    def _show(self, stored: str, kind: str, style: str) -> str:
        if kind == "Boolean":
            return {"1": "TRUE", "0": "FALSE"}.get(stored.strip(), stored)
        if kind == "DateTime":
            return _moment(stored.strip())
        if kind != "Number":
            return stored
        code, number = self._find_code(style), stored.strip()
        return show_number(number, code, from_1904=self._from_1904) if code else without_noise(number)

    def _take_printed(self, printed: etree._Element) -> None:
        for words in split_printed_words(_value(printed, f"{_X}Data")):
            self._printed.setdefault(words, _PRINTED[printed.tag])

    def _count_from_1904(self, _: etree._Element) -> None:
        self._from_1904 = True

    def _end(self, _: etree._Element) -> None:
        self.ended = True

    _BEGINNINGS: ClassVar[dict[str, Callable[["_Workbook", etree._Element], None]]] = {
        f"{_SS}Worksheet": _begin_sheet,
        f"{_SS}Row": _begin_row,
        f"{_X}Date1904": _count_from_1904,
    }
    _ENDS: ClassVar[dict[str, Callable[["_Workbook", etree._Element], None]]] = {
        f"{_SS}Style": _take_style,
        f"{_SS}Column": _take_column,
        f"{_SS}Cell": _take_cell,
        f"{_SS}Worksheet": end_sheet,
        f"{_SS}Workbook": _end,
        **dict.fromkeys(_PRINTED, _take_printed),
    }
    TAGS: ClassVar = (*_BEGINNINGS, *_ENDS, f"{_SS}NamedRange", f"{_X}*")


def _words(element: etree._Element) -> str:
    """The text of an element and of what is in it, without entities, which `itertext` would name."""
    text = "".join(cast("list[str]", element.xpath(".//text()"))) if len(element) else element.text or ""
    return text[:_LONGEST]


def _number(element: etree._Element, name: str, otherwise: int) -> int:
    """A count or an index; `otherwise` if it is not a number."""
    value = element.get(name)
    return int(value) if value is not None and value.isdecimal() and len(value) < 8 else otherwise


def _value(element: etree._Element, name: str) -> str:
    """An attribute's value, in which the parser, which is to expand nothing, leaves `&#38;` for `&amp;`."""
    return element.get(name, "")[:_LONGEST].replace("&#38;", "&")


def _moment(stored: str) -> str:
    """A date (`2004-05-01T00:00:00.000`) as cells show it: only the day at midnight, only the time on day zero."""
    try:
        moment = datetime.fromisoformat(stored)
    except ValueError:
        return stored
    time = moment.strftime("%H:%M:%S")
    if stored.startswith(_DAY_ZERO):
        return time
    return stored[:10] if time == "00:00:00" else f"{stored[:10]} {time}"
