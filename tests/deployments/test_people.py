"""`diligence users` and `diligence labels`: people are added, listed and removed; their labels go out and come in."""

import csv
import io
import json
from pathlib import Path

import pytest

from deployments.accounts import manage_users
from deployments.runs import labels
from storage import database, logins
from storage.logins import Role
from storage.scores import ScoreStatus
from tasks.errors import BadRequest, Conflict, NotFound
from tests.tasks.reports.rows import company, outcome, quote, write_company, write_run


def given(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(line))


def test_people_are_added_listed_and_removed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given(monkeypatch, "correct horse\n")
    manage_users("add", "ann", Role.ADMIN)
    given(monkeypatch, "another one\n")
    with pytest.raises(Conflict, match="ann"):
        manage_users("add", "ann")
    given(monkeypatch, "")
    manage_users("add", "bo@example.org", Role.READER)
    password = capsys.readouterr().out.strip()  # nobody gave one
    manage_users("list")
    assert [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["ann", "admin"],
        ["bo@example.org", "reader"],
    ]
    with database.reading() as session:
        assert logins.check_password(session, "bo@example.org", password) is not None
        assert logins.check_password(session, "ann", "wrong") is None
        ann = logins.find_user(session, "ann")
        assert ann is not None
        assert (ann.password or "").startswith("$argon2id$")
    for name in ("ann", "bo@example.org"):
        manage_users("remove", name)
    with database.reading() as session:
        assert (list(logins.all_users(session)), logins.had_users(session)) == ([], True)  # closed, not open


def test_wrong_use_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "short\n")
    with pytest.raises(BadRequest, match="8 characters"):
        manage_users("add", "ann")
    with pytest.raises(BadRequest, match="Give a name"):
        manage_users("add", None)
    with pytest.raises(NotFound, match="users list"):
        manage_users("remove", "nobody")


def test_labels_come_in_and_go_out_worst_disagreement_first(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("r1", [company("Alpha"), company("Beta", 1)])
    for name in ("alpha", "beta"):
        scored = [(outcome(one, 4, ScoreStatus.SCORED), [quote()]) for one in ("recurring", "established")]
        write_company("r1", f"{name}.example", outcomes=[*scored, (outcome("audited", None, ScoreStatus.MISSING), [])])
    file = tmp_path / "labels.csv"
    rows = [
        "alpha.example,recurring,1,ann",
        "beta.example,recurring,4,ann",
        "alpha.example,established,4,bo",
        "alpha.example,audited,5,bo",
        "alpha.example,audited,,bo",
        "gamma.example,recurring,3,bo",
        "beta.example,unknown,3,bo",
    ]
    file.write_text("domain,criterion,person,by\n" + "\n".join(rows) + "\n")
    with pytest.raises(SystemExit):  # two rows name nothing of the run
        labels("import", file, below=0.75)
    told = capsys.readouterr()
    assert told.err.count("labels.csv, line ") == 2
    assert told.out.splitlines()[:3] == [
        "   0%  audited: 0 of 1 the same  below what was chosen",
        "  70%  recurring: 1 of 2 the same  below what was chosen",
        " 100%  established: 1 of 1 the same",
    ]
    labels("export", format="json")
    exported = json.loads(capsys.readouterr().out)
    assert [(one["criterion"], one["program"], one["person"]) for one in exported["labels"]][:2] == [
        ("audited", None, 5),
        ("recurring", 4, 1),
    ]
    labels("export", format="csv")
    again = tmp_path / "again.csv"
    again.write_text(capsys.readouterr().out)
    assert len(list(csv.DictReader(again.read_text().splitlines()))) == 4
    labels("import", again)  # what was exported can be read
    with pytest.raises(BadRequest, match=r"none\.csv cannot be opened \(No such file or directory\)"):
        labels("import", tmp_path / "none.csv")
    for content in ("domain,criterion\na,b\n", "[1]"):
        wrong = tmp_path / ("w.json" if content.startswith("[") else "w.csv")
        wrong.write_text(content)
        with pytest.raises(BadRequest, match="needs the columns"):
            labels("import", wrong)
