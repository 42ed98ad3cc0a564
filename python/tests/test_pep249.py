"""The rules of PEP 249, one test for each."""

import datetime
import decimal
import inspect
import time

import mayfly
import pytest

NAMES = ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError",
         "InternalError", "ProgrammingError", "NotSupportedError")  # fmt: skip


@pytest.fixture
def filled(con):
    con.execute("CREATE TABLE booze (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))")
    con.executemany("INSERT INTO booze (name) VALUES (?)", [(name,) for name in ("Victoria", "Boag's", "Cooper's")])
    return con.cursor()


def test_module_globals():
    assert mayfly.apilevel == "2.0"
    assert mayfly.threadsafety in (0, 1, 2, 3)
    assert mayfly.paramstyle == "qmark"


def test_exceptions_are_a_hierarchy():
    assert issubclass(mayfly.Warning, Exception) and issubclass(mayfly.Error, Exception)
    assert issubclass(mayfly.InterfaceError, mayfly.Error) and issubclass(mayfly.DatabaseError, mayfly.Error)
    for name in NAMES[4:]:
        assert issubclass(getattr(mayfly, name), mayfly.DatabaseError), name


def test_exceptions_are_attributes_of_connections(con):
    for name in NAMES:
        assert getattr(con, name) is getattr(mayfly, name)


def test_cursor_has_its_connection(con):
    assert con.cursor().connection is con


def test_autocommit_is_off_at_first(con):
    assert con.autocommit is False
    assert mayfly.connect(autocommit=True).autocommit is True


def test_commit_and_rollback(con):
    con.execute("CREATE TABLE t (id INT)")
    con.execute("INSERT INTO t VALUES (1)")
    con.commit()
    con.execute("INSERT INTO t VALUES (2)")
    con.rollback()
    assert con.execute("SELECT id FROM t").fetchall() == [(1,)]
    con.autocommit = True
    con.execute("INSERT INTO t VALUES (3)")
    con.rollback()
    assert con.execute("SELECT COUNT(*) FROM t").fetchone() == (2,)


def test_closing_rolls_back():
    con = mayfly.connect(":memory:closing")
    other = con.connect()
    con.execute("CREATE TABLE t (id INT)")
    con.execute("INSERT INTO t VALUES (1)")
    con.close()
    assert other.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)
    other.execute("DROP TABLE t")


def test_a_context_commits_or_rolls_back():
    keep = mayfly.connect(":memory:context")
    keep.execute("CREATE TABLE t (id INT)")
    with mayfly.connect(":memory:context") as con:
        con.execute("INSERT INTO t VALUES (1)")
    assert con.closed
    with pytest.raises(ZeroDivisionError):
        with mayfly.connect(":memory:context") as con:
            con.execute("INSERT INTO t VALUES (2)")
            raise ZeroDivisionError
    assert keep.execute("SELECT id FROM t").fetchall() == [(1,)]


def test_closed_connections_refuse_everything(con):
    cursor = con.cursor()
    cursor.execute("SELECT 1")
    con.close()
    con.close()
    for use in (con.cursor, con.commit, con.rollback, lambda: con.execute("SELECT 1"), cursor.fetchone, cursor.fetchall,
                lambda: cursor.execute("SELECT 1"), lambda: con.autocommit, con.warnings, con.connect):  # fmt: skip
        with pytest.raises(mayfly.Error):
            use()


def test_closed_cursors_refuse_everything(con):
    cursor = con.cursor()
    cursor.execute("SELECT 1")
    cursor.close()
    cursor.close()
    for use in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, lambda: cursor.execute("SELECT 1"), cursor.nextset):
        with pytest.raises(mayfly.Error):
            use()
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_description(filled):
    assert filled.description is None
    filled.execute("SELECT id, name, 1.50 AS price, NOW() AS now, x'00' AS bytes, id = 1 AS is_first FROM booze")
    names = [column[0] for column in filled.description]
    assert names == ["id", "name", "price", "now", "bytes", "is_first"]
    assert all(len(column) == 7 for column in filled.description)
    kinds = [column[1] for column in filled.description]
    wanted = [mayfly.NUMBER, mayfly.STRING, mayfly.NUMBER, mayfly.DATETIME, mayfly.BINARY, mayfly.NUMBER]
    assert kinds == wanted
    assert kinds[0] != mayfly.STRING and mayfly.STRING != kinds[0]
    assert filled.description[2][4:6] == (3, 2)
    assert filled.description[0][6] is False
    filled.execute("INSERT INTO booze (name) VALUES ('XXXX')")
    assert filled.description is None


