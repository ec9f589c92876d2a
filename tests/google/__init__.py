"""Google Drive v3 and Google's OAuth 2.0 over loopback, as far as a reader of documents needs them.

It speaks the real protocol to any client: Google's Python libraries, rclone, a browser at
the sign-in page. What it does follows Google's discovery document, the Drive guides, RFC 6749, 7636, 7523
and 7009, and reports of what the service answers where the guides are silent. It knows nothing of the
project whose tests use it.

In a test, in a thread:

    with DriveEmulator() as drive:                        # or DriveEmulator(latency=0.05, quota=60)
        world = drive.world
        room = world.folder("Room", world.root("ada@example.com"))
        plan = world.file("plan.txt", room, b"hello")
        notes = world.native("Notes", room, text="a Google document")
        world.share(room, "bob@example.com")
        token = drive.token("bob@example.com")            # an access token
        drive.faults.set(Fault(on="files.list", every=5, reason="userRateLimitExceeded"))
        ...                                               # drive.endpoint, .batch_uri, .token_uri, .auth_uri
        drive.counts.requests, drive.counts.by_method, drive.log
        drive.reset()

`world` (module `world`) builds and changes what there is: users, folders, files, native documents,
shortcuts, shared drives, permissions, links with resource keys, the bin. `settings` (module `settings`)
holds latency, quota, page caps and OR queries that lose parents. `faults` (module `faults`) strikes at
every nth or chosen calls: refusals of all kinds, page tokens refused, resets, short, slow and wrong bodies.
`credentials` writes service account and login files, `accounts` expires and revokes tokens. `tree` fills a
folder with thousands of files, the same for the same seed.

As a program of its own, for benchmarks (it prints its addresses and a token as one line of JSON, and ends
when its input does; `process.EmulatorProcess` starts it from Python, `control` lists what can be asked):

    python -m tests.google --folders 1000 --files 20000 --depth 6 --latency 0.05 --parents-page-cap 460

What it speaks:
- `files.list`: the whole of `q` but `has`; `fields`, pages, `orderBy`, all corpora; POST with
  `x-http-method-override: GET`; 404 for a folder not seen; refusal above 150 terms
- `files.get` with `alt=media`, ranges and gzip; `files.export` with its 10 MB limit; export links, which
  redirect to an address that is good once; `files.download` with `operations.get`
- `changes.*` with the logs of users and of shared drives apart: what lies in a shared drive is told to its
  members in its own log only; `drives.*`, `about.get`, the batch endpoint (100 parts)
- authorise (code flow, PKCE), token (code, refresh token, service account with impersonation)
- Google's errors, each with its reason, location and headers

Where no document says, it was decided: a binned folder is one change, what lies in it is not told again; a
batch above 100 parts is 400; a call without a login is 401 `required`; two of the three refusals of unfit
corpora have reasons of our own wording, and their status is 403 like the documented one's.
It writes nothing: what would change the Drive is 403 `insufficientPermissions`, as with `drive.readonly`.

Measured (2 cores): 21,000 rows in 104 requests cost it 0.2 s of CPU, TLS included.
"""

from tests.google.blobs import Repeated
from tests.google.credentials import authorised_user_file, client_config, service_account_file
from tests.google.faults import Fault
from tests.google.process import EmulatorProcess
from tests.google.server import DriveEmulator
from tests.google.tree import Tree, build_tree

__all__ = [
    "DriveEmulator",
    "EmulatorProcess",
    "Fault",
    "Repeated",
    "Tree",
    "authorised_user_file",
    "build_tree",
    "client_config",
    "service_account_file",
]
