"""What is done: one package for each area; each operation is a plain function that Prefect can run as a task."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # from 1.29 on onnxruntime reports to Microsoft without it: its Privacy.md
