"""The MIME type of a document by its name or else its content, the same on every machine: for
drives that store none.
"""

import mimetypes
from pathlib import Path
from typing import Final

from tasks.reading import detect, formats

_UNKNOWN: Final = "application/octet-stream"
_TYPES: Final = mimetypes.MimeTypes(filenames=())
for _extension in formats.list_supported():
    _TYPES.add_type(formats.mime_type(_extension), _extension)


def guess_mime_type(name: str) -> str:
    """The MIME type for a file's name; `application/octet-stream` if the extension is unknown."""
    mime_type, encoding = _TYPES.guess_type(f"./{name}")  # without the dot, "data:…" would be read as a URL
    if encoding:
        return f"application/{encoding}" if encoding == "gzip" else _UNKNOWN
    return mime_type or _UNKNOWN


def guess_file_mime_type(path: Path) -> str:
    """The MIME type of a file, by its content if its name has no known extension."""
    by_name = guess_mime_type(path.name)
    if by_name != _UNKNOWN or not path.is_file():
        return by_name
    try:
        found = detect.sniff_format(path)
    except OSError:  # not ours to read
        return by_name
    if found is None or (found == ".txt" and path.suffix):  # of another program, which writes text
        return by_name
    return formats.mime_type(found)
