"""Where the documents of each run lie"""

import sqlalchemy as sa
from alembic import op


revision = '0007'
down_revision = '0006'


def upgrade() -> None:
    op.add_column('runs', sa.Column('drive', sa.JSON(), nullable=True))
    op.create_index(op.f('ix_run_documents_document_id'), 'run_documents', ['document_id'], unique=False)
