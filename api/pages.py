"""The start page: what this is, and where the rest is."""

from litestar import MediaType, get

from api.schema import STATIC
from tasks.documents.settings import DocumentSettings

_PLACE = b"<!-- login -->"
_LOGIN = b'<li><a href="/login/you">Your Google account</a>: documents are shown as it may see them</li>'


@get("/", include_in_schema=False, media_type=MediaType.HTML)
async def start() -> bytes:
    google = DocumentSettings.current().drive == "google"
    return (STATIC / "start.html").read_bytes().replace(_PLACE, _LOGIN if google else b"")
