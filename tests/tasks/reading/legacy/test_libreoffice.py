"""Documents from before Office 2007: read through LibreOffice, and what becomes of them and of it where that fails."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation

from tasks.documents.texts import document_text
from tasks.errors import Damaged, DiligenceError, PasswordProtected, TookTooLong, UnsupportedFormat
from tasks.reading import formats, limits, read_document
from tasks.reading.embedded import read_with_embedded
from tasks.reading.pool.pool import ExtractionPool, Limits
from tasks.reading.text_writer import Reading
from tests.tasks.reading.ooxml.compounds import compound
from tests.waiting import is_running
from tests.written import saved

needs_libreoffice = pytest.mark.skipif(
    formats.program("libswlo.so") is None or formats.program("libsdlo.so") is None,
    reason="needs LibreOffice (libreoffice-writer and libreoffice-impress)",
)
DOC = compound({"WordDocument": b"\xec\xa5" + bytes(5000)})
PPT = compound({"PowerPoint Document": bytes(5000), "Current User": bytes(100)})
Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program in LibreOffice's place, which does what a shell script says; `$5` is where to write to."""

    def installed(script: str) -> Path:
        folder = tmp_path / "office"
        folder.mkdir()
        for library in ("libswlo.so", "libsdlo.so"):
            (folder / library).touch()
        for name in ("soffice", "soffice.bin"):
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return folder

    return installed


def docx(words: str) -> bytes:
    document = Document()
    document.add_paragraph(words)
    return saved(document)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which this process and those that it starts have their temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@needs_libreoffice
@pytest.mark.parametrize(("kind", "made"), [("docx", "doc"), ("pptx", "ppt")])
def test_a_real_document_is_read(kind: str, made: str, tmp_path: Path) -> None:
    source = tmp_path / f"document.{kind}"
    if kind == "docx":
        source.write_bytes(docx("Ümsätze und Köpfe"))
    else:
        show = Presentation()
        show.slides.add_slide(show.slide_layouts[5]).shapes[0].text_frame.text = "Ümsätze und Köpfe"
        show.save(str(source))
    binary = formats.program("libswlo.so")
    assert binary is not None
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [str(binary), profile, "--headless", "--convert-to", made, "--outdir", str(tmp_path), str(source)]
    for _ in range(2):  # once to make the profile
        subprocess.run(command, check=False, capture_output=True, timeout=120)
    with ExtractionPool(1, Limits(seconds=100)) as pool:
        reading = pool.read(tmp_path / f"document.{made}", f".{made}")
    assert reading.text == "Ümsätze und Köpfe\n"
    assert reading.warnings == [f"A file from before Office 2007 (.{made}): it was read through LibreOffice."]


@pytest.mark.parametrize(("data", "extension", "package"), [(DOC, ".doc", "writer"), (PPT, ".pps", "impress")])
def test_without_libreoffice_the_error_names_its_package(
    data: bytes, extension: str, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnsupportedFormat, match=f"package libreoffice-{package}"):
        read_document(data, extension)


def test_it_is_read_as_soon_as_libreoffice_is_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Install
) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room/old.doc").write_bytes(DOC)
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "room"))
    monkeypatch.setattr("tasks.documents.texts.share_pool", _InThisProcess)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")
    document_id = _only_document()
    with pytest.raises(UnsupportedFormat):
        document_text(document_id)
    made = tmp_path / "made.docx"
    made.write_bytes(docx("At last"))
    install(f"PATH={path}; mkdir -p made; cp {made} made/document.docx")
    assert document_text(document_id).text == "At last\n"


class _InThisProcess:
    def submit(self, path: Path, extension: str) -> Future[Reading]:
        reading: Future[Reading] = Future()
        try:
            reading.set_result(read_with_embedded(path, extension))
        except DiligenceError as error:
            reading.set_exception(error)
        return reading


def _only_document() -> str:
    from tasks.documents.drive.registry import open_drive

    drive = open_drive()
    (document,) = drive.list_folder(drive.find_folder("root"), recursive=False).documents
    return document.id


def test_it_gets_a_profile_without_macros_links_and_network(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.environ["PATH"]
    told = tmp_path / "told"
    install(
        f'PATH={path}; cat profile/user/registrymodifications.xcu > {told}; env >> {told}; echo "$@" >> {told};'
        f" ulimit -v >> {told}"
    )
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    with pytest.raises(Damaged):  # it made nothing
        read_document(DOC, ".doc")
    words = told.read_text()
    assert '"DisableMacrosExecution" oor:op="fuse"><value>true' in words
    assert '"MacroSecurityLevel" oor:op="fuse"><value>3' in words
    assert words.count('"Link" oor:op="fuse"><value>2') == 2
    assert "--infilter=MS Word 97" in words
    assert "hush" not in words
    assert words.rstrip().endswith(str(1 << 20)), "kilobytes of address space"


def test_one_that_hangs_is_ended_in_time_and_leaves_nothing(
    install: Install, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    install(f"echo $$ > {pid}; exec /bin/sleep 100")
    monkeypatch.setattr(limits, "seconds_left", lambda: 1.0)
    started = time.monotonic()
    with pytest.raises(TookTooLong, match="DILIGENCE_DOCUMENT_TIMEOUT"):
        read_document(DOC, ".doc")
    assert time.monotonic() - started < 20
    assert not is_running(int(pid.read_text()))
    assert not list(temporary.iterdir())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_it_ends_with_a_reading_process_that_is_killed(install: Install, temporary: Path, tmp_path: Path) -> None:
    pid, document = tmp_path / "pid", tmp_path / "old.doc"
    document.write_bytes(DOC)
    install(f"echo $$ > {pid}; exec /bin/sleep 100")
    program = f"from tasks.reading import read_document; read_document({str(document)!r})"
    deadline = time.monotonic() + 60
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as reader:
        while not (pid.exists() and pid.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        own = int(pid.read_text())
        assert is_running(own)
        reader.kill()
    while is_running(own):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    left = list(temporary.iterdir())
    assert left
    (tmp_path / "office/soffice.bin").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(Damaged):
        read_document(DOC, ".doc")
    assert not [folder for folder in left if folder.exists()], "the next one tidies up"


def test_what_is_encrypted_or_no_document_is_not_handed_to_it(install: Install, tmp_path: Path) -> None:
    started = tmp_path / "started"
    install(f"echo > {started}")
    encrypted = compound({"WordDocument": bytes(10) + b"\x00\x01" + bytes(5000)})
    with pytest.raises(PasswordProtected):
        read_document(encrypted, ".doc")
    user = bytes(12) + (0xF3D1C4DF).to_bytes(4, "little") + bytes(100)
    with pytest.raises(PasswordProtected):
        read_document(compound({"PowerPoint Document": bytes(5000), "Current User": user}), ".ppt")
    for data in (b"", b"\0junk", compound({"Other": bytes(5000)}), DOC[:700]):
        with pytest.raises(Damaged):
            read_document(data, ".doc")
    assert not started.exists()
