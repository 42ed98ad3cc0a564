"""Connections for tests, each to a database of its own in memory."""

import mayfly
import pytest


@pytest.fixture
def con():
    connection = mayfly.connect()
    yield connection
    connection.close()


@pytest.fixture
def one(con):
    """The only value of a statement's only row."""

    def run(sql, parameters=()):
        ((value,),) = con.execute(sql, parameters).fetchall()
        return value

    return run
