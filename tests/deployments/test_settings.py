"""Every setting is named where users look for it, and nothing else is."""

import re
from pathlib import Path

from api.settings import ApiSettings
from flows.settings import BatchSettings
from storage.logs import LogSettings
from storage.settings import Settings, StorageSettings
from tasks.ai.settings import AiSettings
from tasks.companies.settings import CompanySettings
from tasks.documents.drive.registry import DriveSettings, descriptions
from tasks.documents.settings import DocumentSettings
from tasks.figures.concepts import FigureSettings
from tasks.ranking.semantic import EmbeddingSettings
from tasks.reading.settings import ReadingSettings

REPOSITORY = Path(__file__).parents[2]
ROOMS: tuple[type[Settings], ...] = (
    StorageSettings,
    LogSettings,
    BatchSettings,
    DocumentSettings,
    ReadingSettings,
    DriveSettings,
    *(drive.settings for drive in descriptions()),
    CompanySettings,
    AiSettings,
    EmbeddingSettings,
    FigureSettings,
    ApiSettings,
)


def names() -> set[str]:
    """Each setting as users type it."""
    return {
        str(field.validation_alias or f"DILIGENCE_{name.upper()}")
        for room in ROOMS
        for name, field in room.model_fields.items()
    }


def test_the_example_environment_names_every_setting_and_no_other() -> None:
    written = (REPOSITORY / "deployments" / "env.example").read_text()
    assert set(re.findall(r"^#?((?:DILIGENCE|OPENAI)_\w+)=", written, re.MULTILINE)) == names()


def test_the_page_on_settings_explains_every_setting() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    explained = set(re.findall(r"\b(?:DILIGENCE|OPENAI)_[A-Z_]+\b", page))
    explained |= {f"DILIGENCE{rest}" for rest in re.findall(r"`(_[A-Z_]+)`", page)}
    assert names() - explained == set()


def test_every_setting_says_what_it_is() -> None:
    for room in ROOMS:
        for name, field in room.model_fields.items():
            assert field.description, name
