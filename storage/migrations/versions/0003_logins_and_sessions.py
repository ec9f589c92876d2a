"""Google logins, the sessions of browsers that are logged in, and logins that came back"""

import sqlalchemy as sa
from alembic import op


revision = '0003'
down_revision = '0002'


def upgrade() -> None:
    op.create_table('logins',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('whose', sa.String(length=32), nullable=False),
    sa.Column('account', sa.String(), nullable=True),
    sa.Column('account_id', sa.String(), nullable=True),
    sa.Column('client_id', sa.String(), nullable=False),
    sa.Column('refresh_token', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.Column('used_at', sa.DateTime(), nullable=False),
    sa.Column('revoked_at', sa.DateTime(), nullable=True),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('whose', 'account_id'),
    sqlite_autoincrement=True
    )
    op.create_table('sessions',
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('login_id', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(), nullable=False),
    sa.Column('used_at', sa.DateTime(), nullable=False),
    sa.ForeignKeyConstraint(['login_id'], ['logins.id'], ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('key')
    )
    op.create_index('ix_sessions_login_id', 'sessions', ['login_id'])
    op.create_table('spent_states',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('spent_at', sa.DateTime(), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('key')
    )
