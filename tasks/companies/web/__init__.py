"""A web client for untrusted addresses: SSRF guard, robots.txt, rate limits, and parsers of what is fetched."""
