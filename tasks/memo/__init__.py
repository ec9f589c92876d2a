"""A memo held against a data room: `split` cuts it, `room` finds where to look, `check` judges, `page` shows it."""
