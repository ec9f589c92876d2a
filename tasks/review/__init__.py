"""People's review of a run: how their decisions affect its scores, when a sign-off reopens, and how far they agree.

It works on rows of storage and knows nothing about pages or reports.
"""
