"""The TLS context that all clients of models share."""

from pathlib import Path

import pytest

from tasks.remote.openai_client import tls_context
from tests.web.certificates import authority


def test_it_is_made_once() -> None:
    assert tls_context() is tls_context()


def test_it_trusts_the_authorities_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.pem").write_bytes(authority("ours.example"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ours.pem"))
    assert [certificate["subject"] for certificate in tls_context().get_ca_certs()] == [
        ((("commonName", "ours.example"),),)
    ]
