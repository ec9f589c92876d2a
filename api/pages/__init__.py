"""The pages that people work in: home, search and questions, decisions, accounts.

One module a subject, with thin handlers only; `shell` holds what all of them need. The templates in `templates/` extend
`base.html`, work without JavaScript, and escape all values. htmx (`api/static/htmx`) replaces parts of a page where it
can.
"""
