"""Settings for reading: the limits for one document and one scanned page, and which engines read scans."""

from typing import Literal

from pydantic import Field

from storage.settings import Settings


class ReadingSettings(Settings):
    """What reading one document may take, and how scans are read."""

    document_timeout: float = Field(
        60, gt=0, description="seconds that reading one document, or a call of the service, may take"
    )
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scanned pages are read")
    ocr_engine: Literal["auto", "tesseract", "rapidocr"] = Field(
        "auto",
        description="what reads them; `auto`: Tesseract where it is installed and told the language, RapidOCR the rest",
    )
    ocr_languages: str = Field(
        "eng",
        description="Tesseract's names of the languages of scans; `auto` takes those of the room where none are given",
        pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$",
    )
    ocr_page_timeout: float = Field(60, gt=0, description="seconds that recognising one page may take")
    ocr_pages: int | None = Field(None, ge=0, description="the most scanned pages that a run recognises")
