"""What is run: a small batch, and on loopback the servers that it asks, each of which can fail at a chosen request.

Two companies whose rooms lie in Google Drive (an emulator) or in a folder, facts from the commercial provider's API (a
stand-in), two criteria that a model judges, one of each other kind. The servers are threads of the driver: they count
what they were asked, and what they bill.
"""

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, Self

from reportlab.pdfgen.canvas import Canvas

from tests.companies_servers import profile_api
from tests.faults.faults import Fault, Kind, Plan
from tests.google import faults as drive_faults
from tests.google.credentials import authorised_user_file
from tests.google.parameters import Parameters
from tests.google.server import DriveEmulator
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer
from tests.servers.prefect_proxy import Fault as PrefectFault
from tests.servers.recorder import join_stream
from tests.tasks.documents.drive.google.emulated import settings_of
from tests.web.server import Asked, LoopbackServer, Reply
from tests.written import saved, workbook_of

_CREDITS: Final = 1_000
"""Of the provider, in each case."""
_USER: Final = "ada@example.com"
_RECURRING: Final = "Ninety percent of revenue is recurring."
_CUSTOMERS: Final = "The largest customer is a tenth of revenue."


class Switch:
    """Counts requests to servers, and makes the chosen one fail or the process under test end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known = threading.Event()
        self.arm(None)

    def arm(self, plan: Plan | None) -> None:
        """Begin anew with this plan; `process` says whom it is about."""
        with self._lock:
            self._plan, self._pid = plan, 0
            self._known.clear()
            self._counts: Counter[tuple[Kind, str]] = Counter()
            self.reached: list[tuple[Kind, str]] = []
            self.struck = False

    def process(self, pid: int) -> None:
        """The process under test."""
        self._pid = pid
        self._known.set()

    @property
    def fault(self) -> Fault | None:
        """What is to happen."""
        return self._plan.fault if self._plan else None

    def reach(self, kind: Kind, label: str) -> str | None:
        """A request has come; gives when it is to fail: `before`, `within` or `after` the answer, if at all.

        What befalls the process under test itself, happens here or, with `after`, by `signal_after`.
        """
        with self._lock:
            self._counts[kind, label] += 1
            self.reached.append((kind, label))
            plan = self._plan
            if plan is None or (plan.kind, plan.label, plan.nth) != (kind, label, self._counts[kind, label]):
                return None
            self.struck = True
        if plan.fault in {Fault.DROP, Fault.HANG}:
            return plan.time
        if plan.fault is Fault.KILL and plan.time == "after":
            threading.Timer(0.01, self._signal, [signal.SIGKILL]).start()
        else:
            self._signal(signal.SIGKILL if plan.fault is Fault.KILL else signal.SIGUSR1)
        return None

    def _signal(self, number: signal.Signals) -> None:
        if self._known.wait(10):
            try:
                os.kill(self._pid, number)
            except ProcessLookupError:
                return


@dataclass
class Bill:
    """What the model's server would bill: requests that it had the model answer, whoever got the answer."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    prompts: Counter[str] = field(default_factory=Counter)


class _Model(ModelServer):
    def __init__(self, switch: Switch) -> None:
        super().__init__(says=_judge, plans=json.dumps({"wordings": ["recurring revenue", "customer share"]}))
        self.bill = Bill()
        self._switch = switch
        self._billing = threading.Lock()

    def __enter__(self) -> Self:
        super().__enter__()
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that are killed hang up
        return self

    def reply(self, request: ModelRequest, has_left: Callable[[], bool]) -> ModelResponse:
        label = "plan" if request.asks_for_plan else "judgement"
        when = self._switch.reach(Kind.MODEL, label)
        if when == "before":
            raise ConnectionResetError
        response = super().reply(request, has_left)
        if response.status == 200:
            usage = json.loads(join_stream(response.body))["usage"]
            read, written = (usage.get(name) for name in ("input_tokens", "output_tokens"))
            with self._billing:
                self.bill.calls += 1
                self.bill.input_tokens += usage["prompt_tokens"] if read is None else read
                self.bill.output_tokens += usage["completion_tokens"] if written is None else written
                self.bill.prompts[request.prompt] += 1
        if when == "after":
            raise ConnectionResetError
        return replace(response, body=response.body[:60], missing=100) if when == "within" else response


def _judge(request: ModelRequest) -> str:
    wanted = _CUSTOMERS if "customer" in request.messages[-1]["content"].split("</source")[-1] else _RECURRING
    quotes: list[dict[str, Any]] = []
    for number, words in re.findall(r"<source-\w+ number=(\d+) [^>]*>\n(.*?)\n</source", request.prompt, re.DOTALL):
        quotes += [{"source": int(number), "text": text} for text in (_RECURRING, _CUSTOMERS) if text in words]
    score = 4 if wanted == _RECURRING else 3
    return json.dumps({"found": bool(quotes), "score": score, "reason": "The documents say so.", "quotes": quotes[:2]})


class _DriveFaults(drive_faults.Faults):
    def __init__(self, switch: Switch) -> None:
        super().__init__()
        self._switch = switch

    def next(
        self, method: str, file: str | None, parameters: Parameters, *, api: bool = True, inner: bool = False
    ) -> drive_faults.Fault | None:
        if inner:
            return None
        when = self._switch.reach(Kind.DRIVE, method)
        kinds = {"before": "reset", "within": "truncate", "after": "reset_body"}
        return drive_faults.Fault(do=kinds[when]) if when else None  # type: ignore[arg-type]


