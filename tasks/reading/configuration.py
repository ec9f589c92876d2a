"""What the settings say about reading: the engines for scans, and the limits for one document and one page.

Separate from the reading processes, which are passed both: settings need pydantic, which takes 0.2 s to load.
"""

from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Literal

from pydantic import Field

from storage.settings import Settings
from tasks.errors import DiligenceError, TookTooLong, Unavailable
from tasks.reading.embedded import read_with_embedded
from tasks.reading.ocr import rapidocr, recognise, tesseract
from tasks.reading.ocr.page import (
    NO_ENGINE,
    OFF,
    STOPPED,
    FilledReading,
    RecognisedPage,
    ScanState,
    fill,
    scanned_pages,
)
from tasks.reading.ocr.recognise import Engines
from tasks.reading.pool.pool import ExtractionPool, processors
from tasks.reading.pool.process import Limits
from tasks.reading.text_writer import Reading, Source, with_cells


class ReadingSettings(Settings):
    """What reading one document may take, and how scans are read."""

    document_timeout: float = Field(
        60, gt=0, description="seconds that reading one document, or a call of the service, may take"
    )
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scanned pages are read")
    ocr_engine: Literal["auto", "tesseract", "rapidocr"] = Field(
        "auto",
        description="what reads them; `auto`: Tesseract where it is installed and told the language, RapidOCR the rest",
    )
    ocr_languages: str = Field(
        "eng",
        description="Tesseract's names of the languages of scans; `auto` takes those of the room where none are given",
        pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$",
    )
    ocr_page_timeout: float = Field(60, gt=0, description="seconds of a processor that recognising one page may take")
    ocr_pages: int | None = Field(None, ge=0, description="the most scanned pages that a run recognises")


_AUTO: Final = "auto-2"
"""Its number goes up with Tesseract's, which is not named where it is told the languages of the room."""

_MEMORY_MB: Final = 6144
"""Address space of a recognising process: of RapidOCR 1.4 GB were measured, most of it libraries."""

_TESSERACT_NAMES: Final[Mapping[str, str]] = {
    "English": "eng", "German": "deu", "French": "fra", "Spanish": "spa", "Portuguese": "por", "Italian": "ita",
    "Dutch": "nld", "Danish": "dan", "Swedish": "swe", "Norwegian": "nor", "Finnish": "fin", "Polish": "pol",
    "Czech": "ces", "Romanian": "ron", "Hungarian": "hun", "Turkish": "tur", "Japanese": "jpn", "Chinese": "chi_sim",
    "Korean": "kor", "Russian": "rus", "Greek": "ell", "Arabic": "ara", "Hebrew": "heb", "Hindi": "hin", "Thai": "tha",
}  # fmt: skip
"""Tesseract's names of the languages that `tasks.language.words` knows."""


def engines(settings: ReadingSettings, written_in: Collection[str] = ()) -> Engines | None:
    """The engines that read scans here; None if scans are not read.

    `written_in`: the languages of the documents beside a scan, by their English names. With `auto`, Tesseract reads
    first if it was told the languages: its certainty about a page in another language is meaningless.
    """
    if settings.ocr == "off":
        return None
    known, unknown = tesseract.split_languages(settings.ocr_languages)
    languages = "+".join(known) or None
    has_rapidocr = rapidocr.missing() is None
    if settings.ocr_engine == "rapidocr" or (settings.ocr_engine == "auto" and has_rapidocr):
        if not has_rapidocr:
            return None
        if settings.ocr_engine == "auto" and "ocr_languages" not in settings.model_fields_set:
            names = [_TESSERACT_NAMES.get(language, language) for language in sorted(written_in)]
            known, unknown = tesseract.split_languages("+".join(names))
            languages = "+".join(known) or None
        is_told = settings.ocr_engine == "auto" and languages and not unknown
        told = languages if is_told else None
        return Engines(told, rapidocr=True, is_auto=settings.ocr_engine == "auto", program=tesseract.program())
    return Engines(languages, rapidocr=False, program=tesseract.program()) if languages else None


def engine_name(settings: ReadingSettings) -> str | None:
    """The name under which texts with scans are stored; independent of the languages of the documents beside them."""
    found = engines(settings)
    if found is None:
        return None
    names = "+".join(reversed(found.names))
    return f"{_AUTO} {names}" if found.is_auto else names


def reason_for_unread(settings: ReadingSettings) -> str:
    """Why scans are not read here, or not all of them, in a sentence."""
    return OFF if settings.ocr == "off" else STOPPED if engines(settings) else NO_ENGINE


def make_reading_limits(settings: ReadingSettings) -> Limits:
    """The limits for reading one document."""
    return Limits(settings.document_timeout, settings.document_memory_mb, settings.document_max_mb)


def recognising_pool() -> ExtractionPool:
    """The processes that recognise pages, each under the limits for a page. They start with the first page."""
    settings = ReadingSettings.current()
    return _recognising_pool(
        Limits(settings.ocr_page_timeout, _MEMORY_MB, settings.document_max_mb, tesseract.PATIENCE)
    )


@lru_cache(maxsize=2)
def _recognising_pool(limits: Limits) -> ExtractionPool:
    return ExtractionPool(processors(), limits, recognise.recognise_page)


def recognised(result: "Future[Reading]", found: Engines) -> RecognisedPage:
    """The page from a recognising process; if that failed, its state says how.

    Raises:
        Unavailable: nothing is wrong with the page: the processes were ended, or do not start.
    """
    try:
        return RecognisedPage.unpack(result.result().text)
    except Unavailable:
        raise
    except DiligenceError as error:
        state = ScanState.LATE if isinstance(error, TookTooLong) else ScanState.FAILED
        return RecognisedPage(state, found.names[0])


def read_scans(reading: Reading, path: Path, document_format: str) -> FilledReading:
    """A reading with all of its scanned pages recognised, according to the settings. Nothing is stored."""
    settings = ReadingSettings.current()
    found = engines(settings)
    pages: dict[str, RecognisedPage] = {}
    filled = fill(reading, pages, reason_for_unread(settings))
    while found and filled.waiting:
        pool = recognising_pool()
        orders = {
            label: pool.submit(path, recognise.order_page(document_format, label, found)) for label in filled.waiting
        }
        try:
            pages |= {label: recognised(result, found) for label, result in orders.items()}
        except Unavailable as error:
            return fill(reading, pages, error.message)
        filled = fill(reading, pages)
    return filled


def read_as_configured(source: Source | str, extension: str | None = None) -> Reading:
    """Read a document and what is embedded in it in this process; its scans in others if the settings ask for that.

    Its places include those of table cells.
    """
    if isinstance(source, str):
        source = Path(source)
    reading = read_with_embedded(source, extension)
    if scanned_pages(reading):
        document_format = extension or ("" if isinstance(source, bytes) else source.suffix.lower())
        with NamedTemporaryFile() as copy:
            if isinstance(source, bytes):
                copy.write(source)
                copy.flush()
                source = Path(copy.name)
            reading = read_scans(reading, source, document_format).reading
    return replace(reading, places=with_cells(reading.text, reading.places))
