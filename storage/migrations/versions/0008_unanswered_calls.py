"""Calls of a model whose answers are not known"""

import sqlalchemy as sa
from alembic import op


revision = '0008'
down_revision = '0007'


def upgrade() -> None:
    op.create_table('unanswered_calls',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('request', sa.String(), nullable=False),
    sa.Column('asked_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['run_id'], ['runs.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index(op.f('ix_unanswered_calls_run_id'), 'unanswered_calls', ['run_id'])
