"""What judgements rest on: stances, confidence, contradictions, orders found in texts, money, vectors"""

import sqlalchemy as sa
from alembic import op


revision = '0005'
down_revision = '0004'


def upgrade() -> None:
    op.add_column('passages', sa.Column('header', sa.String(), nullable=True))
    op.add_column('passages', sa.Column('gives_orders', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column('quotes', sa.Column('stance', sa.String(), nullable=True))
    op.add_column('criterion_outcomes', sa.Column('confidence', sa.Float(), nullable=True))
    op.add_column('criterion_outcomes', sa.Column('agreement', sa.Float(), nullable=True))
    op.add_column('criterion_outcomes', sa.Column('contradictions', sa.JSON(), server_default='[]', nullable=False))
    op.add_column('criterion_outcomes', sa.Column('nearest', sa.JSON(), server_default='[]', nullable=False))
    op.add_column('runs', sa.Column('usd', sa.Float(), nullable=True))
    op.add_column('runs', sa.Column('budget', sa.String(), nullable=True))
    op.create_table('text_vectors',
    sa.Column('text_id', sa.Integer(), nullable=False),
    sa.Column('model', sa.String(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.Column('vector', sa.LargeBinary(), nullable=False),
    sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('text_id', 'model', 'start', 'end')
    )
