"""Builds the site: the pages of the repository, the reference made from the code, and the sample's report.

    python -m docs.site.build [FOLDER]

Pages keep their places, so that a link that works in the repository works on the site. A link to anything but a page
or a picture leads to a page that shows the file, or the files of the folder. Whatever leads nowhere ends the build.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from docs.site import reference

ROOT: Final = Path(__file__).parents[2]
ROOTS: Final = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK: Final = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)")
_PICTURES: Final = {".png", ".svg"}
_LANGUAGES: Final = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".sql": "sql"}


def build(folder: Path) -> Path:
    """Build the site into `folder`/site and give the path of its first page; `folder`/pages has what it is made of.

    Raises:
        SystemExit: a link leads nowhere, the sample's run failed, or Zensical has a warning.
    """
    pages, site = folder / "pages", folder / "site"
    for old in (pages, site):
        shutil.rmtree(old, ignore_errors=True)
    copy_pages(ROOT, pages)
    (pages / "docs" / "site").mkdir()
    shutil.copy(ROOT / "docs" / "site" / "site.css", pages / "docs" / "site")
    shutil.copy(ROOT / "docs" / "site" / "zensical.toml", folder)
    write_sample(pages / "sample", folder / "home")
    (pages / "reference").mkdir()
    for name, text in reference.write_pages().items():
        (pages / "reference" / name).write_text(text, encoding="utf-8")
    zensical = Path(sys.executable).with_name("zensical")
    _run([zensical, "build", "--strict", "--clean", "--config-file", folder / "zensical.toml"])
    return site / "index.html"


def copy_pages(root: Path, target: Path) -> None:
    """Copy the pages, and all that they lead to, from `root` to the same places below `target`.

    Raises:
        SystemExit: a link leads nowhere, or out of `root`.
    """
    waiting = [root / name for name in ROOTS] + sorted((root / "docs").glob("*.md"))
    copied: set[Path] = set()
    while waiting:
        page = waiting.pop()
        if page in copied:
            continue
        copied.add(page)
        place = target / page.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix in _PICTURES:
            shutil.copy(page, place)
        elif page.suffix == ".md":
            text = page.read_text("utf-8")
            waiting += find_links(page, text)
            place.write_text(_LINK.sub(partial(_site_link, page.parent), text), encoding="utf-8")
        else:
            waiting += sorted(page.glob("*.md"))
            place.with_name(f"{place.name}.md").write_text(show(page, root), encoding="utf-8")


def find_links(page: Path, text: str) -> Iterator[Path]:
    """The files and folders that a page leads to.

    Raises:
        SystemExit: one of them is not there.
    """
    for link in _LINK.findall(text):
        path = (page.parent / link).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            raise SystemExit(f"{page.relative_to(ROOT)} leads to {link}, which is not there.")
        yield path


def _site_link(folder: Path, found: re.Match[str]) -> str:
    """A link as the site has it: a folder, or a file that is neither page nor picture, has a page of its name."""
    link = found[1]
    return link if (folder / link).suffix in {".md", *_PICTURES} else f"{link.rstrip('/')}.md"


def show(path: Path, root: Path) -> str:
    """A page that shows a file, or the text files of a folder."""
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.suffix in _SHOWN]
    lines = [
        f"# {path.relative_to(root)}\n",
        *(f"- [{page.stem}]({path.name}/{page.name})" for page in path.glob("*.md")),
    ]
    for file in files:
        if file.is_dir():
            continue
        if file != path:
            lines.append(f"## {file.relative_to(path)}\n")
        lines.append(f"``````{_LANGUAGES.get(file.suffix, 'text')}\n{file.read_text('utf-8').rstrip()}\n``````\n")
    return "\n".join(lines)


_SHOWN: Final = {*_LANGUAGES, ".service", ".target", ".conf", ".txt", ""}


def write_sample(folder: Path, home: Path) -> None:
    """Write the report of the sample batch, as `diligence demo` makes it, into a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_"))}
    kept["DILIGENCE_HOME"] = str(home)
    _run([Path(sys.executable).with_name("diligence"), "demo", "--out", folder], kept)
    (folder / "report.zip").unlink()


def _run(command: list[str | Path], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\n{Path(command[0]).name} ended with {done.returncode}.")


if __name__ == "__main__":
    first = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build")
    print(f"{first} is built. Open it, or serve it, which the search needs: python -m http.server -d {first.parent}")
