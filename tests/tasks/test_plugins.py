"""Another package adds a format, a source of facts, a drive; what cannot be imported is named, and nothing stops."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks import plugins
from tasks.companies.sources import choose_sources
from tasks.documents.drive import registry
from tasks.documents.extract import read_document
from tasks.errors import NotConfigured, UnsupportedFormat
from tasks.reading import formats

FORMAT = """
from tasks.reading.formats import DocumentFormat
FORMAT = DocumentFormat((".acme",), ("application/x-acme",), "acme-1", "acme_reader")
"""
READER = """
from tasks.reading.text_writer import Reading
def read(source):
    return Reading(text=source.read_bytes().decode().upper(), places=[], warnings=[])
"""
FACTS = """
class Registry:
    name, origin = "acme", None
    def facts(self, domain): return None
    def domains(self, name): return []
def open_source(): return Registry()
"""
ENTRIES = """
[diligence.formats]
acme = acme_format
broken = acme_broken

[diligence.fact_sources]
acme = acme_facts
files = acme_broken
missing = acme_broken

[diligence.drives]
memory = tests.tasks.documents.drive.memory
lost = acme_broken
"""


def forget() -> None:
    for cached in (plugins.plugins, formats.all_formats, formats.list_supported, formats.names, formats._by_extension):
        cached.cache_clear()


@pytest.fixture
def package(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that is installed for as long as the test runs."""
    site = tmp_path / "site"
    (site / "acme-1.0.dist-info").mkdir(parents=True)
    (site / "acme-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text(ENTRIES)
    for name, code in (("format", FORMAT), ("reader", READER), ("facts", FACTS), ("broken", "1 / 0")):
        (site / f"acme_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(site))
    forget()
    added = {
        name: module for name, module in plugins.plugins("diligence.drives").items() if name not in registry.DRIVES
    }
    monkeypatch.setattr(registry, "_ADDED", added)
    monkeypatch.setattr(registry, "DRIVES", registry.DRIVES | added)
    yield
    forget()


@pytest.mark.usefixtures("package")
def test_a_format_is_read_and_one_that_cannot_be_imported_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert ".acme" in formats.list_supported()
    assert "the plugin broken (acme_broken) cannot be loaded: ZeroDivisionError" in caplog.text
    document = tmp_path / "a.acme"
    document.write_text("revenue")
    assert read_document(document, ".acme").text == "REVENUE"
    with pytest.raises(UnsupportedFormat, match=r"\.acme"):
        formats.find_format("a.unknown")


@pytest.mark.usefixtures("package")
def test_a_source_of_facts_is_asked_and_our_own_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "acme,files")
    assert [source.name for source in choose_sources()] == ["acme", "files"]
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "missing")
    with pytest.raises(NotConfigured, match="missing cannot be loaded from acme_broken"):
        choose_sources()


@pytest.mark.usefixtures("package")
def test_a_drive_is_opened_and_a_broken_one_harms_nobody_who_does_not_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [drive.name for drive in registry.descriptions()] == ["local", "google"]
    monkeypatch.setenv("DILIGENCE_DRIVE", "memory")
    assert registry.choose_drive().title == "the memory drive"
    monkeypatch.setenv("DILIGENCE_DRIVE", "lost")
    with pytest.raises(NotConfigured, match="lost cannot be loaded from acme_broken"):
        registry.choose_drive()
