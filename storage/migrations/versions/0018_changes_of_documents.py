"""When documents were changed, as their drive and their files say"""

import sqlalchemy as sa
from alembic import op


revision = '0018'
down_revision = '0017'


def upgrade() -> None:
    op.add_column('run_documents', sa.Column('updated', sa.String(), nullable=True))
    op.add_column('ledgers', sa.Column('changed', sa.String(), nullable=True))
