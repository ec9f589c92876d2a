"""Access tokens: whose they are, that they are asked for once, and what a user is told when there are none."""

import json
import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import httplib2
import pytest
from google_auth_httplib2 import AuthorizedHttp  # type: ignore[import-untyped]

from storage import database, logins
from storage.logins import Whose
from tasks.documents.drive.drive import Bearer, ConfiguredAccount, Identity, Login, caller
from tasks.documents.drive.google.credentials import find_account, find_credentials
from tasks.documents.drive.registry import acting_as_run_account, run_identity
from tasks.errors import DiligenceError, NotAllowed, NotConfigured, NotLoggedIn, Unavailable
from tests.google.credentials import SERVICE, authorised_user_file, service_account_file
from tests.google.faults import Fault
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import stored_login

ADA, BOB = "ada@example.com", "bob@example.com"


@pytest.fixture
def google(emulator: DriveEmulator) -> DriveEmulator:
    emulator.world.user(ADA)
    emulator.world.user(BOB)
    return emulator


def asked_by(google: DriveEmulator, who: Identity | None) -> str:
    """Whose view the identity's requests have, asked as the client library asks."""
    assert who is not None
    with closing(AuthorizedHttp(find_credentials(who), http=httplib2.Http(timeout=20))) as http:
        response, content = http.request(f"{google.endpoint}about?fields=user(emailAddress)")
    assert response.status == 200
    email: str = json.loads(content)["user"]["emailAddress"]
    return email


def revoked(login_id: int) -> bool:
    with database.reading() as session:
        found = logins.find_login(session, login_id)
    assert found is not None
    return found.revoked_at is not None


def test_a_callers_token_gives_the_callers_view(google: DriveEmulator) -> None:
    assert asked_by(google, Bearer(google.token(BOB))) == BOB


def test_a_callers_token_that_has_expired_is_401(google: DriveEmulator) -> None:
    with pytest.raises(NotLoggedIn, match="expired"):
        asked_by(google, Bearer(google.token(ADA, expires_in=-1)))


def test_a_login_gives_its_own_view_and_shares_its_token(google: DriveEmulator) -> None:
    who = Login(stored_login(google, ADA))
    assert asked_by(google, who) == ADA
    assert asked_by(google, who) == ADA
    assert asked_by(google, Login(stored_login(google, BOB))) == BOB
    assert google.service.oauth.refreshes == 2


def test_many_threads_ask_for_one_token(google: DriveEmulator) -> None:
    who, together = Login(stored_login(google, ADA)), Barrier(16)

    def ask(_: int) -> str:
        together.wait()
        return asked_by(google, who)

    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(ask, range(16))) == {ADA}
    assert google.service.oauth.refreshes == 1
    for token in list(google.accounts.access):
        google.accounts.expire(token)  # before its time, as Google does when it likes
    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(ask, range(16))) == {ADA}
    assert google.service.oauth.refreshes == 2


def test_a_revoked_login_is_401_and_marked_so(google: DriveEmulator) -> None:
    login_id = stored_login(google, ADA)
    asked_by(google, Login(login_id))
    assert not revoked(login_id)
    google.accounts.revoke_user(ADA)
    with pytest.raises(NotLoggedIn, match=r"ada@example\.com has expired or was revoked\. Log in again at /login"):
        asked_by(google, Login(login_id))
    assert revoked(login_id)
    tried = google.service.oauth.refreshes
    with pytest.raises(NotLoggedIn, match="Log in again"):
        find_credentials(Login(login_id)).refresh(None)  # type: ignore[no-untyped-call]
    assert google.service.oauth.refreshes == tried, "Google was asked again for nothing"


def test_a_new_login_mends_a_revoked_one(google: DriveEmulator) -> None:
    login_id = stored_login(google, ADA)
    google.accounts.revoke_user(ADA)
    with pytest.raises(NotLoggedIn):
        asked_by(google, Login(login_id))
    assert stored_login(google, ADA) == login_id
    assert asked_by(google, Login(login_id)) == ADA


def test_a_login_that_is_gone_is_401(google: DriveEmulator) -> None:
    with pytest.raises(NotLoggedIn, match="/login"):
        asked_by(google, Login(4711))


