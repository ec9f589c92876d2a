"""The request lists of runs, and the cells of tables of documents and questions"""

import sqlalchemy as sa
from alembic import op


revision = '0027'
down_revision = '0026'


def upgrade() -> None:
    op.add_column('runs', sa.Column('requests', sa.JSON(), nullable=True))
    op.create_table(
        'text_cells',
        sa.Column('text_id', sa.Integer(), nullable=False),
        sa.Column('columns', sa.String(), nullable=False),
        sa.Column('cells', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('text_id', 'columns'),
    )
