"""What every call to another server needs: rate limits, retries, a deadline, and threads."""
