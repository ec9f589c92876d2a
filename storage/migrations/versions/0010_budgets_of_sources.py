"""How often sources are called by all processes together"""

import sqlalchemy as sa
from alembic import op


revision = '0010'
down_revision = '0009'


def upgrade() -> None:
    op.create_table('source_budgets',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('server', sa.String(), nullable=False),
    sa.Column('next_at', sa.Float(), nullable=False),
    sa.Column('held_until', sa.Float(), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('server')
    )
