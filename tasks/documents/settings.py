"""Settings of the documents area: where users reach the service, and the limits on one document.

Which drive it is stands in `drive.registry`, what a drive needs to know in its own package.
"""

from typing import Literal

from pydantic import Field

from storage.settings import Settings


class DocumentSettings(Settings):
    """Where users reach documents, and what reading one of them may take."""

    base_url: str = Field("http://127.0.0.1:8000", description="where users reach the service", pattern="^https?://")
    index_max_age: float = Field(
        1, ge=0, description="hours that a stored index is used where the drive may not tell of every change"
    )
    document_timeout: float = Field(
        60, gt=0, description="seconds that reading one document, or a call of the service, may take"
    )
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scans are read where Tesseract is installed")
    ocr_languages: str = Field(
        "eng", description="the languages of scans", pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$"
    )
