"""OLE compound files: the form in which Office embeds foreign documents (`.bin` parts), and encrypted Office files.

olefile reads them but trusts their tables: 12 KB with a circular list of sectors kept olefile 0.47 busy for more than
300 s, and 12 KB with a circular stream gave 256 MB. So nothing is opened or read that claims to be larger than the file
can hold.

Encrypted Office files open with the password that Excel sets by itself; for all others the error says what to do. Excel
encrypts a workbook with a protected structure, even if nobody set a password for opening it, under one that every copy
of Excel knows ("The Microsoft Excel File Format", OpenOffice.org, 4.18.3).
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import PurePath
from typing import Any, Final

import olefile

from tasks.errors import Damaged, PasswordProtected
from tasks.reading.text_writer import Source

MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What every compound file begins with."""

ENCRYPTED: Final = "EncryptedPackage"
"""The stream that holds an encrypted Office file."""

BROKEN: Final = "The file is cut off or damaged: it cannot be opened. Ask for it again."
_MOST_ENTRIES: Final = 4096
"""Streams and storages of one file; olefile compares each with all before it, which takes 0.1 s for so many."""

DOCUMENTS: Final = {
    "WordDocument": ".doc",
    "Workbook": ".xls",
    "Book": ".xls",
    "PowerPoint Document": ".ppt",
    "VisioDocument": ".vsd",
    "__properties_version1.0": ".msg",
}
"""The stream that each kind of document has."""

_NATIVE: Final = "\x01Ole10Native"
_LONGEST_PATH: Final = 1024
DEFAULT_PASSWORD: Final = "VelvetSweatshop"  # noqa: S105 - known to every copy of Excel
_INFORMATION: Final = "EncryptionInfo"
_LONGEST_INFORMATION: Final = 64 << 10
_MOST_ROUNDS: Final = 1_000_000
"""Excel hashes a password 100,000 times, twice 0.04 s here; the format allows for 10 million."""


def unpack_document(name: str, data: bytes) -> tuple[str, bytes | None]:
    """The document inside a compound file, with its name; no data if no reader could read it.

    An encrypted document is returned unchanged, and so is one in a format of Office before 2007, or something that is
    not a compound file.

    Raises:
        Damaged: it cannot be opened.
    """
    if not data.startswith(MAGIC):
        return name, data
    file = Compound(data)
    if file.has_stream(ENCRYPTED):
        return name, data
    if file.has_stream("Package"):
        return name, file.stream("Package")
    if file.has_stream(_NATIVE):
        return native(name, file.stream(_NATIVE))
    if file.has_stream("CONTENTS"):  # Acrobat's, and the drawing programs' of the time
        contents = file.stream("CONTENTS")
        start = contents[:1024].find(b"%PDF-")
        return (f"{PurePath(name).stem}.pdf", contents[start:]) if start >= 0 else (name, None)
    if file.has_stream("Equation Native"):
        return "Equation", None
    old = next((extension for stream, extension in DOCUMENTS.items() if file.has_stream(stream)), None)
    return (f"{PurePath(name).stem}{old}", data) if old is not None else (name, None)


def native(name: str, stream: bytes) -> tuple[str, bytes]:
    r"""The file in a `\x01Ole10Native` stream, as Windows' packager writes it, or bare as other programs do.

    After the size of all that follows (4 bytes): flags (2), the label and the file's path, each up to a zero, flags
    (4), a temporary path behind its size, the file behind its size; newer ones repeat the temporary path, the label
    and the path in UTF-16, each behind the number of its characters. ([MS-OLEDS] 2.3.6 leaves that to the program.)
    """
    try:
        (flags,) = struct.unpack_from("<H", stream, 4)
        label, at = _zero_ended(stream, 6)
        path, at = _zero_ended(stream, at)
        _, at = _read_sized(stream, at + 4)
        data, at = _read_sized(stream, at)
    except (struct.error, ValueError):
        return name, stream[4:]
    if flags != 2:
        return name, stream[4:]
    names = [_decode(label), _decode(path)]
    try:
        _, at = _read_sized(stream, at, 2)
        label, at = _read_sized(stream, at, 2)
        path, at = _read_sized(stream, at, 2)
        names = [label.decode("utf-16-le"), path.decode("utf-16-le")]
    except (struct.error, ValueError):  # there are none
        pass
    return _best_file_name(names) or name, data


def _zero_ended(stream: bytes, start: int) -> tuple[bytes, int]:
    end = stream.index(b"\0", start, start + _LONGEST_PATH)
    return stream[start:end], end + 1


def _read_sized(stream: bytes, start: int, width: int = 1) -> tuple[bytes, int]:
    (count,) = struct.unpack_from("<I", stream, start)
    end = start + 4 + width * count
    if end > len(stream):
        raise ValueError("It is cut off.")
    return stream[start + 4 : end], end


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _best_file_name(paths: list[str]) -> str:
    """The first file name in the paths that has an extension, otherwise the first name."""
    names = [path.replace("\\", "/").rpartition("/")[2].strip("\0 ") for path in paths]
    return next((name for name in names if PurePath(name).suffix), "") or next(filter(None, names), "")


def is_encrypted(data: bytes) -> bool:
    """Whether a compound file contains an encrypted Office file.

    Raises:
        Damaged: it cannot be opened.
    """
    return Compound(data).has_stream(ENCRYPTED)


