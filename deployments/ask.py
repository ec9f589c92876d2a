"""`diligence ask`: a question, answered by the model or from the context."""

from pathlib import Path
from typing import Annotated

import typer

from tasks.ai.question import ai_question
from tasks.errors import BadRequest


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[Path | None, typer.Option(help="A text file with background.")] = None,
) -> None:
    """Ask a question, with a text as context if you like."""
    try:
        background = context.read_text(encoding="utf-8") if context else None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{context} cannot be read as UTF-8 text. Is the path right?") from error
    typer.echo(ai_question(question, background).answer)
