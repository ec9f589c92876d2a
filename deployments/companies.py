"""`diligence facts` and `diligence ask-company`: what the configured sources say of a company."""

import json
from typing import Annotated

import typer

from deployments.terminal import echo
from tasks.companies.facts import company_facts
from tasks.companies.question import company_question


def facts(
    domain: Annotated[str, typer.Argument(help="The company's domain, such as example.com.")],
    claims: Annotated[bool, typer.Option("--claims", help="Also print what each source says of each field.")] = False,
) -> None:
    """Print the company's profile as JSON."""
    answer = company_facts(domain)
    for warning in answer.warnings:
        echo(warning, err=True)
    content = answer.model_dump(mode="json", include=None if claims else {"profile"})
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def ask_company(
    question: Annotated[str, typer.Argument(help="The question.")],
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
    domain: Annotated[str | None, typer.Option(help="The company's domain.")] = None,
) -> None:
    """Ask a question about a company."""
    typer.echo(company_question(question, name, domain).answer)
