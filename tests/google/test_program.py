"""The emulator as a program, steered from outside, and rclone on it."""

import httpx
import pytest
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build

from tests.google.process import EmulatorProcess
from tests.google.rclone import installed, list_with_rclone


def test_a_program_says_where_it_is_and_takes_orders() -> None:
    with EmulatorProcess(folders=5, files=40, depth=2, readable=True) as drive:
        places = drive.addresses
        credentials = Credentials(places["access_token"])  # type: ignore[no-untyped-call]
        service = build(
            "drive", "v3", credentials=credentials, static_discovery=True,
            client_options={"api_endpoint": places["endpoint"]},
        )  # fmt: skip
        with service:
            files = service.files()
            found = files.list(pageSize=1000, q="mimeType != 'application/vnd.google-apps.folder'").execute()["files"]
            assert len(found) == 40
            assert drive.counts()["by_method"] == {"files.list": 1}
            drive.faults({"do": "refuse", "on": "files.list", "reason": "backendError", "times": 1})
            drive.set(latency=0.01)
        login = {"Authorization": f"Bearer {places['access_token']}"}
        assert httpx.get(places["endpoint"] + "files", headers=login).status_code == 500
        drive.reset()
        assert drive.counts()["requests"] == 0
        assert httpx.post(places["control_uri"] + "faults", content=b'[{"do": "nonsense"}]').status_code == 400


@pytest.mark.skipif(not installed(), reason="rclone is not installed")
@pytest.mark.parametrize("shared_drive", [False, True])
def test_rclone_lists_the_whole_tree(*, shared_drive: bool) -> None:
    with EmulatorProcess(folders=30, files=300, depth=4, shared_drive=shared_drive) as drive:
        listed = list_with_rclone(drive)
        assert listed.entries == 330
        assert 0 < listed.requests == drive.counts()["calls"]
