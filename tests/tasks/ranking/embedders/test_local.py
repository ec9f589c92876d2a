"""The model that runs here: what it knows, its errors, and that it needs no network."""

import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tasks.errors import Unavailable
from tasks.ranking.embedders import VOCABULARY, WEIGHTS, LocalEmbedder, minilm
from tasks.ranking.query import entries

_NO_NETWORK = """
import socket

def refuse(*_):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refuse
import sys
from pathlib import Path
from tasks.ranking.embedders import embed_batch
from tasks.ranking.query import entries
print(len(embed_batch(Path(sys.argv[1]), '[128, "The lease ends.", "Rent is due."]').text))
"""


def test_the_model_asks_no_network_and_prints_nothing() -> None:
    model = Path(find_spec(WEIGHTS).origin).with_name("model.onnx")  # type: ignore[union-attr, arg-type]
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", _NO_NETWORK, model], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "4096\n", "")


def test_the_model_knows_what_words_mean() -> None:
    asked, right, wrong = LocalEmbedder().embed(
        [
            "How many people work there?",
            "The group had 1,240 staff at year end.",
            "The lease of the office ends in 2027.",
        ]
    )
    assert asked @ right > asked @ wrong + 0.2


def test_the_vectors_are_those_of_the_published_weights() -> None:
    """The sentences of the model's card; the numbers are what its published weights of 32 bits give."""
    one, other = LocalEmbedder().embed(["This is an example sentence", "Each sentence is converted"])
    assert one[:3] == pytest.approx([0.0677, 0.0635, 0.0487], abs=0.01)
    assert one @ other == pytest.approx(0.4046, abs=0.01)


def test_a_text_has_the_same_vector_beside_any_others() -> None:
    alone = LocalEmbedder().embed(["The lease ends."])
    beside = LocalEmbedder().embed(["Revenue " * 300, "The lease ends.", "x"])
    assert np.array_equal(alone[0], beside[1])


def test_a_model_that_is_not_installed_or_not_whole_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="DILIGENCE_EMBEDDINGS to off"):
        LocalEmbedder(package="no_such_package").embed(["x"])
    (tmp_path / "torn_weights").mkdir()
    (tmp_path / "torn_weights" / "__init__.py").touch()
    (tmp_path / "torn_weights" / "model.onnx").write_bytes(b"no model")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unavailable, match="cannot be run on this machine"):
        LocalEmbedder(package="torn_weights").embed(["x"])


def test_the_vocabulary_is_whole() -> None:
    pieces = minilm._PIECES.read_text("utf-8").splitlines()
    assert len(pieces) == len(set(pieces)) == 30_522


def test_the_kept_vectors_are_those_of_the_vocabulary() -> None:
    """Whoever changes an entry makes them anew, as `LocalEmbedder.vocabulary` says."""
    embedder, every = LocalEmbedder(), 12
    meanings = "\n".join(entry.meaning for entry in entries())
    assert sha256(meanings.encode()).hexdigest() == VOCABULARY.with_suffix(".sha256").read_text("utf-8").strip()
    made = embedder.embed([entry.meaning for entry in entries()[::every]])
    assert len(embedder.vocabulary) == len(entries())
    assert (np.sum(made * embedder.vocabulary[::every], axis=1) > 0.98).all()
