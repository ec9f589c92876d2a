"""The command `diligence`: its subcommands, and how a failure ends.

Each command is a function in its own module, which is imported only when the command is called: `--help` takes
0.13 s of processor time, while Prefect alone takes 1.2 s to import. Results go to stdout, progress and warnings to
stderr. The exit status is 0; 1 when something failed (after everything else was done); 2 for wrong use.
"""

import atexit
import gc
import os
import resource
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

from deployments import pause_garbage_collection
from deployments.terminal import Escaping

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
STOPPED = "Stopped. What was done is kept; run the same command to continue."
GRACE = 1.3  # seconds from Ctrl-C to that sentence, and from it to the end of the process, at most
_has_told = threading.Event()


class Command(NamedTuple):
    """A command as `module:function`, the first line of the function's docstring, and what it needs to start."""

    place: str
    help: str
    mb: int = 512
    prefect: bool = False


COMMANDS = {
    name: Command(**written)
    for name, written in tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8")).items()
}
_LITTLE_SPACE = "`diligence {}` needs {} MB of address space; `ulimit -v` allows {} MB here. Raise that limit."
_OPTIONS: dict[str, Any] = {
    "context_settings": {"help_option_names": ["--help", "-h"]},
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


def load(name: str) -> Any:
    """The command of that name with its arguments and options; imports its module.

    Raises:
        SystemExit: the limit of address space (`ulimit -v`) is too low for it.
    """
    needed = COMMANDS[name].mb
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < needed << 20:
        typer.echo(_LITTLE_SPACE.format(name, needed, limit >> 20), err=True)
        raise SystemExit(FAILED)
    module, function = COMMANDS[name].place.split(":")
    single = typer.Typer(add_completion=False, **_OPTIONS)
    with pause_garbage_collection():
        imported = import_module(module)
    single.command(name)(getattr(imported, function))
    return typer.main.get_command(single)


class _LazyGroup(TyperGroup):
    """Lists every command from the table above, and imports the one that is called or completed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # Pydantic's words, which Typer lets through.
            error.message = error.message.removeprefix("Value error, ").partition(", unable to parse")[0]
            raise


app = typer.Typer(
    name="diligence",
    help="Batch due diligence: data rooms in, a scored report out, every quote checked.",
    cls=_LazyGroup,
    no_args_is_help=True,
    **_OPTIONS,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms

        typer.echo(version("diligence"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Batch due diligence: data rooms in, a scored report out, every quote checked."""


for _name, _command in COMMANDS.items():
    app.command(_name, help=_command.help)(lambda: None)  # stands for the command in lists


def main() -> None:
    """Run the command line."""
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        # LC_ALL=C with PYTHONUTF8=0: neither names of files nor our own files could be read (PEP 540).
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - this command once more
    sys.stdout, sys.stderr = Escaping(sys.stdout), Escaping(sys.stderr)
    atexit.register(gc.freeze)  # when Python ends, it collects once more: 0.2 s after a run
    if sys.argv[1:2] != ["serve"]:  # which lets the calls under way end
        _end_soon_after_an_interrupt()
    if sys.argv[1:2] and sys.argv[1] in COMMANDS and COMMANDS[sys.argv[1]].prefect:
        _use_prefect_profile()
    with errors_reported():
        try:
            app()
        except SystemExit as ended:
            if ended.code == INTERRUPTED:
                raise KeyboardInterrupt from None  # Typer turns Ctrl-C into this exit, without a message
            raise
        finally:
            if "storage.database" in sys.modules:  # 0.4 s to import, for commands that never do
                sys.modules["storage.database"].close()  # SQLite's log is written into the file: that is then complete


_OF_PROFILES: Final = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING")


def _use_prefect_profile() -> None:
    """Put the server and credentials of Prefect's active profile into the environment, unless that names a server.

    Users who have run `prefect config set PREFECT_API_URL=…` or `prefect profile use` mean us too. diligence's own
    flows read no profile: the server that a command starts for itself has its own home. See
    https://docs.prefect.io/v3/concepts/settings-and-profiles.
    """
    if "PREFECT_API_URL" in os.environ:
        return
    folder = os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect")  # noqa: PTH111 - raises nothing
    file = os.environ.get("PREFECT_PROFILES_PATH") or f"{folder}/profiles.toml"
    try:
        written = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        profile = written["profiles"][os.environ.get("PREFECT_PROFILE") or written["active"]]
        values = {name: str(profile[name]) for name in _OF_PROFILES if name in profile}
    except (OSError, ValueError, LookupError, TypeError):  # no such file, or none of Prefect's: it names no server
        return
    if "PREFECT_API_URL" in values:
        os.environ |= values


def _end_soon_after_an_interrupt() -> None:
    """End this process within `GRACE` after Ctrl-C, whatever it is doing. All work is committed as it is done.

    Python runs signal handlers in the main thread, which may be in native code or joining threads; so a separate thread
    waits on the wake-up descriptor.
    """
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)  # as `set_wakeup_fd` requires
    signal.set_wakeup_fd(writing_end, warn_on_full_buffer=False)

    def end() -> None:
        while os.read(reading_end, 1) != bytes([signal.SIGINT]):
            pass
        if not _has_told.wait(GRACE):
            os.write(2, f"{STOPPED}\n".encode())
        else:
            time.sleep(GRACE)
        os._exit(INTERRUPTED)

    threading.Thread(target=end, name="interrupt", daemon=True).start()


@contextmanager
def errors_reported() -> Iterator[None]:
    """Turn a failure in the block into a sentence on stderr and an exit status.

    Raises:
        SystemExit: for every failure that has a sentence; an error in the program itself passes unchanged.
    """
    try:
        yield
    except KeyboardInterrupt:
        _has_told.set()
        typer.echo(STOPPED, err=True)
        raise SystemExit(INTERRUPTED) from None
    except MemoryError:
        typer.echo("This machine, or `ulimit -v`, allows too little memory. Finished work is kept.", err=True)
        raise SystemExit(FAILED) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(FAILED) from None
    except Exception as error:
        from deployments.failures import explain, tell  # noqa: PLC0415 - storage takes 0.4 s to import, --help 0.13 s

        explanation = explain(error)
        if explanation is None:
            raise
        tell(explanation.sentences)
        raise SystemExit(WRONG_USE if explanation.is_wrong_use else FAILED) from None


if __name__ == "__main__":
    main()
