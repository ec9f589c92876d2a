"""The MIME type of a document by its name, the same on every machine: for drives that keep none."""

import mimetypes
from typing import Final

from tasks.reading import formats

_TYPES: Final = mimetypes.MimeTypes(filenames=())
for _extension in formats.list_supported():
    _TYPES.add_type(formats.mime_type(_extension), _extension)


def guess_mime_type(name: str) -> str:
    """The MIME type that goes with a file's name; `application/octet-stream` for an unknown one."""
    mime_type, encoding = _TYPES.guess_type(f"./{name}")  # without the dot, "data:…" would be read as a URL
    if encoding:
        return f"application/{encoding}" if encoding == "gzip" else "application/octet-stream"
    return mime_type or "application/octet-stream"
