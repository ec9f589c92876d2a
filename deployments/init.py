"""`diligence init`: writes a batch file, criteria and a request list from what lies in a folder."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from slugify import slugify

from deployments.terminal import echo
from tasks.errors import BadRequest
from tasks.scoring.libraries.library import library_purpose, read_library
from tasks.user_file import yaml_value

Template = Literal["venture", "growth", "buyout", "vendor", "listed"]
"""The kind of deal: it selects libraries and the criteria in them."""
_LIBRARIES: Final = {
    "venture": ("corporate", "commercial", "financial", "people", "ip", "privacy"),
    "growth": ("corporate", "commercial", "financial", "tax", "people", "ip", "security", "privacy", "litigation"),
    "buyout": (
        *("corporate", "commercial", "financial", "tax", "people", "ip", "security", "privacy", "litigation"),
        *("regulatory", "environment", "insurance", "property"),
    ),
    "vendor": ("corporate", "commercial", "financial", "tax", "people", "ip", "litigation", "insurance", "property"),
    "listed": ("corporate", "commercial", "financial", "tax", "people", "security", "litigation", "regulatory"),
}
_ABOUT: Final = {
    "venture": "an early round: product, team and intellectual property count for more than results",
    "growth": "a later round: growth, retention and controls",
    "buyout": "the purchase of the whole company: every area",
    "vendor": "the seller's own check before a sale: are the documents there that buyers ask for?",
    "listed": "a listed company: filings, controls, disputes",
}
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
    texts = (_batch(name, companies), _criteria(template), _requests(template))
    for file, text in zip(_FILES, texts, strict=True):
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


def _batch(name: str, companies: Sequence[tuple[str, str]]) -> str:
    domains: dict[str, str] = {}
    for company, path in companies:
        stem = slugify(company) or "company"
        number = 1
        while (domain := f"{stem if number == 1 else f'{stem}-{number}'}.example") in domains.values():
            number += 1
        domains[path] = domain
    lines = [
        f"name: {_quoted(name)}              # what the batch is called; its runs are compared with each other",
        "criteria: criteria.yaml       # what every company is scored against",
        "requests: requests.yaml       # what was asked for; say list.xlsx where you have a list of your own",
        "drive_root: .                 # the data rooms lie beside this file",
        "fact_sources: [files]         # no network. Leave the line out to ask Wikidata, the SEC, GLEIF and websites",
        "",
        "companies:                    # each with its name, web domain, and the folder of its data room",
    ]
    for company, path in companies:
        lines.append(f"  - name: {_quoted(company)}")
        lines.append(f"    domain: {domains[path]}   # put the company's own domain here")
        lines.append(f"    folder: {_quoted(path)}")
    return "\n".join(lines) + "\n"


def _criteria(stage: str) -> str:
    lines = [
        f"# Criteria for {_ABOUT[stage]}.",
        "scale: [0, 5]                 # the lowest and the highest score",
        f"stage: {stage:<22} # the criteria of the libraries for this stage are used",
        "include:                      # libraries that come with the program; remove what does not matter",
    ]
    for name in _LIBRARIES[stage]:
        entries = read_library(name, (0.0, 5.0), stage)
        judged = sum("ask" in entry for entry in entries)
        about = f"{library_purpose(name)}: {len(entries)} criteria, {judged} of them judged by a model"
        lines.append(f"  - {name:<13}           # {about}")
    lines += [
        "",
        "criteria:                     # your own, listed first; one with the id of a library criterion replaces it",
        "  - id: fit                   # its name in the JSON",
        "    title: Fit with our strategy",
        '    ask: "What does the company sell, to whom, and in which countries?"   # judged, with quotes',
        '    guide: "5: our markets; 3: beside them; 0: elsewhere"                  # what the scores mean',
        "    weight: 2                 # how much it counts; 1 by default",
        "    severity: medium          # how serious a low score is: high, medium or low",
        "  # - {id: young, fact: founded_year, rule: '>= 2015'}     # a fact; `diligence facts --fields` lists them",
        "  # - {id: growth, figure: revenue, rule: 'growth >= 20 %'} # a figure of the documents",
        "  # - {id: nda, document: non-disclosure agreement}         # is it in the data room?",
    ]
    return "\n".join(lines) + "\n"


def _requests(stage: str) -> str:
    lines = [
        "# What to ask the company for. Each item comes out as received, partly or missing, in requests.xlsx.",
        "requests:                     # number, section and priority are optional",
    ]
    for section, name in enumerate(_LIBRARIES[stage], 1):
        asked = [entry for entry in read_library(name, (0.0, 5.0), stage) if "document" in entry]
        for place, entry in enumerate(asked, 1):
            lines.append(f"  - {_request(f'{section}.{place}', name, entry)}")
    return "\n".join(lines) + "\n"


def _request(number: str, section: str, entry: dict[str, Any]) -> str:
    called = entry["title"].casefold().replace("'", "")
    item = entry["title"] if entry["document"].casefold() in called else f"{entry['title']} ({entry['document']})"
    title = section.upper() if section == "ip" else section.capitalize()
    priority = entry.get("severity", "medium")
    return f'{{number: "{number}", section: {title}, item: {_quoted(item)}, priority: {priority}}}'
