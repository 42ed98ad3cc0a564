"""Results as frames of other libraries, and their frames as tables."""

import datetime
import decimal
import gc
import itertools
import os
import signal
import threading

import mayfly
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

D = decimal.Decimal
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"


@pytest.fixture
def types(con):
    con.execute(
        """CREATE TABLE types (t TINYINT, u BIGINT UNSIGNED, f FLOAT, d DOUBLE, dec5 DECIMAL(5, 2), day DATE, at DATETIME(6), t1 TIME(6),
        s VARCHAR(40), e ENUM('x', 'y'), b VARBINARY(10), j JSON, y YEAR)"""
    )
    con.execute(
        """INSERT INTO types VALUES (-1, 18446744073709551615, 0.5, 0.1, 123.45, '2024-02-29', '2024-02-29 01:02:03.000004',
        '-100:00:00.5', 'a text of more than twelve bytes', 'y', x'00FF', '{"a": 1}', 2024),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
    )
    return con


ROW = {
    "t": -1, "u": 2**64 - 1, "f": 0.5, "d": 0.1, "dec5": D("123.45"), "day": datetime.date(2024, 2, 29),
    "at": datetime.datetime(2024, 2, 29, 1, 2, 3, 4), "t1": -datetime.timedelta(hours=100, milliseconds=500),
    "s": "a text of more than twelve bytes", "e": "y", "b": b"\x00\xff", "j": '{"a": 1}', "y": 2024,
}  # fmt: skip


def test_arrow_has_types(types):
    table = types.execute("SELECT * FROM types").arrow()
    assert isinstance(table, pa.Table)
    found = {field.name: str(field.type) for field in table.schema}
    assert found == {
        "t": "int8", "u": "uint64", "f": "float", "d": "double", "dec5": "decimal128(5, 2)", "day": "date32[day]",
        "at": "timestamp[us]", "t1": "duration[us]", "s": "string_view", "b": "binary_view", "y": "uint16",
        "e": "dictionary<values=string, indices=uint16, ordered=0>", "j": "extension<arrow.json>",
    }  # fmt: skip
    assert table.to_pylist() == [ROW, dict.fromkeys(ROW)]


def test_polars_has_the_values(types):
    frame = types.execute("SELECT * FROM types").pl()
    assert frame.to_dicts() == [ROW, dict.fromkeys(ROW)]


def test_pandas_has_the_values(types):
    frame = types.execute("SELECT * FROM types").df()
    assert frame.columns.tolist() == list(ROW)
    first = frame.iloc[0].to_dict()
    assert {name: first[name] for name in ("t", "f", "d", "dec5", "day", "s", "e", "b", "j", "y")} == {
        name: ROW[name] for name in ("t", "f", "d", "dec5", "day", "s", "e", "b", "j", "y")
    }
    assert first["at"] == pd.Timestamp(ROW["at"]) and first["t1"] == pd.Timedelta(ROW["t1"])
    assert frame.iloc[1].isna().all()


def test_duckdb_reads_a_result(types):
    duckdb = pytest.importorskip("duckdb")
    result = types.execute("SELECT s, t, SUM(u) AS total FROM types WHERE t IS NOT NULL GROUP BY s, t")
    read = result.arrow()  # noqa: F841
    assert duckdb.sql("SELECT * FROM read").fetchall() == [(ROW["s"], -1, D(2**64 - 1))]


def test_numpy_arrays(con):
    con.execute("CREATE TABLE t (a INT, b DOUBLE, c VARCHAR(9))")
    con.execute("INSERT INTO t VALUES (1, 0.5, 'x'), (NULL, 1.5, NULL)")
    arrays = con.execute("SELECT a, b, c, a AS a FROM t").fetchnumpy()
    assert list(arrays) == ["a", "b", "c", "a_1"]
    assert arrays["a"].dtype == np.int32 and arrays["a"].mask.tolist() == [False, True] and arrays["a"][0] == 1
    assert arrays["b"].tolist() == [0.5, 1.5] and not isinstance(arrays["b"], np.ma.MaskedArray)
    assert arrays["c"][0] == "x" and arrays["c"].mask.tolist() == [False, True]


def test_a_result_is_a_stream_for_any_library(con):
    cursor = con.execute(NUMBERS.format(5))
    assert pl.DataFrame(cursor)["i"].to_list() == [1, 2, 3, 4, 5]
    assert cursor.fetchall() == []
    assert pa.table(con.execute("SELECT 1 AS a WHERE FALSE")).schema.names == ["a"]


def test_what_is_left_of_a_result(con):
    cursor = con.execute(NUMBERS.format(1000))
    assert cursor.fetchmany(3) == [(1,), (2,), (3,)]
    assert cursor.arrow()["i"].to_pylist() == list(range(4, 1001))
    with pytest.raises(mayfly.ProgrammingError):
        con.execute("DO 1").arrow()


def test_record_batches_come_while_the_statement_runs(con):
    endless = con.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT a.i FROM n a, n b, n c")
    reader = endless.fetch_record_batch()
    assert reader.read_next_batch().num_rows > 0
    del reader
    other = con.execute("SELECT 1").fetchone()
    assert other == (1,)


def test_a_reader_outlives_other_statements_and_its_cursor(con):
    con.execute("CREATE TABLE t (i INT)")
    con.execute("INSERT INTO t " + NUMBERS.format(1000).replace("SELECT i FROM n", "SELECT a.i FROM n a, n b LIMIT 100000"))
    reader = con.execute("SELECT i FROM t").fetch_record_batch()
    first = reader.read_next_batch()
    con.execute("DELETE FROM t")
    con.execute("DROP TABLE t")
    gc.collect()
    assert first.num_rows + sum(batch.num_rows for batch in reader) == 100_000


def test_wide_decimals(con):
    con.execute("CREATE TABLE t (v DECIMAL(60, 2))")
    con.execute("INSERT INTO t VALUES (?), (NULL)", (D("123456789012345678901234567890.25"),))
    table = con.execute("SELECT v FROM t").arrow()
    assert str(table.schema.field(0).type) == "decimal128(38, 2)"
    assert table["v"].to_pylist() == [D("123456789012345678901234567890.25"), None]
    con.execute("INSERT INTO t VALUES (?)", (D("9" * 58),))
    with pytest.raises(mayfly.Error, match="decimal256=True"):
        con.execute("SELECT v FROM t").arrow()
    assert con.execute("SELECT v FROM t").arrow(decimal256=True)["v"].to_pylist()[2] == D("9" * 58)
    assert con.execute("SELECT v FROM t").df()["v"][2] == D("9" * 58)


def test_zero_dates_are_an_error_of_arrow(con):
    con.execute("SET sql_mode = ''")
    con.execute("CREATE TABLE t (d DATE)")
    con.execute("INSERT INTO t VALUES ('0000-00-00')")
    with pytest.raises(mayfly.DataError) as caught:
        con.execute("SELECT d FROM t").arrow()
    assert caught.value.errno == 1292
    assert con.execute("SELECT d FROM t").fetchall() == [("0000-00-00",)]


def test_ctrl_c_ends_a_conversion(con):
    # Minutes of work for a result that stays small.
    cursor = con.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
        " SELECT a.i FROM n a, n b, n c WHERE (a.i * b.i + c.i) % 100003 = 7"
    )
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        cursor.arrow()


FRAME = {"id": [1, 2, 3], "name": ["a", None, "c"], "v": [0.5, 1.5, None]}
ROWS = [(1, "a", 0.5), (2, None, 1.5), (3, "c", None)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: pa.table(FRAME),
        lambda: pa.RecordBatch.from_pydict(FRAME),
        lambda: pa.table(FRAME).to_reader(),
        lambda: pl.DataFrame(FRAME),
        lambda: pl.LazyFrame(FRAME),
        lambda: pd.DataFrame(FRAME),
        lambda: pa.dataset.dataset(pa.table(FRAME)),
        lambda: {name: pa.array(values) for name, values in FRAME.items()},
        lambda: [dict(zip(FRAME, row)) for row in ROWS],
        lambda: iter([dict(zip(FRAME, row)) for row in ROWS]),
        lambda: (dict(zip(FRAME, row)) for row in ROWS),
        lambda: mayfly.connect().execute("SELECT 1 AS id, 'a' AS name, 0.5e0 AS v UNION ALL VALUES ROW(2, NULL, 1.5), ROW(3, 'c', NULL)"),
    ],
    ids=["table", "batch", "reader", "polars", "lazy", "pandas", "dataset", "arrays", "list", "iterator", "generator", "cursor"],
)  # fmt: skip
def test_objects_are_tables(con, make):
    con.register("objects", make())
    assert con.execute("SELECT id, name, v FROM objects ORDER BY id").fetchall() == ROWS
    con.unregister("objects")
    con.unregister("objects")
    frame = make()
    assert con.sql("SELECT v, id FROM frame WHERE id > 1 ORDER BY id").fetchall() == [(1.5, 2), (None, 3)]
    frame = make()
    assert con.sql("SELECT COUNT(*) FROM frame").fetchone() == (3,)
    del frame


def test_tuples_have_names_that_are_given(con):
    con.register("t", ROWS, columns=["id", "name", "v"])
    assert con.execute("SELECT name FROM t WHERE id = 3").fetchall() == [("c",)]
    con.register("t", ROWS)
    assert con.execute("SELECT column1 FROM t WHERE column0 = 3").fetchall() == [("c",)]


def test_pandas_types(con):
    frame = pd.DataFrame(
        {
            "i": np.array([1, 2], "int16"), "f": [0.5, np.nan], "b": [True, False], "s": ["a", None], "o": [D("1.10"), None],
            "at": pd.to_datetime(["2024-01-02 03:04:05", None]), "d": pd.to_timedelta(["1h", None]), "c": pd.Categorical(["x", None]),
            "day": [datetime.date(2024, 1, 2), None], 7: [1, 2],
        },
        index=["p", "q"],
    )  # fmt: skip
    rows = con.sql("SELECT * FROM frame").fetchall()
    assert rows[0] == (1, 0.5, 1, "a", D("1.10"), datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.timedelta(hours=1), "x", datetime.date(2024, 1, 2), 1)
    assert rows[1] == (2, None, 0, None, None, None, None, None, None, 2)
    assert con.sql("SELECT `7`, i FROM frame").fetchall() == [(1, 1), (2, 2)]


def test_only_the_columns_that_are_read_are_converted(con):
    frame = pd.DataFrame({"good": [1, 2], "bad": [object(), object()]})
    with pytest.raises(mayfly.Error) as caught:
        con.sql("SELECT good FROM frame")
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid)


GLOBAL = pa.table({"n": [7]})


def test_variables_of_the_caller(con):
    local = pa.table({"n": [1]})  # noqa: F841
    assert con.sql("SELECT local.n + GLOBAL.n FROM local, GLOBAL").fetchone() == (8,)
    assert con.cursor().execute("SELECT n FROM local").fetchone() == (1,)
    assert con.sql("SELECT a.n + b.n FROM local a JOIN local b USING (n)").fetchone() == (2,)
    assert con.sql("SELECT n + ? FROM local WHERE n < ?", (1, 9)).fetchone() == (2,)
    con.execute("CREATE TABLE local (n VARCHAR(9))")
    con.execute("INSERT INTO local VALUES ('table')")
    assert con.sql("SELECT n FROM local").fetchone() == ("table",)
    con.execute("CREATE TABLE copy AS SELECT * FROM GLOBAL")
    assert con.sql("SELECT n FROM copy").fetchone() == (7,)

    def inner():
        return con.sql("SELECT n FROM only_here")

    only_here = pa.table({"n": [1]})  # noqa: F841
    with pytest.raises(mayfly.ProgrammingError) as caught:
        inner()
    assert caught.value.errno == 1146
    for wrong in ("con", "test.GLOBAL", "pa"):
        with pytest.raises(mayfly.ProgrammingError):
            con.sql(f"SELECT * FROM {wrong}")


def test_variables_change(con):
    for count in (1, 2, 3):
        frame = pa.table({f"c{count}": list(range(count))})  # noqa: F841
        assert con.sql("SELECT * FROM frame").arrow().column_names == [f"c{count}"]
        assert con.sql("SELECT COUNT(*) FROM frame WHERE 1 = ?", (1,)).fetchone() == (count,)


def test_variables_can_be_switched_off():
    con = mayfly.connect(python_variables=False)
    frame = pa.table({"n": [1]})
    with pytest.raises(mayfly.ProgrammingError):
        con.sql("SELECT * FROM frame")
    con.register("frame", frame)
    assert con.sql("SELECT * FROM frame").fetchone() == (1,)


def test_registered_objects_belong_to_their_connection(con):
    con.register("mine", pa.table({"n": [1]}))
    with pytest.raises(mayfly.ProgrammingError):
        con.connect().execute("SELECT * FROM mine")
    with pytest.raises(TypeError):
        con.register("mine", object())
    with pytest.raises(ValueError):
        con.register("mine", [])
    with pytest.raises(mayfly.Error):
        con.execute("INSERT INTO mine VALUES (2)")


def test_streams_are_read_once(con):
    con.register("once", pa.table({"n": [1, 2]}).to_reader())
    assert con.execute("SELECT SUM(n) FROM once").fetchone() == (3,)
    with pytest.raises(mayfly.Error, match="read once"):
        con.execute("SELECT SUM(n) FROM once")
    reader = pa.table({"n": [1, 2]}).to_reader()  # noqa: F841
    with pytest.raises(mayfly.Error, match="read once"):
        con.sql("SELECT COUNT(*) FROM reader a, reader b").fetchall()


def test_endless_generators(con):
    def numbers():
        for number in itertools.count():
            yield {"n": number, "text": str(number)}

    con.register("endless", numbers())
    assert con.execute("SELECT n FROM endless WHERE n > 5000 LIMIT 2").fetchall() == [(5001,), (5002,)]
    con.register("endless", numbers())
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        con.execute("SELECT SUM(n) FROM endless")
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_exceptions_in_iterators(con):
    def rows(broken):
        for number in range(3000):
            if number == broken:
                raise ZeroDivisionError(f"row {number}")
            yield (number,)

    con.register("early", rows(2500))
    with pytest.raises(mayfly.OperationalError, match="ZeroDivisionError: row 2500") as caught:
        con.execute("SELECT COUNT(*) FROM early")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.__cause__.__traceback__ is not None
    with pytest.raises(ZeroDivisionError):
        con.register("early", rows(10))
    broken = rows(10)  # noqa: F841
    with pytest.raises(mayfly.OperationalError) as caught:
        con.sql("SELECT * FROM broken")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    mixed = iter([(1,)] * 2000 + [("text",)])  # noqa: F841
    with pytest.raises(mayfly.Error) as caught:
        con.sql("SELECT COUNT(*) FROM mixed")
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid)


def test_iterators_that_use_the_connection(con):
    def rows():
        for number in range(2000):
            yield {"n": con.execute("SELECT ?", (number,)).fetchone()[0]}

    generator = rows()
    first = next(generator)
    con.register("uses", itertools.chain([first] * 1024, generator))
    with pytest.raises(mayfly.Error) as caught:
        con.execute("SELECT COUNT(*) FROM uses")
    assert isinstance(caught.value.__cause__, mayfly.ProgrammingError)


def test_files_and_frames_together(con, tmp_path):
    pa.parquet.write_table(pa.table({"id": [1, 2], "town": ["A", "B"]}), tmp_path / "towns.parquet")
    people = pd.DataFrame({"name": ["x", "y", "z"], "town_id": [1, 2, 2]})  # noqa: F841
    rows = con.sql(f"SELECT town, COUNT(*) FROM people JOIN '{tmp_path}/towns.parquet' t ON id = town_id GROUP BY town ORDER BY town")
    assert rows.fetchall() == [("A", 1), ("B", 2)]


def test_frames_leave_no_memory(con):
    import resource

    frame = pa.table({"n": list(range(10_000)), "s": ["text of the row"] * 10_000})  # noqa: F841

    def run(times, frame=frame):
        for _ in range(times):
            con.sql("SELECT * FROM frame").arrow()
            con.sql("SELECT n, s FROM frame ORDER BY n DESC").fetch_record_batch().read_next_batch()

    run(50)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(300)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 16 * 1024, f"{grown} KiB"
