"""The web on loopback: servers that speak HTTP well or badly, as a test tells them to."""
