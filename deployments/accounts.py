"""`diligence login`, `keys` and `users`: who may use this home, on this machine, by a program or in the pages.

The login is OAuth in the browser; this process serves the redirect address on the loopback interface.
"""

import os
import re
import secrets
import sys
import webbrowser
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

import typer

from deployments.terminal import echo
from storage import database, logins
from storage.errors import DatabaseUnavailable
from storage.logins import Role, Whose
from tasks.documents.drive.registry import account_access, choose_drive, load_login_flow
from tasks.errors import BadRequest, Conflict, DiligenceError, NotFound, TookTooLong

PATIENCE = 300.0  # seconds that the user has
_CLOSING = 60  # seconds that the browser waits for the outcome, which the drive has to give


def login(
    browser: Annotated[
        bool, typer.Option(help="Whether to open a browser; the address is printed in any case.")
    ] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port that the browser comes back to; 0: any.")] = 0,
) -> None:
    """Log in to the drive on this machine.

    Runs and the command line use this account.
    """
    typer.echo(log_in(port, browser=browser))


class _Answer:
    """What the browser brought back, and the sentence that it is waiting for."""

    def __init__(self, given: dict[str, str]) -> None:
        self.given = given
        self.sentence: Future[str] = Future()
        self.is_sent = Event()

    def tell(self, sentence: str) -> None:
        """Send the browser its sentence, and wait until it is sent, because the program may end right after."""
        self.sentence.set_result(sentence)
        self.is_sent.wait(_CLOSING)


def log_in(port: int, *, browser: bool, patience: float = PATIENCE) -> str:
    """Log the machine in; returns the account's e-mail address, or a description where the drive gives none.

    Args:
        port: where the browser comes back to; 0 for any that is free.
        browser: whether to open one. The address is printed in any case.
        patience: seconds until it is given up.

    Raises:
        BadRequest, NotAllowed, NotConfigured, SourceFailed, Unavailable: as `LoginFlow.finish`.
        TookTooLong: nobody came back.
    """
    accounts = account_access()
    flow = load_login_flow(accounts)
    with _listen(port) as (address, answers):
        start = flow.begin(address)
        print(f"Log in at this address:\n\n{start.url}\n", file=sys.stderr, flush=True)  # noqa: T201 - the progress
        if browser and _has_browser():
            webbrowser.open(start.url)
        try:
            answer = answers.get(timeout=patience)
        except Empty:
            raise TookTooLong(
                f"Nobody logged in within {patience / 60:.0f} minutes. Run `diligence login` again."
            ) from None
        try:
            account_login = flow.finish(start.note, answer.given, Whose.MACHINE).login
            with database.writing() as session:
                logins.save_login(session, account_login)
        except DiligenceError as error:
            answer.tell(error.message)
            raise
        except DatabaseUnavailable as error:
            answer.tell(str(error))
            raise
        account = account_login.account or f"an account that {accounts.provider} did not name"
        answer.tell(f"You are logged in as {account}. You can close this window.")
    return account


