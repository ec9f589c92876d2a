"""A batch as it was when it was deployed or run, with everything from its files that a worker on another machine needs.

It is kept in our database, and a flow run gets its hash as a parameter. It contains no secrets, since a batch file may
not hold any. Prefect is not imported here: an unchanged batch does without it.
"""

import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Session

from flows.batch_file import Batch, BatchCompany, Value, read_batch
from storage import database, runs
from storage.settings import override_settings
from tasks.ai.answerer import AiSettings
from tasks.errors import BadRequest, NotConfigured, NotFound
from tasks.figures.figure import read_concepts
from tasks.requests.request_list import RequestList
from tasks.scoring.criteria import Criteria, read_criteria

log = logging.getLogger(__name__)


class BatchDefinition(BaseModel):
    """The batch as read when it was deployed. `facts` are the facts files of its companies, by domain."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="What the batch is called.")
    criteria: dict[str, Any] = Field(description="The scale and the criteria, with their libraries.")
    companies: list[BatchCompany] = Field(description="Name, web domain and data room of each company.")
    settings: dict[str, Value] = Field(default_factory=dict, description="The settings of the batch file.")
    facts: dict[str, Any] = Field(default_factory=dict, description="What its folder of facts says, by domain.")
    concepts: dict[str, Any] = Field(default_factory=dict, description="What its file of concepts says.")
    requests: dict[str, Any] | None = Field(None, description="The request list.")
    directory: Path | None = Field(None, description="The folder in which it was deployed.")
    model: str | None = Field(None, description="The model that was to judge; None without one.")

    @classmethod
    def of(cls, batch: Batch, directory: Path | None = None) -> "BatchDefinition":
        """The definition of a batch that was read from its files, to be deployed in the folder `directory`."""
        with override_settings(batch.settings):
            model = AiSettings.current().ai_model or None
        return cls(
            name=batch.name,
            criteria=batch.criteria.as_json(),
            companies=list(batch.companies),
            settings=batch.settings,
            facts=_read_facts(batch),
            concepts=read_concepts(Path(str(file)))
            if (file := batch.settings.get("figure_concepts")) is not None
            else {},
            requests=batch.requests.model_dump() if batch.requests else None,
            directory=directory,
            model=model,
        )

    def batch(self) -> Batch:
        """The batch, ready to run on this machine."""
        requests = RequestList.model_validate(self.requests) if self.requests else None
        criteria = Criteria.from_json(self.criteria)
        return Batch(self.name, criteria, self.companies, self._settings(), requests=requests)

    def _settings(self) -> dict[str, Value]:
        """The settings of the batch. Fact and concept files that this machine lacks are written to its home."""
        settings = dict(self.settings)
        if self.facts and not Path(str(settings.get("facts"))).is_dir():
            folder = _folder("facts", self.facts)
            for domain, profile in self.facts.items():
                (folder / f"{domain}.json").write_text(json.dumps(profile), encoding="utf-8")
            settings["facts"] = str(folder.absolute())
        if self.concepts and not Path(str(settings.get("figure_concepts"))).is_file():
            file = _folder("concepts", self.concepts) / "concepts.json"
            file.write_text(json.dumps(self.concepts), encoding="utf-8")
            settings["figure_concepts"] = str(file.absolute())
        return settings


class DeployedBatch(BaseModel):
    """How a deployment refers to its batch: by the hash of a definition in the database."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="What the batch is called.")
    hash: str = Field(description="The hash of its definition.")
    directory: Path | None = Field(None, description="The folder in which it was deployed.")

    @classmethod
    def of(cls, batch: Batch) -> "DeployedBatch":
        """Store the definition of a batch as it is now, deployed in the current folder."""
        with database.writing() as session:
            return cls(name=batch.name, hash=keep_definition(session, batch), directory=Path.cwd())

    def definition(self) -> BatchDefinition:
        """The stored definition.

        Raises:
            NotFound: the configured database has no definition of that hash.
        """
        with database.writing() as session:
            runs.use_definition(session, self.hash)
            content = runs.find_definition(session, self.hash)
        if content is None:
            raise NotFound(
                f"This worker's database does not have the batch {self.name!r} as it was deployed. Give the worker the "
                "DILIGENCE_DATABASE_URL with which it was deployed (a database in a file serves one machine only), or "
                "deploy the batch again."
            )
        return BatchDefinition.model_validate(content)


def _folder(name: str, content: dict[str, Any]) -> Path:
    """A folder named after its content, so that a resumed run finds the settings that it began with."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    folder = database.home() / name / digest
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextmanager
def in_its_folder(definition: BatchDefinition | DeployedBatch | None) -> Iterator[None]:
    """Run the block in the folder in which the batch was deployed, if this machine has it.

    Relative paths in the worker's settings, such as its home, are resolved there. A worker elsewhere stays where it is.
    """
    directory = definition.directory if definition else None
    with chdir(directory) if directory and directory.is_dir() else nullcontext():
        yield


def _read_facts(batch: Batch) -> dict[str, Any]:
    folder = batch.settings.get("facts")
    if folder is None:
        return {}
    files = {company.domain: Path(str(folder)) / f"{company.domain}.json" for company in batch.companies}
    facts = {}
    for domain, file in files.items():
        try:
            facts[domain] = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue  # the run says so: the source `files` names what it cannot read
    return facts


def load_batch(path: Path, criteria: Path | None, deployed: DeployedBatch | None) -> Batch:
    """The batch of a run: as it was deployed, otherwise as its files are now.

    Args:
        path: the batch file; where there is a definition it may lie on another machine.
        criteria: the criteria file that counts in the place of the batch file's own.
        deployed: what was deployed. It counts, and the log says when the file is another by now.

    Raises:
        BadRequest: what is wrong in the files. NotFound: as `DeployedBatch.definition`.
        NotConfigured: it was deployed with a model, and this machine has none: all that is asked would stay open.
    """
    if deployed is None:
        return read_batch(path, criteria)
    definition = deployed.definition()
    batch = definition.batch()
    with override_settings(batch.settings):
        if definition.model and not AiSettings.current().ai_model:
            raise NotConfigured(
                f"The batch {definition.name!r} was deployed with the model {definition.model!r}, and this worker has "
                "none. Give the worker the same DILIGENCE_AI_… and OPENAI_… variables, or deploy the batch again "
                "without a model."
            )
    if criteria is not None:
        with override_settings(batch.settings):
            batch = replace(batch, criteria=read_criteria(criteria))
    elif path.is_file() and (what := _explain_change(definition, path)):
        log.warning("The batch file %s. It runs as it was deployed; to run it as it is now, deploy it again.", what)
    return batch


def _explain_change(definition: BatchDefinition, path: Path) -> str | None:
    """How the file of a batch has changed since it was deployed; None if it has not."""
    try:
        now = BatchDefinition.of(read_batch(path))
    except BadRequest:
        return "now contains mistakes"
    kept = {"name", "criteria", "companies", "settings", "requests"}  # facts are looked up where they lie
    # As JSON, as Prefect keeps a definition: the scores of bands are keys, which are texts there.
    stored, written = (batch.model_dump(mode="json", include=kept) for batch in (definition, now))
    return "has changed" if stored != written else None


def keep_definition(session: Session, batch: Batch) -> str:
    """Store the definition of a batch for other processes and return its hash."""
    return runs.save_definition(session, BatchDefinition.of(batch, Path.cwd()).model_dump(mode="json"))