def test_a_login_of_another_client_is_told(google: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    who = Login(stored_login(google, ADA, Whose.MACHINE))
    monkeypatch.setenv("DILIGENCE_GOOGLE_CLIENT_ID", "another")
    with pytest.raises(NotConfigured, match=r"DILIGENCE_GOOGLE_CLIENT_ID.*diligence login"):
        asked_by(google, who)


def test_a_wrong_client_secret_is_told_and_revokes_nothing(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    login_id = stored_login(google, ADA)
    monkeypatch.setenv("DILIGENCE_GOOGLE_CLIENT_SECRET", "hush-hush")
    with pytest.raises(NotConfigured, match="DILIGENCE_GOOGLE_CLIENT_SECRET") as raised:
        asked_by(google, Login(login_id))
    assert "hush" not in raised.value.message
    assert not revoked(login_id)


def test_a_login_sealed_with_a_lost_key_is_told(google: DriveEmulator, home: Path) -> None:
    who = Login(stored_login(google, ADA))
    (home / "secret.key").unlink()
    with pytest.raises(NotConfigured, match="DILIGENCE_SECRET_KEY"):
        asked_by(google, who)


@pytest.mark.parametrize("name", ["ID", "SECRET"])
def test_a_missing_client_is_named(google: DriveEmulator, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(f"DILIGENCE_GOOGLE_CLIENT_{name}")
    with pytest.raises(NotConfigured, match=f"DILIGENCE_GOOGLE_CLIENT_{name}"):
        find_credentials(Login(1))


def test_a_token_endpoint_that_fails_now_and_then_is_asked_again(google: DriveEmulator) -> None:
    google.faults.set(Fault(do="refuse", on="token", at=[1], status=503), Fault(do="reset", on="token", at=[2]))
    assert asked_by(google, Login(stored_login(google, ADA))) == ADA


def test_a_token_endpoint_out_of_reach_is_unavailable_and_revokes_nothing(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    login_id = stored_login(google, ADA)
    monkeypatch.setenv("DILIGENCE_GOOGLE_TOKEN_URI", "http://127.0.0.1:9/token")
    with pytest.raises(Unavailable):
        asked_by(google, Login(login_id))
    assert not revoked(login_id)


def test_a_service_account_is_itself(google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(service_account_file(google, tmp_path / "key.json")))
    assert run_identity() == ConfiguredAccount()
    assert asked_by(google, run_identity()) == SERVICE


def test_a_service_account_acts_for_the_subject(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = service_account_file(google, tmp_path / "key.json", delegates=[ADA])
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(file))
    monkeypatch.setenv("DILIGENCE_GOOGLE_SUBJECT", ADA)
    assert asked_by(google, run_identity()) == ADA
    monkeypatch.setenv("DILIGENCE_GOOGLE_SUBJECT", BOB)
    with pytest.raises(NotConfigured, match="DILIGENCE_GOOGLE_SUBJECT"):
        asked_by(google, run_identity())


def test_a_key_that_google_withdrew_is_401(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(service_account_file(google, tmp_path / "key.json")))
    google.accounts.services.clear()
    with pytest.raises(NotLoggedIn, match="DILIGENCE_GOOGLE_CREDENTIALS"):
        asked_by(google, run_identity())


@pytest.mark.parametrize("kind", ["service", "user"])
def test_a_file_does_not_choose_where_its_secret_is_sent(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "service":
        file, account = service_account_file(google, tmp_path / "key.json"), SERVICE
    else:
        file, account = authorised_user_file(google, tmp_path / "key.json", ADA), ADA
    file.write_text(json.dumps({**json.loads(file.read_text()), "token_uri": "http://127.0.0.1:9/elsewhere"}))
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(file))
    assert asked_by(google, run_identity()) == account


def test_the_project_that_quotas_are_counted_for_is_named_in_each_request(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.settings.quota_projects = ["the-project"]
    for project, outcome in (("the-project", ADA), ("another", NotConfigured), (None, NotConfigured)):
        more = {"quota_project_id": project} if project else {}
        file = authorised_user_file(google, tmp_path / f"{project}.json", ADA, **more)
        monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(file))
        if outcome == ADA:
            assert find_account(find_credentials(ConfiguredAccount())).email == ADA
        else:
            with pytest.raises(NotConfigured, match="quota_project_id"):
                find_account(find_credentials(ConfiguredAccount()))


def test_a_file_of_an_authorised_user_that_was_revoked_is_401(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(authorised_user_file(google, tmp_path / "u.json", ADA)))
    google.accounts.revoke_user(ADA)
    with pytest.raises(NotLoggedIn, match="DILIGENCE_GOOGLE_CREDENTIALS"):
        asked_by(google, run_identity())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("hush-hush", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{}", "type"),
        ('{"type": "external_account"}', "type"),
        ('{"type": "service_account", "client_email": "hush-hush"}', "lacks private_key"),
        ('{"type": "service_account", "client_email": "a", "private_key": "hush-hush"}', "private_key"),
        (
            (
                '{"type": "authorized_user", "client_id": "a", "client_secret": "hush-hush", "refresh_token": "b", '
                '"quota_project_id": "a\\nb"}'
            ),
            "quota_project_id",
        ),
        ('{"type": "authorized_user", "client_id": 7}', "lacks client_id and client_secret and refresh_token"),
    ],
)
def test_a_wrong_file_is_told_without_its_content(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, says: str
) -> None:
    (tmp_path / "key.json").write_text(content)
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(tmp_path / "key.json"))
    with pytest.raises(NotConfigured, match=says) as raised:
        find_credentials(ConfiguredAccount())
    assert "DILIGENCE_GOOGLE_CREDENTIALS" in raised.value.message
    for kept in ("hush", str(tmp_path)):
        assert kept not in raised.value.message


def test_a_missing_file_is_told_without_its_path(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(tmp_path / "nowhere.json"))
    with pytest.raises(NotConfigured, match="cannot be read") as raised:
        find_credentials(ConfiguredAccount())
    assert str(tmp_path) not in raised.value.message


def test_a_subject_goes_with_service_accounts_only(
    google: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(authorised_user_file(google, tmp_path / "u.json", ADA)))
    monkeypatch.setenv("DILIGENCE_GOOGLE_SUBJECT", BOB)
    with pytest.raises(NotConfigured, match="DILIGENCE_GOOGLE_SUBJECT"):
        find_credentials(ConfiguredAccount())


def test_without_credentials_runs_act_as_the_machines_login_and_never_as_a_web_users(google: DriveEmulator) -> None:
    stored_login(google, BOB, Whose.WEB)
    with pytest.raises(NotConfigured, match=r"DILIGENCE_GOOGLE_CREDENTIALS.*diligence login"):
        run_identity()
    stored_login(google, ADA, Whose.MACHINE)
    assert asked_by(google, run_identity()) == ADA
    with acting_as_run_account():
        assert caller() == run_identity()


def test_a_revoked_login_of_the_machine_says_which_command(google: DriveEmulator) -> None:
    who = Login(stored_login(google, ADA, Whose.MACHINE))
    google.accounts.revoke_user(ADA)
    for ask in (lambda: asked_by(google, who), run_identity):
        with pytest.raises(NotLoggedIn, match="`diligence login`"):
            ask()


def test_the_account_is_the_one_that_drive_names(google: DriveEmulator) -> None:
    assert find_account(find_credentials(Login(stored_login(google, ADA)))).email == ADA


@pytest.mark.parametrize(
    ("reason", "error"), [("accessNotConfigured", NotConfigured), ("insufficientPermissions", NotAllowed)]
)
def test_an_account_that_drive_does_not_name_is_an_error(
    google: DriveEmulator, reason: str, error: type[DiligenceError]
) -> None:
    google.faults.set(Fault(on="about.get", status=403, reason=reason))
    with pytest.raises(error):
        find_account(find_credentials(Bearer(google.token(ADA))))


def test_tokens_show_in_no_text_and_no_pickle(google: DriveEmulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = google.token(ADA)
    login = Login(stored_login(google, BOB))
    asked_by(google, Bearer(token))
    asked_by(google, login)
    known = [token, *google.accounts.access, *google.accounts.refresh]
    for shown in (
        repr(Bearer(token)),
        repr(find_credentials(Bearer(token))),
        repr(find_credentials(login)),
        caplog.text,
    ):
        assert not any(each in shown for each in known)
    for kept in (Bearer(token), find_credentials(Bearer(token)), find_credentials(login)):
        with pytest.raises(TypeError):
            pickle.dumps(kept)
    with database.reading() as session:
        rows = session.connection().exec_driver_sql("SELECT * FROM logins").all()
    assert not any(each in str(rows) for each in known)


def test_addresses_that_tokens_are_sent_to_are_encrypted(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_ENDPOINT", "BATCH_URI", "TOKEN_URI", "AUTH_URI"):
        with monkeypatch.context() as context:
            context.setenv(f"DILIGENCE_GOOGLE_{name}", "http://drive.example/")
            with pytest.raises(ValueError, match="https://"):
                find_credentials(Bearer("x"))
