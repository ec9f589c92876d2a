"""The reference pages, made from the code: commands, settings, files, operations, metrics, errors and warnings.

What code cannot tell, what to do about an error, comes from the table of `docs/api.md`; an error without a row there
ends the build.
"""

import ast
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

import api.app  # noqa: F401 - its settings and errors are subclasses that must be known
import flows.run  # noqa: F401 - its errors are subclasses of DiligenceError
from deployments.cli import COMMANDS, load
from docs.site.calls import Call, record_calls
from flows.batch_file import RunSettings, variable_name
from storage.settings import Settings
from tasks.documents.drive.registry import descriptions
from tasks.errors import DiligenceError
from tasks.figures.conflicts import Step
from tasks.scoring.criteria import KINDS, STAGES, Criterion, Isolate, library_names
from tasks.table.columns import set_names

ROOT: Final = Path(__file__).parents[2]
CODE: Final = ("api", "deployments", "flows", "storage", "tasks")
JsonSchema = dict[str, Any]
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def write_pages() -> dict[str, str]:
    """The text of each file of the reference by its name."""
    calls = record_calls()
    schemas = {"criteria.schema.json": criteria_schema(), "batch.schema.json": batch_schema()}
    described = next(call.answer for call in calls if call.path == "/schema/openapi.json")
    return {
        "commands.md": commands(),
        "settings.md": settings(),
        "files.md": files(schemas),
        "operations.md": operations(described, calls),
        "metrics.md": metrics(),
        "errors.md": errors(calls),
        "warnings.md": warnings(),
        **{
            name: json.dumps(schema, indent=2, ensure_ascii=False)
            for name, schema in {**schemas, "openapi.json": described}.items()
        },
    }


_BAR: Final = re.compile(r"\|(?=[^`]*(?:`[^`]*`[^`]*)*$)")
"""A bar that would part two cells: those within code do not."""


