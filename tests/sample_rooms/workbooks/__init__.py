"""The workbooks of the sample rooms: each room's module makes its own."""

from collections.abc import Callable, Mapping

from tests.sample_rooms.workbooks import cuidara, fjordvarm, kessler

WORKBOOKS: Mapping[str, Callable[[], bytes]] = {**fjordvarm.WORKBOOKS, **kessler.WORKBOOKS, **cuidara.WORKBOOKS}
"""What makes each workbook, by its place below the rooms."""
