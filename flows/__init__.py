"""The work as Prefect runs it: one flow a file, each readable as the summary of what it does."""

import os

from tasks.tracking import be_brief

# Read by Prefect when it is imported. It calls home unless told not to; its own log takes up ours.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "tasks,flows,storage")
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "90")
os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")  # what is done without Prefect
be_brief()
