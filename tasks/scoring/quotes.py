"""The check of quotations under the name that outside programs use; `tasks.language.quotations` implements it."""

from tasks.language.quotations import locate, verify

__all__ = ["locate", "verify"]
