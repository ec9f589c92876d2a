"""Settings of the documents room: which drive, and the limits on one document."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from storage.settings import RoomSettings
from tasks.documents.extract.ocr import tesseract


class DocumentSettings(RoomSettings):
    """Where documents lie, where users reach them, and what one of them may cost."""

    base_url: str = Field("http://127.0.0.1:8000", description="where users reach the service", pattern="^https?://")
    drive: Literal["local"] = Field("local", description="the drive that documents lie in")
    drive_root: Path = Field(Path(), description="the local drive's root; its id is `root`")
    document_timeout: float = Field(60, gt=0, description="seconds that reading one document may take")
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scans are read where Tesseract is installed")
    ocr_languages: str = Field(
        "eng", description="the languages of scans", pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$"
    )

    @property
    def recognised_languages(self) -> str | None:
        """The languages in which scans are read here, in Tesseract's form ("eng+deu"); None where they are not."""
        if self.ocr == "off":
            return None
        there, _ = tesseract.languages_of(self.ocr_languages)
        return "+".join(there) or None
