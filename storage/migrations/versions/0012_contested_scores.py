"""Judgements with and without words that give orders to a model"""

import sqlalchemy as sa
from alembic import op


revision = '0012'
down_revision = '0011'


def upgrade() -> None:
    op.add_column('criterion_outcomes', sa.Column('orders', sa.JSON(), server_default='[]', nullable=False))
    op.add_column('criterion_outcomes', sa.Column('contested', sa.JSON(), nullable=True))
    op.add_column('criterion_outcomes', sa.Column('warning', sa.String(), nullable=True))
    # Passages are cut again for the new version of what finds the orders.
    op.add_column('passages', sa.Column('orders', sa.JSON(), nullable=True))
    op.drop_column('passages', 'gives_orders')
