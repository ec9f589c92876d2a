"""RapidOCR: PaddleOCR's models on ONNX Runtime (github.com/RapidAI/RapidOCR, Apache-2.0); its wheel has the weights.

One model reads the languages in Latin letters, Chinese and Japanese, so it need not be told the page's language. An A4
page takes 4 to 8 s of one processor and 0.9 GB of memory, the first one 0.5 s more.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from tasks.errors import Unavailable
from tasks.reading.image import Picture
from tasks.reading.ocr.page import RecognisedWord, RecognitionFailed

NAME: Final = "rapidocr"
_PACKAGES: Final = ("rapidocr", "onnxruntime", "cv2")
_SETTINGS: Final = {
    "Global.log_level": "critical",
    "Global.use_cls": False,  # which way is up is told from whole pages
    "Global.return_word_box": True,
    "Global.max_side_len": 2600,  # of two pages on one scan each has 1,800 dots
    "Det.limit_type": "max",
    "Det.limit_side_len": 1280,  # larger, it overlooks single lines, and takes three times as long
    "Det.box_thresh": 0.4,
    "Global.text_score": 0.0,  # a doubtful line is kept, with its confidence
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}
_NOT_LOADED: Final = (
    "RapidOCR cannot be loaded. Install diligence's requirements again, or set DILIGENCE_OCR_ENGINE to tesseract."
)


@cache  # the search takes as long as a short document
def missing() -> str | None:
    """The first package that it needs and that is not installed; None if all are. Nothing is imported."""
    return next((name for name in _PACKAGES if find_spec(name) is None), None)


class RapidOcr:
    """The engine, as `page.Engine` has it."""

    name = NAME

    def words(self, picture: Picture) -> list[RecognisedWord]:
        """As of `Engine`.

        Raises:
            Unavailable: it cannot be loaded.
        """
        import numpy as np  # noqa: PLC0415 - in the processes alone

        grey = np.frombuffer(picture.dots, np.uint8).reshape(picture.height, picture.width)
        model = _load()
        try:
            found: Any = model(np.stack([grey] * 3, axis=-1))
        except Exception as error:  # a picture that it does not take
            raise RecognitionFailed from error
        if found.txts is None:
            return []
        words = found.word_results if len(found.word_results) == len(found.txts) else [()] * len(found.txts)
        lines = zip(found.txts, found.boxes, found.scores, words, strict=True)
        return [word for number, line in enumerate(lines) for word in _words(number, *line)]


@cache
def load_cv2() -> Any:
    """OpenCV, which RapidOCR needs; in the recognising processes alone: it takes 0.2 s and 100 MB.

    Raises:
        Unavailable: it cannot be loaded.
    """
    try:
        cv2 = import_module("cv2")
    except Exception as error:
        raise Unavailable(_NOT_LOADED) from error
    cv2.setNumThreads(1)
    return cv2


@cache
def _load() -> Any:
    load_cv2()
    try:
        import_module("onnxruntime")  # which RapidOCR would load with the first page, as if that were at fault
        return import_module("rapidocr").RapidOCR(params=_SETTINGS)  # 0.3 s and 100 MB
    except Exception as error:
        raise Unavailable(_NOT_LOADED) from error


def _words(line: int, text: str, box: Any, score: float, words: Sequence[Any]) -> Iterator[RecognisedWord]:
    """The words of a line: with their own boxes or, if these do not add up to its text, with their share of the line's
    box.

    `box` has the line's corners, clockwise from the upper left one.
    """
    if "".join(word for word, _, _ in words) == "".join(text.split()):
        for word, confidence, corners in words:
            yield RecognisedWord(word, *_sides(corners), float(confidence), line)
        return
    left, top, right, bottom = _sides(box)
    runs_down = bottom - top > right - left and len(text) > 1
    at = 0
    for word in text.split():
        at = text.index(word, at)
        first, last = at / len(text), (at + len(word)) / len(text)
        at += len(word)
        if runs_down:
            sides = (left, top + first * (bottom - top), right, top + last * (bottom - top))
        else:
            sides = (left + first * (right - left), top, left + last * (right - left), bottom)
        yield RecognisedWord(word, *sides, float(score), line)


def _sides(corners: Any) -> tuple[float, float, float, float]:
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(across), min(down), max(across), max(down)
