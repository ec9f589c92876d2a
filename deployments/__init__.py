"""How it is started: the command line, the Prefect deployments, the sample batch."""
