"""The exceptions of PEP 249.

An error of the engine has MySQL's number in ``errno``, its SQLSTATE in ``sqlstate``, and number and text in ``args``, as those of
MySQL's drivers have.
"""


class Warning(Exception):  # noqa: A001
    """Not raised: the warnings of a statement are in ``Connection.warnings()``."""


class Error(Exception):
    """The base of all other exceptions of this package."""

    #: MySQL's number, or None for an error of the package itself.
    errno: "int | None" = None
    #: The SQLSTATE, or None for an error of the package itself.
    sqlstate: "str | None" = None


class InterfaceError(Error):
    """A connection or cursor that is closed or belongs to another process."""


class DatabaseError(Error):
    """An error of the database."""


class DataError(DatabaseError):
    """A value that its type cannot hold."""


class OperationalError(DatabaseError):
    """Locks, limits, privileges, files, interrupted statements."""


class IntegrityError(DatabaseError):
    """A constraint does not hold: a key twice, a missing parent row, CHECK, NOT NULL."""


class InternalError(DatabaseError):
    """A fault of the engine."""


class ProgrammingError(DatabaseError):
    """Wrong SQL, a table that does not exist, a wrong number of parameters."""


class NotSupportedError(DatabaseError):
    """A feature that is not there."""