def test_rowcount(filled):
    assert filled.rowcount == -1
    filled.execute("SELECT id FROM booze")
    assert filled.rowcount == 3
    filled.execute("UPDATE booze SET name = 'x' WHERE id > 1")
    assert filled.rowcount == 2
    filled.execute("CREATE TABLE other (id INT)")
    assert filled.rowcount in (-1, 0)
    filled.executemany("INSERT INTO booze (name) VALUES (?)", [("a",), ("b",)])
    assert filled.rowcount == 2


def test_lastrowid(filled):
    filled.execute("INSERT INTO booze (name) VALUES ('four')")
    assert filled.lastrowid == 4
    filled.execute("SELECT 1")
    assert filled.lastrowid is None


def test_fetchone(filled):
    with pytest.raises(mayfly.Error):
        filled.fetchone()
    filled.execute("SELECT name FROM booze WHERE id > 100")
    assert filled.fetchone() is None
    filled.execute("SELECT name FROM booze ORDER BY id")
    assert filled.fetchone() == ("Victoria",)
    assert filled.fetchall() == [("Boag's",), ("Cooper's",)]
    assert filled.fetchone() is None and filled.fetchall() == [] and filled.fetchmany() == []
    filled.execute("INSERT INTO booze (name) VALUES ('x')")
    with pytest.raises(mayfly.Error):
        filled.fetchall()


def test_fetchmany(filled):
    filled.execute("SELECT id FROM booze ORDER BY id")
    assert filled.arraysize == 1
    assert filled.fetchmany() == [(1,)]
    assert filled.fetchmany(10) == [(2,), (3,)]
    assert filled.fetchmany(10) == []
    filled.arraysize = 2
    filled.execute("SELECT id FROM booze ORDER BY id")
    assert filled.fetchmany() == [(1,), (2,)]
    assert filled.fetchmany() == [(3,)]
    filled.execute("SELECT id FROM booze ORDER BY id")
    assert filled.fetchmany(size=0) == []


def test_iteration(filled):
    filled.execute("SELECT id FROM booze ORDER BY id")
    assert iter(filled) is filled and next(filled) == (1,)
    assert list(filled) == [(2,), (3,)]


def test_executemany_takes_any_iterable(filled):
    filled.executemany("INSERT INTO booze (name) VALUES (?)", ([str(n)] for n in range(2500)))
    assert filled.rowcount == 2500 and filled.lastrowid == 2503
    filled.executemany("INSERT INTO booze (name) VALUES (?)", [])
    assert filled.rowcount == 0


def test_no_second_set(con):
    cursor = con.execute("SELECT 1")
    assert cursor.nextset() is None


def test_callproc_is_not_supported(con):
    with pytest.raises(mayfly.NotSupportedError):
        con.cursor().callproc("p", (1,))


def test_setinputsizes_and_setoutputsize_do_nothing(filled):
    filled.setinputsizes((25,))
    filled.setoutputsize(1000)
    filled.setoutputsize(2000, 0)
    assert filled.execute("SELECT id FROM booze").fetchall() == [(1,), (2,), (3,)]


