"""From an HTTP request to an operation and back: read the body, run the operation, answer; and the OpenAPI document.

Only as many large bodies are read and answered at a time as fit into the service's memory; long answers are streamed in
pieces. The OpenAPI document and the page that shows it are served from our own files.
"""

import json
import logging
import secrets
import tomllib
from asyncio import Task, create_task, get_running_loop, shield, wait
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, ParamSpec, TypeVar

import jiter
from anyio import CapacityLimiter, Event, get_cancelled_exc_class, to_thread
from litestar import MediaType, Request, Response, Router
from litestar.datastructures import State
from litestar.exceptions import InternalServerException, NotFoundException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme, Server, Tag
from litestar.response import Stream
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError, to_json

from api import login
from api.auth import HEADER
from api.problems import MEDIA_TYPE, TYPE_PREFIX, Problem
from api.settings import ApiSettings
from tasks.cancellation import Cancellation, Cancelled, cancelled_by
from tasks.documents.drive.drive import Identity, acting_as, base_path
from tasks.documents.drive.registry import account_access
from tasks.errors import BadRequest, NotConfigured, UnsupportedFormat
from tasks.offload import offload_always
from tasks.operation import Operation
from tasks.prefect_setup import be_brief
from tasks.reading import formats

FREE: Final = 64 * 1024
"""Bytes of a body that need no admission."""
ADMISSION: Final = "admission"
"""The service's admission, in a request's state."""
RESERVED: Final = "reserved"
"""What the request has reserved, in its state."""
_BYTES_A_BYTE: Final = 8
"""What a byte of a body is taken to need: itself twice while it is read, four bytes for its text, which is copied once
at most when the body has gone."""
_WORKING: Final = 16 * 1024 * 1024
"""What the work on a body takes besides: texts are read a stretch at a time."""
_WORKING_A_BYTE: Final = 16
"""The same, for a body that is shorter than a stretch."""
MEMORY: Final = 640 * 1024 * 1024
"""Bytes for all large bodies of a service."""


