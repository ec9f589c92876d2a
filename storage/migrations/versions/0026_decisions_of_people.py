"""What people decided about companies, and the runs that they asked for"""

import sqlalchemy as sa
from alembic import op


revision = '0026'
down_revision = '0025'


def upgrade() -> None:
    op.create_table(
        'decisions',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('batch', sa.String(), nullable=False),
        sa.Column('domain', sa.String(), nullable=False),
        sa.Column('criterion_id', sa.String(), nullable=False),
        sa.Column('follows', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(length=32), nullable=False),
        sa.Column('by', sa.String(), nullable=False),
        sa.Column('at', sa.DateTime(), nullable=False),
        sa.Column('value', sa.JSON(none_as_null=True), nullable=True),
        sa.Column('reason', sa.Text(), nullable=False),
        sa.Column('evidence', sa.JSON(), nullable=False),
        sa.Column('run_id', sa.String(), nullable=False),
        sa.Column('undoes', sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('batch', 'domain', 'criterion_id', 'follows'),
    )
    op.create_table(
        'run_requests',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(length=32), nullable=False),
        sa.Column('by', sa.String(), nullable=False),
        sa.Column('at', sa.DateTime(), nullable=False),
        sa.Column('batch_file', sa.String(), nullable=True),
        sa.Column('run_id', sa.String(), nullable=True),
        sa.Column('taken_at', sa.DateTime(), nullable=True),
        sa.Column('outcome', sa.String(), nullable=True),
        sa.PrimaryKeyConstraint('id'),
    )
