"""`make faults`: a few hundred cases, and the table of points and faults with what became of them.

python -m tests.faults [--seeds 0:300] [--seconds 1800] [--kinds model,SQLite] [--on-disk] [--twice]

Ends with status 1 if anything was found. A seed is the same case again: `--seeds 17`.
"""

# The driver forks before it has any thread: what is imported here is there in every run.
import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence


def main() -> int:
    """Run the cases, print what is found and the table. Returns the exit status."""
    wanted = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end too
    with tempfile.TemporaryDirectory(prefix="faults-prefect-") as prefect_home:
        for name in [name for name in os.environ if name.startswith(("DILIGENCE_", "OPENAI_", "PREFECT_"))]:
            del os.environ[name]
        os.environ["PREFECT_HOME"] = prefect_home  # Prefect reads it when it is imported
        os.environ["DILIGENCE_HOME"] = prefect_home
        return _run(wanted)


def _run(wanted: argparse.Namespace) -> int:
    from flows import prefect_server

    prefect_server.prepare()  # as the command does before it imports Prefect: its own log is not the terminal's
    import flows.batch  # noqa: F401
    from tests.faults.driver import Driver, Result
    from tests.faults.faults import Kind, pair_of

    results: list[Result] = []
    until = time.monotonic() + wanted.seconds
    with Driver(on_disk=wanted.on_disk, twice=wanted.twice) as driver:
        for seed in _seeds(wanted.seeds):
            if time.monotonic() > until:
                _say(f"The time is over: {len(results)} cases were run.")
                break
            kind, _ = pair_of(seed)
            if (wanted.kinds and kind not in wanted.kinds.split(",")) or (wanted.on_disk and kind is Kind.DRIVE):
                continue
            result = driver.run(seed)
            results.append(result)
            if result.defects or wanted.verbose:
                _say(str(result))
    _say(table(results))
    found = [result for result in results if result.defects]
    seconds = sum(result.seconds for result in results)
    _say(f"{len(results)} cases, {len(found)} with defects; the runs took {seconds:.0f} s of processor time.")
    return 1 if found else 0


def table(results: Sequence[object]) -> str:
    """The pairs of point and fault with their outcomes, as Markdown."""
    from tests.faults.driver import Result
    from tests.faults.faults import PAIRS

    outcomes: defaultdict[tuple[object, object], Counter[str]] = defaultdict(Counter)
    for result in results:
        assert isinstance(result, Result)
        outcomes[result.plan.kind, result.plan.fault]["**defect**" if result.defects else result.outcome] += 1
    lines = ["| point | fault | cases | outcome of the disturbed run |", "|---|---|---|---|"]
    for pair in PAIRS:
        if counts := outcomes.get(pair):
            told = ", ".join(f"{outcome} {number}" for outcome, number in counts.most_common())
            lines.append(f"| {pair[0]} | {pair[1]} | {counts.total()} | {told} |")
    return "\n".join(lines)


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last) if last else int(first) + 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seeds", default="0:300", help="one seed, or the first and the one behind the last")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so many seconds")
    parser.add_argument("--kinds", help="only these kinds of points, such as model,SQLite")
    parser.add_argument("--on-disk", action="store_true", help="the rooms lie in a folder, not in Google Drive")
    parser.add_argument("--twice", action="store_true", help="the second run has a fault too, and a third none")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
