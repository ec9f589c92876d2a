"""`python -m tests.google`: the emulator with a generated tree, until its input ends or it is interrupted.

Prints one line of JSON: where everything is, a user's tokens, the id of the tree's folder.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.google.accounts import Client
from tests.google.credentials import authorised_user_file
from tests.google.server import DriveEmulator
from tests.google.tree import build_tree


def main() -> None:
    options = _options()
    with (
        tempfile.TemporaryDirectory() as folder,
        DriveEmulator(
            seed=options.seed, port=options.port, latency=options.latency, tunnel=Path(folder),
            parents_page_cap=options.parents_page_cap, or_loss=options.or_loss, or_loss_every=options.or_loss_every,
            gzip=options.gzip,
        ) as drive,
    ):  # fmt: skip
        world, user = drive.world, options.user
        if options.shared_drive:
            root = world.drive("Deals", {user: "organizer"})
        else:
            root = world.folder("Deals", world.root(user))
        build_tree(
            world, root, folders=options.folders, files=options.files, depth=options.depth, seed=options.seed,
            readable=options.readable,
        )  # fmt: skip
        login = authorised_user_file(drive, Path(folder) / "login.json", user)
        client = Client()
        found = {
            "endpoint": drive.endpoint,
            "batch_uri": drive.batch_uri,
            "token_uri": drive.token_uri,
            "auth_uri": drive.auth_uri,
            "control_uri": f"{drive.base}/_emulator/",
            "proxy": drive.proxy,
            "authority": str(drive.authority),
            "user": user,
            "access_token": drive.token(user, expires_in=86400),
            "refresh_token": json.loads(login.read_text())["refresh_token"],
            "client_id": client.id,
            "client_secret": client.secret,
            "login_file": str(login),
            "folder_id": root.id,
            "drive_id": root.drive,
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
        try:
            sys.stdin.read()
        except KeyboardInterrupt:
            return


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.google", description=__doc__)
    parser.add_argument("--folders", type=int, default=1000)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0, help="seconds before each answer")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--user", default="ada@example.com")
    parser.add_argument("--shared-drive", action="store_true", help="the tree is a shared drive of its own")
    parser.add_argument("--readable", action="store_true", help="small real files of each type")
    parser.add_argument("--parents-page-cap", type=int, help="rows a page when parents is asked for, such as 460")
    parser.add_argument("--or-loss", choices=("none", "all", "some"), default="none")
    parser.add_argument("--or-loss-every", type=int, default=5)
    parser.add_argument("--gzip", action="store_true", help="compress JSON for those who ask")
    return parser.parse_args()


if __name__ == "__main__":
    main()
