"""When documents were changed, as their drive and their files say"""

import sqlalchemy as sa
from alembic import op


revision = '0018'
down_revision = '0017'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('run_documents', sa.Column('updated', sa.String(), nullable=True))
    op.add_column('ledgers', sa.Column('changed', sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column('ledgers', 'changed')
    op.drop_column('run_documents', 'updated')
