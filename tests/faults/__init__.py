"""A fault harness: a batch is run with one fault at one chosen point, then again without, and what is left is compared.

`faults.py` says which faults there are and what a seed chooses, `points.py` and `reader_points.py` are the seams in the
program's processes, `scenario.py` the batch and the servers that it asks, `forked.py` how a run is started,
`comparison.py` what must be the same afterwards, `driver.py` puts them together. `python -m tests.faults` runs it.
"""
