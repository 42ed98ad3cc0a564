"""mysql-connector-python, its pure Python implementation: text protocol, and binary protocol by `cursor(prepared=True)`."""

import datetime as dt
import os
import pathlib
import subprocess
import sys
import warnings

import mysql.connector
import mysql.connector.pooling
from mysql.connector.constants import ClientFlag

import dbapi
from checks import DATABASE, HOST, PASSWORD, PORT, SERVER, SOCKET, USER, Round, equal, needs, true
from dbapi import query, scalar


class Connector(dbapi.Client):
    module = mysql.connector
    name = "connector"
    rsa = False

    def options(self, user=USER, password=PASSWORD, database=DATABASE, unix=False, tls=None, charset="utf8mb4",
                local_infile=False, multi=False, autocommit=None, native=False, **more):  # fmt: skip
        options = dict(user=user, password=password, database=database, charset=charset, use_pure=True, **more,
                       allow_local_infile=local_infile)  # fmt: skip
        if unix:
            options["unix_socket"] = SOCKET
        else:
            options.update(host=HOST, port=PORT)
        if tls is False:
            options["ssl_disabled"] = True
        if SERVER == "mariadb":
            # The default collation of the client is one of MySQL alone.
            options["collation"] = "latin1_swedish_ci" if charset == "latin1" else "utf8mb4_general_ci"
            if not unix:
                options["ssl_disabled"] = True
        if native:
            options["auth_plugin"] = "mysql_native_password"
        if autocommit is not None:
            options["autocommit"] = autocommit
        return options

    def connect(self, **options):
        return mysql.connector.connect(**self.options(**options))

    def errno(self, error):
        # It sees in the handshake that the server takes no local files.
        return 3948 if error.errno == -1 and "LOAD DATA LOCAL" in error.msg and SERVER != "mariadb" else error.errno

    def message(self, error):
        return error.msg

    def sqlstate(self, error):
        return error.sqlstate

    def lost(self, error):
        return error.errno in (2006, 2013, 2055, 4031, 1927) or "Connection not available" in error.msg

    def read(self, column, value):
        if value is None:
            return None
        if column == "c_set" and isinstance(value, (set, frozenset)):
            return ",".join(sorted(value))
        if isinstance(value, bytearray):
            value = bytes(value)
        return super().read(column, value)

    def cursors(self, connection):
        return [connection.cursor(), connection.cursor(prepared=True)]

    def described(self, cursor):
        return [{"name": d[0], "type": d[1], "flags": d[7], "charset": d[8]} for d in cursor.description]

    def stream(self, connection):
        return connection.cursor(buffered=False)


client = Connector()
round_ = Round()
dbapi.add(round_, client)
check = round_.check


def prepared(connection, sql, *executions):
    """What each execution of one prepared statement gives."""
    cursor = connection.cursor(prepared=True)
    try:
        results = []
        for values in executions:
            cursor.execute(sql, values)
            results.append(list(cursor.fetchall()) if cursor.description else cursor.rowcount)
        return results
    finally:
        cursor.close()


@check
def types__prepared():
    connection = client.connect()
    query(connection, "SET time_zone = '+00:00'")
    # Its binary protocol has no YEAR, and reads and writes the sign of a TIME for the days alone.
    columns = [column for column in dbapi.COLUMNS if column not in ("c_year", "c_time")]
    client.same_values(prepared(connection, f"SELECT {', '.join(columns)} FROM every_type ORDER BY id", ())[0], columns)
    equal(prepared(connection, "SELECT c_time FROM every_type WHERE id = ?", (2,))[0], [(dbapi.HIGH["c_time"],)])
    equal(prepared(connection, "SELECT c_time FROM every_type WHERE id = ?", (3,))[0], [(None,)])
    exact = prepared(connection, "SELECT c_float FROM every_type ORDER BY id", ())[0]
    true(abs(exact[0][0] - -3.40282e38) < 1e33, f"FLOAT as four bytes: {exact}")
    connection.close()


@check
def types__prepared_parameters():
    def execute(connection, sql, values):
        cursor = connection.cursor(prepared=True)
        time = dbapi.COLUMNS.index("c_time") + 1
        values[time] = {-35: "-838:59:59", -2: "-25:00:00.5"}.get(getattr(values[time], "days", None), values[time])
        cursor.execute(sql.replace("%s", "?"), values)
        cursor.close()

    client.written_again(execute)


