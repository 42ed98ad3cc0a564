"""Fixtures of pytest: a Mayfly server for all tests, and a database of its own for each test.

The server is in the process of the tests and stores nothing. Tests connect to it with any driver of MySQL::

    def test_orders(mayfly_database):
        connection = pymysql.connect(**mayfly_database.options)
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import mayfly


@dataclasses.dataclass(frozen=True)
class TestDatabase:
    """A database of the server, for one test."""

    # Not a class of tests.
    __test__ = False

    #: The server.
    server: mayfly.Server
    #: The name of the database.
    name: str
    _connections: list[mayfly.Connection] = dataclasses.field(default_factory=list, repr=False)

    @property
    def url(self) -> str:
        """The address of the database: ``mysql://root@127.0.0.1:41927/mayfly_1``."""
        return self.server.url.rpartition("/")[0] + "/" + self.name

    @property
    def options(self) -> dict[str, Any]:
        """Arguments for the function ``connect`` of PyMySQL, mysqlclient and MySQL Connector/Python."""
        server = self.server
        return {
            "host": server.host,
            "port": server.port,
            "user": server.user,
            "password": server.password or "",
            "database": self.name,
        }

    def connect(self, **options: Any) -> mayfly.Connection:
        """A connection in the process, without a socket, which is closed after the test. The options are those of
        ``Server.connect``."""
        connection = self.server.connect(database=self.name, **options)
        self._connections.append(connection)
        return connection

    def _drop(self) -> None:
        for connection in self._connections:
            connection.close()
        with self.server.connect(autocommit=True) as connection:
            # A connection that the test has left open may be in a transaction, for whose end the DROP would wait.
            left = connection.execute("SELECT id FROM information_schema.processlist WHERE db = ?", [self.name])
            for (number,) in left.fetchall():
                try:
                    connection.execute(f"KILL {number}")
                except Exception as error:
                    # 1094: it has ended meanwhile.
                    if getattr(error, "errno", None) != 1094:
                        raise
            connection.execute(f"DROP DATABASE IF EXISTS {self.name}")


_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def mayfly_server_options() -> dict[str, Any]:
    """Arguments for ``mayfly.serve``: define this fixture in conftest.py to change them."""
    return {}


@pytest.fixture(scope="session")
def mayfly_server(mayfly_server_options: dict[str, Any]) -> Iterator[mayfly.Server]:
    """A server for all tests, on a free port."""
    import mayfly

    with mayfly.serve(**mayfly_server_options) as server:
        yield server


@pytest.fixture
def mayfly_database(mayfly_server: mayfly.Server) -> Iterator[TestDatabase]:
    """An empty database of the server, which is dropped after the test."""
    database = TestDatabase(mayfly_server, f"mayfly_{next(_numbers)}")
    with mayfly_server.connect() as connection:
        connection.execute(f"CREATE DATABASE {database.name}")
    yield database
    database._drop()
