"""Settings of reading: the limits on one document, and whether scans are read."""

from typing import Literal

from pydantic import Field

from storage.settings import Settings


class ReadingSettings(Settings):
    """What reading one document may take, and the languages of scans."""

    document_timeout: float = Field(
        60, gt=0, description="seconds that reading one document, or a call of the service, may take"
    )
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scans are read where Tesseract is installed")
    ocr_languages: str = Field(
        "eng", description="the languages of scans", pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$"
    )
