"""Loads the taxonomy and the patterns that most texts need in the server that forks the processes finding figures."""

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import read_taxonomy

_TEXT = "EUR million\t2023\t2024\nRevenue\t5\t6\n\nRevenue in 2024 was EUR 6 million.\n"
find_figures(LedgerDocument(_TEXT, ()), read_taxonomy(None))
