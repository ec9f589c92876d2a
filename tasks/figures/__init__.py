"""The ledger of figures: the numbers of a document with their meanings, and where figures contradict each other."""

from tasks.figures.conflicts import figure_row
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.reading import read_document

__all__ = ["read_figures"]


def read_figures(path: str, format: str | None = None) -> list[dict[str, str | None]]:  # noqa: A002 - the field's word
    """The figures of one document, read in this process.

    Args:
        path: its file.
        format: its extension (".pdf"); taken from the path when it is None.

    Returns:
        A mapping a figure with the keys of `figures` in a run's report; `document_id` is None.

    Raises:
        UnsupportedFormat, Unreadable, TooLarge: it cannot be read.
    """
    reading = read_document(path, format)
    places = [place for place in reading.places if place.kind != "cell"]
    document = LedgerDocument(reading.text, places, str(path).rpartition("/")[2], format or "")
    return [
        figure_row(figure, None, document.name, figure.basis or document.kind.basis)
        for figure in find_figures(document, taxonomy()).figures
    ]
