"""Figures of several processes of one service, added up for Prometheus.

Each process writes its own into a folder, once a second; whoever is asked adds them up. prometheus-client's mode for
several processes is not used: it takes no figures that are read when they are asked for, as queues and readers are. A
process that ended stays in the sums of what only grows.
"""

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

_EVERY: Final = 1.0
_GROWING: Final = frozenset({"counter", "histogram"})
_NO_SUM: Final = ("_created", "_start_time_seconds", "_max_fds")
"""Of these the least counts: when it began, what each may have."""


class SharedFigures:
    """The figures of a registry in this process, and those of the others in the folder."""

    def __init__(self, registry: CollectorRegistry, folder: Path) -> None:
        self._registry = registry
        self._folder = folder
        self._own = folder / f"{os.getpid()}.prom"
        threading.Thread(target=self._write_often, name="figures", daemon=True).start()

    @property
    def text(self) -> bytes:
        """The figures of all processes, as Prometheus reads them."""
        texts = [(generate_latest(self._registry).decode(), True)]
        for file in self._folder.glob("*.prom"):
            if file != self._own:
                with suppress(OSError):
                    texts.append((file.read_text(), _runs(int(file.stem))))
        return generate_latest(_Sum(texts))

    def _write_often(self) -> None:
        written = self._own.with_suffix(".new")
        pause = threading.Event()
        with suppress(OSError):  # the folder goes when the service ends
            while True:
                written.write_bytes(generate_latest(self._registry))
                written.replace(self._own)
                pause.wait(_EVERY)


class _Sum(Collector):
    """The sum of figures, each given as text and whether its process runs."""

    def __init__(self, texts: Iterable[tuple[str, bool]]) -> None:
        self._texts = texts

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for text, runs in self._texts:
            for family in text_string_to_metric_families(text):
                if not runs and family.type not in _GROWING:
                    continue
                families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                summed = values.setdefault(family.name, {})
                for sample in family.samples:
                    key = sample.name, tuple(sample.labels.items())
                    if key not in summed:
                        summed[key] = sample.value
                    elif sample.name.endswith(_NO_SUM):
                        summed[key] = min(summed[key], sample.value)
                    else:
                        summed[key] += sample.value
        for name, family in families.items():
            for (sample_name, labels), value in values[name].items():
                family.add_sample(sample_name, dict(labels), value)
        return families.values()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