@check
def types__prepared_expressions():
    connection = client.connect()
    got = prepared(
        connection,
        "SELECT ?, ?, ?, ?, ?, ?, ? + 1, CONCAT(?, 'x'), ? IS NULL",
        (1, "text", None, 1.5, dt.date(2024, 2, 29), dt.timedelta(hours=30, microseconds=1), 41, "ü", None),
    )[0][0]
    equal((got[0], dbapi.text(got[1]), got[2], got[3], got[6], dbapi.text(got[7]), got[8]), (1, "text", None, 1.5, 42, "üx", 1))
    equal(got[5], dt.timedelta(hours=30, microseconds=1))
    connection.close()


@check
def prepared__executed_again():
    connection = client.connect()
    results = prepared(connection, "SELECT ?, ?", (1, "a"), ("x", 2.5), (None, None), (2**63, b"\x00\xff"), (-1, dt.datetime(2024, 1, 2, 3, 4, 5, 6)))
    got = [tuple(dbapi.text(v) if isinstance(v, bytearray) and v[:1] != b"\0" else v for v in rows[0]) for rows in results]
    equal(got[0], (1, "a"))
    equal(got[1], ("x", 2.5))
    equal(got[2], (None, None))
    equal((got[3][0], bytes(got[3][1].encode("latin1") if isinstance(got[3][1], str) else got[3][1])[:1]), (2**63, b"\0"))
    equal(got[4][0], -1)
    connection.close()


@check
def prepared__many_parameters():
    connection = client.connect()
    values = list(range(5000))
    equal(prepared(connection, f"SELECT 999 IN ({', '.join('?' * 1000)})", values[:1000])[0], [(1,)])
    equal(prepared(connection, f"SELECT COUNT(*) FROM (VALUES {', '.join(['ROW(?)'] * 5000)}) t" if SERVER != "mariadb" else
                   f"SELECT COUNT(*) FROM (VALUES {', '.join(['(?)'] * 5000)}) t", values)[0][0][0], 5000)  # fmt: skip
    too_many = f"SELECT {', '.join('?' * 65536)}"
    dbapi.fails(client, lambda: prepared(connection, too_many, [1] * 65536), 1390, "HY000", "Prepared statement contains too many placeholders")
    equal(scalar(connection, "SELECT 1"), 1)
    connection.close()


@check
def prepared__long_data():
    connection = client.connect()
    query(connection, "DROP TABLE IF EXISTS long_data")
    query(connection, "CREATE TABLE long_data (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)")
    blob = bytes(range(256)) * (8 * 4096)
    prepared(connection, "INSERT INTO long_data VALUES (?, ?, ?)", (1, blob, "ü" * 100000), (2, b"", ""), (3, None, None))
    connection.commit()
    equal(query(connection, "SELECT LENGTH(b), CHAR_LENGTH(t) FROM long_data ORDER BY id"), [(len(blob), 100000), (0, 0), (None, None)])
    true(bytes(prepared(connection, "SELECT b FROM long_data WHERE id = ?", (1,))[0][0][0]) == blob, "the value differs")
    connection.close()


@check
def prepared__stream_as_long_data():
    """A file object goes as COM_STMT_SEND_LONG_DATA."""
    import io

    connection = client.connect()
    query(connection, "DROP TABLE IF EXISTS long_data")
    query(connection, "CREATE TABLE long_data (id INT PRIMARY KEY, b LONGBLOB)")
    blob = bytes(range(256)) * (20 * 4096)
    prepared(connection, "INSERT INTO long_data VALUES (?, ?)", (1, io.BytesIO(blob)), (2, io.BytesIO(b"short")), (3, b"plain"))
    connection.commit()
    equal(query(connection, "SELECT LENGTH(b), SHA2(b, 256) = SHA2(%s, 256) FROM long_data ORDER BY id", (blob,)), [(len(blob), 1), (5, 0), (5, 0)])
    connection.close()


@check
def prepared__errors():
    connection = client.connect()
    dbapi.fails(client, lambda: prepared(connection, "SELECT * FROM nosuch WHERE id = ?", (1,)), 1146, "42S02")
    dbapi.fails(client, lambda: prepared(connection, "SELEC ?", (1,)), 1064, "42000")
    dbapi.fails(client, lambda: prepared(connection, "INSERT INTO every_type (id) VALUES (?)", (1,)), 1062, "23000")
    query(connection, "DROP TABLE IF EXISTS vanishing")
    query(connection, "CREATE TABLE vanishing (id INT)")
    cursor = connection.cursor(prepared=True)
    cursor.execute("SELECT * FROM vanishing WHERE id = ?", (1,))
    cursor.fetchall()
    query(connection, "ALTER TABLE vanishing ADD COLUMN v INT")
    query(connection, "INSERT INTO vanishing VALUES (1, 2)")
    cursor.execute("SELECT * FROM vanishing WHERE id = ?", (1,))
    equal(cursor.fetchall(), [(1, 2)], "prepared again by the server")
    query(connection, "DROP TABLE vanishing")
    dbapi.fails(client, lambda: cursor.execute("SELECT * FROM vanishing WHERE id = ?", (1,)), 1146)
    cursor.close()
    connection.close()


