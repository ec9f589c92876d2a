"""Public addresses fetched safely and politely, and what they hold read as data."""
