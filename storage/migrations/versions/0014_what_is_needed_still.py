"""When answers were used last, and indexes for finding what nobody needs any more"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op


revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    op.add_column('answers', sa.Column('used_at', sa.DateTime(), nullable=True))
    # Until now nobody noted it: each may have been used today.
    answers = sa.table('answers', sa.column('used_at', sa.DateTime()))
    op.execute(answers.update().values(used_at=datetime.now(UTC).replace(tzinfo=None)))
    op.create_index(op.f('ix_answers_used_at'), 'answers', ['used_at'])
    op.create_index(op.f('ix_contents_content_hash'), 'contents', ['content_hash'])
    op.create_index(op.f('ix_run_companies_profile_id'), 'run_companies', ['profile_id'])
    op.create_index(op.f('ix_run_documents_text_id'), 'run_documents', ['text_id'])
    op.create_index(op.f('ix_quotes_text_id'), 'quotes', ['text_id'])
