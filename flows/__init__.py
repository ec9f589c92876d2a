"""The Prefect flows, one a module. A flow calls functions of `tasks/` in order, as Prefect tasks.

    batch            runs due_diligence for every company, then ranks them and writes the report
    due_diligence    one company: index_folder, extract_all, company_facts, score_company
    estimate         counts the model calls that a batch would make, without making one

`run.py` keeps the state of a run in our own tables, so that an interrupted run resumes without Prefect's help.
"""

import os

from tasks.prefect_setup import be_brief

# Read by Prefect when it is imported. It calls home unless told not to; its own log takes up ours.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "tasks,flows,storage")
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "90")
os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")  # what is done without Prefect
be_brief()
