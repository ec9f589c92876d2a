"""PowerPoint presentations, shows and templates, with and without macros (.pptx, .pptm, .ppsx, .ppsm, .potx, .potm)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    mime_types=("application/vnd.openxmlformats-officedocument.presentationml.presentation",),
    version="pptx-10",
    reader="tasks.reading.pptx.reader",
    own_mime_types={
        ".pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
        ".ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        ".ppsm": "application/vnd.ms-powerpoint.slideshow.macroEnabled.12",
        ".potx": "application/vnd.openxmlformats-officedocument.presentationml.template",
        ".potm": "application/vnd.ms-powerpoint.template.macroEnabled.12",
    },
)
