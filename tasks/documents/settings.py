"""Settings of the documents room: which drive, and the limits on one document."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from storage.settings import RoomSettings


class DocumentSettings(RoomSettings):
    """Where documents lie, where users reach them, and what one of them may cost."""

    base_url: str = Field("http://127.0.0.1:8000", description="where users reach the service", pattern="^https?://")
    drive: Literal["local"] = Field("local", description="the drive that documents lie in")
    drive_root: Path = Field(Path(), description="the local drive's root; its id is `root`")
    document_timeout: float = Field(60, gt=0, description="seconds that reading one document may take")
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