@check
def prepared__unbuffered():
    connection = client.connect()
    cursor = connection.cursor(prepared=True)
    cursor.execute("SELECT id FROM every_type WHERE id >= ? ORDER BY id", (2,))
    equal([tuple(cursor.fetchone()) for _ in range(3)], [(2,), (3,), (4,)])
    equal(cursor.fetchone(), None)
    cursor.close()
    connection.close()


@check
def cursors__unbuffered():
    connection = client.connect()
    cursor = connection.cursor(buffered=False)
    cursor.execute("SELECT id FROM every_type ORDER BY id")
    equal(cursor.fetchone(), (1,))
    try:
        query(connection, "SELECT 1")
        raise AssertionError("no error")
    except mysql.connector.errors.InternalError as error:
        true("Unread result" in str(error), str(error))
    equal(cursor.fetchmany(2), [(2,), (3,)])
    equal(cursor.fetchall(), [(4,)])
    cursor.close()
    cursor = connection.cursor(dictionary=True)
    cursor.execute("SELECT id, c_enum FROM every_type WHERE id = %(id)s", {"id": 2})
    equal(cursor.fetchall(), [{"id": 2, "c_enum": "large"}])
    connection.close()


@check
def warnings__fetched():
    connection = client.connect(get_warnings=True)
    cursor = connection.cursor()
    cursor.execute("SELECT CAST('1x' AS SIGNED)")
    cursor.fetchall()
    equal(cursor.warning_count, 1)
    equal([(row[0], row[1]) for row in cursor.warnings], [("Warning", 1292)])
    cursor.close()
    cursor = connection.cursor(prepared=True)
    cursor.execute("SELECT CAST(? AS SIGNED)", ("2y",))
    cursor.fetchall()
    equal(cursor.warning_count, 1)
    connection.close()


@check
def multi__statements():
    connection = client.connect()
    cursor = connection.cursor()
    results = []
    cursor.execute("SELECT 1; SET @a = 5; SELECT @a UNION ALL SELECT 6")
    while True:
        results.append(cursor.fetchall() if cursor.with_rows else None)
        if not cursor.nextset():
            break
    equal(results, [[(1,)], None, [(5,), (6,)]])
    cursor.close()
    equal(scalar(connection, "SELECT 2"), 2)
    connection.close()


@check
def reset__session():
    connection = client.connect()
    query(connection, "CREATE TEMPORARY TABLE scratch (a INT)")
    query(connection, "SET @kept = 1, SESSION sql_mode = ''")
    query(connection, "SET NAMES latin1")
    query(connection, "BEGIN")
    query(connection, "INSERT INTO every_type (id) VALUES (77)")
    number = connection.connection_id
    cursor = connection.cursor(prepared=True)
    cursor.execute("SELECT ?", (1,))
    cursor.fetchall()
    connection.cmd_reset_connection()
    equal(scalar(connection, "SELECT CONNECTION_ID()"), number)
    equal(query(connection, "SELECT @kept, @@sql_mode = '', DATABASE()"), [(None, 0, DATABASE)])
    equal(scalar(connection, "SELECT COUNT(*) FROM every_type WHERE id = 77"), 0, "rolled back")
    dbapi.fails(client, lambda: query(connection, "SELECT * FROM scratch"), 1146)
    connection.reset_session(user_variables={"kept": 5}, session_variables={"sql_mode": "ANSI_QUOTES"})
    equal(query(connection, "SELECT @kept, @@sql_mode"), [(5, "ANSI_QUOTES")])
    connection.close()


@check
def reset__change_user():
    connection = client.connect()
    query(connection, "DROP USER IF EXISTS 'connector_other'@'%'")
    query(connection, "CREATE USER 'connector_other'@'%' IDENTIFIED BY 'other'")
    query(connection, "GRANT ALL ON *.* TO 'connector_other'@'%'")
    query(connection, "CREATE TEMPORARY TABLE scratch (a INT)")
    for _ in ("full", "fast"):
        connection.cmd_change_user("connector_other", "other", DATABASE)
        equal(dbapi.text(scalar(connection, "SELECT CURRENT_USER()")), "connector_other@%")
    dbapi.fails(client, lambda: query(connection, "SELECT * FROM scratch"), 1146)
    dbapi.fails(client, lambda: connection.cmd_change_user("connector_other", "wrong", DATABASE), 1045)
    connection.close()


