"""Checks a memo against a data room: `claims` splits it, `room` finds where to look, `check` judges and shows."""
