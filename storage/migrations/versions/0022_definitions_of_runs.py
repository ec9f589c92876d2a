"""Definitions of batches, and which of them a run has"""

import sqlalchemy as sa
from alembic import op


revision = '0022'
down_revision = '0021'


def upgrade() -> None:
    op.create_table(
        'definitions',
        sa.Column('hash', sa.String(), nullable=False),
        sa.Column('content', sa.JSON(), nullable=False),
        sa.Column('kept_at', sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint('hash'),
    )
    op.add_column('runs', sa.Column('definition', sa.String(), nullable=True))
    op.add_column('runs', sa.Column('version', sa.String(), nullable=True))
