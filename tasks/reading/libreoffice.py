"""LibreOffice, which opens Office documents from before 2007: one conversion, and the formats that are read by it.

A document is foreign, so LibreOffice gets as little as possible: a profile made for this one conversion, with macros,
links, remembered passwords and proxies off; a folder of its own, deleted afterwards; no network where the kernel can
remove it; the memory limit of the process that starts it, and a time limit. It is a child process in our group and ends
with us, even if we are killed.

Word and PowerPoint documents from before 2007, and Rich Text Format, go through it into our own readers. Without
LibreOffice .rtf is read by striprtf (https://github.com/joshy/striprtf), which only returns the words of the body. What
it would wrongly take for the document's words (deleted text, hidden text) is removed first; table cells are separated
by tabs.
"""

import contextlib
import ctypes
import os
import re
import resource
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from striprtf.striprtf import rtf_to_text

from tasks.child_process import end_with_parent
from tasks.errors import Damaged, PasswordProtected, TookTooLong, TooLarge, Unreadable, UnsupportedFormat
from tasks.files import temporary_folder
from tasks.reading import limits
from tasks.reading.docx import reader as docx
from tasks.reading.formats import program
from tasks.reading.numerals import raise_text
from tasks.reading.ooxml import ole
from tasks.reading.pptx import reader as pptx
from tasks.reading.text_writer import BODY, TABLE, Reading, Source, Writer

_SECONDS: Final = 120.0
"""Where nothing else limits the time; a document of 100 pages takes 3 s, 1.5 of them to start."""

_MEMORY: Final = 1 << 30
_LARGEST: Final = 256 << 20
"""Bytes that it may write into one file."""

_RESTART: Final = 81
"""The exit status with which it asks to be started again, once its profile is made (desktop/source/app/exithelp)."""

_STARTS: Final = 3
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_ITEM: Final = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
_SETTINGS: Final = (
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),  # none but from trusted places, and there are none
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Writer/Content/Update", "Link", "2"),  # never
    ("Office.Calc/Content/Update", "Link", "2"),
    ("Office.Common/Save/Document", "WarnAlienFormat", "false"),
    ("Office.Common/Misc", "UseLocking", "false"),
    ("Inet/Settings", "ooInetProxyType", "2"),  # nobody listens there
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)
_RECALCULATION: Final = ("Office.Calc/Formula/Load", "OOXMLRecalcMode", "0")
"""Always, where programs that do not calculate gave each formula a 0 (officecfg, Office/Calc.xcs)."""


@dataclass(frozen=True)
class Conversion:
    """What LibreOffice turns a format into.

    Attributes:
        extension: of the format (".doc").
        target, target_filter: the extension that is made ("docx"), and LibreOffice's name of it.
        library: the part of LibreOffice that it takes ("libswlo.so").
        package: Debian's package of that part.
        source_filter: LibreOffice's name of the format: nothing else is opened.
        recalculates: whether formulas are computed anew, those with a stored value too.
        share: of the time that is left, what it may take at most.
        lost: what is said of a document that is read without LibreOffice ("Notes are left out.").
    """

    extension: str
    target: str
    target_filter: str
    library: str
    package: str
    source_filter: str
    recalculates: bool = False
    share: float = 0.8
    lost: str = ""

    def told(self, reading: Reading) -> Reading:
        """`reading` with a warning that says how it was made."""
        warning = f"A file from before Office 2007 ({self.extension}): it was read through LibreOffice."
        return replace(reading, warnings=[warning, *reading.warnings])


DOC: Final = Conversion(".doc", "docx", "MS Word 2007 XML", "libswlo.so", "libreoffice-writer", "MS Word 97")
PPT: Final = Conversion(
    ".ppt", "pptx", "Impress MS PowerPoint 2007 XML", "libsdlo.so", "libreoffice-impress", "MS PowerPoint 97"
)
XLSX: Final = Conversion(
    ".xlsx", "xlsx", "Calc MS Excel 2007 XML", "libsclo.so", "libreoffice-calc", "Calc MS Excel 2007 XML",
    recalculates=True, share=0.4,
)  # fmt: skip
"""A workbook with the values of its formulas; most of the time is left for the workbook itself."""

