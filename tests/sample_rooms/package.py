"""Makes Office files reproducible: the libraries that write them stamp each part with the current time."""

import io
import re
import zipfile
from datetime import date

_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</dcterms:)")


def settle(package: bytes, written: date) -> bytes:
    """The same Office package with fixed times: zip entries get the format's first day, 1980-01-01, and the document's
    properties get `written`. Embedded workbooks (the data of charts) are treated alike.
    """
    settled = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as given, zipfile.ZipFile(settled, "w") as out:
        for part in given.infolist():
            content = given.read(part)
            if part.filename.endswith(".xlsx"):
                content = settle(content, written)
            elif part.filename == "docProps/core.xml":
                content = _STAMP.sub(rb"\g<1>" + f"{written:%Y-%m-%d}T09:00:00Z".encode() + rb"\g<2>", content)
            entry = zipfile.ZipInfo(part.filename, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 0
            out.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return settled.getvalue()
