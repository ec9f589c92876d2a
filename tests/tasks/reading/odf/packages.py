"""Documents of OpenDocument, made of the markup of their bodies."""

from tests.tasks.documents.drive.archives.zips import zipped

_SPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("style", "style"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
        ("chart", "chart"),
        ("svg", "svg-compatible"),
    )
) + (
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
    ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
)
BULLETS = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>'
    '<text:list-level-style-bullet text:level="3" text:bullet-char="&#xF0B7;"/>'
    "</text:list-style>"
)


def content(kind: str, body: str, styles: str = "", root: str = "document-content") -> str:
    return (
        f"<?xml version='1.0' encoding='UTF-8'?><office:{root} {_SPACES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:{root}>"
    )


def package(kind: str, body: str, styles: str = "", masters: str = "", **others: str | bytes) -> bytes:
    """A package of a kind (text, spreadsheet, presentation); `others` are further parts, `__` in names being `/`."""
    parts: dict[str, str | bytes] = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": content(kind, body, styles),
        "styles.xml": f"<office:document-styles {_SPACES}><office:styles>{styles}</office:styles>"
        f"<office:master-styles>{masters}</office:master-styles></office:document-styles>",
        "META-INF/manifest.xml": "<manifest/>",
    }
    parts |= {name.replace("__", "/").replace("_DOT_", "."): part for name, part in others.items()}
    return zipped(parts)


def paragraph(words: str) -> str:
    return f"<text:p>{words}</text:p>"
