"""The start page: what this is, and where the rest is."""

from litestar import MediaType, get

from api.schema import STATIC


@get("/", include_in_schema=False, media_type=MediaType.HTML)
async def start() -> bytes:
    return (STATIC / "start.html").read_bytes()
