"""`diligence keys`: a key is printed once, listed without itself, and revoked by its name."""

from pathlib import Path

import pytest

from deployments.administration import manage_keys
from storage import database, logins
from tasks.errors import BadRequest, Conflict, NotFound


def test_a_key_is_shown_once_and_listed_without_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manage_keys("add", "alpha", "ai,documents")
    key = capsys.readouterr().out.strip()
    assert len(key) > 40
    manage_keys("list")
    listed = capsys.readouterr().out
    assert listed.split("\t")[:2] == ["alpha", "ai,documents"]
    assert key not in listed
    with database.reading() as session:
        assert logins.all_keys(session)[0].digest == logins.hash_key(key)


def test_a_revoked_name_can_be_given_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manage_keys("add", "alpha")
    with pytest.raises(Conflict, match="alpha"):
        manage_keys("add", "alpha")
    manage_keys("revoke", "alpha")
    manage_keys("add", "alpha")
    capsys.readouterr()
    manage_keys("list")
    assert [line.rsplit("\t", 1)[1].split()[0] for line in capsys.readouterr().out.splitlines()] == ["revoked", "in"]


def test_wrong_use_is_told(home: Path) -> None:
    with pytest.raises(BadRequest, match="documents, ai, companies, runs"):
        manage_keys("add", "alpha", "everything")
    with pytest.raises(BadRequest, match="name"):
        manage_keys("add")
    with pytest.raises(NotFound, match="keys list"):
        manage_keys("revoke", "nobody")