class World:
    """The servers. `environment` are the settings of a program that asks them."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.switch = Switch()
        self._model = stack.enter_context(_Model(self.switch))
        self._drive = stack.enter_context(DriveEmulator(seed=1))
        self._drive.service.faults = _DriveFaults(self.switch)
        self._sources = profile_api.ProfileApi(
            {f"{name.lower()}.example": profile_api.profile(f"{name} GmbH") for name in ("Alpha", "Beta")}
        )
        source = stack.enter_context(LoopbackServer(self._source))
        self.rooms = _rooms(self._drive)
        login = authorised_user_file(self._drive, folder / "login.json", _USER)
        self.environment = {
            **settings_of(self._drive),
            "DILIGENCE_GOOGLE_CREDENTIALS": str(login),
            "DILIGENCE_PROFILE_API_URL": source.url,
            "DILIGENCE_PROFILE_API_KEY": profile_api.KEY,
            "DILIGENCE_FACT_SOURCES": "profile_api",
            "DILIGENCE_AI_MODEL": "a-model",
            "DILIGENCE_AI_PROBE": "off",  # the bill is that of the questions
            "OPENAI_BASE_URL": self._model.url,
            "OPENAI_API_KEY": "a-key",
        }

    @property
    def bill(self) -> Bill:
        """What the model's server has billed since `begin`."""
        return self._model.bill

    def begin(self) -> None:
        """Nothing is billed and nobody is owed anything."""
        self._model.bill = Bill()
        self._sources.credits = _CREDITS
        self._model.requests.clear()

    def _source(self, asked: Asked) -> Reply:
        when = self.switch.reach(Kind.SOURCE, asked.path)
        reply = self._sources(asked)
        pieces: dict[str | None, list[bytes | float]] = {
            "before": [-1.0],
            "within": [b"HTTP/1.1 200 Said\r\nContent-Length: %d\r\n\r\n%s" % (len(reply.body), reply.body[:40]), -1.0],
            "after": [b"HTTP/1.1 200 Said\r\nContent-Length: %d\r\n\r\n" % len(reply.body), -1.0],
        }
        return Reply(raw=lambda: iter(pieces[when])) if when else reply

    def prefect_fault(self, _number: int, kind: str) -> PrefectFault | None:
        """What a proxy before Prefect's server does."""
        when = self.switch.reach(Kind.PREFECT, kind)
        if when is None:
            return None
        if self.switch.fault is Fault.HANG:
            return PrefectFault.HANGS
        return PrefectFault.IS_GONE if when == "after" else PrefectFault.ANSWERS_500


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """The servers, for the block; `folder` takes a login."""
    with ExitStack() as stack:
        yield World(stack, folder)


def write_batch(folder: Path, rooms: dict[str, str]) -> Path:
    """Write the batch and its criteria; gives the path of the batch file."""
    folder.mkdir(parents=True)
    (folder / "criteria.yaml").write_text(
        dedent("""
            scale: [0, 5]
            criteria:
              - {id: recurring, ask: "Is most of the revenue recurring?", weight: 3}
              - {id: spread, ask: "Is no customer more than a tenth of revenue?"}
              - {id: established, fact: founded_year, rule: "<= 2018"}
              - {id: audited, document: "audited financial statements", weight: 2}
        """)
    )
    companies = "".join(
        f"  - {{name: {name}, domain: {name.lower()}.example, folder: {room}}}\n" for name, room in rooms.items()
    )
    (folder / "batch.yaml").write_text(f"name: Faults\ncriteria: criteria.yaml\ncompanies:\n{companies}")
    return folder / "batch.yaml"


def _rooms(drive: DriveEmulator) -> dict[str, str]:
    """The companies' rooms in the drive: their folders' ids by the companies' names."""
    world = drive.world
    folders = {"": world.root(_USER)}
    for path, content in _documents().items():
        *parents, name = path.split("/")
        for depth, folder in enumerate(parents, 1):
            above, here = "/".join(parents[: depth - 1]), "/".join(parents[:depth])
            if here not in folders:
                folders[here] = world.folder(folder, folders[above])
        world.file(name, folders["/".join(parents)], content)
    return {name: folders[name].id for name in ("Alpha", "Beta")}


def write_rooms(root: Path) -> dict[str, str]:
    """Write the same rooms below a folder: the companies' folders there by the companies' names."""
    for path, content in _documents().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return {name: name for name in ("Alpha", "Beta")}


def _documents() -> dict[str, bytes]:
    notes = f"{_CUSTOMERS}\nNo customer has left.\n".encode()
    return {
        "Alpha/deck.pdf": _pdf([_RECURRING, "It grew by a fifth in 2024."]),
        "Alpha/notes.txt": notes,
        "Alpha/broken.pdf": b"no PDF at all",
        "Beta/2024/audited financial statements 2024.txt": b"Revenue fell in 2024.\n",
        "Beta/figures.xlsx": _workbook(),
        "Beta/copy of notes.txt": notes,
    }


def _pdf(lines: list[str]) -> bytes:
    canvas = Canvas("", invariant=True)
    for position, line in enumerate(lines):
        canvas.drawString(72, 720 - 20 * position, line)
    return saved(canvas)


def _workbook() -> bytes:
    return saved(workbook_of(["EUR million", 2023, 2024], ["Revenue", 12, 11], ["EBITDA", 3, 2])[0])
