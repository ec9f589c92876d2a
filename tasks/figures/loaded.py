"""Loads the lists and patterns that most texts need in the server that forks the processes looking through them."""

from tasks.documents.kinds.signs import read_signs
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import read_taxonomy

_TEXT = "EUR million\t2023\t2024\nRevenue\t5\t6\n\nRevenue in 2024 was EUR 6 million. We had 5 employees.\n"
read_signs(_TEXT, ())
find_figures(LedgerDocument(_TEXT, ()), read_taxonomy(None))
