"""Which room may import which, and what the page on the architecture says."""

import re
from pathlib import Path

from importlinter.application.use_cases import lint_imports
from importlinter.configuration import configure

from tests.structure import HARD, count, working_tree

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"


def test_imports_go_down_and_make_no_circles() -> None:
    configure()  # not by importlinter.cli: that turns off every logger that exists, for all later tests
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None)


def test_modules_stay_short_and_functions_simple() -> None:
    structure = count(working_tree())
    assert [path for path, lines in structure.lines.items() if lines > 600] == []
    assert [function for function, complexity in structure.complexity.items() if complexity > HARD] == []


def test_every_path_of_the_page_is_there() -> None:
    paths = re.findall(r"`((?:api|deployments|flows|storage|tasks|tests)/[\w./]*)`", PAGE.read_text("utf-8"))
    assert len(paths) > 40
    assert [path for path in paths if not (ROOT / path).exists()] == []


ASKERS = {
    "deployments/doctor.py": "asks for the word yes",
    "tasks/answers.py": "the caller's own context (`diligence ask` leaves out what is privileged), an answer's sources",
    "tasks/companies/question.py": "public pages and facts",
    "tasks/rooms.py": "`RoomPassages.open_to`",
    "tasks/scoring/ask.py": "`Evidence.open_to`, by `tasks.scoring.score`; a plan: the criterion, its languages",
    "tasks/scoring/judge.py": "cases of the program's own",
    "tasks/table/cells.py": "its rows without privileged ones",
}
"""Who asks a model, and what it is given. Whoever comes new opens its room to it (`tasks/privacy/`)."""


def test_nobody_asks_a_model_who_might_give_it_privileged_documents() -> None:
    asks = re.compile(r"\b(?:judge_once|answer_once)\(|\banswerer\.(?:judge|answer)\(")
    rooms = ("api", "deployments", "flows", "tasks")
    files = {file.relative_to(ROOT) for room in rooms for file in (ROOT / room).rglob("*.py")}
    asking = {str(file) for file in files if asks.search((ROOT / file).read_text("utf-8"))}
    assert asking - {"tasks/ai/calls.py"} == ASKERS.keys()
