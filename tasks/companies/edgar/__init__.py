"""The SEC's EDGAR: who files there, what was filed, and places as it writes them."""
