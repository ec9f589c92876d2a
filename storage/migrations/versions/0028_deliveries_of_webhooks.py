"""Deliveries of webhooks"""

import sqlalchemy as sa
from alembic import op


revision = '0028'
down_revision = '0027'


def upgrade() -> None:
    op.create_table(
        'webhook_deliveries',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('message', sa.String(), nullable=False),
        sa.Column('event', sa.String(), nullable=False),
        sa.Column('url', sa.String(), nullable=False),
        sa.Column('body', sa.String(), nullable=False),
        sa.Column('created_at', sa.DateTime(), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('next_at', sa.DateTime(), nullable=True),
        sa.Column('delivered_at', sa.DateTime(), nullable=True),
        sa.Column('problem', sa.String(), nullable=True),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('message', 'url'),
    )
    op.create_index('ix_webhook_deliveries_next_at', 'webhook_deliveries', ['next_at'])
