"""`diligence init`: writes a batch file, criteria and a request list from what lies in a folder."""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from jinja2 import Environment, FileSystemLoader
from slugify import slugify

from deployments.terminal import echo
from tasks.errors import BadRequest
from tasks.scoring.criteria import library_purpose, read_library
from tasks.user_file import yaml_value

Template = Literal["venture", "growth", "buyout", "vendor", "listed"]
"""The kind of deal: it selects libraries and the criteria in them."""
_TEMPLATES: Final = Path(__file__).with_name("templates")
_NUMBERED: Final = re.compile(r"\s*(?:\d{1,3}|[A-Z]|[IVX]{1,4})(?:[.\-_]\d{1,3})*[.)_\-\s]")
"""How the folders of one data room are named: 01 Corporate, 2. Finance, A - Tax."""
_FILES: Final = ("batch.yaml", "criteria.yaml", "requests.yaml")


def init(
    template: Annotated[Template, typer.Option(help="The type of deal.")],
    folder: Annotated[Path, typer.Argument(help="The folder with a subfolder for each company.")] = Path(),
) -> None:
    """Write a batch, criteria and a request list for data rooms."""
    if not folder.is_dir():
        problem = f"{folder} is not a folder" if folder.exists() else f"There is no folder {folder}"
        raise BadRequest(f"{problem}. Give the folder that holds a subfolder for each company.")
    present = [name for name in _FILES if (folder / name).exists()]
    if present:
        raise BadRequest(f"{folder} already has {', '.join(present)}. Move them away, or choose another folder.")
    companies = find_companies(folder)
    if not companies:
        raise BadRequest(
            f"{folder} holds no data room. Put a subfolder for each company into it, with its documents, and try again."
        )
    name = folder.resolve().name or "Screen"
    for file, text in zip(_FILES, make_texts(name, companies, template), strict=True):
        try:
            with (folder / file).open("x", encoding="utf-8") as opened:
                opened.write(text)
        except OSError as error:
            raise BadRequest(f"{folder / file} cannot be written ({error.strerror}). Choose another folder.") from error
    counted = f"{len(companies)} {'company' if len(companies) == 1 else 'companies'}"
    echo(f"{folder}: {', '.join(_FILES)} for {counted}.")
    echo(f"Put each company's web domain into batch.yaml, then: diligence run {folder / 'batch.yaml'}")


def find_companies(folder: Path) -> list[tuple[str, str]]:
    """The companies in a folder, as name and relative path: one for each subfolder.

    A folder that only has documents, or whose subfolders are numbered, is itself the data room of one company.
    """
    entries = [entry for entry in os.scandir(folder) if not entry.name.startswith((".", "~$"))]
    inside = sorted(entry.name for entry in entries if entry.is_dir() and entry.name not in {"facts", "reports"})
    files = [entry for entry in entries if entry.is_file()]
    if inside and not all(_NUMBERED.match(name) for name in inside):
        return [(" ".join(name.replace("_", " ").split()), name) for name in inside]
    return [(folder.resolve().name or "Company", ".")] if inside or files else []


def _quoted(text: str) -> str:
    """A text for YAML, in quotation marks only if needed."""
    plain = re.fullmatch(r"[A-Za-z][\w .()-]*(?<![ .])", text) is not None and yaml_value(text) == text
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _name_domains(companies: Sequence[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Each company's name and path with a domain to be replaced, a different one for each."""
    domains: dict[str, str] = {}
    for company, path in companies:
        stem = slugify(company) or "company"
        number = 1
        while (domain := f"{stem if number == 1 else f'{stem}-{number}'}.example") in domains.values():
            number += 1
        domains[path] = domain
    return [(company, path, domains[path]) for company, path in companies]


def make_texts(name: str, companies: Sequence[tuple[str, str]], stage: str) -> list[str]:
    """The texts of the files, in the order of `_FILES`, for that kind of deal."""
    kind = tomllib.loads((_TEMPLATES / "stages.toml").read_text("utf-8"))[stage]
    templates = Environment(  # noqa: S701 - it writes no HTML
        loader=FileSystemLoader(_TEMPLATES), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    templates.filters |= {"quoted": _quoted, "purpose": library_purpose}
    shown = {
        "name": name,
        "companies": _name_domains(companies),
        "stage": stage,
        "about": kind["about"],
        "libraries": [(library, read_library(library, (0.0, 5.0), stage)) for library in kind["libraries"]],
    }
    return [templates.get_template(file).render(shown) for file in _FILES]
