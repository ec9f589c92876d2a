"""Where quoted spans stand on the pages of their documents"""

import sqlalchemy as sa
from alembic import op


revision = '0006'
down_revision = '0005'


def upgrade() -> None:
    op.create_table('span_pages',
    sa.Column('text_id', sa.Integer(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.Column('pages', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('text_id', 'start', 'end')
    )
