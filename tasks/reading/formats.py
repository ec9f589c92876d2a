"""The formats that can be read, and their readers.

Those that the program reads itself stand in one table, `OURS`. Others are added by a folder beside this module, or a
module in another package (`tasks.plugins`), that declares a `FORMAT` and names a module that offers `read`. Readers are
only loaded when a document needs them: code that passes documents to other processes does not pay for PDFium and lxml
(0.13 s).

Whether LibreOffice is installed is asked here without loading what converts documents.
"""

import os
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from shutil import which
from typing import Final, cast

from tasks.child_process import only_absolute
from tasks.errors import UnsupportedFormat
from tasks.plugins import load_plugin, plugins
from tasks.reading.text_writer import Reading, Source

Read = Callable[[Source], Reading]


@dataclass(frozen=True)
class DocumentFormat:
    """What is known of a format.

    Attributes:
        extensions: the file name extensions (".docx"), in lower case. The first one names the format everywhere else.
        mime_types: the MIME types, the registered one first.
        version: the version of the reader, under which its texts are stored ("docx-2"). It must change whenever the
            same file would give another text.
        reader: the module with the reader, a function `read`, or the function itself ("module:function").
        own_mime_types: the registered MIME type of each extension that has another than the first one's.
        better_with: the part of LibreOffice ("libswlo.so") with which the reader reads more than without; "" for none.
        has_second_try: whether a document that took too much time or memory is read once more: the reader leaves out
            then what may have taken it (`limits.is_second_try`), or LibreOffice was held up by others.
    """

    extensions: tuple[str, ...]
    mime_types: tuple[str, ...]
    version: str
    reader: str
    own_mime_types: Mapping[str, str] = field(default_factory=dict, hash=False)
    better_with: str = ""
    has_second_try: bool = False

    def mime_type(self, extension: str) -> str:
        """The registered MIME type for one of the extensions."""
        return self.own_mime_types.get(extension, self.mime_types[0])


_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OPEN: Final = "application/vnd.oasis.opendocument."
_MACROS: Final = ".macroEnabled.12"
_DOCX, _PPTX, _XLSX = "docx-16", "pptx-12", "xlsx-12"
"""The versions of the readers that also read what LibreOffice makes of other formats."""

