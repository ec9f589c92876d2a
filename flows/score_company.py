"""The flow `score_company`: scores one company on every criterion of a run, or copies scores that are still valid."""

from flows import steps
from flows.engine import flow

score_company = flow(name="score_company")(steps.score_company)
