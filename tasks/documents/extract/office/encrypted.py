"""Encrypted Office files: those with the password that Excel sets by itself open, all others say what to do.

Excel encrypts a workbook whose structure is protected, even when nobody set a password for opening it, under
one that every copy of it knows ("The Microsoft Excel File Format", OpenOffice.org, 4.18.3).
"""

from io import BytesIO
from typing import Final

from tasks.documents.extract.office.compound import BROKEN, ENCRYPTED, Compound
from tasks.documents.extract.reading import Source
from tasks.errors import Damaged, PasswordProtected

DEFAULT_PASSWORD: Final = "VelvetSweatshop"  # noqa: S105 - known to every copy of Excel

_INFORMATION: Final = "EncryptionInfo"
_LONGEST_INFORMATION: Final = 64 << 10
_MOST_ROUNDS: Final = 1_000_000
"""Excel hashes a password 100,000 times, twice 0.04 s here; the format allows for 10 million."""


def decrypted(source: Source) -> bytes:
    """The package inside an encrypted Office file that has Excel's default password.

    Raises:
        PasswordProtected: it has another password, or is under rights management.
        Damaged: it cannot be opened, or holds no package: an old binary file.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    file = Compound(data)
    if not file.holds(ENCRYPTED):
        raise Damaged("This is an old binary Office file under a new name. Save it in the format of its name.")
    if not file.holds(_INFORMATION):
        raise PasswordProtected("The document is under rights management. Ask for a copy that is not.")
    if len(file.stream(_INFORMATION)) > _LONGEST_INFORMATION:
        raise Damaged(BROKEN)
    return _decrypted(data)


def _decrypted(data: bytes) -> bytes:
    # Loaded where it is needed, once a process: 14 ms; 60 ms the first time on a machine.
    from msoffcrypto.exceptions import DecryptionError  # noqa: PLC0415
    from msoffcrypto.format.ooxml import OOXMLFile  # noqa: PLC0415

    package = BytesIO()
    try:
        file = OOXMLFile(BytesIO(data))
        if file.info.get("spinValue", 0) > _MOST_ROUNDS:
            raise DecryptionError  # noqa: TRY301 - one of those that are not opened
        file.load_key(password=DEFAULT_PASSWORD, verify_password=True)
    except MemoryError:
        raise
    except Exception as error:  # it meets a method that it does not know with whatever comes
        raise PasswordProtected("The document opens with a password only. Save it without one.") from error
    try:
        file.decrypt(package)
    except MemoryError:
        raise
    except DecryptionError:  # it has lost its end; what is there has been written
        pass
    except Exception as error:  # nothing could be made of it
        raise Damaged(BROKEN) from error
    return package.getvalue()
