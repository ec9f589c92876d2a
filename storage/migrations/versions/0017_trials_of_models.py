"""What was known of a run's model from its trial"""

import sqlalchemy as sa
from alembic import op


revision = '0017'
down_revision = '0016'


def upgrade() -> None:
    op.add_column('runs', sa.Column('model_trial', sa.String(length=32), nullable=True))
