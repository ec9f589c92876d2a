"""What a company's evidence warns of, and which run its outcomes were taken over from"""

import sqlalchemy as sa
from alembic import op


revision = '0015'
down_revision = '0014'


def upgrade() -> None:
    op.add_column('run_companies', sa.Column('evidence_warnings', sa.JSON(none_as_null=True), nullable=True))
    op.add_column('run_companies', sa.Column('carried_from', sa.String(), nullable=True))