class Admission:
    """The memory, in bytes, that large requests share."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._reserved = 0
        self._waiting: deque[tuple[int, Event]] = deque()

    @property
    def reserved(self) -> int:
        """Bytes that are reserved now."""
        return self._reserved

    @property
    def waiting(self) -> int:
        """How many bodies are waiting for memory."""
        return len(self._waiting)

    async def reserve(self, body_bytes: int) -> int:
        """Wait until there is memory for a body of that many bytes; returns what to pass to `give_back`."""
        if body_bytes <= FREE:
            return 0
        working = min(_WORKING, body_bytes * _WORKING_A_BYTE)
        needed = min(body_bytes * _BYTES_A_BYTE + working, self._memory)
        if self._waiting or not self._fits(needed):
            turn = (needed, Event())
            self._waiting.append(turn)
            try:
                await turn[1].wait()
            except BaseException:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:  # its turn came at the same moment
                    self._reserved -= needed
                self._admit()
                raise
        else:
            self._reserved += needed
        return needed

    def give_back(self, reserved: int) -> None:
        """Give back what `reserve` gave."""
        self._reserved -= reserved
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            needed, turn = self._waiting.popleft()
            self._reserved += needed
            turn.set()

    def _fits(self, needed: int) -> bool:
        return self._reserved == 0 or self._reserved + needed <= self._memory


class _Turn:
    """One call, the clients that are waiting for it, and whether it has begun."""

    def __init__(self) -> None:
        self.has_begun = False
        self.waiting = 0
        self.task: Task[Any]


class SharedCalls:
    """Shares one result among callers who ask for the same key while a call is already running.

    They all wait for the next call, never for one that began before they asked: a document that was just added is in
    their index.
    """

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def __call__(self, key: Hashable, call: Callable[[], Awaitable[Any]]) -> Any:
        """The result of the call, or what it raises; the call is cancelled when everyone who waited
        for it has hung up.
        """
        turn = self._turns.get(key)
        if turn is None or turn.has_begun:
            before, turn = turn, _Turn()
            self._turns[key] = turn
            turn.task = create_task(self._run(key, before, turn, call))
        turn.waiting += 1
        try:
            return await shield(turn.task)
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                turn.task.cancel()

    async def _run(self, key: Hashable, before: _Turn | None, turn: _Turn, call: Callable[[], Awaitable[Any]]) -> Any:
        try:
            if before is not None:
                await wait([before.task])
            turn.has_begun = True
            return await call()
        finally:
            if self._turns.get(key) is turn:
                del self._turns[key]


LONG: Final = 1024 * 1024
"""Characters of a text that goes out in pieces."""
_PIECE: Final = 256 * 1024


def take_answered(answer: BaseModel, *, include: set[str] | None = None) -> Response[Any]:
    """The answer of an operation as JSON, written by pydantic itself, which is faster than Litestar's encoders.

    With `include`, only those fields.
    """
    long = {name: value for name, value in answer if isinstance(value, str) and len(value) > LONG}
    if long:
        return Stream(_in_pieces(answer, long, include), media_type=MediaType.JSON)
    return Response(_json(answer, include), media_type=MediaType.JSON)


def _json(answer: BaseModel, include: set[str] | None) -> bytes:
    return answer.__pydantic_serializer__.to_json(answer, include=include)


def _in_pieces(answer: BaseModel, long: dict[str, str], include: set[str] | None) -> Iterator[bytes]:
    """The JSON of an answer in pieces, one long text after the other."""
    marks = {name: secrets.token_hex(16) for name in long}
    rest = _json(answer.model_copy(update=marks), include)
    for name, text in long.items():  # in the order of the fields, as they stand in the JSON
        before, has_mark, behind = rest.partition(marks[name].encode())
        if has_mark:
            yield before
            for start in range(0, len(text), _PIECE):
                yield to_json(text[start : start + _PIECE])[1:-1]
            rest = behind
    yield rest


def pieces(body: bytes) -> list[memoryview]:
    """A long body in pieces: each is sent once the client has taken the one before, so memory does not fill up."""
    view = memoryview(body)
    return [view[start : start + _PIECE] for start in range(0, len(body), _PIECE)]


class JsonRequest(Request[None, None, State]):
    """A request whose body must be JSON."""

    _whole: bytes | None = None

    async def body(self) -> bytes:
        """The body, read once the service has memory for it, and kept until it is parsed.

        Raises:
            BadRequest: the client hung up.
        """
        if self._whole is not None:
            return self._whole
        declared = self.headers.get("content-length", "")
        # A body that does not say its length may be of any: it is read as the largest.
        length = int(declared) if declared.isdecimal() else ApiSettings.current().max_body_bytes
        if length <= ApiSettings.current().max_body_bytes:  # larger ones are refused unread
            self.scope["state"][RESERVED] = 0
            self.scope["state"][RESERVED] = await self.scope["state"][ADMISSION].reserve(length)
        try:
            self._whole = b"".join([piece async for piece in self.stream()])
        except InternalServerException as error:  # Litestar's word for a client that hung up
            raise BadRequest("The connection ended before the body was complete.") from error
        return self._whole

    async def json(self) -> Any:
        """The body as JSON values.

        Raises:
            BadRequest: it is not JSON, or a key stands in it twice (the message gives line and column); or it is
                long, and of very many values.
            UnsupportedFormat: it is sent as something other than JSON, or compressed.
        """
        kind = self.content_type[0].lower()
        if kind and kind != "application/json" and not kind.endswith("+json"):
            # A browser sends other types across sites without asking first, and JSON only after asking.
            raise UnsupportedFormat(f"The body is sent as {kind[:100]!r}. Send it as application/json.")
        packed = self.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):  # a small body may unpack to any size
            raise UnsupportedFormat(
                f"The body is sent with Content-Encoding: {packed[:100]!r}. Send it as it is, without compression."
            )
        body = await self.body()
        self._whole = b""  # its texts are all that is needed
        if len(body) > FREE and await to_thread.run_sync(_has_many_values, body):
            raise BadRequest(f"The body holds more than {MOST_VALUES:,} JSON values. No operation takes as many.")
        try:
            return jiter.from_json(body, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True)
        except ValueError as error:
            raise BadRequest(f"The body is not JSON: {error}.") from error


MOST_VALUES: Final = 100_000
"""Values of a large body: a few bytes each, they take thirty times as many in memory."""


def _has_many_values(body: bytes) -> bool:
    """Whether a body has more JSON values than `MOST_VALUES`, judging by its commas and brackets."""
    if _marks(body) <= MOST_VALUES:
        return False
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")  # now a quotation mark begins a text or ends it
    if plain.count(b'"') > 4 * MOST_VALUES:
        return True
    return sum(map(_marks, plain.split(b'"')[::2])) > MOST_VALUES


def _marks(json: bytes) -> int:
    return json.count(b",") + json.count(b"[") + json.count(b"{")


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
"""A text that says something; its field is made by `make_text_field`."""


def make_text_field(
    description: str,
    example: str,
    *,
    max_length: int | None = None,
    names: AliasChoices | None = None,
    pattern: str = r"\S",
) -> Any:
    """A text field that may not be blank. `names` are the names that it may be sent under, where there are several.

    `pattern` only appears in the schema: the operation itself checks the value, with a clearer message.
    """
    return Field(
        validation_alias=names,
        min_length=1,
        max_length=max_length,
        description=description,
        # Litestar 2.25 writes into this dict: it must be the field's own, and hold the example too.
        json_schema_extra={"pattern": pattern, "examples": [example]},
    )


LONGEST_NAME = 4096
"""Characters of an id, a URL, a domain or a name."""


P = ParamSpec("P")
R = TypeVar("R")


class Calls:
    """The calls of one area. Calls beyond `at_once` wait for their turn and take no thread from another area."""

    def __init__(
        self,
        at_once: int | CapacityLimiter,
        *,
        tracked: bool,
        who: Identity | None = None,
        request_state: dict[str, Any] | None = None,
        shared: SharedCalls | None = None,
    ) -> None:
        """`tracked` shows every call as a Prefect task run; for the other arguments see `act_for`."""
        self._limiter = CapacityLimiter(at_once) if isinstance(at_once, int) else at_once
        self.tracked = tracked
        self.who = who
        self.request_state = request_state if request_state is not None else {}
        self._shared = shared or SharedCalls()

    def act_for(self, who: Identity | None, request_state: dict[str, Any] | None = None) -> "Calls":
        """The same calls on behalf of `who` on the drive; `request_state` holds the memory that the request has
        reserved.
        """
        return Calls(self._limiter, tracked=self.tracked, who=who, request_state=request_state, shared=self._shared)

    @property
    def load(self) -> tuple[int, int]:
        """How many calls have a thread now, and how many are waiting for one."""
        statistics = self._limiter.statistics()
        return statistics.borrowed_tokens, statistics.tasks_waiting

    async def __call__(self, operation: Operation[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the operation, and return or raise what it does."""
        call: Callable[P, R] = operation.run_tracked_once if self.tracked else operation.function
        return await self._in_thread(partial(call, *args, **kwargs))

    async def shared(self, key: Hashable, call: Callable[[], Awaitable[R]]) -> R:
        """The result of `call`, made once for all callers of the same account who ask for `key` meanwhile."""
        result: R = await self._shared((self.who, key), call)
        return result

    async def here(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that is not an operation, such as one that makes a page of stored data."""
        return await self._in_thread(partial(function, *args, **kwargs))

    async def apart(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `here`, in a separate process."""
        return await self._in_thread(partial(offload_always, function, *args, **kwargs))

    async def _in_thread(self, call: Callable[[], R]) -> R:
        """Run it in a thread. If the client hangs up, another call may start, and this one stops at its next step."""
        cancellation = Cancellation()
        ended: Future[None] = Future()

        def run() -> R:
            if not ended.set_running_or_notify_cancel():
                raise Cancelled
            try:
                return call()
            finally:
                ended.set_result(None)

        with acting_as(self.who), cancelled_by(cancellation):  # the thread gets a copy of the context
            try:
                return await to_thread.run_sync(run, limiter=self._limiter, abandon_on_cancel=True)
            except get_cancelled_exc_class():
                cancellation.cancel()
                if not ended.cancel():
                    self._keep_reserved_until(ended)
                raise

    def _keep_reserved_until(self, ended: "Future[None]") -> None:
        """Keep the request's memory reserved until its thread has stopped."""
        reserved = self.request_state.get(RESERVED, 0)
        if reserved:
            self.request_state[RESERVED] = 0
            give_back = partial(self.request_state[ADMISSION].give_back, reserved)
            loop = get_running_loop()

            def tell(_: object) -> None:
                with suppress(RuntimeError):  # the service has ended
                    loop.call_soon_threadsafe(give_back)

            ended.add_done_callback(tell)


def prepare_tracking() -> None:
    """Make sure that a Prefect server is running for tracked calls: starting one within a request takes 10 s or more.

    Prefect's own log of these task runs is silenced, because the messages of exceptions may contain what was sent. The
    service logs failures in its own words.

    Raises:
        NotConfigured: no server is named.
    """
    be_brief()
    from prefect.settings import get_current_settings  # noqa: PLC0415 - 1 s, for those who track only

    if get_current_settings().api.url is None:
        raise NotConfigured(
            "DILIGENCE_TRACK_CALLS=inline needs a Prefect server. Set PREFECT_API_URL, or leave the setting off."
        )
    # A filter, for a level is set anew when Prefect sets up its logging at its first task.
    logging.getLogger("prefect.task_runs").addFilter(lambda _record: False)


STATIC = Path(__file__).parent / "static"
KEY_SCHEME = "ApiKey"
ACCOUNT_SCHEMES = ("Bearer", "Session")
"""What document operations take on a drive with accounts, either of them."""

_DESCRIPTION = f"""\
Five operations on data rooms and companies, each an HTTP POST with a JSON body.

Types are strict (`"false"` is not a boolean), unknown fields are ignored, and `null` stands for a field
that was not given. Every failure is `{MEDIA_TYPE}` (RFC 9457): `type` is `{TYPE_PREFIX}` and a stable
last part, `detail` says what to do, and `errors` names each bad field.
"""
_FAILURES: Final[dict[str, str]] = json.loads(Path(__file__).with_name("failures.json").read_text("utf-8"))


_OPERATIONS: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("operations.toml").read_text("utf-8")
)


