"""Functions of Python in statements."""

import datetime
import decimal
import json
import os
import signal
import threading
import time

import mayfly
import pytest

D = decimal.Decimal


def test_a_function_is_called_for_each_row(con):
    con.create_function("twice", lambda number: number * 2, [int], int, deterministic=True)
    con.execute("CREATE TABLE t (n INT)")
    con.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(5000)))
    assert con.execute("SELECT SUM(twice(n)), MAX(twice(n)) FROM t WHERE twice(n) > 100").fetchone() == (2 * (sum(range(51, 5000))), 9998)
    assert con.execute("SELECT twice(n) AS d FROM t ORDER BY d DESC LIMIT 2").fetchall() == [(9998,), (9996,)]
    con.execute("UPDATE t SET n = twice(n) WHERE n < 10")
    assert con.execute("SELECT twice(?)", ("21",)).fetchone() == (42,)
    con.execute("DROP FUNCTION twice")
    with pytest.raises(mayfly.Error) as caught:
        con.execute("SELECT twice(1)")
    assert caught.value.errno == 1305


@pytest.mark.parametrize(
    ("ty", "value"),
    [
        (int, -(2**63)), ("BIGINT UNSIGNED", 2**64 - 1), (float, 0.1), (bool, True), (str, "text \U0001f600"), (bytes, b"\x00\xff"),
        (D, D("1.5")), ("DECIMAL(65, 30)", D("9" * 35 + "." + "1" * 30)), (datetime.date, datetime.date(2024, 2, 29)),
        (datetime.datetime, datetime.datetime(2024, 2, 29, 1, 2, 3, 4)), (datetime.timedelta, -datetime.timedelta(hours=100, microseconds=1)),
        ("varchar(3)", "abc"), ("VARBINARY(3)", b"ab\xff"), ("DATETIME(0)", datetime.datetime(2024, 1, 2)), ("JSON", '{"a": 1}'),
    ],
    ids=str,
)  # fmt: skip
def test_types(con, ty, value):
    seen = []
    con.create_function("same", lambda given: (seen.append(given), given)[1], [ty], ty)
    assert con.execute("SELECT same(?)", (value,)).fetchone() == (value,)
    assert seen == [value] and type(seen[0]) is (int if ty is bool else type(value))


def test_null(con):
    con.create_function("strict", lambda a, b: a + b, [int, int], int)
    con.create_function("shown", repr, ["TEXT"], str, calls_with_null=True)
    con.create_function("nothing", lambda: None, [], int)
    row = con.execute("SELECT strict(1, NULL), strict(1, 2), shown(NULL), shown('x'), nothing()").fetchone()
    assert row == (None, 3, "None", "'x'", None)


def test_exceptions_are_causes(con):
    def fails(number):
        if number == 3:
            raise KeyError("three")
        return number

    con.create_function("fails", fails, [int], int)
    con.execute("CREATE TABLE t (n INT)")
    con.execute("INSERT INTO t VALUES (1), (2), (3)")
    with pytest.raises(mayfly.OperationalError, match="'fails': KeyError: 'three'") as caught:
        con.execute("SELECT fails(n) FROM t").fetchall()
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.__traceback__.tb_frame.f_code.co_name == "fails"
    with pytest.raises(mayfly.OperationalError):
        con.execute("UPDATE t SET n = fails(n) + 10")
    assert con.execute("SELECT n FROM t ORDER BY n").fetchall() == [(1,), (2,), (3,)]
    con.create_function("wrong", lambda: object(), [], int)
    with pytest.raises(mayfly.Error) as caught:
        con.execute("SELECT wrong()").fetchall()
    assert isinstance(caught.value.__cause__, mayfly.ProgrammingError)
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_functions_belong_to_the_database(con):
    con.create_function("f", lambda: 1, [], int)
    assert con.connect().execute("SELECT f(), test.f()").fetchone() == (1, 1)
    with pytest.raises(mayfly.Error) as caught:
        con.create_function("f", lambda: 2, [], int)
    assert caught.value.errno == 1304
    for wrong in ("NO TYPE", "DECIMAL(99)", "VARCHAR", object(), complex, 5, "INT; DROP TABLE t"):
        with pytest.raises(mayfly.ProgrammingError):
            con.create_function("g", lambda x: x, [wrong], int)
    with pytest.raises(mayfly.ProgrammingError):
        con.create_function("g", 5, [], int)
    with pytest.raises(mayfly.Error):
        con.execute("SELECT f(1)")


def test_a_function_may_use_another_connection(con):
    other = con.connect()
    con.create_function("asks", lambda n: other.execute("SELECT ? + 1", (n,)).fetchone()[0], [int], int)
    assert con.execute("SELECT asks(1)").fetchone() == (2,)
    con.create_function("itself", lambda: con.execute("SELECT 1").fetchone()[0], [], int)
    with pytest.raises(mayfly.Error) as caught:
        con.execute("SELECT itself()").fetchone()
    assert "runs the statement" in str(caught.value.__cause__)


def test_functions_of_several_threads(con):
    con.create_function("text_of", lambda n: json.dumps({"n": n}), [int], str, deterministic=True)
    con.execute("CREATE TABLE t (n INT)")
    con.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(2000)))
    con.commit()
    results = []

    def work():
        results.append(con.connect().execute("SELECT COUNT(DISTINCT text_of(n)) FROM t").fetchone())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(2000,)] * 4


def test_ctrl_c_ends_a_function(con):
    con.create_function("waits", lambda: time.sleep(600), [], int)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        con.execute("SELECT waits()").fetchone()
    assert time.monotonic() - began < 1
