"""`python -m tests.sample_rooms [FOLDER]`: build the rooms again, by default the committed ones."""

import sys
from pathlib import Path

from tests.sample_rooms.rooms import build

if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "deployments" / "sample" / "rooms"
    for document in build(target):
        sys.stdout.write(f"{document.relative_to(target)}\n")
