"""The order of runs, and whether their reports were written"""

import sqlalchemy as sa
from alembic import op


revision = '0013'
down_revision = '0012'


def upgrade() -> None:
    # In place: a copied table would take the rows of companies with it, which are deleted with their run.
    op.add_column('runs', sa.Column('sequence', sa.Integer(), nullable=True))
    op.add_column('runs', sa.Column('reported_at', sa.DateTime(), nullable=True))
    # Until now the clock gave the order; a run that was finished had its report, as far as is known.
    op.execute("""
        UPDATE runs SET reported_at = finished_at, sequence = (
            SELECT count(*) FROM runs AS older
            WHERE older.started_at < runs.started_at OR (older.started_at = runs.started_at AND older.id <= runs.id)
        )
    """)
    op.create_index('ix_runs_sequence', 'runs', ['sequence'], unique=True)
