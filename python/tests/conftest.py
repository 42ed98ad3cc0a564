"""Connections for tests, each to a database of its own in memory."""

import signal

import mayfly
import pytest

# A shell starts what it runs in the background with SIGINT ignored, and then Python does not raise KeyboardInterrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