def escape(text: str) -> str:
    """A text on one line in which `<` is no markup; in code it never is."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(parts))


def table(head: str, rows: Sequence[tuple[str, ...]]) -> str:
    """A table of Markdown. `head` has the columns' names, with a bar between them."""
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    lines += ["| " + " | ".join(_BAR.sub(r"\\|", escape(cell)) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Every command with its arguments and options."""
    lines = ["# Commands\n", "As `diligence COMMAND --help` prints them.\n"]
    for name, command in COMMANDS.items():
        loaded = load(name)
        context = loaded.context_class(loaded, info_name=f"diligence {name}")
        usage = " ".join([f"diligence {name}", *loaded.collect_usage_pieces(context)])
        records = [
            record for one in loaded.params if (record := one.get_help_record(context)) and "-h" not in record[0]
        ]
        lines += [f"## {name}\n", f"{command.help}\n", f"```text\n{usage}\n```\n"]
        if records:
            lines.append(table("argument or option | meaning", [(f"`{names}`", text) for names, text in records]))
    return "\n".join(lines)


def settings_classes() -> list[type[Settings]]:
    """The class of each area's settings."""
    descriptions()  # the settings of drives are classes once the drives are known
    known = [area for area in Settings.__subclasses__() if area.__module__.split(".")[0] in CODE]
    return sorted(known, key=lambda area: _TITLES[area.__name__])


def settings() -> str:
    """Every setting: its type, default and meaning, and who may set it."""
    allowed = set(RunSettings().allowed)
    lines = [
        "# All settings\n",
        (
            "[Settings](../docs/settings.md) explains them by subject. An environment variable sets each; those "
            "marked *batch* may stand in a batch file too, in lower case and without `DILIGENCE_`. A *secret* is never "
            "shown.\n"
        ),
    ]
    named: set[str] = set()
    for area in settings_classes():
        schema = area.model_json_schema()["properties"]
        rows = []
        for name, field in area.model_fields.items():
            if name in named:  # two areas read the same variable
                continue
            named.add(name)
            known = schema.get(field.validation_alias or name, {})
            marks = [mark for mark, holds in (("batch", name in allowed), ("secret", is_secret(field))) if holds]
            value = f"{describe(known)}; default {default(field)}".replace("default none", "no default")
            about = f"{field.description} ({value}){''.join(f' *{mark}*' for mark in marks)}"
            rows.append((f"`{variable_name(name)}`", about))
        lines += [f"## {_TITLES[area.__name__]}\n", table("setting | meaning", rows)]
    return "\n".join(lines)


_TITLES: Final = {
    "ApiSettings": "Service",
    "BatchSettings": "Runs side by side",
    "LogSettings": "Log",
    "StorageSettings": "Home and database",
    "AiSettings": "Model",
    "PrivacySettings": "Model: what it is not told",
    "SpendingSettings": "Model: what it may cost",
    "CompanySettings": "Company facts",
    "GoogleDriveSettings": "Google Drive",
    "LocalDriveSettings": "Local drive",
    "DriveSettings": "Drive",
    "DocumentSettings": "Index and links",
    "EvidenceSettings": "Evidence",
    "FigureSettings": "Figures",
    "EmbeddingSettings": "Ranking by meaning",
    "ReadingSettings": "Reading documents",
    "WebhookSettings": "Webhooks",
}


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting's value is never shown."""
    return SecretStr in {field.annotation, *get_args(field.annotation)}


def default(field: FieldInfo) -> str:
    """A setting's default as users would write it."""
    value = field.default
    if value in (None, (), ""):
        return "none"
    if isinstance(value, tuple):
        return f"`{','.join(value)}`"
    if isinstance(value, bool):
        return "`on`" if value else "`off`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def describe(schema: JsonSchema) -> str:
    """What a value may be, in words."""
    if "anyOf" in schema:
        return " or ".join(describe(one) for one in schema["anyOf"] if one.get("type") != "null")
    if isinstance(schema.get("type"), list):
        return " or ".join(describe({**schema, "type": kind}) for kind in schema["type"] if kind != "null")
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]) if value is not False)
    kinds = {
        "integer": "whole number",
        "number": "number",
        "boolean": "on or off",
        "array": "list",
        "object": "mapping",
    }
    kind = kinds.get(schema.get("type", ""), "path" if schema.get("format") == "path" else "text")
    bounds = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    return " ".join([kind, *(f"{word} {schema[key]:,}" for key, word in bounds.items() if key in schema)])


def criteria_schema() -> JsonSchema:
    """The JSON schema of a criteria file."""
    entries = TypeAdapter(list[Criterion]).json_schema(ref_template="#/$defs/{model}")
    for kind in (KINDS["fact"], KINDS["figure"]):
        entries["$defs"][kind.__name__]["oneOf"] = [{"required": ["rule"]}, {"required": ["bands"]}]
    names = {"type": "array", "items": {"enum": list(library_names())}, "description": "libraries of criteria"}
    return {
        "$schema": _DIALECT,
        "title": "Criteria of diligence",
        "type": "object",
        "additionalProperties": False,
        "anyOf": [{"required": ["criteria"]}, {"required": ["include"]}],
        "properties": {
            "scale": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 2,
                "maxItems": 2,
                "default": [0, 5],
                "description": "the lowest and the highest score",
            },
            "runs": {"type": "integer", "minimum": 1, "maximum": 9, "description": "judgements of each criterion"},
            "figure_rule": {
                "type": "array",
                "items": {"enum": list(get_args(Step))},
                "description": "which of the figures that contradict each other counts",
            },
            "isolate": {
                "enum": [*get_args(Isolate), False],
                "description": "for which judged criteria each document is read by itself",
            },
            "include": names,
            "stage": {"enum": list(STAGES), "description": "what the deal is: chooses criteria of the libraries"},
            "table": {"anyOf": [{"enum": set_names()}, {"type": "string"}], "description": "columns, or their file"},
            "criteria": {"type": "array", "items": entries["items"], "description": "the criteria, in their order"},
        },
        "$defs": entries["$defs"],
    }


