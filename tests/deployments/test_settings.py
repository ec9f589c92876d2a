"""Every setting is named where users look for it, and nothing else is."""

import re
from pathlib import Path

from docs.site.reference import default, settings_classes

REPOSITORY = Path(__file__).parents[2]


def names() -> set[str]:
    """Each setting as users type it."""
    return {
        str(field.validation_alias or f"DILIGENCE_{name.upper()}")
        for room in settings_classes()
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


def test_the_page_on_settings_has_the_defaults_of_the_code() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    told = dict(re.findall(r"^\| `(?:DILIGENCE_)?(\w+)` \| (\S+) \|", page, re.MULTILINE))
    fields = {name.upper(): field for room in settings_classes() for name, field in room.model_fields.items()}
    known = {name: default(field).strip("`") for name, field in fields.items() if name in told}
    compared = {name: value for name, value in known.items() if value != "none"}  # of the others the page says more
    assert len(compared) > 25
    assert {name: told[name].strip("`") for name in compared} == compared


def test_every_setting_says_what_it_is() -> None:
    for room in settings_classes():
        for name, field in room.model_fields.items():
            assert field.description, name
