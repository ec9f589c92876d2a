"""Which documents had a part in an outcome"""

import sqlalchemy as sa
from alembic import op


revision = '0016'
down_revision = '0015'


def upgrade() -> None:
    op.add_column('criterion_outcomes', sa.Column('given', sa.JSON(none_as_null=True), nullable=True))
    op.execute("UPDATE criterion_outcomes SET given = '[]' WHERE kind = 'fact'")