def describe(operation_id: str) -> dict[str, Any]:
    """What the OpenAPI document says of an operation, in the form in which its handler takes it."""
    said = dict(_OPERATIONS[operation_id])
    if "description" in said:
        said["description"] = said["description"].format(formats=", ".join(formats.names()))
    responses = {
        status: ResponseSpec(
            data_container=Problem, description=_FAILURES[str(status)], media_type=MEDIA_TYPE, generate_examples=False
        )
        for status in said.pop("failures", ())
    }
    return {"operation_id": operation_id, "responses": responses or None, **said}


_EXAMPLES: Final[dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))
"""By the id of an operation its request and its answer."""


_SECOND_NAMES: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("second_names.json").read_text("utf-8"))
"""What is said of the second names of a question's fields, which Litestar takes no notice of.

One of two names is required; a client's generator makes no type of a body with `anyOf`.
"""


class _Document(JsonRenderPlugin):
    """The OpenAPI document as JSON, with examples and what was written by hand."""

    def __init__(self) -> None:
        super().__init__(media_type=MediaType.JSON)

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        question = openapi_schema["components"]["schemas"]["QuestionAboutCompany"]
        question["properties"].update(_SECOND_NAMES["properties"])
        question.update({key: value for key, value in _SECOND_NAMES.items() if key != "properties"})
        operations = {one["operationId"]: one for path in openapi_schema["paths"].values() for one in path.values()}
        for name, example in _EXAMPLES.items():
            answered = operations[name]["responses"]["200"]
            operations[name]["requestBody"]["content"]["application/json"]["example"] = example["request"]
            answered["content"]["application/json"]["example"] = example["answer"]
        for operation in operations.values():
            for file in operation["responses"]["200"]["content"].keys() & {"application/octet-stream"}:
                operation["responses"]["200"]["content"][file]["schema"] = {"type": "string", "format": "binary"}
        return super().render(request, openapi_schema)


