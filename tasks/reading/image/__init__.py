"""Pictures (.png, .jpg, .jpeg, .tif, .tiff), whose text is recognised."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".png", ".jpg", ".jpeg", ".tif", ".tiff"),
    mime_types=("image/png", "image/jpeg", "image/tiff"),
    version="image-1",
    reader="tasks.reading.image.reader",
    own_mime_types={".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".tif": "image/tiff", ".tiff": "image/tiff"},
)
