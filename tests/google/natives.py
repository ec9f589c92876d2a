"""Google's own document types, and the formats that each is exported to ("Export MIME types" of the guide)."""

from collections.abc import Mapping

NATIVE = "application/vnd.google-apps."
FOLDER = NATIVE + "folder"
SHORTCUT = NATIVE + "shortcut"
DOCUMENT = NATIVE + "document"
SPREADSHEET = NATIVE + "spreadsheet"
PRESENTATION = NATIVE + "presentation"
DRAWING = NATIVE + "drawing"
FORM = NATIVE + "form"
MAP = NATIVE + "map"
SITE = NATIVE + "site"

_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = _OFFICE + "wordprocessingml.document"
XLSX = _OFFICE + "spreadsheetml.sheet"
PPTX = _OFFICE + "presentationml.presentation"
PDF = "application/pdf"

EXTENSIONS: Mapping[str, str] = {
    DOCX: "docx",
    XLSX: "xlsx",
    PPTX: "pptx",
    PDF: "pdf",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/rtf": "rtf",
    "application/zip": "zip",
    "application/epub+zip": "epub",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/x-vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
}
EXPORTS: Mapping[str, tuple[str, ...]] = {
    DOCUMENT: (DOCX, "application/vnd.oasis.opendocument.text", "application/rtf", PDF, "text/plain",
               "application/zip", "application/epub+zip", "text/markdown"),
    SPREADSHEET: (XLSX, "application/x-vnd.oasis.opendocument.spreadsheet", PDF, "application/zip", "text/csv",
                  "text/tab-separated-values"),
    PRESENTATION: (PPTX, "application/vnd.oasis.opendocument.presentation", PDF, "text/plain", "image/jpeg",
                   "image/png", "image/svg+xml"),
    DRAWING: (PDF, "image/jpeg", "image/png", "image/svg+xml"),
}  # fmt: skip
# What `files.download` gives when no type is asked for ("Manage long-running operations").
DOWNLOADS: Mapping[str, str] = {
    DOCUMENT: DOCX,
    SPREADSHEET: XLSX,
    PRESENTATION: PPTX,
    DRAWING: "image/png",
    FORM: "application/zip",
    SITE: "text/raw",
}
# The first part of a native document's address, and of its export's.
PLACES: Mapping[str, tuple[str, str]] = {
    DOCUMENT: ("document", "documents"),
    SPREADSHEET: ("spreadsheets", "spreadsheets"),
    PRESENTATION: ("presentation", "presentations"),
    DRAWING: ("drawings", "drawings"),
    FORM: ("forms", ""),
    MAP: ("maps", ""),
    SITE: ("sites", ""),
}
