"""Turns an exception into the sentences that a command prints, and tells a user's mistake from a failure."""

import logging
import os
from collections.abc import Iterable
from typing import NamedTuple

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError

from storage.errors import DatabaseUnavailable
from storage.logs import LogSettings
from storage.settings import Settings
from tasks.errors import BadRequest, DiligenceError


class Explanation(NamedTuple):
    """The sentences for stderr, and whether the user's files, options or settings are at fault."""

    sentences: list[str]
    is_wrong_use: bool


def explain(error: Exception) -> Explanation | None:
    """What to tell the user about this error; None for an error in the program itself."""
    if isinstance(error, ValidationError) and error.title.endswith("Settings"):
        return Explanation(wrong_settings(error), is_wrong_use=True)
    if isinstance(error, SettingsError):  # names the field, not its value
        return Explanation([f"A variable of the environment cannot be used: {error}."], is_wrong_use=True)
    if isinstance(error, DiligenceError):
        return Explanation([error.message], is_wrong_use=isinstance(error, BadRequest))
    if isinstance(error, DatabaseUnavailable):
        return Explanation([str(error)], is_wrong_use=False)
    return None


def tell(sentences: Iterable[str]) -> None:
    """Say why a command failed: on stderr, or in the log where stderr carries JSON."""
    log = logging.getLogger(__package__)
    if log.handlers and LogSettings.current().is_json:
        for sentence in sentences:
            log.error("%s", sentence)
    else:
        for sentence in sentences:
            typer.echo(sentence, err=True)


def wrong_settings(error: ValidationError) -> list[str]:
    """One sentence for every setting, ours or Prefect's, that has an invalid value."""
    sentences = []
    is_ours = error.title in {area.__name__ for area in Settings.__subclasses__()}
    for mistake in error.errors(include_url=False, include_input=False):
        name = str(mistake["loc"][-1 if mistake["loc"] and not is_ours else 0]).upper() if mistake["loc"] else ""
        variable = name if name.startswith("OPENAI") else f"DILIGENCE_{name}"
        if not is_ours:
            given = [other for other in os.environ if other.startswith("PREFECT_") and other.endswith(f"_{name}")]
            variable = " or ".join(given) or "A variable PREFECT_…"
        sentences.append(f"{variable}: {mistake['msg'].removeprefix('Value error, ')}.")
    return sentences