class _Page(OpenAPIRenderPlugin):
    """Our own Swagger UI page, which loads nothing from elsewhere."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002
        return (STATIC / "schema.html").read_bytes().replace(b'"/', b'"%s/' % base_path().encode())


async def _unknown_is_a_problem(response: Response[Any]) -> Response[Any]:
    """Litestar 2.25 answers unknown paths below /schema with a page of its own."""
    if response.status_code == 404:
        raise NotFoundException
    return response


def openapi() -> OpenAPIConfig:
    """What the OpenAPI document says about the service as a whole, and where it is served."""
    accounts = account_access()
    return OpenAPIConfig(
        title="diligence",
        version="1",  # of the contract, whose paths begin with /v1
        description=_DESCRIPTION,
        tags=[
            Tag("Documents", "What lies in the drive, and its text."),
            Tag("AI", "Questions to a model, or to the context itself where no model is configured."),
            Tag("Companies", "Facts and answers about a company from public sources."),
            Tag("Service", "Whether the service is up and has what it needs."),
        ],
        servers=[Server(base_path() or "/")],
        components=Components(
            security_schemes={
                KEY_SCHEME: SecurityScheme(
                    type="apiKey",
                    name=HEADER,
                    security_scheme_in="header",
                    description="One of DILIGENCE_API_KEYS. Without configured keys none is needed.",
                ),
                "Bearer": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description=accounts.token,
                ),
                "Session": SecurityScheme(
                    type="apiKey",
                    name=login.cookie_name("session"),
                    security_scheme_in="cookie",
                    description="The session of a browser that logged in at /login.",
                ),
            }
        ),
        openapi_router=Router(
            path="/schema", route_handlers=[], after_request=_unknown_is_a_problem, include_in_schema=False
        ),
        render_plugins=[_Document(), _Page(path="/")],
    )
