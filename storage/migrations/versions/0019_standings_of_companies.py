"""Where companies stand, and why something is missing"""

import sqlalchemy as sa
from alembic import op


revision = '0019'
down_revision = '0018'


def upgrade() -> None:
    op.add_column('run_companies', sa.Column('standing', sa.JSON(none_as_null=True), nullable=True))
    op.add_column('run_companies', sa.Column('search_warnings', sa.JSON(), nullable=False, server_default='[]'))
    op.add_column('criterion_outcomes', sa.Column('absence', sa.String(length=32), nullable=True))
