"""The flow `extract_all`: extracts the text of every new or changed document of a folder, in batches, two at a time."""

from flows import steps
from flows.engine import flow

extract_all = flow(name="extract_all")(steps.extract_all)
