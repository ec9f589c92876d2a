"""The company that a text names as its own"""

import sqlalchemy as sa
from alembic import op


revision = '0030'
down_revision = '0029'


def upgrade() -> None:
    op.add_column('ledgers', sa.Column('company', sa.String(), nullable=True))
