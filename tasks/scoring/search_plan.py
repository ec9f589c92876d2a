"""The search plan of a criterion: the model's suggestions of how documents would word what it asks for.

Passages are found by their words, and everyday questions seldom use those of an annual report or a contract. So the
model is asked once for each criterion, not for each company, for wordings to search by. The answer is stored in the
answer cache. If they find nothing, it is asked once more, for others.

A plan can only help. Any failure is a warning: passages are then found by the criterion's own words. A failed plan is
not asked for again, nor any other for the same company.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict

from tasks.ai.answer_cache import judge_once
from tasks.ai.answerer import Answerer, NotAsked
from tasks.ai.budget import Ledger
from tasks.ai.settings import AiSettings
from tasks.errors import DiligenceError
from tasks.language.normalise import one_line
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence

_MOST_WORDINGS = 16
_LONGEST = 160  # characters of a wording; longer ones are no wording but an answer
_WORDING: JsonDict = {"type": "string", "maxLength": 60}  # for servers that keep to it
_DEFAULT_LANGUAGES = ("English",)

_INSTRUCTIONS = """\
The material is one criterion by which companies are examined. The documents of a company (annual reports, accounts, \
contracts, minutes, tables) will be searched by words for the passages that answer it. Say how such documents would \
put it; do not answer the criterion. Give up to 12 short wordings that stand in them: terms of the trade, titles of \
clauses, typical phrases, line items. Then the names of the statements, sections and tables in which the answer would \
stand, and the units of its figures, where there are any. Write them in {languages}."""

_OTHERS = "The wordings under the criterion were searched before and led to nothing: give others."


def _phrases(value: Any) -> Any:
    """The strings of a list, each in one line; what is too long or repeated is left out."""
    if not isinstance(value, list):
        return value
    lines = [one_line(phrase.replace("\0", "")).strip() for phrase in value if isinstance(phrase, str)]
    return list(dict.fromkeys(line for line in lines if 0 < len(line) <= _LONGEST))[:_MOST_WORDINGS]


def _phrases_or_none(value: Any) -> Any:
    return _phrases(value) if isinstance(value, list) else []


class SearchPlan(BaseModel):
    """What the passages that answer a criterion are searched by, besides its own words."""

    model_config = ConfigDict(extra="forbid")

    wordings: Annotated[list[str], BeforeValidator(_phrases)] = Field(
        min_length=1,
        description="how documents put it: terms, titles of clauses, phrases, line items",
        json_schema_extra={"maxItems": 12, "items": _WORDING},
    )
    names: Annotated[list[str], BeforeValidator(_phrases_or_none)] = Field(
        default_factory=list,
        description="names of the statements, sections and tables in which it would stand",
        json_schema_extra={"maxItems": 6, "items": _WORDING},
    )
    units: Annotated[list[str], BeforeValidator(_phrases_or_none)] = Field(
        default_factory=list,
        description="units of its figures as documents write them; none where there are none",
        json_schema_extra={"maxItems": 6, "items": _WORDING},
    )

    @property
    def phrases(self) -> tuple[str, ...]:
        """Everything to search for. Units are on every page of figures, so they count once."""
        return (*self.wordings, *self.names, *([" ".join(self.units)] if self.units else []))


class SearchPlans:
    """The plans for the criteria of one company. Safe to use from several threads.

    The first plan is requested alone: a model that fails to give one is asked only once.
    """

    def __init__(self, answerer: Answerer, ledger: Ledger | None, languages: Sequence[str] = ()) -> None:
        """Plans by that model, in the `languages` (English names) of the company's documents."""
        self._answerer, self._ledger = answerer, ledger
        # In order of the alphabet: rooms that differ in which language is the commonest share their plans.
        named = " and ".join(sorted(languages or _DEFAULT_LANGUAGES))
        self._instructions = _INSTRUCTIONS.format(languages=named)
        self._failure: DiligenceError | None = None
        self._works = False
        self._first = Lock()

    @property
    def warning(self) -> str | None:
        """Why there are no plans, or no more; None if nothing failed."""
        if self._failure is None:
            return None
        why = f"because no search plan could be made. {self._failure.message}"
        return f"The passages were found by the words of the criteria only, {why}"

    def plan(self, criterion: Judged) -> SearchPlan | None:
        """The plan for a criterion; None if there is none."""
        return self._plan(self._instructions, _material(criterion))

    def another(self, criterion: Judged, tried: SearchPlan) -> SearchPlan | None:
        """A plan with other wordings than those `tried`; None where there is none."""
        searched = "\n".join(f"- {phrase}" for phrase in tried.phrases)
        plan = self._plan(f"{self._instructions} {_OTHERS}", f"{_material(criterion)}\n\n{searched}")
        return plan if plan and set(plan.phrases) - set(tried.phrases) else None

    def _plan(self, instructions: str, material: str) -> SearchPlan | None:
        with self._first:
            if not self._works:
                return self._ask(instructions, material)
        return self._ask(instructions, material)

    def _ask(self, instructions: str, material: str) -> SearchPlan | None:
        if self._failure is not None:
            return None
        try:
            plan = judge_once(
                self._answerer, instructions, material, SearchPlan, ledger=self._ledger, one_attempt=True
            ).value
        except NotAsked:
            return None
        except DiligenceError as error:
            self._failure = error
            return None
        self._works = True
        return plan


def search_plans(evidence: Evidence, answerer: Answerer, ledger: Ledger | None) -> SearchPlans | None:
    """The plans for a company with that evidence; None without a model, or if the settings want none."""
    if not answerer.judges or not AiSettings.current().ai_search_plan:
        return None
    return SearchPlans(answerer, ledger, evidence.languages)


def _material(criterion: Judged) -> str:
    return f"{criterion.ask}\n{criterion.guide}".strip()
