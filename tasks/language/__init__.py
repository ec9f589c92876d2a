"""Everything about language: the only place that reads numbers, periods, currencies, sentences and quotations.

It knows nothing about documents, figures or statements, nor about any other package of `tasks`.
"""
