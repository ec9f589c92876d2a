"""Text documents of OpenDocument: headers, body by heading, footers, what is anchored, changes, documents inside."""

from lxml import etree

from tasks.reading.odf.package import OdfPackage
from tasks.reading.odf.story import Stories
from tasks.reading.odf.styles import OdfStyles, changes_in, deletions_warning
from tasks.reading.places import BODY, FOOTER, HEADER
from tasks.reading.text_writer import Reading, Source, Writer


def read(source: Source) -> Reading:
    """The text of the document in `source`, by heading.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:
        body = package.body("office:text", "text document")
        writer = Writer()
        styles = OdfStyles(body.getroottree().getroot(), package.styles())
        changes = changes_in(body)
        stories = Stories(package, styles, writer, changes)
        _write_parts(stories, writer, styles, HEADER)
        with writer.place(BODY, ""):
            stories.write(body, headings=True)
            stories.end()
            writer.end_heading()
        _write_parts(stories, writer, styles, FOOTER)
        package.attach(stories.objects, writer)
        if (deleted := deletions_warning(changes)) is not None:
            writer.warn(deleted)
        package.finish(writer)
        return writer.reading()


def _write_parts(stories: Stories, writer: Writer, styles: OdfStyles, kind: str) -> None:
    """Write the headers or footers of all pages, equal ones once."""
    written: set[bytes] = set()
    for part in styles.master_parts(*(f"style:{kind}{which}" for which in ("-first", "", "-left"))):
        same = etree.tostring(part)
        if same not in written:
            written.add(same)
            with writer.place(kind, ""):
                stories.write(part)
