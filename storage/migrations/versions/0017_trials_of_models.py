"""What was known of a run's model from its trial"""

import sqlalchemy as sa
from alembic import op


revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('runs', sa.Column('model_trial', sa.String(length=32), nullable=True))


def downgrade() -> None:
    op.drop_column('runs', 'model_trial')
