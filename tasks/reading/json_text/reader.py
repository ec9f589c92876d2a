"""JSON (.json) as the text that it is: its lines stand as the file has them.

It is not parsed, and need not be whole.
"""

from tasks.reading.text_writer import Reading, Source
from tasks.reading.txt import reader as plain_text


def read(source: Source) -> Reading:
    """The text of the file in `source`; of one of more than 64 MB the first ones, with a warning."""
    return plain_text.read(source)
