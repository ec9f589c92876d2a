"""Runs all-MiniLM-L6-v2 in a separate process.

`wordpieces.txt` is the vocabulary that the model was trained with: BERT's 30,522 lower-case pieces
(google-research/bert, Apache-2.0), one a line, as in `tokenizer.json` of sentence-transformers/all-MiniLM-L6-v2. A
text's vector is the mean of its pieces' vectors, normalised to length one, as that model's card says.
"""

import base64
import json
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from tasks.reading.text_writer import Reading

_PIECES: Final = Path(__file__).with_name("wordpieces.txt")


def embed_batch(model: Path, order: str) -> Reading:
    """The vectors of texts as the bytes of 32-bit floats, in base64.

    `order` is a JSON list: the number of pieces to read of each text, followed by the texts. Texts are embedded one by
    one, because the model scales its numbers by everything in a batch, and a vector must not depend on its neighbours.
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
def _session(model: Path) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # each process has a processor
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer(longest: int) -> Tokenizer:
    """BERT's tokenizer for lower-case English, as the model's `tokenizer.json` describes it."""
    pieces = {piece: number for number, piece in enumerate(_PIECES.read_text("utf-8").splitlines())}
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", pieces["[SEP]"]), ("[CLS]", pieces["[CLS]"]))
    tokenizer.enable_truncation(longest)
    return tokenizer
