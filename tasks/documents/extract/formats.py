"""The formats that can be read: one for each module in `readers`, named after its extension."""

import pkgutil
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Protocol, cast

from tasks.documents.extract.embedded import with_embedded
from tasks.documents.extract.text_writer import Reading, Source
from tasks.errors import UnsupportedFormat

_VERSION = re.compile(r'^VERSION: Final = "([^"]+)"$', re.MULTILINE)


class Reader(Protocol):
    """What a module of `readers` offers. `VERSION` changes whenever the same file would give another text."""

    VERSION: str
    read: Callable[[Source], Reading]


_FOLDER = Path(__file__).parent


def _is_format(module: pkgutil.ModuleInfo) -> bool:
    return module.ispkg and (_FOLDER / module.name / "reader.py").exists()


def module_of(extension: str) -> str:
    """The name of the module that reads a format."""
    return f"tasks.documents.extract{extension}.reader"


@cache
def supported() -> tuple[str, ...]:
    """The extensions that can be read, in order: `(".docx", ".pdf", …)`."""
    return tuple(sorted(f".{module.name}" for module in pkgutil.iter_modules([str(_FOLDER)]) if _is_format(module)))


def format_of(name: str) -> str:
    """The format (its extension, in lower case) of a document of that name.

    Raises:
        UnsupportedFormat: there is no reader for it; the message names those there are.
    """
    extension = PurePath(name).suffix.lower()
    if extension not in supported():
        what = f'"{extension}"' if extension else "a name without an extension"
        raise UnsupportedFormat(f"No reader for {what}. Supported are {', '.join(supported())}.")
    return extension


def reader(extension: str) -> Reader:
    """The reader of a format.

    Raises:
        UnsupportedFormat: there is none.
    """
    if extension not in supported():
        raise UnsupportedFormat(f'No reader for "{extension}". Supported are {", ".join(supported())}.')
    return cast("Reader", import_module(module_of(extension)))


@cache
def version(extension: str) -> str:
    """The version of a format's reader, with which its texts are kept: `docx-1`.

    Taken from the reader's source: who hands documents to other processes need not load PDFium and the rest (0.13 s).

    Raises:
        UnsupportedFormat: there is none.
    """
    module = find_spec(module_of(extension)) if extension in supported() else None
    source = module.loader.get_source(module.name) if module and isinstance(module.loader, InspectLoader) else None
    written = _VERSION.search(source or "")
    return written[1] if written else reader(extension).VERSION


def read_document(source: Source | str, extension: str | None = None) -> Reading:
    """Read a document, with what is embedded in it, in this very process; the pool runs this in one of its own.

    Args:
        source: the path of its file, or what is in it.
        extension: its format; that of the path when none is given.

    Raises:
        UnsupportedFormat, Unreadable, TooLarge: it cannot be read.
    """
    if isinstance(source, str):
        source = Path(source)
    if extension is None:
        extension = format_of("" if isinstance(source, bytes) else source.name)
    return with_embedded(reader(extension).read(source), _read_embedded, supported())


def _read_embedded(data: bytes, extension: str) -> Reading:
    return reader(extension).read(data)
