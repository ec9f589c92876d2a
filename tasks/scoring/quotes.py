"""The check of quotations under the name that programs outside use; `tasks.text.quotations` does the work."""

from tasks.text.quotations import locate, verify

__all__ = ["locate", "verify"]
