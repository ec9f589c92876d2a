"""Figures of texts"""

import sqlalchemy as sa
from alembic import op


revision = '0009'
down_revision = '0008'


def upgrade() -> None:
    op.create_table('ledgers',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('text_id', sa.Integer(), nullable=False),
    sa.Column('version', sa.String(), nullable=False),
    sa.Column('basis', sa.String(), nullable=False),
    sa.Column('deck', sa.Boolean(), nullable=False),
    sa.Column('dated', sa.String(), nullable=True),
    sa.Column('left_out', sa.JSON(), nullable=False),
    sa.Column('ties', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('text_id')
    )
    op.create_table('figures',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('text_id', sa.Integer(), nullable=False),
    sa.Column('concept', sa.String(), nullable=False),
    sa.Column('label', sa.Text(), nullable=False),
    sa.Column('value', sa.String(), nullable=False),
    sa.Column('unit', sa.String(), nullable=False),
    sa.Column('scale', sa.String(), nullable=False),
    sa.Column('step', sa.String(), nullable=False),
    sa.Column('period', sa.String(), nullable=False),
    sa.Column('entity', sa.String(), nullable=True),
    sa.Column('basis', sa.String(), nullable=True),
    sa.Column('variant', sa.String(), nullable=False),
    sa.Column('place', sa.Text(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index(op.f('ix_figures_text_id'), 'figures', ['text_id'])
