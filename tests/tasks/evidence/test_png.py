"""Pictures of few colours as PNG: any reader sees the same dots."""

import io
import random

import pytest
from PIL import Image

from tasks.evidence.png import packed


@pytest.mark.parametrize("colours", [1, 2, 16, 17, 256])
@pytest.mark.parametrize("size", [(1, 1), (7, 3), (8, 5), (101, 40)])
def test_a_picture_is_read_back_dot_by_dot(colours: int, size: tuple[int, int]) -> None:
    chance = random.Random(colours)
    picture = Image.new("P", size)
    picture.putpalette([chance.randrange(256) for _ in range(3 * colours)])
    picture.putdata([chance.randrange(colours) for _ in range(size[0] * size[1])])
    with Image.open(io.BytesIO(packed(picture))) as read:
        read.verify()
    with Image.open(io.BytesIO(packed(picture))) as read:
        assert read.format == "PNG"
        assert read.convert("RGB").tobytes() == picture.convert("RGB").tobytes()
