"""An answerer that calls no model and counts the tokens that would be sent: for estimates before a run is paid."""

import json
from collections.abc import Sequence
from threading import Lock
from typing import NoReturn

from pydantic import BaseModel

from tasks.ai.answerer import Answer, Answerer, AnswererFailed, Source, T, Verdict
from tasks.ai.budget import Ledger
from tasks.ai.openai.protocols import RequestFormat, build_request
from tasks.ai.prompts import Messages, judgement_prompt, question_prompt
from tasks.text.tokens import most_model_tokens, usual_model_tokens

USUAL_ANSWER = 500  # tokens of a judgement with four quotations of two sentences; with reasoning it is longer


class NotAsked(AnswererFailed):
    """No model was called: the call was only counted."""


class CountingAnswerer:
    """Takes the place of another answerer under its name, so that stored answers are found and not counted."""

    side_by_side = 1

    def __init__(self, real: Answerer) -> None:
        self.name, self.model, self.address, self.judges = real.name, real.model, real.address, real.judges
        self.calls = 0
        self.usual_input = 0  # tokens that the prompts usually take
        self.most_input = 0  # tokens that they take at most
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
    ) -> Verdict[T]:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        self._count(judgement_prompt(instructions, material, schema), schema)

    def _count(self, prompt: Messages, schema: type[BaseModel] | None) -> NoReturn:
        # As a request of the Responses protocol: servers read the schema that goes with it as part of the prompt.
        request = build_request(RequestFormat.RESPONSES, self.model or "", prompt, schema)
        texts = [*(message["content"] for message in prompt), json.dumps(request["text"]) if schema else ""]
        with self._lock:
            self.calls += 1
            self.usual_input += usual_model_tokens(*texts)
            self.most_input += most_model_tokens(json.dumps(request, ensure_ascii=False))
        raise NotAsked("Nothing was asked: this is an estimate.")
