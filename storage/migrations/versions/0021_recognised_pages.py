"""Pages that text recognition has read, and how many pages of documents were read"""

import sqlalchemy as sa
from alembic import op


revision = '0021'
down_revision = '0020'


def upgrade() -> None:
    op.create_table(
        'recognised_pages',
        sa.Column('content_hash', sa.String(), nullable=False),
        sa.Column('page', sa.String(), nullable=False),
        sa.Column('engine', sa.String(), nullable=False),
        sa.Column('seconds', sa.Float(), nullable=False),
        sa.Column('packed', sa.Text(), nullable=False),
        sa.Column('created_at', sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint('content_hash', 'page', 'engine'),
    )
    op.add_column('texts', sa.Column('pages', sa.Integer(), nullable=True))
    op.add_column('texts', sa.Column('pages_read', sa.Integer(), nullable=True))
    op.add_column('texts', sa.Column('scanned_pages', sa.Integer(), nullable=False, server_default='0'))
    op.add_column('run_documents', sa.Column('pages', sa.Integer(), nullable=True))
    op.add_column('run_documents', sa.Column('pages_read', sa.Integer(), nullable=True))
