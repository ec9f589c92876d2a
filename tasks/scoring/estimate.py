"""An answerer that calls no model but counts the tokens that would be sent, to estimate a run before paying for it."""

import json
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from threading import Lock
from typing import NoReturn

from pydantic import BaseModel

from tasks.ai.answerer import Answer, Answerer, NotAsked, Source, T, Verdict
from tasks.ai.calls import Messages, judgement_prompt, question_prompt
from tasks.ai.openai.protocols import RequestFormat, build_request
from tasks.answers import StatementVerdicts
from tasks.language.words import most_model_tokens, usual_model_tokens
from tasks.spending.budget import LONGEST_ANSWER, Ledger
from tasks.spending.money import Pace, Usage

USUAL_ANSWER = 500  # tokens of a judgement with four quotations of two sentences; with reasoning it is longer
BRIEF_ANSWER = 256  # tokens of a judgement or a reading that a slow server is asked for
_USUAL_CHECK_INPUT = 1000  # tokens of a check of three statements

_NOT_ASKED = "Nothing was asked: this is an estimate."


class CallKind(Enum):
    """A kind of call, with the tokens that its answer usually has.

    A plan is what is asked in one attempt, a reading only quotes. What a judgement will state is not known before it is
    made: whoever counts sends the longest check of statements that it can lead to, and it counts as a usual one. A
    second look is made where a first judgement cannot stand; usually none is.
    """

    JUDGEMENT = USUAL_ANSWER
    READING = 120  # two quotations
    PLAN = 250  # a dozen wordings
    CHECK = 80  # three verdicts
    SECOND_LOOK = 0


class CountingAnswerer(Answerer):
    """Stands in for another answerer under the same name, so that stored answers are found and not counted.

    Attributes:
        calls: the calls of each kind.
        usual_input: the tokens that their prompts usually take.
        most_input: the tokens that their prompts take at most.
    """

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
        kinds = ((StatementVerdicts, CallKind.CHECK), (reading, CallKind.READING), (second_look, CallKind.SECOND_LOOK))
        self._kinds = [(schema, kind) for schema, kind in kinds if schema is not None]
        self._real = real
        self.name, self.model, self.address, self.judges = real.name, real.model, real.address, real.judges
        self.calls, self.usual_input, self.most_input = Counter[CallKind](), Counter[CallKind](), Counter[CallKind]()
        self._planned = set() if planned is None else planned
        self._lock = Lock()

    @property
    def window(self) -> int | None:
        """As `Answerer.window`."""
        return self._real.window

    @property
    def pace(self) -> Pace | None:
        """As `Answerer.pace`."""
        return self._real.pace

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
        self._count(question_prompt(question, sources), None, CallKind.JUDGEMENT)

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
        known = (kind for kind_schema, kind in self._kinds if issubclass(schema, kind_schema))
        kind = CallKind.PLAN if one_attempt else next(known, CallKind.JUDGEMENT)
        self._count(judgement_prompt(instructions, material, schema), schema, kind)

    def most(self, longest: int) -> Usage:
        """The most that the calls can use if each answer has at most `longest` tokens.

        A judgement is sent back once if it does not fit, with its errors: the prompt, the answer, and as much again. So
        is a check of statements; only the final judgement is checked. If nothing is found there is another plan, which
        names the wordings of the first one, and another judgement.
        """
        plans, checks = self.calls[CallKind.PLAN], self.calls[CallKind.CHECK]
        plan_input, check_input = self.most_input[CallKind.PLAN], self.most_input[CallKind.CHECK]
        judgements = self.calls.total() - plans - checks
        judgement_input = self.most_input.total() - plan_input - check_input
        one_judgement = Usage(2 * judgements, 2 * (judgement_input + judgements * longest), 2 * judgements * longest)
        one_plan = Usage(plans, plan_input, plans * longest)
        other_plan = Usage(judgements, judgement_input + judgements * longest, judgements * longest)
        one_check = Usage(2 * checks, 2 * (check_input + checks * longest), 2 * checks * longest)
        return one_plan + one_judgement + other_plan + one_judgement + one_check

    def usual(self, longest: int) -> Usage:
        """What the calls typically use if each answer has at most `longest` tokens."""
        answers = sum(number * min(kind.value, longest) for kind, number in self.calls.items())
        calls = self.calls.total() - self.calls[CallKind.SECOND_LOOK]
        return Usage(calls, self.usual_input.total(), answers)

    def _count(self, prompt: Messages, schema: type[BaseModel] | None, kind: CallKind) -> NoReturn:
        # As a request of the Responses protocol: servers read the schema that goes with it as part of the prompt.
        request = build_request(RequestFormat.RESPONSES, self.model or "", prompt, schema, LONGEST_ANSWER)
        texts = [*(message["content"] for message in prompt), json.dumps(request["text"]) if schema else ""]
        prompt_key = "\0".join(texts)
        usual = usual_model_tokens(*texts)
        with self._lock:
            if kind is CallKind.PLAN:
                if prompt_key in self._planned:  # it will have been answered by then
                    raise NotAsked(_NOT_ASKED)
                self._planned.add(prompt_key)
            self.calls[kind] += 1
            self.most_input[kind] += most_model_tokens(json.dumps(request, ensure_ascii=False))
            if kind is not CallKind.SECOND_LOOK:
                self.usual_input[kind] += min(usual, _USUAL_CHECK_INPUT) if kind is CallKind.CHECK else usual
        raise NotAsked(_NOT_ASKED)
