"""The flow `company_facts`: queries the fact sources for a company and stores the merged profile with its claims."""

from flows import steps
from flows.engine import flow

company_facts = flow(name="company_facts")(steps.company_facts)
