"""Presentations of OpenDocument: slide by slide its title, its shapes, remarks, and the speaker's notes."""

from lxml import etree

from tasks.reading import limits
from tasks.reading.odf.elements import elements, is_shape
from tasks.reading.odf.package import OdfPackage, name
from tasks.reading.odf.story import Stories
from tasks.reading.odf.styles import OdfStyles
from tasks.reading.places import HIDDEN_SLIDE, HIDDEN_SLIDE_MARK, SHAPE, SLIDE, SPEAKER_NOTE
from tasks.reading.text_writer import Reading, Source, Writer

_CLASS = name("presentation:class")


def read(source: Source) -> Reading:
    """The text of the presentation in `source`, by slide.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:
        show = package.body("office:presentation", "presentation")
        writer = Writer()
        styles = OdfStyles(show.getroottree().getroot(), package.styles())
        stories = Stories(package, styles, writer, {}, on_slides=True)
        for number, page in enumerate(show.iterchildren(name("draw:page")), 1):
            with writer.part(SLIDE, str(number)):
                _write_slide(page, number, styles, stories, writer)
            if limits.is_near():
                writer.warn("The presentation takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT): its end is missing.")
                break
        package.attach(stories.objects, writer)
        package.finish(writer)
        return writer.reading()


def _write_slide(page: etree._Element, number: int, styles: OdfStyles, stories: Stories, writer: Writer) -> None:
    start = writer.position
    style = page.get(name("draw:style-name"), "")
    properties = "drawing-page", style, "style:drawing-page-properties", "presentation:visibility"
    hidden = styles.property(*properties) == "hidden"
    if hidden:
        writer.line(HIDDEN_SLIDE_MARK)
    shapes = [child for child in elements(page) if is_shape(child)]
    shapes.sort(key=lambda shape: shape.get(_CLASS) != "title")  # the title stands first wherever the file has it
    for shape in shapes:
        if shape.get(name("presentation:placeholder")) != "true":
            with writer.place(SHAPE, shape.get(name("draw:name"), "") or shape.get(_CLASS, "")):
                stories.write_shape(shape)
    for annotation in page.iterchildren(name("office:annotation")):
        stories.write_comment(annotation)
    for notes in page.iterchildren(name("presentation:notes")):
        with writer.place(SPEAKER_NOTE, ""):
            for shape in elements(notes):
                if is_shape(shape) and shape.get(name("presentation:placeholder")) != "true":
                    stories.write_shape(shape)
    if hidden:
        writer.mark(start, writer.position, HIDDEN_SLIDE, str(number))
