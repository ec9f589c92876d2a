"""What every call to another server needs: a limit on how often it is made, retries, a deadline, and threads."""
