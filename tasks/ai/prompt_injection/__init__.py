"""Words in a document or page that are meant for a model: orders to ignore, to score, to reveal, to say a thing."""

from tasks.ai.prompt_injection.detect import VERSION, Order, find_orders, for_people, without_orders

__all__ = ["VERSION", "Order", "find_orders", "for_people", "without_orders"]
