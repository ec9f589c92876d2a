"""The check of answers under the name that programs outside use; `tasks.statements.answers` does the work."""

from tasks.statements.answers import CheckedAnswer, Ground, prove

__all__ = ["CheckedAnswer", "Ground", "prove"]
