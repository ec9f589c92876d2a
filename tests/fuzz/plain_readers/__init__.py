"""Slow, plain readers of Office packages, written from ECMA-376 over lxml, to compare ours with.

They share no code with the readers of the project: a mistake would have to be made twice. They give words and cells
without layout, so that there is little in them to be wrong.
"""
