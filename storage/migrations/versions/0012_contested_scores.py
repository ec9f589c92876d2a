"""Judgements with and without words that give orders to a model"""

import sqlalchemy as sa
from alembic import op


revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('criterion_outcomes', sa.Column('orders', sa.JSON(), server_default='[]', nullable=False))
    op.add_column('criterion_outcomes', sa.Column('contested', sa.JSON(), nullable=True))
    op.add_column('criterion_outcomes', sa.Column('warning', sa.String(), nullable=True))
    # Passages are cut again for the new version of what finds the orders.
    op.add_column('passages', sa.Column('orders', sa.JSON(), nullable=True))
    op.drop_column('passages', 'gives_orders')


def downgrade() -> None:
    op.add_column('passages', sa.Column('gives_orders', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.drop_column('passages', 'orders')
    op.drop_column('criterion_outcomes', 'warning')
    op.drop_column('criterion_outcomes', 'contested')
    op.drop_column('criterion_outcomes', 'orders')
