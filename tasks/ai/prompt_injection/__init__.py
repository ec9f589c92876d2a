"""Prompt injection: words in a document or page that are meant for a model, such as to ignore, to score, to reveal."""

from tasks.ai.prompt_injection.detect import VERSION, Injection, find_orders, without_injections

__all__ = ["VERSION", "Injection", "find_orders", "without_injections"]
