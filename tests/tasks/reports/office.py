"""Office files as LibreOffice shows them."""

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

needs_libreoffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


@cache
def _profile() -> Path:
    """A profile of LibreOffice for all tests of this process: to make one takes half of a short conversion."""
    folder = tempfile.TemporaryDirectory(prefix="libreoffice-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Path(folder.name)


def converted(contents: Sequence[bytes], kind: str, into: str, folder: Path) -> list[Path]:
    """Files of that kind (`docx`), written by LibreOffice as another (`pdf`) in one start; gives where they lie."""
    sources = [folder / f"report{number}.{kind}" for number in range(len(contents))]
    for source, content in zip(sources, contents, strict=True):
        source.write_bytes(content)
    target = folder / "out"
    command = ["soffice", f"-env:UserInstallation={_profile().as_uri()}", "--headless", "--convert-to", into]
    subprocess.run([*command, "--outdir", str(target), *sources], check=True, capture_output=True, timeout=120)
    return [target / source.with_suffix(f".{into.split(':', maxsplit=1)[0]}").name for source in sources]


def as_pdf(content: bytes, kind: str, folder: Path) -> list[str]:
    """The words of each page that LibreOffice prints."""
    document = pypdfium2.PdfDocument(converted([content], kind, "pdf", folder)[0])
    try:
        return [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]
    finally:
        document.close()
