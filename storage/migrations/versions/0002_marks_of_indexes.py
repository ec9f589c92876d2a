"""What an index needs to be brought up to date from a drive's record of changes"""

import sqlalchemy as sa
from alembic import op


revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    op.add_column('rooms', sa.Column('mark', sa.String(), nullable=True))
    op.add_column('rooms', sa.Column('watched', sa.JSON(), server_default='[]', nullable=False))
    op.add_column('room_folders', sa.Column('parent_id', sa.String(), nullable=True))
