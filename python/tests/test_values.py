"""Values on their way to SQL and back."""

import datetime
import decimal
import enum
import uuid

import mayfly
import pytest

D = decimal.Decimal


@pytest.mark.parametrize(
    "value",
    [
        None, 0, -1, 2**31, -(2**63), 2**64 - 1, 1.5, -1e300, 5e-324, "", "text", "日本語 \U0001f600", "a\0b",
        D("0.10"), D("-12345678901234567890.123456789"), D("9" * 65), D("0." + "1" * 30),
        datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.datetime(2024, 2, 29, 23, 59, 59),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4), datetime.timedelta(0), datetime.timedelta(hours=-838, minutes=-59, seconds=-59),
        datetime.timedelta(days=34, seconds=1, microseconds=1), datetime.timedelta(microseconds=-1),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_comes_back(one, value):
    back = one("SELECT ?", (value,))
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("digits", [2**64, -(2**63) - 1, 10**64, -(10**65 - 1)])
def test_large_integers_are_decimals(one, digits):
    assert one("SELECT ?", (digits,)) == D(digits)
    assert one("SELECT ? - ?", (digits, digits)) == 0


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("CAST(18446744073709551615 AS UNSIGNED)", 2**64 - 1),
        ("CAST('12345678901234567890123456789.123' AS DECIMAL(40, 3))", D("12345678901234567890123456789.123")),
        ("CAST(0.5 AS DECIMAL(3, 2))", D("0.50")),
        ("CAST('2026-11-30' AS DATE)", datetime.date(2026, 11, 30)),
        ("TIMESTAMP'2026-11-30 01:02:03.000004'", datetime.datetime(2026, 11, 30, 1, 2, 3, 4)),
        ("CAST('-100:00:00.5' AS TIME(1))", datetime.timedelta(hours=-100, milliseconds=-500)),
        ("CAST('838:59:59' AS TIME)", datetime.timedelta(hours=838, minutes=59, seconds=59)),
        ("JSON_OBJECT('a', 1)", '{"a": 1}'),
        ("1 = 1", 1),
        ("NULL", None),
        ("x'4142'", b"AB"),
        ("1e100", 1e100),
        ("b'101'", b"\x05"),
    ],
)
def test_sql_values_become_objects(one, sql, value):
    back = one(f"SELECT {sql}")
    assert back == value and type(back) is type(value)


def test_columns_become_objects(con):
    con.execute(
        "CREATE TABLE t (b BIT(12), y YEAR, e ENUM('a', 'b'), s SET('x', 'y'), f FLOAT, t BOOLEAN, j JSON, bin BINARY(3), l LONGTEXT)"
    )
    con.execute("INSERT INTO t VALUES (b'111111111111', 2024, 'b', 'x,y', 0.1, TRUE, '[1, null]', 'ab', 'long')")
    row = con.execute("SELECT * FROM t").fetchone()
    assert row[:4] == (4095, 2024, "b", "x,y")
    assert row[4] == pytest.approx(0.1) and row[5:] == (1, "[1, null]", b"ab\0", "long")


def test_zero_dates_are_texts(con, one):
    con.execute("SET sql_mode = ''")
    con.execute("CREATE TABLE t (d DATE, dt DATETIME(3))")
    con.execute("INSERT INTO t VALUES ('0000-00-00', '0000-00-00'), ('2024-00-01', '2024-01-00 01:02:03.5')")
    rows = con.execute("SELECT d, dt FROM t").fetchall()
    assert rows == [("0000-00-00", "0000-00-00 00:00:00"), ("2024-00-01", "2024-01-00 01:02:03.500000")]


def test_other_objects_as_parameters(one):
    class Colour(enum.IntEnum):
        RED = 3

    class Name(str):
        pass

    identity = uuid.UUID("12345678-1234-5678-1234-567812345678")
    for given, value in [
        (True, 1), (False, 0), (Colour.RED, 3), (Name("n"), "n"), (identity, str(identity)),
        (datetime.time(1, 2, 3), datetime.timedelta(seconds=3723)),
    ]:  # fmt: skip
        assert one("SELECT ?", (given,)) == value, given


def test_moments_with_a_zone_are_converted(con, one):
    con.execute("SET time_zone = '+00:00'")
    con.execute("CREATE TABLE t (at DATETIME(6))")
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    con.execute("INSERT INTO t VALUES (?)", (datetime.datetime(2024, 1, 1, 12, 0, 0, 7, zone),))
    assert one("SELECT at FROM t") == datetime.datetime(2024, 1, 1, 6, 30, 0, 7)


def test_bytes(con):
    con.execute("CREATE TABLE t (b LONGBLOB)")
    values = [b"", b"\x00\xff", b"text", bytearray(b"ab"), memoryview(b"ab"), bytes(range(256)) * 1000]
    con.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    back = [row[0] for row in con.execute("SELECT b FROM t")]
    assert back == values and {type(value) for value in back} == {bytes}


def test_numpy_and_pandas_scalars(one):
    np = pytest.importorskip("numpy")
    pd = pytest.importorskip("pandas")
    for given, value in [
        (np.int8(-3), -3), (np.uint64(2**64 - 1), 2**64 - 1), (np.float32(0.5), 0.5), (np.float64(0.1), 0.1), (np.bool_(True), 1),
        (np.str_("s"), "s"), (np.datetime64("2024-01-02"), datetime.datetime(2024, 1, 2)),
        (np.datetime64("2024-01-02T03:04:05.000006789", "ns"), datetime.datetime(2024, 1, 2, 3, 4, 5, 6)),
        (np.timedelta64(5, "s"), datetime.timedelta(seconds=5)), (np.datetime64("NaT"), None), (pd.NaT, None), (pd.NA, None),
        (pd.Timestamp("2024-01-02 03:04:05"), datetime.datetime(2024, 1, 2, 3, 4, 5)),
        (pd.Timedelta(hours=-1), datetime.timedelta(hours=-1)),
    ]:  # fmt: skip
        assert one("SELECT ?", (given,)) == value, repr(given)
    assert one("SELECT ? + ?", np.array([1, 2])) == 3


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), D("NaN"), D("Infinity"), D("1e65"), D("0." + "1" * 31), 10**65, 10**5000,
        datetime.timedelta(hours=839), datetime.timedelta(days=-35),
    ],
    ids=lambda value: f"{type(value).__name__}",
)  # fmt: skip
def test_values_that_sql_cannot_hold_are_refused(con, value):
    with pytest.raises(mayfly.DataError):
        con.execute("SELECT ?", (value,))


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, (1,), 1j, lambda: None])
def test_objects_that_are_no_values_are_refused(con, value):
    with pytest.raises(mayfly.ProgrammingError):
        con.execute("SELECT ?", (value,))


def test_lone_surrogates_are_refused(con):
    with pytest.raises(UnicodeEncodeError):
        con.execute("SELECT ?", ("\ud800",))
