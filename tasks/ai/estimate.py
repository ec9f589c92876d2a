"""An answerer that answers nothing and counts what would be asked: for costs told before anything is paid."""

import json
from collections.abc import Sequence
from threading import Lock
from typing import NoReturn

from pydantic import BaseModel

from tasks.ai.answerer import Answer, Answerer, AnswererFailed, Judged, Source, T
from tasks.ai.budget import Ledger
from tasks.ai.openai.client import Way, request_of
from tasks.ai.prompts import Messages, judgement_prompt, question_prompt
from tasks.text import tokens

USUAL_ANSWER = 500  # tokens of a judgement with four quotations of two sentences; who thinks first writes more


class NotAsked(AnswererFailed):
    """Nothing was asked of the model: it was only counted."""


class CountingAnswerer:
    """Stands in for another answerer and passes for it, so that kept answers are found and not counted."""

    side_by_side = 1

    def __init__(self, real: Answerer) -> None:
        self.name, self.model, self.address, self.judges = real.name, real.model, real.address, real.judges
        self.calls = 0
        self.usual_input = 0  # tokens that the prompts usually are
        self.most_input = 0  # more tokens than they will be
        self._lock = Lock()

    def answer(
        self,
        question: str,
        sources: Sequence[Source],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - nothing is spent
    ) -> Answer:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        self._count(question_prompt(question, sources), None)

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - nothing is spent
    ) -> Judged[T]:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        self._count(judgement_prompt(instructions, material, schema), schema)

    def _count(self, prompt: Messages, schema: type[BaseModel] | None) -> NoReturn:
        # Servers read the schema that goes with a prompt as a part of it.
        request = request_of(Way.RESPONSES, self.model or "", prompt, schema)
        read = [*(message["content"] for message in prompt), json.dumps(request["text"]) if schema else ""]
        with self._lock:
            self.calls += 1
            self.usual_input += tokens.usual_model_tokens(*read)
            self.most_input += tokens.most_model_tokens(json.dumps(request, ensure_ascii=False))
        raise NotAsked("Nothing was asked: this is an estimate.")
