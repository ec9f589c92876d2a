"""OpenDocument: what its text documents, spreadsheets and presentations have in common."""

from tasks.reading.formats import DocumentFormat


def document_format(kind: str, extensions: tuple[str, str, str], version: str, better_with: str = "") -> DocumentFormat:
    """The format of one kind of document ("text"), by the extensions of documents, templates and flat files."""
    document, template, flat = extensions
    mime_type = f"application/vnd.oasis.opendocument.{kind}"
    return DocumentFormat(
        extensions=extensions,
        mime_types=(mime_type,),
        version=version,
        reader=f"tasks.reading.{document[1:]}.reader",
        own_mime_types={template: f"{mime_type}-template", flat: f"{mime_type}-flat-xml"},
        better_with=better_with,
    )
