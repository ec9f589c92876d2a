"""Stand-ins for the sources of company facts: servers on loopback that speak each one's protocol."""
