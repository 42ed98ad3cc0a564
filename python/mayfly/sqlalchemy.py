"""The dialect ``mayfly`` of SQLAlchemy: its dialect of MySQL over connections in the process.

``mayfly://`` is a database in memory, ``mayfly:///relative/path`` and ``mayfly:////absolute/path`` are directories, and
``mayfly:///:memory:NAME`` is one in memory that connections share. Options of ``mayfly.connect`` follow as ``?threads=2``.
"""

from sqlalchemy import pool, types, util
from sqlalchemy.dialects.mysql.base import MySQLDialect
from sqlalchemy.engine import URL

import mayfly

#: The options of a URL that are no texts.
_KINDS = {"autocommit": util.asbool, "threads": int, "mysql_defaults": util.asbool, "python_variables": util.asbool}


class _Interval(types.TIME):
    """TIME, whose values are intervals."""

    def result_processor(self, dialect, coltype):
        """Intervals of a day become times of day, as SQLAlchemy's TIME wants them; others stay intervals."""
        import datetime

        day = datetime.timedelta(days=1)

        def process(value):
            if isinstance(value, datetime.timedelta) and datetime.timedelta(0) <= value < day:
                return (datetime.datetime.min + value).time()
            return value

        return process


class MayflyDialect(MySQLDialect):
    """Mayfly in the process."""

    name = "mysql"
    driver = "mayfly"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_native_decimal = True

    colspecs = util.update_copy(MySQLDialect.colspecs, {types.Time: _Interval})

    @classmethod
    def import_dbapi(cls):
        """The module of PEP 249."""
        return mayfly

    @classmethod
    def get_pool_class(cls, url: URL):
        """A directory is open once in a process, and so is a named database; without a path there is one connection."""
        return pool.QueuePool if url.database else pool.SingletonThreadPool

    def create_connect_args(self, url: URL):
        """The arguments of ``mayfly.connect``."""
        options = {name: _KINDS.get(name, str)(value) for name, value in url.query.items()}
        return [url.database or None], options

    def _get_server_version_info(self, connection):
        text = connection.exec_driver_sql("SELECT VERSION()").scalar()
        self.server_version_info = tuple(int(part) for part in text.split("-")[0].split("."))
        return self.server_version_info

    def _extract_error_code(self, exception):
        return exception.errno or 0

    def _detect_charset(self, connection):
        return "utf8mb4"

    def is_disconnect(self, e, connection, cursor):
        """Whether an error says that the connection is closed."""
        return isinstance(e, mayfly.InterfaceError)

    def do_ping(self, dbapi_connection):
        """Whether the connection is open."""
        return not dbapi_connection.closed
