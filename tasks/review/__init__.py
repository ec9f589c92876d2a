"""What people make of a run: what their decisions do to its scores, when a sign-off opens again, and how they agree.

It works on rows of storage and knows no page and no report.
"""
