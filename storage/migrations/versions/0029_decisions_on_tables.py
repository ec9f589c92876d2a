"""Decisions on the cells of tables of documents and questions"""

import sqlalchemy as sa
from alembic import op


revision = '0029'
down_revision = '0028'

_OLD = 'decisions_batch_domain_criterion_id_follows_key'  # PostgreSQL's name of it; in SQLite it has none
_NEW = 'decisions_batch_domain_document_id_criterion_id_follows_key'


def upgrade() -> None:
    with op.batch_alter_table('decisions', naming_convention={'uq': _OLD}) as table:
        table.add_column(sa.Column('document_id', sa.String(), nullable=False, server_default=''))
        table.drop_constraint(_OLD, type_='unique')
        table.create_unique_constraint(_NEW, ['batch', 'domain', 'document_id', 'criterion_id', 'follows'])