def batch_schema() -> JsonSchema:
    """The JSON schema of a batch file: its own fields, and the settings that it may hold."""
    known = RunSettings()
    properties: JsonSchema = {
        "name": {"type": "string", "description": "the batch's name; its runs form a series"},
        "criteria": {"type": "string", "description": "the criteria file, from this file"},
        "requests": {"type": "string", "description": "the request list (.xlsx, .csv, .yaml), from this file"},
        "companies": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "domain", "folder"],
                "properties": {
                    "name": {"type": "string"},
                    "domain": {"type": "string", "description": "its web domain, such as alpha.example"},
                    "folder": {"type": "string", "description": "its data room: a path, a folder's id or its URL"},
                },
            },
        },
    }
    definitions: JsonSchema = {}
    for area in known.classes:
        schema = area.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= schema.get("$defs", {})
        for name, field in area.model_fields.items():
            if name in known.allowed:
                value = {key: part for key, part in schema["properties"].get(name, {}).items() if key != "title"}
                if value.get("type") == "array":
                    value = {"anyOf": [{"type": "string"}, {"type": "array"}]}
                properties[name] = value | {"description": field.description}
    return {
        "$schema": _DIALECT,
        "title": "Batch of diligence",
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "criteria", "companies"],
        "properties": properties,
        "$defs": definitions,
    }


def files(schemas: Mapping[str, JsonSchema]) -> str:
    """The fields of criteria and batch files."""
    criteria, batch = schemas["criteria.schema.json"], schemas["batch.schema.json"]
    lines = [
        "# Criteria and batch files\n",
        (
            "Editors complete and check both with these JSON schemas: [criteria.schema.json](criteria.schema.json) "
            "and [batch.schema.json](batch.schema.json). With the YAML language server, name one in the first line of "
            "a file: `# yaml-language-server: $schema=criteria.schema.json`. `diligence run` checks more than a schema "
            "can.\n"
        ),
        "[Criteria](../docs/criteria.md) explains the fields by example.\n",
        "## Criteria file\n",
        _fields(criteria),
    ]
    for key, kind in KINDS.items():
        shape = criteria["$defs"][kind.__name__]
        lines += [f"### Criterion with `{key}`\n", f"{shape['description']}\n", _fields(shape)]
    lines += [
        "## Batch file\n",
        _fields(batch, without=RunSettings().allowed),
        "And each [setting](settings.md) that is marked *batch*.\n",
        "### Company\n",
        _fields(batch["properties"]["companies"]["items"]),
    ]
    return "\n".join(lines)