def decrypt_package(source: Source) -> bytes:
    """The package inside an encrypted Office file that has Excel's default password.

    Raises:
        PasswordProtected: it has another password, or is under rights management.
        Damaged: it cannot be opened, or holds no package: an old binary file.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    file = Compound(data)
    if not file.has_stream(ENCRYPTED):
        raise Damaged("This is an old binary Office file under a new name. Save it in the format of its name.")
    if not file.has_stream(_INFORMATION):
        raise PasswordProtected("The document is under rights management. Ask for a copy that is not.")
    if len(file.stream(_INFORMATION)) > _LONGEST_INFORMATION:
        raise Damaged(BROKEN)
    return _decrypt(data)


def _decrypt(data: bytes) -> bytes:
    # Loaded where it is needed, once a process: 14 ms; 60 ms the first time on a machine.
    from msoffcrypto.format import ooxml  # noqa: PLC0415

    package = BytesIO()
    try:
        file = ooxml.OOXMLFile(BytesIO(data))
        if file.info.get("spinValue", 0) > _MOST_ROUNDS:
            raise ooxml.exceptions.DecryptionError  # noqa: TRY301 - one of those that are not opened
        file.load_key(password=DEFAULT_PASSWORD, verify_password=True)
    except MemoryError:
        raise
    except Exception as error:  # it meets a method that it does not know with whatever comes
        raise PasswordProtected("The document can only be opened with a password. Save it without one.") from error
    try:
        file.decrypt(package)
    except MemoryError:
        raise
    except ooxml.exceptions.DecryptionError:  # it has lost its end; what is there has been written
        pass
    except Exception as error:  # nothing could be made of it
        raise Damaged(BROKEN) from error
    return package.getvalue()


_SUMMARY: Final = "\x05SummaryInformation"
_CREATED, _LAST_SAVED = 12, 13
_FILETIME: Final = 0x40
_MOST_PROPERTIES: Final = 100
_LAST_DAY: Final = 3_000_000
"""Days from 1601 within the years that `datetime` has."""


class Compound:
    """A compound file in memory.

    Raises:
        Damaged: it is none, or its tables contradict its size.
    """

    def __init__(self, data: bytes) -> None:
        _check_header(data)
        self._length = len(data)
        self._folders: list[tuple[str, ...]] | None = None
        with _any_failure_is_damage():
            self._file = _Bounded(BytesIO(data))
        if self._file.root.size > self._length:
            raise Damaged(BROKEN)

    def has_stream(self, name: str) -> bool:
        """Whether there is a stream of that name at the top level, in any case."""
        return bool(self._file.get_type(name) == olefile.STGTY_STREAM)

    def folders(self) -> list[tuple[str, ...]]:
        """The paths of the storages (folders), in no order.

        Raises:
            Damaged: they cannot be read.
        """
        if self._folders is None:
            with _any_failure_is_damage():
                self._folders = [tuple(path) for path in self._file.listdir(streams=False, storages=True)]
        return self._folders

    def stream(self, name: str) -> bytes:
        """The content of a stream, as far as it exists.

        Raises:
            Damaged: it cannot be read.
        """
        with _any_failure_is_damage():
            if self._file.get_size(name) <= self._length:
                return bytes(self._file.openstream(name).read())
        raise Damaged(BROKEN)

    def dates(self) -> tuple[str, str]:
        """The times at which the file says it was created and last changed; "" for none.

        They are PIDSI_CREATE_DTM and PIDSI_LASTSAVE_DTM of its summary information ([MS-OLEPS] 2.25.1). Nothing else of
        it is read: its vectors may claim to have thousands of millions of entries.
        """
        if not self.has_stream(_SUMMARY):
            return "", ""
        try:
            return _moment(summary := self.stream(_SUMMARY), _CREATED), _moment(summary, _LAST_SAVED)
        except (Damaged, struct.error):  # of the summary alone: what the file holds does not rest on it
            return "", ""


def _moment(summary: bytes, wanted: int) -> str:
    """A FILETIME of a property set, in ISO 8601; "" where it is not set ([MS-OLEPS] 2.20, 2.21)."""
    (start,) = struct.unpack_from("<I", summary, 44)
    (count,) = struct.unpack_from("<I", summary, start + 4)
    for number in range(min(count, _MOST_PROPERTIES)):
        name, offset = struct.unpack_from("<II", summary, start + 8 + 8 * number)
        if name == wanted:
            kind, ticks = struct.unpack_from("<IQ", summary, start + offset)
            days, rest = divmod(ticks, 24 * 3600 * 10**7)
            if kind != _FILETIME or not days or days > _LAST_DAY:
                return ""
            moment = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(days, microseconds=rest // 10)
            return moment.replace(tzinfo=None).isoformat()
    return ""


class _Bounded(olefile.OleFileIO):  # type: ignore[misc]  # olefile has no types
    """An olefile reader with a limit on the size of the directory."""

    _entries = 0

    def _load_direntry(self, sid: int) -> Any:
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise Damaged(BROKEN)
        return super()._load_direntry(sid)


@contextmanager
def _any_failure_is_damage() -> Iterator[None]:
    try:
        yield
    except (MemoryError, Damaged):
        raise
    except Exception as error:
        raise Damaged(BROKEN) from error


def _check_header(data: bytes) -> None:
    """Check that the sector tables fit into the file."""
    try:
        (shift,) = struct.unpack_from("<H", data, 30)
        (table,) = struct.unpack_from("<I", data, 44)
        (small_table,) = struct.unpack_from("<I", data, 64)
    except struct.error as error:
        raise Damaged(BROKEN) from error
    sectors = len(data) >> shift
    # The header lists 109 sectors of the table; each has 128 entries, or 1024. Twice what the file needs is generous.
    if table > 109 + sectors // 64 or small_table > sectors:
        raise Damaged(BROKEN)
