"""A web page saved as one file (.mhtml, RFC 2557): its first HTML page; pictures are ignored."""

from tasks.errors import Damaged
from tasks.reading.eml.reader import page_in
from tasks.reading.html import reader as html
from tasks.reading.text_writer import Reading, Source


def read(source: Source) -> Reading:
    """The text of the page in `source`.

    Raises:
        Damaged: there is no page in it.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    page = page_in("page.mhtml", data)
    if page is None:
        raise Damaged("The file holds no page of the web. Ask for it again, or save the page as .html.")
    return html.read(page)
