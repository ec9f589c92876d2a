"""What the settings say about reading: the languages of scans, and the limits on one document.

Kept out of the reading processes, which are given both: settings bring pydantic, and that takes 0.2 s to load.
"""

from dataclasses import replace

from tasks.reading.embedded import read_with_embedded
from tasks.reading.ocr import recognise, tesseract
from tasks.reading.places import with_cells
from tasks.reading.pool.worker import Limits
from tasks.reading.settings import ReadingSettings
from tasks.reading.text_writer import Reading, Source


def recognised_languages(settings: ReadingSettings) -> str | None:
    """The languages in which scans are read here, in Tesseract's form ("eng+deu"); None where they are not read."""
    if settings.ocr == "off":
        return None
    installed, _ = tesseract.languages_of(settings.ocr_languages)
    return "+".join(installed) or None


def reading_limits(settings: ReadingSettings) -> Limits:
    """What reading one document may take, and the languages of scans."""
    return Limits(
        seconds=settings.document_timeout,
        memory_mb=settings.document_memory_mb,
        max_mb=settings.document_max_mb,
        languages=recognised_languages(settings),
    )


def read_as_configured(source: Source | str, extension: str | None = None) -> Reading:
    """Read a document with what is embedded in it, in this process, its pictures too if the settings ask for it.

    Its places hold those of the cells of tables too.
    """
    settings = ReadingSettings.current()
    recognise.configure(recognised_languages(settings), settings.document_timeout)
    try:
        reading = read_with_embedded(source, extension)
    finally:
        recognise.configure(None)
    return replace(reading, places=with_cells(reading.text, reading.places))
