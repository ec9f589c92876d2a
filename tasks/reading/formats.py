"""The formats that can be read, and their readers.

A format is a folder beside this module, or a module in another package (`tasks.plugins`): its `__init__.py` declares a
`FORMAT`, and its reader is a module that offers `read`. To add a format, add its folder. Readers are only loaded when a
document needs them: code that passes documents to other processes does not pay for PDFium and lxml (0.13 s).
"""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Protocol, cast

from tasks.errors import UnsupportedFormat
from tasks.plugins import load_plugin, plugins
from tasks.reading.legacy.installed import program
from tasks.reading.text_writer import Reading, Source


@dataclass(frozen=True)
class DocumentFormat:
    """What a format's folder declares about it.

    Attributes:
        extensions: the file name extensions (".docx"), in lower case. The first one names the format everywhere else.
        mime_types: the MIME types, the registered one first.
        version: the version of the reader, under which its texts are stored ("docx-2"). It must change whenever the
            same file would give another text.
        reader: the name of the module with the reader.
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


class Reader(Protocol):
    """What a reader's module offers."""

    read: Callable[[Source], Reading]


@cache
def all_formats() -> tuple[DocumentFormat, ...]:
    """The formats of all folders, in order of name, followed by those of other packages (`tasks.plugins`)."""
    modules = pkgutil.iter_modules(import_module(__package__).__path__, f"{__package__}.")
    packages = [import_module(name) for name in sorted(module.name for module in modules if module.ispkg)]
    added = (load_plugin(name, module) for name, module in sorted(plugins("diligence.formats").items()))
    found = [*packages, *(module for module in added if module is not None)]
    return tuple(package.FORMAT for package in found if hasattr(package, "FORMAT"))


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


def reader(extension: str) -> Reader:
    """The reader of a format, loaded when first needed.

    Raises:
        UnsupportedFormat: there is none.
    """
    return cast("Reader", import_module(_format(extension).reader))


@cache
def _by_extension() -> dict[str, DocumentFormat]:
    # Reversed: what the program reads itself no other package reads.
    return {extension: known for known in reversed(all_formats()) for extension in known.extensions}


def _format(extension: str) -> DocumentFormat:
    try:
        return _by_extension()[extension]
    except KeyError:
        what = f'"{extension}"' if extension else "a name without an extension"
        raise UnsupportedFormat(f"No reader for {what}. Supported are {', '.join(names())}.") from None