def test_constructors(one):
    assert mayfly.Date(2002, 12, 25) == datetime.date(2002, 12, 25)
    assert mayfly.Time(13, 45, 30) == datetime.time(13, 45, 30)
    assert mayfly.Timestamp(2002, 12, 25, 13, 45, 30) == datetime.datetime(2002, 12, 25, 13, 45, 30)
    ticks = time.mktime((2002, 12, 25, 13, 45, 30, 0, 0, 0))
    assert mayfly.DateFromTicks(ticks) == mayfly.Date(2002, 12, 25)
    assert mayfly.TimeFromTicks(ticks) == mayfly.Time(13, 45, 30)
    assert mayfly.TimestampFromTicks(ticks) == mayfly.Timestamp(2002, 12, 25, 13, 45, 30)
    assert one("SELECT HEX(?)", (mayfly.Binary(b"\x00\xff"),)) == "00FF"


def test_parameters_are_a_sequence(con):
    for wrong in ("ab", b"ab", 5, {"a": 1}, {1, 2}):
        with pytest.raises(mayfly.ProgrammingError):
            con.execute("SELECT ?, ?", wrong)
    assert con.execute("SELECT ?, ?", [1, 2]).fetchone() == (1, 2)
    assert con.execute("SELECT ?, ?", range(2)).fetchone() == (0, 1)
    for count in (0, 1, 3):
        with pytest.raises(mayfly.Error):
            con.execute("SELECT ?, ?", [1] * count)


def test_two_cursors_read_at_once(con):
    con.execute("CREATE TABLE n (id INT)")
    con.executemany("INSERT INTO n VALUES (?)", ((n,) for n in range(20_000)))
    first = con.execute("SELECT id FROM n ORDER BY id")
    assert first.fetchone() == (0,)
    second = con.execute("SELECT id FROM n ORDER BY id DESC")
    assert second.fetchmany(2) == [(19_999,), (19_998,)]
    con.execute("DELETE FROM n")
    assert [row[0] for row in first] == list(range(1, 20_000))
    assert [row[0] for row in second] == list(range(19_997, -1, -1))


def test_errors_have_numbers(con):
    con.execute("CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL, CHECK (n > 0))")
    con.execute("INSERT INTO t VALUES (1, 1)")
    for sql, kind, errno, sqlstate in [
        ("SELEC 1", mayfly.ProgrammingError, 1064, "42000"),
        ("SELECT * FROM missing", mayfly.ProgrammingError, 1146, "42S02"),
        ("SELECT missing FROM t", mayfly.ProgrammingError, 1054, "42S22"),
        ("INSERT INTO t VALUES (1, 1)", mayfly.IntegrityError, 1062, "23000"),
        ("INSERT INTO t VALUES (2, NULL)", mayfly.IntegrityError, 1048, "23000"),
        ("INSERT INTO t VALUES (2, 0)", mayfly.IntegrityError, 3819, "HY000"),
        ("INSERT INTO t VALUES (2, 1000)", mayfly.DataError, 1264, "22003"),
        ("SELECT MATCH (n) AGAINST ('x') FROM t", mayfly.NotSupportedError, 1235, "42000"),
        ("SELECT 1; SELECT 2", mayfly.ProgrammingError, 1064, "42000"),
    ]:
        with pytest.raises(mayfly.Error) as caught:
            con.execute(sql)
        error = caught.value
        assert (type(error), error.errno, error.sqlstate) == (kind, errno, sqlstate), sql
        assert error.args[0] == errno and isinstance(error.args[1], str)


def test_warnings(con):
    con.execute("SELECT 1 / 0")
    assert con.warnings() == [("Warning", 1365, "Division by 0")]


def test_scripts(con):
    con.executescript("CREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2);")
    assert con.execute("SELECT SUM(id) FROM t").fetchone() == (decimal.Decimal(3),)


def test_every_public_item_has_documentation():
    for name in mayfly.__all__:
        item = getattr(mayfly, name)
        if inspect.isclass(item) or callable(item):
            assert inspect.getdoc(item), name
    for kind in (mayfly.Connection, mayfly.Cursor):
        for name in dir(kind):
            if not name.startswith("_") and name not in NAMES:
                assert inspect.getdoc(getattr(kind, name)), f"{kind.__name__}.{name}"