@check
def reconnect__ping():
    connection = client.killed(lambda connection: query(connection, "SELECT 1"))
    true(not connection.is_connected(), "still connected")
    connection.ping(reconnect=True, attempts=2)
    equal(scalar(connection, "SELECT 1"), 1)
    true(connection.is_connected(), "not connected")
    connection.reconnect()
    equal(scalar(connection, "SELECT DATABASE()"), DATABASE)
    connection.close()


@check
def reconnect__pool():
    pool = mysql.connector.pooling.MySQLConnectionPool(pool_name="round", pool_size=2, **client.options())
    one, two = pool.get_connection(), pool.get_connection()
    try:
        pool.get_connection()
        raise AssertionError("a third of two")
    except mysql.connector.errors.PoolError:
        pass
    query(one, "SET @left_behind = 1")
    query(one, "CREATE TEMPORARY TABLE left_behind (a INT)")
    number = one.connection_id
    one.close()
    again = pool.get_connection()
    equal(again.connection_id, number)
    equal(scalar(again, "SELECT @left_behind"), None, "reset when it went back")
    dbapi.fails(client, lambda: query(again, "SELECT * FROM left_behind"), 1146)
    again.close()
    query(two, f"KILL {number}")
    third = pool.get_connection()
    equal(scalar(third, "SELECT 1"), 1, "in place of the one that was killed")
    third.close()
    two.close()


@check
def connect__commands():
    connection = client.connect()
    connection.cmd_ping()
    true("uptime" in {key.lower() for key in connection.cmd_statistics()}, "statistics")
    connection.cmd_init_db("information_schema")
    equal(scalar(connection, "SELECT DATABASE()"), "information_schema")
    dbapi.fails(client, lambda: connection.cmd_init_db("nosuch"), 1049)
    connection.close()


@check
def connect__attributes():
    needs(SERVER != "mariadb", "performance_schema")
    connection = client.connect(conn_attrs={"program": "the round"})
    rows = query(connection, "SELECT attr_name, attr_value FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID()")
    equal(dict(rows)["program"], "the round")
    equal(dict(rows)["_client_name"], "mysql-connector-python")
    connection.close()


@check
def connect__compression():
    connection = client.connect(compress=True)
    equal(dbapi.status(connection, "Compression"), "ON")
    equal(len(scalar(connection, "SELECT REPEAT('x', 1000000)")), 1000000)
    client.same_values(query(connection, client.select_every_type))
    value = bytes(range(256)) * 65536 * 2
    true(bytes(scalar(connection, "SELECT CAST(%s AS BINARY) AS v", (value,))) == value, "32 MiB there and back")
    connection.close()


ZSTD = """
from mysql.connector.connection_cext import CMySQLConnection

from checks import HOST, PASSWORD, PORT, USER

connection = CMySQLConnection(host=HOST, port=PORT, user=USER, password=PASSWORD, client_flags=[1 << 26])
cursor = connection.cursor()
cursor.execute("SHOW STATUS LIKE 'Compression%'")
print(*(value for _, value in cursor.fetchall()))
value = bytes(range(256)) * 65536 * 2
cursor.execute("SELECT CAST(%s AS BINARY) AS v", (value,))
print(bytes(cursor.fetchall()[0][0]) == value)
"""


@check
def connect__zstd():
    """The C library of MySQL that comes with this client knows zstd, unlike all others here; it wants the TLS library beside it."""
    needs(SERVER != "mariadb", "zstd")
    vendor = pathlib.Path(mysql.connector.__file__).parents[1] / "vendor"
    environment = dict(os.environ, LD_LIBRARY_PATH=str(vendor), PYTHONPATH=str(pathlib.Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", ZSTD], env=environment, capture_output=True, text=True, timeout=120)
    equal((done.stdout, done.stderr), ("ON zstd 3\nTrue\n", ""))


@check
def results__found_rows():
    connection = client.connect(client_flags=[ClientFlag.FOUND_ROWS])
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE same (v INT)")
    cursor.execute("INSERT INTO same VALUES (1), (1)")
    cursor.execute("UPDATE same SET v = 1")
    equal(cursor.rowcount, 2)
    connection.close()


warnings.simplefilter("ignore")
round_.run()
