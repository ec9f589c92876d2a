"""How reading processes start: forked off a small server that has the readers loaded.

A fork of the parent itself would copy its threads' locks, and a fresh interpreter takes 0.3 s.
Python's own fork server would do, but each child would import the parent's main module again
(under Prefect, that is Prefect: 1 s); and its list of modules is shared with whoever uses it too.
"""

import io
import os
from multiprocessing import context, forkserver, popen_forkserver, process, reduction, spawn, util
from multiprocessing.context import set_spawning_popen
from typing import Any, Final

from tasks.documents.extract import readers
from tasks.documents.extract.formats import supported

_server: Final = forkserver.ForkServer()
_server.set_forkserver_preload(
    ["tasks.documents.extract.processes.worker", *(f"{readers.__name__}{extension}" for extension in supported())]
)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class _Popen(popen_forkserver.Popen):
    """A child of our server. Follows `popen_forkserver.Popen._launch` of Python 3.11 but for the main module."""

    _fds: list[int]

    def _launch(self, process_obj: process.BaseProcess) -> None:
        prepared: dict[str, Any] = spawn.get_preparation_data(process_obj.name)
        for key in ("init_main_from_name", "init_main_from_path"):
            prepared.pop(key, None)
        buffer = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump(prepared, buffer)
            reduction.dump(process_obj, buffer)
        finally:
            set_spawning_popen(None)
        self.sentinel, writer = _server.connect_to_new_process(self._fds)
        parent = os.dup(writer)  # its closing tells the child that we are gone
        self.finalizer = util.Finalize(self, _close, (parent, self.sentinel))
        with open(writer, "wb", closefd=True) as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(buffer.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class _Process(context.ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> popen_forkserver.Popen:  # noqa: N802 - multiprocessing's name
        return _Popen(process_obj)


class ReaderContext(context.ForkServerContext):
    """The multiprocessing context of the reading processes."""

    Process = _Process
