"""What a process that finds figures has loaded: the taxonomy, and the patterns that most texts need.

The server that forks such processes imports this module, so that none of them loads it again.
"""

from tasks.figures.concepts import read_taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures

_TEXT = "EUR million\t2023\t2024\nRevenue\t5\t6\n\nRevenue in 2024 was EUR 6 million.\n"
find_figures(LedgerDocument(_TEXT, ()), read_taxonomy(None))
