"""From an HTTP request to an operation and back: reading the body, running the operation, writing the answer.

All request bodies share these rules: types are strict (`"false"` is not a boolean), unknown fields are ignored,
`null` counts as a missing field, and a required text must hold more than spaces. An operation runs in a thread, so
that the event loop stays free, and each area has a limit on how many run at once.
"""

import logging
from collections.abc import Callable
from copy import copy
from functools import cache, partial
from typing import Annotated, Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError, from_json

from tasks.documents.drive.identity import Identity, acting_as
from tasks.errors import BadRequest, NotConfigured, UnsupportedFormat
from tasks.operation import Operation


class JsonRequest(Request[None, None, State]):
    """A request whose body is JSON and nothing else."""

    async def json(self) -> Any:
        """The body as JSON values.

        Raises:
            BadRequest: it is not JSON; the message gives line and column.
            UnsupportedFormat: it is sent as something other than JSON.
        """
        kind = self.content_type[0].lower()
        if kind and kind != "application/json" and not kind.endswith("+json"):
            # A browser sends other types across sites without asking first, and JSON only after asking.
            raise UnsupportedFormat(f"The body is sent as {kind[:100]!r}. Send it as application/json.")
        try:
            return from_json(await self.body(), allow_inf_nan=False, cache_strings="keys")
        except ValueError as error:
            raise BadRequest(f"The body is not JSON: {error}.") from error


class Body(BaseModel):
    """A request body."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, body: object) -> dict[str, Any]:
        if not isinstance(body, dict):
            raise PydanticCustomError("object", "The body must be a JSON object")
        return {name: value for name, value in body.items() if value is not None}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "Must not be blank")
    return text


NotBlank = Annotated[str, AfterValidator(_not_blank)]
"""A text that says something; its field is made by `required_text`."""


def required_text(
    description: str, example: str, *, max_length: int | None = None, names: AliasChoices | None = None
) -> Any:
    """The field of a `NotBlank` text. `names` are those it may be sent by, where there are several."""
    return Field(
        validation_alias=names,
        min_length=1,
        max_length=max_length,
        description=description,
        # Litestar 2.25 writes into this dict: it must be the field's own, and hold the example too.
        json_schema_extra={"pattern": r"\S", "examples": [example]},
    )


LONGEST_NAME = 4096
"""Characters of an id, a URL, a domain or a name."""


def answered(answer: BaseModel, *, include: set[str] | None = None, only_set: bool = False) -> Response[Any]:
    """The answer of an operation as JSON, written by the model itself: quicker than Litestar's encoders.

    With `include` those fields alone; with `only_set` those that were set.
    """
    body = answer.__pydantic_serializer__.to_json(answer, include=include, exclude_unset=only_set)
    return Response(body, media_type=MediaType.JSON)


P = ParamSpec("P")
R = TypeVar("R")


class Calls:
    """Calls of one area. What exceeds `at_once` waits its turn and takes no thread from another area."""

    def __init__(self, at_once: int, *, tracked: bool) -> None:
        """`tracked` shows every call as a Prefect task run."""
        self._limiter = CapacityLimiter(at_once)
        self.tracked = tracked
        self.who: Identity | None = None

    def on_behalf_of(self, who: Identity | None) -> "Calls":
        """The same calls, with the drive answering to `who`."""
        calls = copy(self)
        calls.who = who
        return calls

    async def __call__(self, operation: Operation[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the operation; what it raises is raised here."""
        call: Callable[P, R] = _tracked(operation) if self.tracked else operation.function
        with acting_as(self.who):  # the thread gets a copy of the context
            return await to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._limiter)

    async def here(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run what is no operation: it makes a page of what is stored. What it raises is raised here."""
        with acting_as(self.who):
            return await to_thread.run_sync(partial(function, *args, **kwargs), limiter=self._limiter)


@cache
def _tracked(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """The operation as a Prefect task that is tried once: here somebody waits for the answer."""
    return operation.task.with_options(retries=0)


def prepare_tracking() -> None:
    """Tracked calls need a Prefect server that runs: starting one within a request takes 10 s and more.

    Prefect's own log of these task runs is silenced: it holds the messages of exceptions, which may hold
    what was sent. The service logs what fails in its own words.

    Raises:
        NotConfigured: no server is named.
    """
    from prefect.settings import get_current_settings  # noqa: PLC0415 - 1 s, for those who track only

    if get_current_settings().api.url is None:
        raise NotConfigured(
            "DILIGENCE_TRACK_CALLS=inline needs a Prefect server. Set PREFECT_API_URL, or leave the setting off."
        )
    # A filter, for a level is set anew when Prefect sets up its logging at its first task.
    logging.getLogger("prefect.task_runs").addFilter(_unheard)


def _unheard(_record: logging.LogRecord) -> bool:
    return False
