"""Pages that people work in: the home of the service, search and questions, decisions, accounts.

One module a subject, thin handlers only; `shell` has what all of them need. Templates are in `templates/`: each extends
`base.html`, works without JavaScript, and is escaped. htmx (`api/static/htmx`) replaces parts of a page where it can.
"""