XLSB: Final = replace(
    XLSX, extension=".xlsb", source_filter="Calc MS Excel 2007 Binary", recalculates=False, share=0.8,
    lost="Numbers are shown as stored, comments are left out, and hidden rows and columns are not marked.",
)  # fmt: skip
RTF: Final = replace(
    DOC, extension=".rtf", source_filter="Rich Text Format",
    lost="Notes, comments, headers and footers are left out.",
)  # fmt: skip
ODT: Final = replace(
    RTF, extension=".odt", source_filter="writer8",
    lost="Notes, comments, headers, footers, the numbers of lists and documents inside it are left out.",
)  # fmt: skip
FLAT_ODT: Final = replace(ODT, extension=".fodt", source_filter="OpenDocument Text Flat XML")
ODP: Final = replace(
    PPT, extension=".odp", source_filter="impress8", lost="Comments and documents inside it are left out."
)
FLAT_ODP: Final = replace(ODP, extension=".fodp", source_filter="OpenDocument Presentation Flat XML")
CONVERSIONS: Final = (DOC, PPT)
"""Those without which a format is not read."""

BETTER: Final = (RTF, ODT, ODP, XLSB, XLSX)
"""Those without which less is read of a format."""


def compound(source: Source, stream: str) -> tuple[bytes, ole.Compound]:
    """The file's content, and the file as a compound file with this stream; without the check LibreOffice would open
    anything.

    Raises:
        Damaged: the file is no compound file, or lacks the stream.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    if not data:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    if data.startswith(ole.MAGIC):
        file = ole.Compound(data)
        if file.has_stream(stream):
            return data, file
    raise Damaged("The file is not a document of its name's format. Ask for it again.")


def convert(data: bytes, conversion: Conversion) -> bytes:
    """A document as LibreOffice saves it in another format.

    Raises:
        UnsupportedFormat: LibreOffice, or that part of it, is not installed.
        Damaged: LibreOffice does not open the document.
        TooLarge, TookTooLong: what comes is larger, or takes longer, than it may.
    """
    binary = program(conversion.library)
    if binary is None:
        raise UnsupportedFormat(
            f"Documents of the format {conversion.extension} are read through LibreOffice, which is not installed. "
            f"Install it (package {conversion.package}), or save the document as .{conversion.target}."
        )
    seconds = min(_SECONDS, limits.seconds_left() * conversion.share)
    end = time.monotonic() + seconds
    with temporary_folder() as folder:
        document = folder / f"document{conversion.extension}"
        document.write_bytes(data)
        user = folder / "profile/user"
        user.mkdir(parents=True)
        (user / "registrymodifications.xcu").write_text(_profile(recalculates=conversion.recalculates))
        command = [
            str(binary),
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            *("--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck"),
            f"--infilter={conversion.source_filter}",
            *("--convert-to", f"{conversion.target}:{conversion.target_filter}"),
            *("--outdir", str(folder / "made"), str(document)),
        ]
        for _ in range(_STARTS):
            if _run(command, folder, end) != _RESTART:
                break
        made = folder / f"made/document.{conversion.target}"
        if not made.is_file():
            raise Damaged("The file is cut off or damaged: LibreOffice does not open it. Ask for it again.")
        if made.stat().st_size >= _LARGEST:
            raise TooLarge("The document is too large to be read through LibreOffice. Split it.")
        return made.read_bytes()


def read_through(
    conversion: Conversion, data: bytes, read: Callable[[bytes], Reading], read_alone: Callable[[bytes], Reading]
) -> Reading:
    """What `read` makes of a document that LibreOffice converts, or what `read_alone` makes of it, with a warning.

    LibreOffice may be missing, fail to open the document, take too long, or leave no text.

    Raises:
        Damaged, TooLarge: `read_alone` cannot read it either.
    """
    empty: Reading | None = None
    try:
        reading = read(convert(data, conversion))
        if reading.text:
            return reading
        empty, why = reading, "LibreOffice finds no text in the file"
    except UnsupportedFormat:
        why = f"LibreOffice is not installed (package {conversion.package})"
    except (Unreadable, TookTooLong, TooLarge):
        why = "LibreOffice does not open the file"
    reading = read_alone(data)
    if empty is not None and not reading.text:
        return empty
    return replace(reading, warnings=[f"{why}: it was read without it. {conversion.lost}", *reading.warnings])


def _profile(*, recalculates: bool) -> str:
    settings = (*_SETTINGS, _RECALCULATION) if recalculates else _SETTINGS
    return (
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        + "".join(_ITEM.format(*setting) for setting in settings)
        + "</oor:items>"
    )


def _run(command: list[str], folder: Path, end: float) -> int:
    try:
        with subprocess.Popen(  # noqa: S603 - no shell, and nothing of the document in the command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "PATH": os.defpath,
                "SAL_USE_VCLPLUGIN": "svp",
                "LANG": "C.UTF-8",
            },
            preexec_fn=_make_limits(max(1.0, end - time.monotonic())),  # noqa: PLW1509 - a reading process has one thread
        ) as process:
            try:
                return process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise TookTooLong(
                    "LibreOffice took too long to open the document (DILIGENCE_DOCUMENT_TIMEOUT)."
                ) from None
            finally:
                process.kill()
    except (OSError, subprocess.SubprocessError) as error:
        raise Damaged("LibreOffice could not be started on the document.") from error


def _make_limits(seconds: float) -> Callable[[], None]:
    """A function for LibreOffice to run before it starts: it sets limits, drops the network and
    ties its life to ours.
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    end_with_us = end_with_parent()
    bounds = ((resource.RLIMIT_CPU, int(seconds) + 1), (resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _LARGEST))

    def confine() -> None:
        for kind, most in (*bounds, (resource.RLIMIT_CORE, 0)):
            _, allowed = resource.getrlimit(kind)
            value = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
            with contextlib.suppress(ValueError, OSError):  # macOS does not limit address space
                resource.setrlimit(kind, (value, value))
        # Root's right; for others with a user of their own, where that is allowed.
        if libc is not None and libc.unshare(_CLONE_NEWNET):
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        end_with_us()

    return confine


