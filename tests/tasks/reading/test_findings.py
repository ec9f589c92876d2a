"""Each file that mutation has found a fault with goes through the pool as it should now."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.reading.pool.pool import ExtractionPool, Limits
from tests.fuzz import findings, watched
from tests.fuzz.verdict import judge


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(2, Limits(watched.LIMIT_SECONDS, watched.LIMIT_MB), watched.read) as pool:
        yield pool


@pytest.mark.parametrize("finding", findings.kept(), ids=lambda path: path.name)
@pytest.mark.slow
def test_a_finding_is_read_or_refused(pool: ExtractionPool, tmp_path: Path, finding: Path) -> None:
    path = tmp_path / f"document{finding.suffix}"
    path.write_bytes(finding.read_bytes())
    verdict = judge(path, path.suffix, pool.submit(path, path.suffix))
    assert verdict.fine or verdict.outcome == "contained", verdict.kind