def _fields(schema: JsonSchema, *, without: Container[str] = ()) -> str:
    """The fields of an object; what its schema does not say of them stands in the tables of `docs/criteria.md`."""
    needed = schema.get("required", ())
    explained = dict(
        re.findall(r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs" / "criteria.md").read_text("utf-8"), re.MULTILINE)
    )
    rows = [
        (
            f"`{name}`",
            describe(part),
            "yes" if name in needed else "",
            part.get("description") or explained.get(name, "").replace("](", "](../docs/"),
        )
        for name, part in schema["properties"].items()
        if name not in without
    ]
    return table("field | type | required | meaning", rows)


def operations(schema: JsonSchema, calls: list[Call]) -> str:
    """Each operation of the service with its fields, and a request and its answer as the service gave it."""
    lines = [
        "# Operations\n",
        (
            "Requests and answers were made by a service with the sample's data rooms; long values are shortened. "
            "[The HTTP API](../docs/api.md) says what holds for all of them. [openapi.json](openapi.json) is the whole "
            "description for generators.\n"
        ),
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            lines += [
                f"## {operation['summary']}\n",
                f"`{method.upper()} {path}`\n",
                f"{operation.get('description', '')}\n",
            ]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if "$ref" in body:
                lines.append(_fields(schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]))
            lines += [call.as_markdown() for call in calls if call.path == path and call.status < 400]
            rows = [(status, told["description"]) for status, told in operation["responses"].items()]
            lines.append(table("status | meaning", rows))
    return "\n".join(lines)


_METRIC: Final = re.compile(
    r"(?:(?P<type>\w+?)(?:MetricFamily)?)?\(\s*\"(?P<name>diligence_\w+)\",\s*\"(?P<about>[^\"]+)\"(?P<rest>[^)]*)"
)


def metrics() -> str:
    """Every metric of `/metrics`, from the module that makes them."""
    rows = []
    for found in _METRIC.finditer((ROOT / "api/monitoring.py").read_text("utf-8")):
        kind = (found["type"] or "Gauge").lower()
        labels = re.search(r"(?:labels=)?\[([^\]]*)\]", found["rest"])
        shown = labels[1].replace('"', "") if labels else "status" if not found["type"] else ""
        name = found["name"] + ("_total" if kind == "counter" else "")
        rows.append((f"`{name}`", kind, shown, found["about"]))
    return "\n".join(
        [
            "# Metrics\n",
            (
                "`/metrics` gives these to Prometheus, with those of the process (`process_…`). "
                "[Alerts and a dashboard](../docs/operating.md#watch-it) say what to do about them.\n"
            ),
            table("metric | type | labels | meaning", rows),
        ]
    )


def error_classes(root: type[DiligenceError] = DiligenceError) -> Iterator[type[DiligenceError]]:
    """All kinds of errors, the root first."""
    yield root
    for below in root.__subclasses__():
        yield from error_classes(below)


_NO_ANSWERS: Final = {
    "budget-spent": "Raise the budget and run the batch again: no answer is paid for twice.",
    "no-reason": "The criterion is `unscored`: run the batch again, or use a model that gives reasons.",
    "companies-failed": "Mend what the sentence names for each company, and run the batch again.",
}
"""What to do about errors that no call of the service is answered with."""


def advice() -> dict[str, str]:
    """What to do about each kind of error, by its slug, as the table of `docs/api.md` says."""
    rows = re.findall(r"^\| \d+ \| (.+?) \| (.+) \|$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    return _NO_ANSWERS | {slug: what for slugs, what in rows for slug in re.findall(r"`([a-z-]+)`", slugs)}


def sentence_case(text: str) -> str:
    """A text as a sentence of its own."""
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def errors(calls: list[Call]) -> str:
    """Every kind of error: what it means, what to do, an answer, and the sentences that the code has for it."""
    what_to_do = advice()
    kinds = {kind.slug: kind for kind in error_classes() if kind.__module__.split(".")[0] in CODE}
    sentences = raised_sentences({kind.__name__: kind.slug for kind in kinds.values()})
    lines = [
        "# Errors\n",
        (
            "The service answers with a problem whose `type` ends in the name below. A command prints the sentence and "
            "ends with status 1, or with 2 where it was used wrongly. `…` stands for what differs from case to case.\n"
        ),
    ]
    for slug, kind in sorted(kinds.items(), key=lambda item: item[1].status):
        about = " ".join((kind.__doc__ or "").split())
        lines += [
            f"## {slug}\n",
            f"{kind.status} {kind.title}. {about}\n",
            f"**What to do:** {sentence_case(what_to_do[slug])}\n",
        ]
        lines += [
            call.as_markdown()
            for call in calls
            if isinstance(call.answer, dict) and str(call.answer.get("type", "")).endswith(f":{slug}")
        ]
        if sentences.get(slug):
            told = "\n".join(f"    - {escape(sentence)}" for sentence in sorted(sentences[slug]))
            lines.append(f'??? note "The sentences ({len(sentences[slug])})"\n\n{told}\n')
    return "\n".join(lines)


def modules(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    """The modules of folders, parsed."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "sample" not in path.parts and "versions" not in path.parts:
                yield path, ast.parse(path.read_text("utf-8"))


def raised_sentences(slugs: Mapping[str, str]) -> dict[str, set[str]]:
    """The sentences with which the code makes errors, by slug; `slugs` are those of the classes by name."""
    found: dict[str, set[str]] = {}
    for _, module in modules(*CODE):
        constants = read_constants(module)
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in slugs and node.args:
                found.setdefault(slugs[node.func.id], set()).update(read_sentence(node.args[0], constants))
    return found


def read_constants(module: ast.Module) -> dict[str, ast.expr]:
    """The values that a module gives to names at its top."""
    values: dict[str, ast.expr] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            values[node.target.id] = node.value
    return values


def read_sentence(node: ast.expr, constants: Mapping[str, ast.expr]) -> set[str]:
    """A sentence as it stands in the code, `…` for its variable parts; none where it comes from elsewhere."""
    if isinstance(node, ast.Name) and node.id in constants:
        return read_sentence(constants[node.id], {})
    if isinstance(node, ast.IfExp):
        return read_sentence(node.body, constants) | read_sentence(node.orelse, constants)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return {re.sub(r"\{[^}]*\}", "…", text) for text in read_sentence(node.func.value, constants)}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)  # type: ignore[misc]
    else:
        return set()
    text = " ".join(text.split())
    return {text} if len(text.split()) > 2 else set()


_AREAS: Final = {
    "reading": (
        "Reading documents",
        (
            "A part of a document was not read, or not as it is shown. Look at the document itself for that part. If "
            "another form is asked for (a PDF, a copy without a password), ask for it, put it into the room and run "
            "the batch again: the rest is not read again."
        ),
    ),
    "drive": (
        "Listing folders",
        (
            "A file or folder is not in the index. Put it into the room itself, or give the account of the run access "
            "to it, and run the batch again."
        ),
    ),
    "documents": (
        "Texts and kinds",
        "Raise the limit that is named, or leave the document out.",
    ),
    "companies": (
        "Company facts",
        (
            "A source did not answer, or not for sure. The others were used. Run the batch again later, set what is "
            "named, or give the fact yourself in `facts/<domain>.json`."
        ),
    ),
    "ai": (
        "Models",
        "The model's server did less than it was asked for. `diligence doctor --model` says what it is able to do.",
    ),
    "figures": ("Figures", "The figure was left out rather than read wrongly; look it up in the document."),
    "scoring": ("Scores", "Read the named quotation or passage before you rely on the score."),
    "": ("Runs and the service", "The work went on; the sentence says what is missing and how to have it."),
}
"""Areas of the code by a folder of theirs, with what to do about a warning of it."""


def warnings() -> str:
    """Every warning that the code has a sentence for, by area, with what to do."""
    found: dict[str, set[str]] = {area: set() for area in _AREAS}
    for path, module in modules("tasks", "flows"):
        area = next((area for area in _AREAS if area in path.relative_to(ROOT).parts), "")
        constants = read_constants(module)
        for node in ast.walk(module):
            for sentence in _find_warnings(node):
                found[area] |= read_sentence(sentence, constants)
    lines = [
        "# Warnings\n",
        (
            "A warning never stops a run. The report, the index and standard error name it with its document. "
            "`…` stands for what differs from case to case.\n"
        ),
    ]
    for area, (title, what) in _AREAS.items():
        if found[area]:
            lines += [
                f"## {title}\n",
                f"**What to do:** {what}\n",
                *(f"- {escape(one)}" for one in sorted(found[area])),
                "",
            ]
    return "\n".join(lines)


def _find_warnings(node: ast.AST) -> Iterator[ast.expr]:
    """What a node adds as warnings: `writer.warn(…)`, `warnings.append(…)`, `warning=…`, `warnings = [...]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr == "warn" or (node.func.attr == "append" and _is_of_warnings(node.func.value)):
            yield node.args[0]
        return
    is_given = isinstance(node, ast.keyword) and node.arg in {"warning", "warnings"}
    if is_given or (isinstance(node, ast.Assign) and _is_of_warnings(node.targets[0])):
        value = node.value  # type: ignore[attr-defined] # of either kind of node
        yield from value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _is_of_warnings(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lower().strip("_").endswith(("warning", "warnings"))
