"""Tests of the ledger of figures."""