OURS: Final = (
    DocumentFormat(
        (".csv", ".tsv"), ("text/csv", "application/csv"), "csv-3", "tasks.reading.delimited",
        {".tsv": "text/tab-separated-values"},
    ),
    DocumentFormat(
        (".doc", ".dot"), ("application/msword",), f"doc-1 by {_DOCX}", "tasks.reading.libreoffice:read_doc",
        has_second_try=True,
    ),
    DocumentFormat(
        (".docx", ".docm", ".dotx", ".dotm"), (f"{_OFFICE}wordprocessingml.document",), _DOCX,
        "tasks.reading.docx.reader",
        {
            ".docm": f"application/vnd.ms-word.document{_MACROS}",
            ".dotx": f"{_OFFICE}wordprocessingml.template",
            ".dotm": f"application/vnd.ms-word.template{_MACROS}",
        },
    ),
    DocumentFormat((".eml",), ("message/rfc822",), "eml-7", "tasks.reading.mail.eml"),
    DocumentFormat(
        (".html", ".htm", ".xhtml"), ("text/html",), "html-4", "tasks.reading.html.reader",
        {".xhtml": "application/xhtml+xml"},
    ),
    DocumentFormat((".json",), ("application/json",), "json-2", "tasks.reading.txt"),
    DocumentFormat((".md", ".markdown"), ("text/markdown", "text/x-markdown"), "md-3", "tasks.reading.markdown"),
    DocumentFormat((".mbox",), ("application/mbox",), "mbox-1", "tasks.reading.mail.eml:read_mailbox"),
    DocumentFormat(
        (".mhtml", ".mht"), ("multipart/related", "application/x-mimearchive"), "mhtml-1",
        "tasks.reading.mail.eml:read_web_archive",
    ),
    DocumentFormat((".msg",), ("application/vnd.ms-outlook",), "msg-6", "tasks.reading.mail.msg"),
    DocumentFormat(
        (".odp", ".otp", ".fodp"), (f"{_OPEN}presentation",), f"odp-6 by {_PPTX}",
        "tasks.reading.odf:read_presentation",
        {".otp": f"{_OPEN}presentation-template", ".fodp": f"{_OPEN}presentation-flat-xml"},
        better_with="libsdlo.so",
    ),
    DocumentFormat(
        (".ods", ".ots", ".fods"), (f"{_OPEN}spreadsheet",), "ods-4", "tasks.reading.odf",
        {".ots": f"{_OPEN}spreadsheet-template", ".fods": f"{_OPEN}spreadsheet-flat-xml"},
    ),
    DocumentFormat(
        (".odt", ".ott", ".fodt"), (f"{_OPEN}text",), f"odt-6 by {_DOCX}", "tasks.reading.odf:read_text",
        {".ott": f"{_OPEN}text-template", ".fodt": f"{_OPEN}text-flat-xml"}, better_with="libswlo.so",
    ),
    DocumentFormat(
        (".p7m",), ("application/pkcs7-mime", "application/x-pkcs7-mime"), "p7m-1",
        "tasks.reading.mail.eml:read_signed",
    ),
    DocumentFormat((".pdf",), ("application/pdf",), "pdf-37", "tasks.reading.pdf.reader", has_second_try=True),
    DocumentFormat(
        (".png", ".jpg", ".jpeg", ".tif", ".tiff"), ("image/png", "image/jpeg", "image/tiff"), "image-2",
        "tasks.reading.image",
        {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".tif": "image/tiff", ".tiff": "image/tiff"},
    ),
    DocumentFormat(
        (".ppt", ".pps", ".pot"), ("application/vnd.ms-powerpoint",), f"ppt-1 by {_PPTX}",
        "tasks.reading.libreoffice:read_ppt", has_second_try=True,
    ),
    DocumentFormat(
        (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"), (f"{_OFFICE}presentationml.presentation",), _PPTX,
        "tasks.reading.pptx.reader",
        {
            ".pptm": f"application/vnd.ms-powerpoint.presentation{_MACROS}",
            ".ppsx": f"{_OFFICE}presentationml.slideshow",
            ".ppsm": f"application/vnd.ms-powerpoint.slideshow{_MACROS}",
            ".potx": f"{_OFFICE}presentationml.template",
            ".potm": f"application/vnd.ms-powerpoint.template{_MACROS}",
        },
    ),
    DocumentFormat(
        (".rtf",), ("application/rtf", "text/rtf"), f"rtf-6 by {_DOCX}", "tasks.reading.libreoffice:read_rtf",
        better_with="libswlo.so",
    ),
    DocumentFormat((".txt",), ("text/plain",), "txt-3", "tasks.reading.txt"),
    DocumentFormat((".xls", ".xlt"), ("application/vnd.ms-excel",), "xls-8", "tasks.reading.binary_workbooks:read_xls"),
    DocumentFormat(
        (".xlsb",), ("application/vnd.ms-excel.sheet.binary.macroenabled.12",), f"xlsb-8 by {_XLSX}",
        "tasks.reading.binary_workbooks:read_xlsb", better_with="libsclo.so",
    ),
    DocumentFormat(
        (".xlsx", ".xlsm", ".xltx", ".xltm"), (f"{_OFFICE}spreadsheetml.sheet",), _XLSX,
        "tasks.reading.xlsx.reader",
        {
            ".xlsm": f"application/vnd.ms-excel.sheet{_MACROS}",
            ".xltx": f"{_OFFICE}spreadsheetml.template",
            ".xltm": f"application/vnd.ms-excel.template{_MACROS}",
        },
    ),
    DocumentFormat((".xml", ".xbrl"), ("application/xml", "text/xml"), "xml-8", "tasks.reading.xml_text"),
)  # fmt: skip
"""The formats that the program reads itself."""


@cache
def all_formats() -> tuple[DocumentFormat, ...]:
    """The formats in `OURS`, of further folders, and of other packages (`tasks.plugins`)."""
    modules = pkgutil.iter_modules(import_module(__package__).__path__, f"{__package__}.")
    folders = [import_module(name) for name in sorted(module.name for module in modules if module.ispkg)]
    added = (load_plugin(name, module) for name, module in sorted(plugins("diligence.formats").items()))
    found = [*folders, *(module for module in added if module is not None)]
    return (*OURS, *(package.FORMAT for package in found if hasattr(package, "FORMAT")))


@cache
def list_supported() -> tuple[str, ...]:
    """The extensions that can be read, in order: `(".docx", ".pdf", …)`."""
    return tuple(sorted(_by_extension()))


@cache
def names() -> tuple[str, ...]:
    """The formats by their first extensions, in order: shown to users, because all extensions are too many."""
    return tuple(sorted(known.extensions[0] for known in all_formats()))


def find_format(name: str) -> str:
    """The format of a document with this file name, as the format's first extension (".docx").

    Raises:
        UnsupportedFormat: there is no reader for it; the message names those there are.
    """
    return _format(PurePath(name).suffix.lower()).extensions[0]


@cache
def find_format_by_mime_type(mime_type: str) -> str | None:
    """The format with this MIME type; None if there is no reader for it."""
    return next(
        (
            known.extensions[0]
            for known in all_formats()
            if mime_type in known.mime_types or mime_type in known.own_mime_types.values()
        ),
        None,
    )


def mime_type(extension: str) -> str:
    """The MIME type of files with this extension.

    Raises:
        UnsupportedFormat: there is no reader for it.
    """
    return _format(extension).mime_type(extension)


def version(extension: str) -> str:
    """The version of a format's reader, under which its texts are stored: "docx-2".

    It differs while a part of LibreOffice with which the reader reads more is missing: such texts are read again once
    that is installed.

    Raises:
        UnsupportedFormat: there is no reader for it.
    """
    known = _format(extension)
    whole = not known.better_with or program(known.better_with) is not None
    return known.version if whole else f"{known.version} without LibreOffice"


def has_second_try(extension: str) -> bool:
    """Whether a document of this format that took too much time or memory is read a second time."""
    known = _by_extension().get(extension)
    return known is not None and known.has_second_try


def reader(extension: str) -> Read:
    """The function that reads documents of a format; its module is loaded when it is first needed.

    Raises:
        UnsupportedFormat: no reader reads that format.
    """
    module, _, function = _format(extension).reader.partition(":")
    return cast("Read", getattr(import_module(module), function or "read"))


@cache
def _by_extension() -> dict[str, DocumentFormat]:
    # Reversed: what the program reads itself no other package reads.
    return {extension: known for known in reversed(all_formats()) for extension in known.extensions}


def _format(extension: str) -> DocumentFormat:
    try:
        return _by_extension()[extension]
    except KeyError:
        what = f'"{extension}"' if extension else "a name without an extension"
        raise UnsupportedFormat(f"No reader for {what}.", names()) from None


def program(library: str) -> Path | None:
    """The LibreOffice on the path that has this part; None where there is none."""
    path = only_absolute(os.environ.get("PATH", os.defpath))
    found = which("soffice", path=path) or which("libreoffice", path=path)
    if found is None:
        return None
    start = Path(found).resolve()
    binary = start.with_name("soffice.bin")  # which the script `soffice` starts by way of a splash screen
    if not binary.exists():
        return start if sys.platform == "darwin" else None
    return binary if (start.parent / library).exists() else None
