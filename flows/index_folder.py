"""The flow `index_folder`: lists a folder of the drive and stores one row for each document."""

from flows import steps
from flows.engine import flow

index_folder = flow(name="index_folder")(steps.index_folder)