def _has_browser() -> bool:
    """Whether a browser would open a window; text browsers would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )


@contextmanager
def _listen(port: int) -> Iterator[tuple[str, SimpleQueue[_Answer]]]:
    """The address to come back to, and the answers that arrive. In threads: browsers keep idle connections open."""
    answers: SimpleQueue[_Answer] = SimpleQueue()

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            parameters = dict(parse_qsl(parts.query)) if parts.path == "/" else {}
            if not parameters.keys() & {"code", "error"}:
                self.send_error(404)
                return
            answer = _Answer(parameters)
            answers.put(answer)
            try:
                self._send(answer.sentence.result(timeout=_CLOSING))
            except TimeoutError:
                self._send("The terminal shows whether the login worked.")
            finally:
                answer.is_sent.set()

        def _send(self, sentence: str) -> None:
            page = f'<!doctype html><meta charset="utf-8"><title>diligence</title><p>{escape(sentence)}'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Nothing: the request line holds the code."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise BadRequest(f"Port {port} cannot be used ({error.strerror}). Choose another --port.") from error
    with server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/", answers
        finally:
            server.shutdown()


_NAME = re.compile(r"[\w.@ -]{1,100}")


def manage_keys(
    action: Annotated[
        Literal["add", "list", "revoke"],
        typer.Argument(help="add prints the new key, only once; revoke disables a key permanently."),
    ],
    name: Annotated[str | None, typer.Argument(help="Who uses the key; the record of calls shows this name.")] = None,
    scope: Annotated[
        str, typer.Option(help="What the key may be used for, separated by commas; by default, everything.")
    ] = ",".join(logins.SCOPES),
) -> None:
    """Add, list or revoke the API keys of the service."""
    if action == "list":
        _list()
        return
    if name is None or _NAME.fullmatch(name) is None:
        raise BadRequest("Give the key a name: letters, digits, spaces and . _ @ -, at most 100.", {"name": "needed"})
    if action == "add":
        echo(_add(name, _scopes(scope)))
        echo("Keep the key: it is shown only once. Callers send it in the header X-API-Key.", err=True)
        return
    with database.writing() as session:
        if not logins.revoke_key(session, name):
            raise NotFound(f"No key {name!r} is in use. `diligence keys list` shows them.")
    echo(f"Revoked. A running service refuses {name!r} within 5 s.", err=True)


def _scopes(given: str) -> list[str]:
    chosen = list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    unknown = [part for part in chosen if part not in logins.SCOPES]
    if unknown or not chosen:
        allowed, wrong = ", ".join(logins.SCOPES), ", ".join(unknown) or "nothing"
        raise BadRequest(f"--scope: {wrong} is not a scope. Allowed: {allowed}.", {"scope": allowed})
    return chosen


def _add(name: str, scopes: list[str]) -> str:
    with database.writing() as session:
        key = logins.add_key(session, name, scopes)
    if key is None:
        raise Conflict(f"There is a key {name!r} already. Revoke it first, or choose another name.")
    return key


def _list() -> None:
    with database.reading() as session:
        keys = logins.all_keys(session)
        if not keys:
            echo("There are no keys. `diligence keys add NAME` makes one.", err=True)
        for key in keys:
            state = f"revoked {key.revoked_at:%Y-%m-%d %H:%MZ}" if key.revoked_at else "in use"
            typer.echo(f"{key.name}\t{','.join(key.scopes)}\tadded {key.created_at:%Y-%m-%d %H:%MZ}\t{state}")


_SHORTEST_PASSWORD = 8


def manage_users(
    action: Annotated[
        Literal["add", "list", "remove"], typer.Argument(help="add asks for a password, or reads one line from stdin.")
    ],
    name: Annotated[str | None, typer.Argument(help="The name to log in with, or an account's address.")] = None,
    role: Annotated[
        Role, typer.Option(help="A reader can view, a reviewer can also decide, an admin can also start and stop runs.")
    ] = Role.REVIEWER,
) -> None:
    """Add, list or remove the people who use the pages."""
    if action == "list":
        with database.reading() as session:
            users = logins.all_users(session)
            if not users:
                echo("Nobody was added, so nobody has to log in. `diligence users add NAME` adds a person.", err=True)
            for user in users:
                how = "password" if user.password else "the drive's login"
                typer.echo(f"{user.name}\t{user.role}\t{how}\tadded {user.created_at:%Y-%m-%d %H:%MZ}")
        return
    if name is None or _NAME.fullmatch(name) is None:
        raise BadRequest("Give a name: letters, digits, spaces and . _ @ -, at most 100.", {"name": "needed"})
    if action == "remove":
        with database.writing() as session:
            if not logins.remove_user(session, name):
                raise NotFound(f"There is nobody called {name!r}. `diligence users list` shows them.")
        echo(f"Removed. {name} is logged out; what {name} decided stays in the log.", err=True)
        return
    has_accounts = choose_drive().accounts is not None
    password, is_new = (None, False) if has_accounts else _password()
    with database.writing() as session:
        if not logins.add_user(session, name, role, password):
            raise Conflict(f"There is somebody called {name!r} already. Remove them first, or choose another name.")
    if is_new:
        echo(password or "")
        echo("Keep the password: it is shown only once.", err=True)
    echo(f"Added {name} ({role}). A running service asks everybody to log in from now on.", err=True)


def _password() -> tuple[str, bool]:
    """A password from the terminal, or the first line of stdin; if that is empty a new one, and True.

    Raises:
        BadRequest: it is too short.
    """
    if sys.stdin.isatty():
        password = str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        return secrets.token_urlsafe(12), True
    if len(password) < _SHORTEST_PASSWORD:
        raise BadRequest(f"The password has fewer than {_SHORTEST_PASSWORD} characters. Choose a longer one.")
    return password, False
