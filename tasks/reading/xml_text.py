"""XML (.xml) as text: its lines stay as they are in the file, unless it is a document of a kind that is known.

A Word document in XML is read as a document, an XBRL instance and Austrian and Polish accounts as their facts. Other
XML is not parsed: nothing is expanded, nothing is downloaded, and it need not be well formed. A workbook in one XML
file ("XML Spreadsheet 2003", as accounting programs export them, mostly under the name .xls) is read by LibreOffice.
"""

import base64
import contextlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from lxml import etree

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.language.periods import months_back
from tasks.reading import limits
from tasks.reading import txt as plain_text
from tasks.reading.docx import reader as docx
from tasks.reading.libreoffice import XML, read_through
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.package import Package
from tasks.reading.tags import RESOURCES, Fact, Tags, local
from tasks.reading.text_writer import TAGGED, Reading, Source, Writer
from tasks.reading.xlsx import reader as xlsx

TIMES: Final = "Times of day, printed headers and footers of the workbook are left out."
_WORKBOOK: Final = "urn:schemas-microsoft-com:office:spreadsheet"
_DECLARATION: Final = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']""")


def read(source: Source) -> Reading:
    """The text of the file in `source`, in its declared encoding; of a file above 64 MB the first 64 MB.

    A declaration that the bytes contradict is ignored.
    """
    data, complete = plain_text.read_beginning(source)
    if complete and _is_word(data):
        return _read_word(data)
    head = data[:_HEAD]
    if _XBRL in head and _INSTANCE_ROOT.search(head):
        return _read_facts(data, _Instance(), complete=complete)
    for namespaces, accounts in ((_OF_POLAND, _PolishAccounts), (_OF_AUSTRIA, _AustrianAccounts)):
        if any(namespace in data[:_CHUNK] for namespace in namespaces):  # a signature may stand before the accounts
            return _read_facts(data, accounts(), complete=complete)
    reading = plain_text.read(data if complete else source, _read_declaration)
    is_workbook = complete and _WORKBOOK in reading.text[:_HEAD] and "<!ENTITY" not in reading.text
    return read_through(XML, data, _read_converted, lambda _: reading) if is_workbook else reading


def _read_converted(made: bytes) -> Reading:
    """The text of a workbook that LibreOffice made; it puts footers of its own on each sheet."""
    reading = XML.told(xlsx.read_package(Package(made), with_printed=False))
    return replace(reading, warnings=[*reading.warnings, TIMES])


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