_DOC_ENCRYPTED: Final = 0x0100
_PPT_ENCRYPTED: Final = 0xF3D1C4DF


def read_doc(source: Source) -> Reading:
    """The text of the Word document in `source`.

    Raises:
        UnsupportedFormat: LibreOffice is not installed.
        Damaged, PasswordProtected, TooLarge, TookTooLong: it cannot be read.
    """
    data, file = compound(source, "WordDocument")
    (flags,) = struct.unpack_from("<H", file.stream("WordDocument").ljust(12, b"\0"), 10)  # [MS-DOC] 2.5.2, fEncrypted
    if flags & _DOC_ENCRYPTED:
        raise PasswordProtected("The document can only be opened with a password. Save it without one.")
    return DOC.told(docx.read(convert(data, DOC)))


def read_ppt(source: Source) -> Reading:
    """The text of the presentation in `source`; raises as `read_doc`."""
    data, file = compound(source, "PowerPoint Document")
    user = file.stream("Current User") if file.has_stream("Current User") else b""
    (token,) = struct.unpack_from("<I", user.ljust(16, b"\0"), 12)  # [MS-PPT] 2.3.2, headerToken
    if token == _PPT_ENCRYPTED:
        raise PasswordProtected("The presentation can only be opened with a password. Save it without one.")
    return PPT.told(pptx.read(convert(data, PPT)))


_START: Final = re.compile(rb"[\s\0\xef\xbb\xbf]*+\{\s*+\\rtf")
_LARGEST_LEGACY: Final = 64 << 20
_LONGEST: Final = 8 << 20
"""Bytes that striprtf is given, at half a microsecond each; a hundred pages take two million."""

