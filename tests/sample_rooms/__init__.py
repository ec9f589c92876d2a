"""Builds the data rooms of the sample batch. The built files are committed: the demo never runs this.

What the documents say stands in `sources/`, one Markdown file a document, at the path that the document
has in its room: `X.docx.md` becomes `X.docx`. Workbooks need numbers that add up and stand in `workbooks/`.
Rebuild with `python -m tests.sample_rooms` (development dependencies); the same sources give the
same files.
"""
