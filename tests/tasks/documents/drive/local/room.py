"""A local room for tests: writing into it, listing it, and ids that the drive never gave."""

import base64
import os
from pathlib import Path

from tasks.documents.drive.drive import Document, Listing
from tasks.documents.drive.local.drive import LocalDrive

BASE = "http://127.0.0.1:8000"


def write(file: Path, content: bytes = b"words") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def listed(root: Path, folder: str = "root", *, recursive: bool = True) -> Listing:
    return LocalDrive(root, BASE).list_folder(folder, recursive=recursive)


def only(root: Path) -> Document:
    (document,) = listed(root).documents
    return document


def content(root: Path, document_id: str) -> bytes:
    with LocalDrive(root, BASE).open(document_id) as opened:
        return opened.read()


def forged(path: str) -> str:
    """The id that would stand for a path if it were let through."""
    return "L" + base64.urlsafe_b64encode(os.fsencode(path)).decode().rstrip("=")
