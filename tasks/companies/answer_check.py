"""The check of answers under the name that outside programs use; `tasks.statements.answers` implements it."""

from tasks.statements.answers import CheckedAnswer, Ground, prove

__all__ = ["CheckedAnswer", "Ground", "prove"]
