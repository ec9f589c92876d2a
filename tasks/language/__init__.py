"""What is known of language: the only place that reads numbers, periods, currencies, sentences and quotations.

It knows nothing of documents, figures or statements, and no other room of `tasks`.
"""
