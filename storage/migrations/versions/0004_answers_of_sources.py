"""What sources of facts said last"""

import sqlalchemy as sa
from alembic import op


revision = '0004'
down_revision = '0003'


def upgrade() -> None:
    op.create_table('source_answers',
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('origin', sa.String(), nullable=False),
    sa.Column('domain', sa.String(), nullable=False),
    sa.Column('retrieved_at', sa.DateTime(), nullable=False),
    sa.Column('claims', sa.JSON(), nullable=True),
    sa.Column('warnings', sa.JSON(), nullable=False),
    sa.PrimaryKeyConstraint('source', 'origin', 'domain')
    )
