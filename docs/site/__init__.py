"""The documentation as a site: `make docs` builds it into build/site, without a network."""
