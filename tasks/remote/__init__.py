"""What every call to another server needs: rate limits, retries and a deadline."""