_PICTURE: Final = re.compile(rb"[0-9a-fA-F\s]{2000,}+")
_TOO_LONG: Final = "The document is too long: only its beginning was read."
_CELL: Final = "\ue000"
_ROW: Final = "\ue001"
_SIGNS: Final = ((rb"(?:nest)?cell", _CELL), (rb"(?:nest)?row", _ROW))
"""Ends of cells and rows, which come out as characters for private use."""

_SWITCHES: Final = (b"deleted", b"v")
"""Words that begin what is not shown, as a rule to the end of their group."""

_LINK: Final = re.compile(rb"\\fldinst(?![a-z])")
_RAISED: Final = re.compile(
    rb"((?:\\super|(?<=[\s{}])[^\s\\{}]{1,40}+\}?[\r\n]?\{(?:\\[a-z]{1,32}-?\d{0,10} ?){0,20}?\\up(?:[6-9]|1\d)\b)"
    rb"(?:\\[a-z]{1,32}-?\d{0,10}){0,20}+ ?)([0-9(][0-9(),*+-]{0,11})(?=[}\\])"
)
"""A mark that is raised: `{\\super 3}`, or behind a word by half-points, `{\\up6 3}` (Rich Text Format 1.9.1, "Font
(Character) Formatting Properties"); fewer than 6 are less than a quarter of usual letters."""

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")


def read_rtf(source: Source) -> Reading:
    """The text of the document in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    if not data:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    if _START.match(data) is None:
        raise Damaged("The file is not an RTF document. Ask for it again, or give it the ending of its format.")
    if len(data) > _LARGEST_LEGACY:
        raise TooLarge("The document is too large to be read (64 MB). Save it as .docx.")
    return read_through(RTF, data, docx.read, _read_alone)


def _read_alone(data: bytes) -> Reading:
    """The words of the body, one paragraph per line; table rows have their cells separated by tabs."""
    data = _PICTURE.sub(b" ", data)
    is_too_long, data = len(data) > _LONGEST, data[:_LONGEST]
    for word, sign in _SIGNS:
        data = re.sub(rb"\\" + word + rb"(?![a-z])", rb"\\u%d?" % (ord(sign) - 0x10000), data)
    for word in _SWITCHES:
        if re.search(rb"\\" + word + rb"0(?!\d)", data) is None:  # else they end within their group
            data = re.sub(rb"\\" + word + rb"(?![a-z\d])", rb"\\*", data)
    data = _RAISED.sub(lambda match: match[1] + _unicode(raise_text(match[2].decode("ascii"))), data)
    data = _LINK.sub(rb"\\datafield", data)  # the pattern for links takes quadratic time
    data = _BEYOND_ASCII.sub(lambda match: b"\\'%02x" % ord(match[0]), data)
    try:
        text: str = rtf_to_text(data.decode("ascii"), errors="replace")  # type: ignore[no-untyped-call]  # has no types
    except (ValueError, TypeError, LookupError, IndexError, OverflowError) as error:
        raise Damaged("The file is damaged: its text cannot be read. Ask for it again.") from error
    writer = Writer()
    with writer.place(BODY, ""):
        _write(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), writer)
    if is_too_long:
        writer.warn(_TOO_LONG)
    return writer.reading()


def _unicode(text: str) -> bytes:
    return b"".join(b"\\u%d?" % ord(character) for character in text)


def _write(text: str, writer: Writer) -> None:
    """Write the paragraphs, and consecutive rows as tables."""
    *rows, rest = text.split(_ROW)
    table: list[str] = []
    for row in rows:
        cells = row.split(_CELL)
        before, _, first = cells[0].rpartition("\n")  # paragraphs before the row end with a line
        if before.strip() and table:
            writer.placed(TABLE, "", "\n".join(table))
            table = []
        writer.text(before)
        table.append("\t".join(" ".join(cell.split()) for cell in (first, *cells[1:])).rstrip("\t"))
    writer.placed(TABLE, "", "\n".join(table))
    writer.text(rest.replace(_CELL, "\t"))
