"""Mayfly in the process: a MySQL-compatible SQL engine, with the interface of PEP 249.

>>> import mayfly
>>> connection = mayfly.connect()
>>> connection.execute("SELECT 6 * ?, CAST(? AS DECIMAL(5, 2))", (7, "1.50")).fetchall()
[(42, Decimal('1.50'))]

``connect(path)`` opens the database in a directory, ``connect()`` one in memory. ``serve(path)`` and ``serve()`` start a server for
clients and drivers of MySQL in this process.
"""

import datetime as _datetime
import time as _time

from ._errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004
)
from ._mayfly import Connection, Cursor, Server, __version__, connect, serve

#: The version of PEP 249's interface.
apilevel = "2.0"
#: Threads may share the module and connections, but no cursors.
threadsafety = 2
#: Parameters are ``?``.
paramstyle = "qmark"

Date = _datetime.date
Time = _datetime.time
Timestamp = _datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> _datetime.date:
    """The date of a number of seconds since 1970, in local time."""
    return Date(*_time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> _datetime.time:
    """The time of day of a number of seconds since 1970, in local time."""
    return Time(*_time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> _datetime.datetime:
    """The date and time of a number of seconds since 1970, in local time."""
    return Timestamp(*_time.localtime(ticks)[:6])


class DBAPIType(frozenset[str]):
    """A kind of types: equal to the type code of each column of the kind."""

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else frozenset.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = frozenset.__hash__


STRING = DBAPIType({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "JSON"})
BINARY = DBAPIType(
    {"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "VECTOR"}
    | {"GEOMETRY", "POINT", "LINESTRING", "POLYGON"}
    | {"MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMCOLLECTION"}
)
NUMBER = DBAPIType(
    {"BOOLEAN", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "BIT", "YEAR"}
)
DATETIME = DBAPIType({"DATE", "TIME", "DATETIME", "TIMESTAMP"})
#: AUTO_INCREMENT columns are numbers: no type is one of row ids alone.
ROWID = DBAPIType()


def load_ipython_extension(shell: object) -> None:
    """Called by ``%load_ext mayfly``: adds the magics ``%sql`` and ``%%sql``."""
    from . import _magic

    _magic.load_ipython_extension(shell)


__all__ = [
    "BINARY",
    "Binary",
    "Connection",
    "Cursor",
    "DATETIME",
    "DBAPIType",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ROWID",
    "STRING",
    "Server",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "paramstyle",
    "serve",
    "threadsafety",
]
