"""When the documents of a run were changed"""

import sqlalchemy as sa
from alembic import op


revision = '0018'
down_revision = '0017'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('run_documents', sa.Column('updated', sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column('run_documents', 'updated')
