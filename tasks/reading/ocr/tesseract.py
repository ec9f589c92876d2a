"""Tesseract, the program that reads text in pictures: whether it is installed, and what it reads in one picture.

It runs under the limits of the process that starts it, and never longer: a picture may be hostile, and a reading
process is killed without a chance to clean up.
"""

import os
import re
import resource
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from shutil import which
from typing import Final, NamedTuple

from tasks.child_process import end_with_parent, only_absolute
from tasks.reading.image import DOTS_AN_INCH, Picture
from tasks.reading.ocr.page import RecognisedWord, RecognitionFailed, RecognitionTimedOut

NAME: Final = "tesseract-2"
"""The number goes up with the options of Tesseract, and with what is looked for that it overlooks (`doubts`)."""

PACKAGE: Final = "tesseract-ocr"
"""Debian's package; English comes with it."""

PATIENCE: Final = 5
"""How many times its processor time a page may take by the clock: a busy machine shares its processors."""

_NO_LANGUAGES: Final = {"", "osd", "equ"}  # `osd` knows which way is up, `equ` formulas


class Installed(NamedTuple):
    """The Tesseract on this machine: its version ("5.3.0") and its languages ("deu", "eng")."""

    version: str
    languages: tuple[str, ...]


def find_tesseract() -> Installed | None:
    """The Tesseract on the path, if any. It is started once, and the answer cached."""
    return _query(_path(), os.environ.get("TESSDATA_PREFIX", ""))


def program() -> str | None:
    """The path of Tesseract, if it is on the path. Cached, because the search takes as long as a short document."""
    return _program(_path())


def split_languages(setting: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The languages in a setting ("eng+deu", "eng,deu"): those that Tesseract has, and those that are missing."""
    return _split(setting, find_tesseract())


@cache
def _split(setting: str, tesseract: Installed | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names = dict.fromkeys(re.findall(r"\w+", setting))
    available = tesseract.languages if tesseract else ()
    return tuple(name for name in names if name in available), tuple(name for name in names if name not in available)


def package_name(language: str) -> str:
    """Debian's package for a language: `tesseract-ocr-chi-sim` for `chi_sim`."""
    return f"{PACKAGE}-{language.replace('_', '-').lower()}"


class Tesseract:
    """The engine (see `page.Engine`). `languages` are Tesseract's names ("eng+deu"), `seconds` is the limit for a
    page.
    """

    def __init__(self, program: str, languages: str, seconds: float) -> None:
        self.name = f"{NAME} {languages}"
        self._program = program
        self._languages = languages
        self._seconds = seconds

    def words(self, picture: Picture) -> list[RecognisedWord]:
        """As of `Engine`."""
        command = [self._program, "stdin", "stdout", "-l", self._languages, "--dpi", str(DOTS_AN_INCH)]
        as_table = ["-c", "tessedit_create_tsv=1", "-c", "tessedit_create_txt=0"]
        sparse = ["--psm", "11"]  # else it overlooks numbers that stand alone
        try:
            with subprocess.Popen(  # noqa: S603 - no shell, and nothing of the document in the command
                [*command, *sparse, *as_table],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                preexec_fn=_end_with_parent(self._seconds),  # noqa: PLW1509 - a reading process has one thread
            ) as process:
                try:
                    table, _ = process.communicate(picture.file(), timeout=PATIENCE * self._seconds)
                finally:
                    process.kill()
        except subprocess.TimeoutExpired as error:
            raise RecognitionTimedOut from error
        except (OSError, subprocess.SubprocessError) as error:
            raise RecognitionFailed from error
        if process.returncode == -signal.SIGXCPU:
            raise RecognitionTimedOut
        if process.returncode != 0:
            raise RecognitionFailed
        return list(_words(row.split("\t") for row in table.decode("utf-8", "replace").split("\n")))


def _words(rows: Iterable[list[str]]) -> Iterator[RecognisedWord]:
    """The words in Tesseract's table; its first column is the kind of row, 5 for a word."""
    lines: dict[tuple[str, ...], int] = {}
    for cells in rows:
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            left, top, width, height = map(int, cells[6:10])
            line = lines.setdefault(tuple(cells[1:5]), len(lines))
            yield RecognisedWord(cells[11], left, top, left + width, top + height, float(cells[10]) / 100, line)


def _path() -> str:
    return only_absolute(os.environ.get("PATH", os.defpath))


@cache
def _program(path: str) -> str | None:
    return which("tesseract", path=path)


@cache
def _query(path: str, _data: str) -> Installed | None:
    program = _program(path)
    if program is None:
        return None
    try:
        version, languages = (
            subprocess.run(  # noqa: S603 - the program that the user installed
                [program, question], capture_output=True, check=True, timeout=20, env=_environment(), cwd="/", text=True
            ).stdout.split("\n")
            for question in ("--version", "--list-langs")
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    names = (name.strip() for name in languages[1:])  # behind a line that says where they lie
    return Installed(
        version[0].removeprefix("tesseract").strip(), tuple(name for name in names if name not in _NO_LANGUAGES)
    )


def _environment() -> dict[str, str]:
    """Variables to use one processor, like every reading process, and to find things that the user put elsewhere."""
    passed_on = ("LD_LIBRARY_PATH", "TESSDATA_PREFIX")
    return {"OMP_THREAD_LIMIT": "1"} | {name: os.environ[name] for name in passed_on if name in os.environ}


def _end_with_parent(seconds: float) -> Callable[[], None]:
    """A function for Tesseract to run before it starts: it makes it end with us, even if we are killed.

    On systems other than Linux, only its processor time is limited.
    """
    end_with_us = end_with_parent()
    _, allowed = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(seconds) + 1 if allowed == resource.RLIM_INFINITY else min(int(seconds) + 1, allowed)
    hard = most + 1 if allowed == resource.RLIM_INFINITY else allowed  # at the hard limit, SIGKILL hides the reason

    def tie() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
        end_with_us()

    return tie
