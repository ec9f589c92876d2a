"""An answerer that calls no model but counts the tokens that would be sent, to estimate a run before paying for it."""

import json
from collections.abc import Sequence
from threading import Lock
from typing import NoReturn

from pydantic import BaseModel

from tasks.ai.answerer import Answer, Answerer, NotAsked, Source, T, Verdict
from tasks.ai.budget import LONGEST_ANSWER, Ledger
from tasks.ai.money import Usage
from tasks.ai.openai.protocols import RequestFormat, build_request
from tasks.ai.prompts import Messages, judgement_prompt, question_prompt
from tasks.ai.statement_check import StatementVerdicts
from tasks.language.tokens import most_model_tokens, usual_model_tokens

USUAL_PLAN = 250  # tokens of a search plan with a dozen wordings
USUAL_ANSWER = 500  # tokens of a judgement with four quotations of two sentences; with reasoning it is longer
USUAL_READING = 120  # tokens of a reading with two quotations
BRIEF_ANSWER = 256  # tokens of a judgement or a reading that a slow server is asked for
USUAL_CHECK_INPUT, USUAL_CHECK = 1000, 80  # tokens of a check of three statements, and of its verdicts

_NOT_ASKED = "Nothing was asked: this is an estimate."


class CountingAnswerer:
    """Stands in for another answerer under the same name, so that stored answers are found and not counted.

    Attributes:
        calls: all calls.
        usual_input: tokens that their prompts usually take.
        most_input: tokens that their prompts take at most.
        plans: those of the calls that make one attempt: search plans.
        most_plan_input: tokens that the prompts of these take at most.
        checks: those of the calls that check statements. What a judgement will state is not known before it is made:
            whoever counts sends the longest check that it can lead to, and it counts as a usual one.
        most_check_input: tokens that the prompts of these take at most.
        readings: those of the calls that only quote.
        second_looks: those of the calls that are made where a first judgement cannot stand; usually none is.
    """

    side_by_side = 1

    def __init__(
        self,
        real: Answerer,
        planned: set[str] | None = None,
        *,
        reading: type[BaseModel] | None = None,
        second_look: type[BaseModel] | None = None,
    ) -> None:
        """Count for one company; `planned` are the plans already counted for other companies, and new ones are added.

        `reading` and `second_look` are the schemas that tell these calls from judgements.
        """
        self._reading, self._second_look = reading, second_look
        self.readings = self.second_looks = 0
        self.name, self.model, self.address, self.judges = real.name, real.model, real.address, real.judges
        self.window, self.pace = real.window, real.pace
        self.calls = self.usual_input = self.most_input = 0
        self.plans = self.most_plan_input = self.checks = self.most_check_input = 0
        self._planned = set() if planned is None else planned
        self._lock = Lock()

    def prepare(self, ledger: Ledger | None = None) -> None:
        """Ask nothing."""

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
        self._count(question_prompt(question, sources), None, one_attempt=False)

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - nothing is spent
        one_attempt: bool = False,
    ) -> Verdict[T]:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        self._count(judgement_prompt(instructions, material, schema), schema, one_attempt=one_attempt)

    def most(self, longest: int) -> Usage:
        """The most that the calls can use if each answer has at most `longest` tokens.

        A judgement is sent back once if it does not fit, with its errors: the prompt, the answer, and as much again. So
        is a check of statements; only the final judgement is checked. If nothing is found there is another plan, which
        names the wordings of the first one, and another judgement.
        """
        judgements, plans, checks = self.calls - self.plans - self.checks, self.plans, self.checks
        judgement_input = self.most_input - self.most_plan_input - self.most_check_input
        one_judgement = Usage(2 * judgements, 2 * (judgement_input + judgements * longest), 2 * judgements * longest)
        one_plan = Usage(plans, self.most_plan_input, plans * longest)
        other_plan = Usage(judgements, judgement_input + judgements * longest, judgements * longest)
        one_check = Usage(2 * checks, 2 * (self.most_check_input + checks * longest), 2 * checks * longest)
        return one_plan + one_judgement + other_plan + one_judgement + one_check

    def usual(self, longest: int) -> Usage:
        """What the calls typically use if each answer has at most `longest` tokens."""
        calls = self.calls - self.second_looks
        judgements = calls - self.plans - self.checks - self.readings
        usual = [(judgements, USUAL_ANSWER), (self.plans, USUAL_PLAN), (self.checks, USUAL_CHECK)]
        usual.append((self.readings, USUAL_READING))
        answers = sum(number * min(tokens, longest) for number, tokens in usual)
        return Usage(calls, self.usual_input, answers)

    def _count(self, prompt: Messages, schema: type[BaseModel] | None, *, one_attempt: bool) -> NoReturn:
        # As a request of the Responses protocol: servers read the schema that goes with it as part of the prompt.
        request = build_request(RequestFormat.RESPONSES, self.model or "", prompt, schema, LONGEST_ANSWER)
        texts = [*(message["content"] for message in prompt), json.dumps(request["text"]) if schema else ""]
        prompt_key = "\0".join(texts)
        with self._lock:
            if one_attempt:
                if prompt_key in self._planned:  # it will have been answered by then
                    raise NotAsked(_NOT_ASKED)
                self._planned.add(prompt_key)
            self.calls += 1
            is_check = schema is StatementVerdicts
            most = most_model_tokens(json.dumps(request, ensure_ascii=False))
            self.most_input += most
            self.readings += _is(schema, self._reading)
            if _is(schema, self._second_look):
                self.second_looks += 1
                raise NotAsked(_NOT_ASKED)
            usual = usual_model_tokens(*texts)
            self.usual_input += min(usual, USUAL_CHECK_INPUT) if is_check else usual
            if is_check:
                self.checks += 1
                self.most_check_input += most
            if one_attempt:
                self.plans += 1
                self.most_plan_input += most
        raise NotAsked(_NOT_ASKED)


def _is(schema: type[BaseModel] | None, kind: type[BaseModel] | None) -> bool:
    """Whether the schema is of that kind, with or without bounds."""
    return schema is not None and kind is not None and issubclass(schema, kind)
