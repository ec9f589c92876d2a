"""What texts tell of the kinds of their documents"""

import sqlalchemy as sa
from alembic import op


revision = '0020'
down_revision = '0019'


def upgrade() -> None:
    op.create_table(
        'text_signs',
        sa.Column('text_id', sa.Integer(), nullable=False),
        sa.Column('version', sa.String(), nullable=False),
        sa.Column('signs', sa.JSON(), nullable=False),
        sa.Column('sketch', sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(['text_id'], ['texts.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('text_id'),
    )
