"""The text of each document and its places, read in the extraction pool as a run reads them.

Scans are not recognised and LibreOffice is not asked: what they say depends on their versions.
"""

import tempfile
from pathlib import Path
from typing import Final

from tasks.errors import DiligenceError
from tasks.reading.pool.pool import ExtractionPool, Limits
from tasks.reading.text_writer import FILE_DATES, Reading
from tests.golden.documents import NO_CORPUS, corpus_folder, documents
from tests.golden.records import Measured, digest

_PROCESSES: Final = 2
_LIMITS: Final = Limits(seconds=300, memory_mb=3072)
"""So wide that no document meets them on a busy machine."""


def measure() -> Measured:
    """Hashes of the text and the places of each document, and how much text there is."""
    measured = Measured(("text", "places", "characters", "words", "warnings"))
    corpus = corpus_folder()
    if corpus is None:
        measured.skipped["corpus/"] = NO_CORPUS
    with tempfile.TemporaryDirectory() as folder, ExtractionPool(_PROCESSES, _LIMITS) as pool:
        pool.start()
        futures = [(name, pool.submit(path, path.suffix.lower())) for name, path in documents(Path(folder), corpus)]
        for name, future in futures:
            try:
                measured.add(name, *_row(future.result(), is_made_today=name.startswith("rooms/")))
            except DiligenceError as error:
                measured.add(name, type(error).__name__)
    return measured


def _row(reading: Reading, *, is_made_today: bool) -> tuple[str, str, int, int, int]:
    known = [place for place in reading.places if not (is_made_today and place.kind == FILE_DATES)]
    places = "\n".join(f"{start} {end} {kind} {label}" for start, end, kind, label in known)
    words = len(reading.text.split())
    return digest(reading.text), digest(places), len(reading.text), words, len(reading.warnings)
