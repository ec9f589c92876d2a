"""Get Company Facts and Ask Company Question over HTTP."""

from typing import Annotated, Any, Final, Literal

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, QueryParameter
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from api.openapi import describe
from api.requests import LONGEST_NAME, Body, Calls, NotBlank, make_text_field, take_answered
from tasks.companies.claims import Claim, ClaimConflict
from tasks.companies.facts import company_facts
from tasks.companies.profile import CompanyProfile
from tasks.companies.question import CompanyAnswer, company_question

DOMAIN_PATTERN: Final = r"^\s*[^\s/\\:@?#\[\]]+[.\u3002\uff0e\uff61][^\s/\\:@?#\[\]]+\s*$"
"""What the schema says of a domain: a name and an ending, parted by a dot. Which endings there are it cannot say."""


class FactsOfCompany(Body):
    """The company to look up."""

    domain: NotBlank = make_text_field(
        "The company's web domain: name and ending, no scheme, path, subdomain or port.",
        "alpha.example",
        max_length=LONGEST_NAME,
        pattern=DOMAIN_PATTERN,
    )


class FactsAnswer(BaseModel):
    """What is known about the company; claims, conflicts and warnings only if they were asked for."""

    profile: CompanyProfile
    claims: list[Claim] | None = None
    conflicts: list[ClaimConflict] | None = None
    warnings: list[str] | None = None


@post(
    "/get-core-fields",
    status_code=200,
    **describe("get_company_facts"),
)
async def facts(
    data: JSONBody[FactsOfCompany],
    calls: NamedDependency[Calls],
    include: Annotated[
        Literal["claims"] | None, QueryParameter(description="`claims` adds `claims`, `conflicts` and `warnings`.")
    ] = None,
) -> Response[FactsAnswer]:
    answer = await calls(company_facts, data.domain)
    # The declared type is that of the part of it which is written.
    return take_answered(answer, include=None if include else {"profile"})


class _TwoValues:
    """Stands for two different values of one thing; `also` is the second one's name."""

    def __init__(self, also: str) -> None:
        self.also = also


def _reject_two_values(value: object) -> object:
    if isinstance(value, _TwoValues):
        raise PydanticCustomError("two_values", "Differs from {also}, which means the same", {"also": value.also})
    return value


class QuestionAboutCompany(Body):
    """A question about a company. Two of its fields may also be sent under the names of the contract's sample."""

    question_prompt: Annotated[NotBlank, BeforeValidator(_reject_two_values)] = make_text_field(
        "The question. May be sent as `question` instead.",
        "Who are its main customers?",
        names=AliasChoices("question_prompt", "question"),
    )
    company_name: str | None = Field(
        None,
        max_length=LONGEST_NAME,
        description="The company's common name, rather than its full legal one.",
        examples=["Alpha"],
    )
    company_domain: Annotated[str | None, BeforeValidator(_reject_two_values)] = Field(
        None,
        max_length=LONGEST_NAME,
        validation_alias=AliasChoices("company_domain", "web_domain"),
        description="The company's web domain, which identifies it. May be sent as `web_domain` instead.",
        json_schema_extra={"pattern": DOMAIN_PATTERN, "examples": ["alpha.example"]},
    )

    @model_validator(mode="before")
    @classmethod
    def _merge_second_names(cls, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        merged = dict(body)
        for name, also in (("question_prompt", "question"), ("company_domain", "web_domain")):
            first, second = body.get(name), body.get(also)
            if first is not None and second is not None and first != second:
                merged[name] = _TwoValues(also)
        return merged


@post(
    "/get-answer",
    status_code=200,
    **describe("ask_company_question"),
)
async def ask(data: JSONBody[QuestionAboutCompany], calls: NamedDependency[Calls]) -> Response[CompanyAnswer]:
    answer = await calls(company_question, data.question_prompt, data.company_name, data.company_domain)
    return take_answered(answer)
