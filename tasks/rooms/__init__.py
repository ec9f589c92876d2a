"""Searching and questioning a whole data room: its passages, prepared for many questions, and
answers in its own words.
"""
