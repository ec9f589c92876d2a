"""The site's reference covers the code, and its schemas take what the program takes."""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator

from deployments.cli import COMMANDS
from docs.site import reference
from docs.site.build import build
from tests.cases import cases
from tests.deployments.test_settings import names
from tests.test_documentation import DOCS, README, ROOT, list_blocks
from tests.web.html_page import Page

SAMPLE = ROOT / "deployments" / "sample"
BATCH = {"name": "A", "criteria": "c.yaml", "companies": [{"name": "A", "domain": "a.example", "folder": "a"}]}


def test_every_command_setting_error_and_metric_is_there() -> None:
    assert re.findall(r"^## (.+)$", reference.commands(), re.MULTILINE) == list(COMMANDS)
    assert set(re.findall(r"^\| `(\w+)` \|", reference.settings(), re.MULTILINE)) >= names()
    page = reference.errors([])
    slugs = {kind.slug for kind in reference.error_classes() if kind.__module__.split(".")[0] in reference.CODE}
    assert set(re.findall(r"^## ([a-z-]+)$", page, re.MULTILINE)) == slugs
    assert "is an archive that was not opened: …" in reference.warnings()
    written = (ROOT / "api" / "monitoring.py").read_text()
    listed = re.findall(r"^\| `(diligence_\w+?)(?:_total)?` \| \w+ \|", reference.metrics(), re.MULTILINE)
    assert sorted(listed) == sorted(re.findall(r'"(diligence_\w+)"', written))


def test_the_schemas_take_what_the_program_takes() -> None:
    criteria, batch = Draft202012Validator(reference.criteria_schema()), Draft202012Validator(reference.batch_schema())
    for block in [block for page in (README, DOCS / "criteria.md") for block in list_blocks(page, "yaml")]:
        content = yaml.safe_load(block)
        if isinstance(content, list):
            criteria.validate({"criteria": content})
        elif "scale" in content or "companies" in content:
            (criteria if "scale" in content else batch).validate(content)
    criteria.validate(yaml.safe_load((SAMPLE / "criteria.yaml").read_text()))
    batch.validate(yaml.safe_load((SAMPLE / "batch.yaml").read_text()))


@cases(
    "content",
    [
        {"criteria": [{"id": "a", "aks": "Is it?"}]},
        {"criteria": [{"id": "a", "fact": "founded_year"}]},
        {"criteria": [{"id": "a", "figure": "revenue", "rule": "> 1", "bands": {"5": "> 1"}}]},
        {"include": ["unknown"]},
        {"scale": [0, 5]},
        BATCH | {"openai_api_key": "k"},
        BATCH | {"ocr": "never"},
        BATCH | {"companies": [{"name": "A", "folder": "a"}]},
    ],
)
def test_the_schemas_refuse_mistakes(content: dict[str, Any]) -> None:
    schema = reference.batch_schema() if "companies" in content else reference.criteria_schema()
    assert list(Draft202012Validator(schema).iter_errors(content))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("built")).parent


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("site")
def test_each_link_of_the_site_leads_to_a_page_and_a_place_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 40
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link not in page.loaded, (path, link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (path, link)
            assert not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].ids, link


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("site")
def test_no_page_of_the_site_is_wider_than_a_phone(site: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed.")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        for path in sorted(site.rglob("*.html")):
            if "sample" not in path.relative_to(site).parts:
                page.goto(path.as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        browser.close()
