"""The seam between ranking and embedding models: texts go in, vectors come out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A sentence-embedding model. Texts of one meaning get vectors of one direction."""

    @property
    def name(self) -> str:
        """What vectors are kept under: another model, or the same name at another server, has another name."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One vector of unit length a text, as the rows of an array (texts, dimensions).

        A text longer than the model reads is cut to what it reads.

        Raises:
            tasks.errors.DiligenceError: no vectors, with what to do about it.
        """
