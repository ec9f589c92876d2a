"""The check of quotations under the name that programs outside use; `tasks.language.quotations` does the work."""

from tasks.language.quotations import locate, verify

__all__ = ["locate", "verify"]
