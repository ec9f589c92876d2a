"""One extractor in a process of its own: reads each document it is told to and says how long that took.

Run by the interpreter that has the extractor: `python turns.py NAME`. A line in is a path; a line out is
JSON: the seconds of the processor, and the text or why there is none. Imports nothing of the project but for our own.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Extract = Callable[[str], str]


def ours() -> Extract:
    read = importlib.import_module("tasks.reading.embedded").read_with_embedded
    return lambda path: read(path).text


def pdf_reader() -> Extract:
    read = importlib.import_module("tasks.reading.pdf.reader").read
    return lambda path: read(Path(path)).text


def office_oxide() -> Extract:
    extract: Extract = importlib.import_module("office_oxide").extract_text
    return extract


def xberg() -> Extract:
    library = importlib.import_module("xberg")
    options = library.ExtractionConfig(use_cache=False, disable_ocr=True)
    loop = asyncio.new_event_loop()

    async def extract(path: str) -> str:
        result = await library.extract(library.ExtractInput(uri=path), options)
        return "".join(document.content for document in result.results)

    return lambda path: loop.run_until_complete(extract(path))


def anydoc() -> Extract:
    library = importlib.import_module("anydoc")
    return lambda path: library.to_markdown(path, ocr="reject")


def calamine() -> Extract:
    workbook = importlib.import_module("python_calamine").CalamineWorkbook

    def read(path: str) -> str:
        book = workbook.from_path(path)
        rows = (row for name in book.sheet_names for row in book.get_sheet_by_name(name).to_python())
        return "\n".join("\t".join(map(str, row)) for row in rows)

    return read


def pypdfium2() -> Extract:
    library = importlib.import_module("pypdfium2")

    def read(path: str) -> str:
        with library.PdfDocument(path) as document:
            return "\n".join(page.get_textpage().get_text_bounded() for page in document)

    return read


def pymupdf() -> Extract:
    library = importlib.import_module("pymupdf")
    library.TOOLS.mupdf_display_errors(False)
    flags = library.TEXTFLAGS_TEXT & ~library.TEXT_PRESERVE_LIGATURES

    def read(path: str) -> str:
        with library.open(path) as document:
            if document.needs_pass:
                document.authenticate("")
            return "\n".join(page.get_text(flags=flags) for page in document)

    return read


def charset_normalizer() -> Extract:
    from_path = importlib.import_module("charset_normalizer").from_path
    return lambda path: str(from_path(path).best())


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what native code prints is no answer
    engine: Extract = globals()[name]()
    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        answer: dict[str, Any] = {}
        start = time.process_time()
        try:
            answer["text"] = engine(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever a peer raises, it has not read the document
            answer["error"] = type(error).__name__
        answer["seconds"] = time.process_time() - start
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
