"""What must not rest in the clear, sealed: refresh tokens in the tables, and what a browser keeps for a login.

The key comes from DILIGENCE_SECRET_KEY, or from a file in the home that its owner alone may read. Several
keys make a change of key possible: the first one seals, all of them open.
"""

import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from storage import database
from storage.settings import StorageSettings

KEY_FILE = "secret.key"
_MAKE_ONE = "Make one with `openssl rand -base64 32`."


class SecretKeyUnusable(Exception):
    """There is no key that could be used; the message names the setting or the file and what to do."""


class NotSealedHere(Exception):
    """Not sealed with one of our keys, for another purpose, too long ago, or changed since."""


def seal(text: str, purpose: str) -> str:
    """The text encrypted and signed (Fernet: AES-128-CBC, HMAC-SHA-256), for `unseal` with the same purpose.

    Raises:
        SecretKeyUnusable: there is no usable key.
    """
    return _keys().encrypt(f"{purpose}\0{text}".encode()).decode()


def unseal(sealed: str, purpose: str, max_age: int | None = None) -> str:
    """The text that was sealed for this purpose, at most `max_age` seconds ago.

    Raises:
        NotSealedHere: it cannot be opened.
        SecretKeyUnusable: there is no usable key.
    """
    keys = _keys()
    try:
        found, _, text = keys.decrypt(sealed.encode(), ttl=max_age).decode().partition("\0")
    except (InvalidToken, UnicodeError):
        raise NotSealedHere from None
    if found != purpose:
        raise NotSealedHere
    return text


def _keys() -> MultiFernet:
    given = StorageSettings.current().secret_key
    if given is not None:
        return _fernet(given.get_secret_value(), "DILIGENCE_SECRET_KEY holds")
    return _fernet(_key_in(database.home() / KEY_FILE), f"{KEY_FILE} in DILIGENCE_HOME holds")


@lru_cache(maxsize=4)
def _fernet(keys: str, place: str) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key.strip()) for key in keys.split(",") if key.strip()])
    except ValueError:  # also when there is none
        raise SecretKeyUnusable(f"{place} no key of 32 bytes in base64. {_MAKE_ONE}") from None


def _key_in(file: Path) -> str:
    """The key of this home; made at its first use."""
    try:
        if not file.exists():
            _make(file)
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, encoding="ascii") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid != os.geteuid():
                raise SecretKeyUnusable(
                    f"{KEY_FILE} in DILIGENCE_HOME must be a file that this user owns and nobody else can read "
                    "(`chmod 600`). If others could read it, remove it and log in again."
                )
            return opened.read(10_000)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SecretKeyUnusable(f"{KEY_FILE} in DILIGENCE_HOME cannot be read or made ({reason}).") from None


def _make(file: Path) -> None:
    """Whole or not at all, and once: of two processes that start together, one makes it."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".secret-")  # 0600
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.write(Fernet.generate_key() + b"\n")
        os.link(name, file)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()
