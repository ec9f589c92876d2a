"""JSON (.json) as text: its lines stay as they are in the file.

It is not parsed, and need not be valid.
"""

from tasks.reading.text_writer import Reading, Source
from tasks.reading.txt import reader as plain_text


def read(source: Source) -> Reading:
    """The text of the file in `source`; of a file above 64 MB the first 64 MB, with a warning."""
    return plain_text.read(source)
