"""The checks that the clients of Python's DB-API share. What differs between them is a `Client`'s method."""

import datetime as dt
import decimal
import json
import random

from checks import (
    DATABASE,
    HOST,
    MIB,
    PASSWORD,
    PORT,
    SERVER,
    SOCKET,
    TEMPORARY,
    USER,
    Background,
    equal,
    needs,
    rows_of,
    statements,
    true,
    wait_until,
)

D = decimal.Decimal
decimal.getcontext().prec = 70
TEXT = "ü€😀"
BINARY = b"\x00\xff'\"\\\n\r\x1a"
DAY = dt.timedelta(days=1)


def time_of(sign, hours, minutes, seconds, microseconds=0):
    return sign * dt.timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds)


# What the four rows of common/types.sql are in Python, without the columns in which the clients differ:
# c_bit, c_set and c_json.
LOW = {
    "c_tinyint": -128, "u_tinyint": 0, "c_smallint": -32768, "u_smallint": 0, "c_mediumint": -8388608, "u_mediumint": 0,
    "c_int": -2147483648, "u_int": 0, "c_bigint": -(2**63), "u_bigint": 0,
    "c_decimal": D("-99999999999999999999999999999999999.999999999999999999999999999999"),
    "c_float": -3.40282e38, "c_double": -1.7976931348623157e308, "c_bit": 0, "c_year": 1901,
    "c_date": dt.date(1000, 1, 1), "c_time": time_of(-1, 838, 59, 59), "c_datetime": dt.datetime(1000, 1, 1),
    "c_timestamp": dt.datetime(1970, 1, 1, 0, 0, 1),
    "c_char": "", "c_varchar": "", "c_binary": bytes(8), "c_varbinary": b"", "c_tinytext": "", "c_text": "",
    "c_mediumtext": "", "c_longtext": "", "c_tinyblob": b"", "c_blob": b"", "c_mediumblob": b"", "c_longblob": b"",
    "c_enum": "small", "c_set": "", "c_json": {},
}  # fmt: skip
HIGH = {
    "c_tinyint": 127, "u_tinyint": 255, "c_smallint": 32767, "u_smallint": 65535, "c_mediumint": 8388607,
    "u_mediumint": 16777215, "c_int": 2147483647, "u_int": 4294967295, "c_bigint": 2**63 - 1, "u_bigint": 2**64 - 1,
    "c_decimal": D("99999999999999999999999999999999999.999999999999999999999999999999"),
    "c_float": 3.40282e38, "c_double": 1.7976931348623157e308, "c_bit": 2**64 - 1, "c_year": 2155,
    "c_date": dt.date(9999, 12, 31), "c_time": time_of(1, 838, 59, 59),
    "c_datetime": dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
    "c_timestamp": dt.datetime(2038, 1, 19, 3, 14, 7, 999999),
    "c_char": f"zehn {TEXT}", "c_varchar": f"varchar {TEXT} '\"\\", "c_binary": BINARY, "c_varbinary": BINARY + b"\0",
    "c_tinytext": f"tiny {TEXT}", "c_text": f"text {TEXT}", "c_mediumtext": f"medium {TEXT}", "c_longtext": f"long {TEXT}",
    "c_tinyblob": BINARY, "c_blob": b"\1" + BINARY[1:], "c_mediumblob": b"\2" + BINARY[1:],
    "c_longblob": b"\3" + BINARY[1:], "c_enum": "large", "c_set": "a,b,c,d",
    "c_json": {"a": [1, 2.5, None, True, "é"], "b": {"c": "😀"}},
}  # fmt: skip
MIDDLE = {
    "c_tinyint": 0, "u_tinyint": 1, "c_smallint": 0, "u_smallint": 1, "c_mediumint": 0, "u_mediumint": 1, "c_int": 0,
    "u_int": 1, "c_bigint": 0, "u_bigint": 2**63, "c_decimal": D("0.000000000000000000000000000001"), "c_float": 1.5,
    "c_double": 1e-300, "c_bit": 258, "c_year": 2000, "c_date": dt.date(2024, 2, 29),
    "c_time": time_of(-1, 25, 0, 0, 500000), "c_datetime": dt.datetime(2024, 2, 29, 12, 34, 56, 1),
    "c_timestamp": dt.datetime(2024, 2, 29, 12, 34, 56, 789000),
    "c_char": "abc", "c_varchar": "a b ", "c_binary": b"abc" + bytes(5), "c_varbinary": b"abc", "c_tinytext": "0",
    "c_text": "a\nb", "c_mediumtext": "a\tb", "c_longtext": "NULL", "c_tinyblob": b"a", "c_blob": b"b",
    "c_mediumblob": b"c", "c_longblob": b"d", "c_enum": "medium", "c_set": "b,d", "c_json": [],
}  # fmt: skip
NULLS = dict.fromkeys(LOW)
ROWS = [LOW, HIGH, NULLS, MIDDLE]
COLUMNS = list(LOW)


class Client:
    """What the shared checks need of a client. `options` of `connect`: user, password, database, unix, tls (None leaves it to
    the client), compress, charset, local_infile, multi, autocommit, attributes, client_plugin."""

    # The module: its exceptions, and `paramstyle` of the marks in `mark`.
    module = None
    # A name for accounts.
    name = ""
    mark = "%s"
    # PyMySQL sends passwords in Latin-1 only, which no server expects.
    password = "pä55 wörd€"
    # Whether it encrypts a password with the server's RSA key where there is no TLS.
    rsa = True
    # Of a client that shows no errors of the server for a capability that the server does not offer.
    own_errno = None

    def connect(self, **options):
        raise NotImplementedError

    def errno(self, error):
        return error.args[0]

    def message(self, error):
        return error.args[1]

    def sqlstate(self, error):
        """None where the client does not tell."""
        return None

    def lost(self, error):
        return self.errno(error) in (2006, 2013, 4031, 1927)

    def cursors(self, connection):
        """A cursor of each kind."""
        return [connection.cursor()]

    def described(self, cursor):
        """What the client is told of each column of a result: name, type, charset, length, flags and decimals, as far as it says."""
        raise NotImplementedError

    def read(self, column, value):
        """A value as ROWS have it: BIT as a number, SET as text, JSON parsed."""
        if value is None:
            return None
        if column == "c_bit" and isinstance(value, (bytes, bytearray)):
            return int.from_bytes(value, "big")
        if column == "c_json":
            return json.loads(value)
        return value

    def write(self, column, value):
        """A value of ROWS as a parameter of the client."""
        if value is None:
            return None
        if column == "c_json":
            return json.dumps(value, ensure_ascii=False)
        return value


def query(connection, sql, parameters=None):
    """All rows of a statement."""
    cursor = connection.cursor()
    try:
        if parameters is None:
            cursor.execute(sql)
        else:
            cursor.execute(sql, parameters)
        return list(cursor.fetchall()) if cursor.description else []
    finally:
        cursor.close()


def scalar(connection, sql, parameters=None):
    return query(connection, sql, parameters)[0][0]


def text(value):
    return value.decode() if isinstance(value, (bytes, bytearray)) else value


def status(connection, name):
    rows = query(connection, f"SHOW STATUS LIKE '{name}'")
    return text(rows[0][1]) if rows else ""


def fails(client, work, errno, sqlstate=None, message=None):
    """The error that the work ends with, which must be this one."""
    try:
        work()
    except client.module.Error as error:
        equal(client.errno(error), errno, f"errno ({error})")
        if sqlstate is not None and client.sqlstate(error) is not None:
            equal(client.sqlstate(error), sqlstate, "SQLSTATE")
        if message is not None:
            true(message in client.message(error), f"text {client.message(error)!r}, expected {message!r}")
        return error
    raise AssertionError(f"no error, expected {errno}")


def add(round_, client):
    """Adds the shared checks to a suite."""
    check = round_.check
    name = client.name

    def account(kind, plugin, password):
        """Makes an account afresh, so that no server remembers its password."""
        user = f"{name}_{kind}"
        with_plugin = f"IDENTIFIED WITH {plugin} BY '{password}'" if SERVER != "mariadb" else f"IDENTIFIED BY '{password}'"
        connection = client.connect()
        query(connection, f"DROP USER IF EXISTS '{user}'@'%'")
        query(connection, f"CREATE USER '{user}'@'%' {with_plugin}")
        query(connection, f"GRANT ALL ON *.* TO '{user}'@'%'")
        connection.close()
        return user

    @check
    def setup():
        connection = client.connect(database=None)
        query(connection, f"DROP DATABASE IF EXISTS {DATABASE}")
        query(connection, f"CREATE DATABASE {DATABASE} DEFAULT CHARACTER SET utf8mb4")
        query(connection, "SET GLOBAL local_infile = 1")
        query(connection, "SET GLOBAL max_allowed_packet = 67108864")
        query(connection, f"USE {DATABASE}")
        query(connection, "SET time_zone = '+00:00'")
        for sql in statements("types.sql"):
            query(connection, sql)
        connection.commit()
        connection.close()

    @check
    def metadata__of_every_type():
        needs(SERVER != "mariadb", "MariaDB's flags and lengths differ")
        connection = client.connect()
        for cursor in client.cursors(connection):
            cursor.execute("SELECT * FROM every_type t ORDER BY id LIMIT 0")
            cursor.fetchall()
            for told, (column, *rest) in zip(client.described(cursor), rows_of("metadata.tsv"), strict=True):
                expected = dict(zip(("type", "charset", "length", "flags", "decimals"), map(int, rest)), name=column)
                equal(told, {fact: expected.get(fact) for fact in told}, column)
            cursor.close()
        connection.close()

    def open_():
        connection = client.connect()
        query(connection, "SET time_zone = '+00:00'")
        return connection

    @check
    def connect__tcp():
        connection = client.connect()
        equal(query(connection, "SELECT 1, DATABASE()"), [(1, DATABASE)])
        equal(text(scalar(connection, "SELECT CURRENT_USER()")).split("@")[0], USER)
        connection.close()

    @check
    def connect__unix_socket():
        connection = client.connect(unix=True)
        equal(query(connection, "SELECT 1, DATABASE()"), [(1, DATABASE)])
        connection.close()

    @check
    def connect__no_database():
        connection = client.connect(database=None)
        equal(scalar(connection, "SELECT DATABASE()"), None)
        fails(client, lambda: query(connection, "SELECT * FROM every_type"), 1046, "3D000", "No database selected")
        connection.close()

    @check
    def connect__unknown_database():
        fails(client, lambda: client.connect(database="nosuch"), 1049, "42000", "Unknown database 'nosuch'")

    @check
    def connect__wrong_password():
        user = account("right", "caching_sha2_password", "right")
        wrong = f"Access denied for user '{user}'@"
        for password in ("wrong", ""):
            error = fails(client, lambda: client.connect(user=user, password=password), 1045, "28000", wrong)
            said = "YES" if password else "NO"
            true(f"(using password: {said})" in client.message(error), client.message(error))
        connection = client.connect(user=user, password="right")
        equal(scalar(connection, "SELECT 1"), 1)
        connection.close()

    @check
    def connect__unknown_user():
        needs(SERVER != "mariadb", "MariaDB's test account for everyone")
        fails(client, lambda: client.connect(user="nobody_here", password="x"), 1045, "28000", "Access denied for user 'nobody_here'@")

    @check
    def connect__caching_sha2_over_tls():
        needs(SERVER != "mariadb", "MariaDB 10.11 has no caching_sha2_password")
        user = account("tls", "caching_sha2_password", client.password)
        for _ in ("full", "fast"):
            connection = client.connect(user=user, password=client.password, tls=True)
            true(status(connection, "Ssl_cipher") != "", "no cipher")
            equal(text(scalar(connection, "SELECT CURRENT_USER()")), f"{user}@%")
            connection.close()

    @check
    def connect__caching_sha2_by_rsa():
        needs(SERVER != "mariadb", "MariaDB 10.11 has no caching_sha2_password")
        user = account("rsa", "caching_sha2_password", "secret")
        for _ in ("full", "fast") if client.rsa else ():
            connection = client.connect(user=user, password="secret", tls=False)
            equal(status(connection, "Ssl_cipher"), "")
            equal(text(scalar(connection, "SELECT CURRENT_USER()")), f"{user}@%")
            connection.close()
        connection = client.connect(user=user, password="secret", unix=True)
        connection.close()
        connection = client.connect(user=user, password="secret", tls=False)
        equal(text(scalar(connection, "SELECT CURRENT_USER()")), f"{user}@%", "fast, whatever the first was")
        connection.close()

    @check
    def connect__native_password():
        needs(SERVER != "mysql", "MySQL 9 has no mysql_native_password")
        user = account("native", "mysql_native_password", "secret")
        connection = client.connect(user=user, password="secret", native=True)
        equal(text(scalar(connection, "SELECT CURRENT_USER()")), f"{user}@%")
        connection.close()
        fails(client, lambda: client.connect(user=user, password="wrong", native=True), 1045, "28000", "Access denied for user")

    @check
    def connect__empty_password():
        user = account("empty", "caching_sha2_password", "")
        for tls in (None, False):
            connection = client.connect(user=user, password="", tls=tls)
            equal(scalar(connection, "SELECT 1"), 1)
            connection.close()
        fails(client, lambda: client.connect(user=user, password="some"), 1045, "28000", "using password: YES")

    @check
    def connect__tls():
        needs(SERVER != "mariadb", "started without TLS")
        connection = client.connect(tls=True)
        true(status(connection, "Ssl_cipher") != "", "no cipher")
        true(status(connection, "Ssl_version").startswith("TLSv1."), "version")
        equal(len(query(connection, "SELECT * FROM every_type")), 4)
        connection.close()
        connection = client.connect(tls=False)
        equal(status(connection, "Ssl_cipher"), "")
        connection.close()

    def same_values(rows, columns=COLUMNS):
        equal(len(rows), 4)
        for expected, row in zip(ROWS, rows, strict=True):
            for column, value in zip(columns, row, strict=True):
                got = client.read(column, value)
                if column == "c_float" and got is not None:
                    # FLOAT goes as six digits in the text protocol, as four bytes in the other.
                    true(abs(got - expected[column]) <= abs(expected[column]) * 1e-6, f"c_float: {got}")
                else:
                    equal(got, expected[column], column)
                    true(got is None or type(got) is type(expected[column]), f"{column}: {type(got)}")

    SELECT = f"SELECT {', '.join(COLUMNS)} FROM {{}} ORDER BY id"
    client.select_every_type = SELECT.format("every_type")
    client.same_values = same_values

    @check
    def types__text():
        connection = open_()
        same_values(query(connection, SELECT.format("every_type")))
        connection.close()

    def written_again(execute):
        """Writes the rows through parameters; the server compares them with the ones it has from literals."""
        connection = open_()
        query(connection, "DROP TABLE IF EXISTS written")
        query(connection, "CREATE TABLE written LIKE every_type")
        marks = ", ".join([client.mark] * (len(COLUMNS) + 1))
        for number, row in enumerate(ROWS, 1):
            values = [client.write(column, row[column]) for column in COLUMNS]
            execute(connection, f"INSERT INTO written VALUES ({marks})", [number, *values])
        connection.commit()
        for column in COLUMNS:
            different = f"SELECT COUNT(*) FROM every_type e JOIN written w USING (id) WHERE NOT e.{column} <=> w.{column}"
            equal(scalar(connection, different), 0, column)
        same_values(query(connection, SELECT.format("written")))
        connection.close()

    client.written_again = written_again

    @check
    def types__parameters():
        written_again(lambda connection, sql, values: query(connection, sql, values))

    @check
    def types__expressions():
        connection = open_()
        rows = query(
            connection,
            "SELECT NULL, TRUE, 1 + 1, 1 / 3, 2.50, 1e0, 'text', X'00ff', CAST('12:00:00' AS TIME), CAST('2024-01-01' AS DATE),"
            " COUNT(*), SUM(c_int), AVG(c_int), GROUP_CONCAT(c_enum ORDER BY id) FROM every_type",
        )
        got = [text(value) if index in (6, 13) else value for index, value in enumerate(rows[0])]
        equal(got, [
            None, 1, 2, D("0.3333"), D("2.50"), 1.0, "text", b"\x00\xff", dt.timedelta(hours=12), dt.date(2024, 1, 1), 4,
            D(-1), D("-0.3333"), "small,large,medium",
        ])  # fmt: skip
        connection.close()

    @check
    def types__zero_dates():
        connection = open_()
        query(connection, "SET sql_mode = ''")
        query(connection, "CREATE TEMPORARY TABLE zeros (a DATE, b DATETIME, c TIMESTAMP NULL)")
        query(connection, "INSERT INTO zeros VALUES (0, 0, 0), ('2024-00-00', '2024-01-00', NULL)")
        rows = query(connection, "SELECT CONCAT(a), CONCAT(b), CONCAT(c) FROM zeros")
        equal([tuple(map(text, row)) for row in rows], [
            ("0000-00-00", "0000-00-00 00:00:00", "0000-00-00 00:00:00"), ("2024-00-00", "2024-01-00 00:00:00", None),
        ])  # fmt: skip
        connection.close()

    for error_name, errno, sqlstate, message, sql in rows_of("errors.tsv"):

        def an_error(errno=int(errno), sqlstate=sqlstate, message=message, sql=sql):
            connection = open_()
            fails(client, lambda: query(connection, sql), errno, sqlstate,
                  message.format(database=DATABASE) if SERVER != "mariadb" else None)  # fmt: skip
            equal(scalar(connection, "SELECT 1"), 1, "afterwards")
            connection.close()

        an_error.__name__ = f"errors__{error_name}"
        check(an_error)

    def table(connection, name, rows=0):
        query(connection, f"DROP TABLE IF EXISTS {name}")
        query(connection, f"CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(50)) ENGINE=InnoDB")
        for number in range(rows):
            query(connection, f"INSERT INTO {name} VALUES ({number}, 'row {number}')")
        connection.commit()

    client.table = table

    @check
    def errors__lock_wait_timeout():
        one, two = open_(), open_()
        table(one, "locks", 2)
        query(one, "BEGIN")
        query(one, "UPDATE locks SET v = 'one' WHERE id = 0")
        query(two, "SET innodb_lock_wait_timeout = 1")
        query(two, "BEGIN")
        query(two, "UPDATE locks SET v = 'two' WHERE id = 1")
        fails(client, lambda: query(two, "UPDATE locks SET v = 'two' WHERE id = 0"), 1205, "HY000",
              "Lock wait timeout exceeded; try restarting transaction")  # fmt: skip
        equal(text(scalar(two, "SELECT v FROM locks WHERE id = 1")), "two", "only the statement is undone")
        one.rollback()
        query(two, "UPDATE locks SET v = 'two' WHERE id = 0")
        two.commit()
        one.close()
        two.close()

    @check
    def errors__deadlock():
        one, two = open_(), open_()
        table(one, "locks", 2)
        query(one, "BEGIN")
        query(two, "BEGIN")
        query(one, "UPDATE locks SET v = 'one' WHERE id = 0")
        query(two, "UPDATE locks SET v = 'two' WHERE id = 1")
        waiting = Background(lambda: query(one, "UPDATE locks SET v = 'one' WHERE id = 1"))
        outcomes = []
        try:
            query(two, "UPDATE locks SET v = 'two' WHERE id = 0")
        except client.module.Error as error:
            outcomes.append(error)
        if not outcomes:
            two.commit()
        try:
            waiting.join()
        except client.module.Error as error:
            outcomes.append(error)
        equal(len(outcomes), 1, "one of the two loses")
        equal(client.errno(outcomes[0]), 1213)
        true("Deadlock found when trying to get lock; try restarting transaction" in client.message(outcomes[0]), "text")
        true(client.sqlstate(outcomes[0]) in (None, "40001"), "SQLSTATE")
        one.commit()
        two.commit()
        equal(scalar(one, "SELECT COUNT(DISTINCT v) FROM locks"), 1)
        one.close()
        two.close()

    @check
    def errors__exception_classes():
        connection = open_()
        for sql, kind in (
            ("SELEC", client.module.ProgrammingError),
            ("SELECT * FROM nosuch", client.module.ProgrammingError),
            ("INSERT INTO every_type (id) VALUES (1)", client.module.IntegrityError),
        ):
            try:
                query(connection, sql)
                raise AssertionError(f"no error from {sql}")
            except client.module.Error as error:
                true(isinstance(error, kind), f"{type(error)} from {sql}")
        connection.close()

    @check
    def warnings__show():
        connection = open_()
        query(connection, "SET sql_mode = ''")
        cursor = connection.cursor()
        cursor.execute("SELECT 1 / 0, CAST('1x' AS SIGNED)")
        rows = list(cursor.fetchall())
        cursor.close()
        equal(rows, [(None, 1)])
        equal([(text(a), b, text(c)) for a, b, c in query(connection, "SHOW WARNINGS")], [
            ("Warning", 1292, "Truncated incorrect INTEGER value: '1x'")])  # fmt: skip
        query(connection, "SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO'")
        query(connection, "SELECT 1 / 0")
        equal(scalar(connection, "SELECT @@warning_count"), 1)
        query(connection, "CREATE TEMPORARY TABLE narrow (a TINYINT, b CHAR(2))")
        query(connection, "INSERT INTO narrow VALUES (1000, 'abc'), (-1000, 'abc')")
        equal([(text(a), b, text(c)) for a, b, c in query(connection, "SHOW WARNINGS LIMIT 3")], [
            ("Warning", 1264, "Out of range value for column 'a' at row 1"),
            ("Warning", 1265, "Data truncated for column 'b' at row 1"),
            ("Warning", 1264, "Out of range value for column 'a' at row 2"),
        ])  # fmt: skip
        query(connection, "DROP TABLE IF EXISTS nosuch")
        rows = query(connection, "SHOW WARNINGS")
        equal(rows[0][1], 1051)
        equal(text(rows[0][2]), f"Unknown table '{DATABASE}.nosuch'")
        connection.close()

    @check
    def results__affected_rows_and_insert_id():
        connection = open_()
        cursor = connection.cursor()
        cursor.execute("CREATE TEMPORARY TABLE counted (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE)")
        cursor.execute("INSERT INTO counted (v) VALUES (1), (2), (3)")
        equal((cursor.rowcount, cursor.lastrowid), (3, 1))
        cursor.execute("UPDATE counted SET v = v + 10 WHERE v < 3")
        equal(cursor.rowcount, 2)
        cursor.execute("UPDATE counted SET v = 11 WHERE v = 11")
        true(cursor.rowcount in (0, 1), f"rows changed or found: {cursor.rowcount}")
        cursor.execute("INSERT INTO counted (v) VALUES (3) ON DUPLICATE KEY UPDATE v = 30")
        equal(cursor.rowcount, 2)
        cursor.execute("INSERT INTO counted VALUES (9223372036854775808, 5)")
        equal(cursor.lastrowid, 2**63)
        cursor.execute("DELETE FROM counted")
        equal(cursor.rowcount, 4)
        cursor.close()
        connection.close()

    @check
    def results__executemany():
        connection = open_()
        cursor = connection.cursor()
        cursor.execute("CREATE TEMPORARY TABLE many (id INT PRIMARY KEY, v VARCHAR(20))")
        sql = "INSERT INTO many (id, v) VALUES (%s, %s)"
        cursor.executemany(sql, [(number, f"v{number}") for number in range(5000)])
        equal(cursor.rowcount, 5000)
        cursor.close()
        equal(query(connection, "SELECT COUNT(*), MAX(id), MIN(v) FROM many"), [(5000, 4999, "v0")])
        connection.close()

    @check
    def transactions__commit_and_rollback():
        one, two = open_(), open_()
        table(one, "moves")
        one.autocommit(False) if callable(one.autocommit) else setattr(one, "autocommit", False)
        query(one, "INSERT INTO moves VALUES (1, 'a')")
        equal(scalar(two, "SELECT COUNT(*) FROM moves"), 0, "not seen before commit")
        two.commit()
        one.commit()
        equal(scalar(two, "SELECT COUNT(*) FROM moves"), 1)
        two.commit()
        query(one, "INSERT INTO moves VALUES (2, 'b')")
        one.rollback()
        equal(scalar(one, "SELECT COUNT(*) FROM moves"), 1)
        one.commit()
        one.close()
        two.close()

    @check
    def transactions__autocommit():
        one = client.connect(autocommit=True)
        two = client.connect(autocommit=True)
        table(one, "moves")
        equal(scalar(one, "SELECT @@autocommit"), 1)
        query(one, "INSERT INTO moves VALUES (1, 'a')")
        equal(scalar(two, "SELECT COUNT(*) FROM moves"), 1)
        query(one, "BEGIN")
        query(one, "INSERT INTO moves VALUES (2, 'b')")
        equal(scalar(two, "SELECT COUNT(*) FROM moves"), 1)
        one.rollback()
        equal(scalar(one, "SELECT COUNT(*) FROM moves"), 1)
        one.close()
        two.close()
        three = client.connect(autocommit=False)
        equal(scalar(three, "SELECT @@autocommit"), 0)
        query(three, "INSERT INTO moves VALUES (3, 'c')")
        three.close()
        four = open_()
        equal(scalar(four, "SELECT COUNT(*) FROM moves"), 1, "what is not committed is gone with its connection")
        four.close()

    @check
    def transactions__savepoints():
        connection = open_()
        table(connection, "moves")
        query(connection, "BEGIN")
        query(connection, "INSERT INTO moves VALUES (1, 'a')")
        query(connection, "SAVEPOINT first")
        query(connection, "INSERT INTO moves VALUES (2, 'b')")
        query(connection, "SAVEPOINT second")
        query(connection, "INSERT INTO moves VALUES (3, 'c')")
        query(connection, "ROLLBACK TO SAVEPOINT first")
        fails(client, lambda: query(connection, "ROLLBACK TO SAVEPOINT second"), 1305, "42000", "SAVEPOINT second does not exist")
        query(connection, "INSERT INTO moves VALUES (4, 'd')")
        query(connection, "RELEASE SAVEPOINT first")
        connection.commit()
        equal(query(connection, "SELECT id FROM moves ORDER BY id"), [(1,), (4,)])
        connection.close()

    @check
    def transactions__isolation_levels():
        one, two = open_(), open_()
        table(one, "moves", 1)
        seen = {}
        for level in ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
            query(two, "UPDATE moves SET v = 'old'")
            two.commit()
            query(one, f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
            if SERVER != "mariadb":
                equal(text(scalar(one, "SELECT @@transaction_isolation")), level.replace(" ", "-"))
                one.commit()
            query(one, "BEGIN")
            query(one, "SELECT * FROM moves WHERE id = 5")
            if level == "SERIALIZABLE":
                query(one, "SELECT * FROM moves")
                query(two, "SET innodb_lock_wait_timeout = 1")
                fails(client, lambda: query(two, "UPDATE moves SET v = 'new'"), 1205)
                one.rollback()
                two.rollback()
                continue
            query(two, "BEGIN")
            query(two, "UPDATE moves SET v = 'new'")
            before = text(scalar(one, "SELECT v FROM moves"))
            two.commit()
            seen[level] = (before, text(scalar(one, "SELECT v FROM moves")))
            one.commit()
        # Mayfly shows nobody what may be undone.
        uncommitted = ("old" if SERVER == "mayfly" else "new", "new")
        equal(seen, {
            "READ UNCOMMITTED": uncommitted, "READ COMMITTED": ("old", "new"), "REPEATABLE READ": ("old", "old")})  # fmt: skip
        one.close()
        two.close()

    @check
    def transactions__read_only():
        connection = open_()
        table(connection, "moves", 1)
        query(connection, "START TRANSACTION READ ONLY")
        fails(client, lambda: query(connection, "DELETE FROM moves"), 1792, "25006",
              "Cannot execute statement in a READ ONLY transaction")  # fmt: skip
        connection.rollback()
        query(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        equal(scalar(connection, "SELECT COUNT(*) FROM moves"), 1)
        connection.commit()
        connection.close()

    @check
    def temporary__created_and_gone_after_reconnect():
        one, two = open_(), open_()
        query(one, "CREATE TEMPORARY TABLE scratch (id INT PRIMARY KEY, v VARCHAR(20))")
        query(one, "INSERT INTO scratch VALUES (1, 'a'), (2, 'b')")
        query(one, "CREATE TEMPORARY TABLE scratch_copy SELECT * FROM scratch WHERE id > 1")
        equal(query(one, "SELECT s.v, c.v FROM scratch s LEFT JOIN scratch_copy c USING (id) ORDER BY 1"), [("a", None), ("b", "b")])
        fails(client, lambda: query(two, "SELECT * FROM scratch"), 1146)
        one.close()
        three = open_()
        fails(client, lambda: query(three, "SELECT * FROM scratch"), 1146, "42S02", f"Table '{DATABASE}.scratch' doesn't exist")
        two.close()
        three.close()

    @check
    def temporary__hides_a_table():
        connection = open_()
        table(connection, "hidden", 3)
        query(connection, "CREATE TEMPORARY TABLE hidden (id INT)")
        equal(scalar(connection, "SELECT COUNT(*) FROM hidden"), 0)
        query(connection, "DROP TEMPORARY TABLE hidden")
        equal(scalar(connection, "SELECT COUNT(*) FROM hidden"), 3)
        connection.close()

    @check
    def large__blob_and_text_of_20_mib():
        connection = open_()
        query(connection, "DROP TABLE IF EXISTS large")
        query(connection, "CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)")
        blob = random.Random(1).randbytes(20 * MIB)
        long_text = "ab€😀é'\\\n" * (20 * MIB // 15)
        query(connection, "INSERT INTO large VALUES (1, %s, NULL)", (blob,))
        query(connection, "INSERT INTO large VALUES (2, NULL, %s)", (long_text,))
        connection.commit()
        equal(query(connection, "SELECT LENGTH(b), LENGTH(t), CHAR_LENGTH(t) FROM large ORDER BY id"), [
            (len(blob), None, None), (None, len(long_text.encode()), len(long_text))])  # fmt: skip
        true(bytes(scalar(connection, "SELECT b FROM large WHERE id = 1")) == blob, "the BLOB differs")
        true(scalar(connection, "SELECT t FROM large WHERE id = 2") == long_text, "the TEXT differs")
        connection.close()

    @check
    def large__packets_of_16_mib_exactly():
        connection = open_()
        # The packets of these results end just before, at, and behind the most that one packet holds.
        for size in (16 * MIB - 10, 16 * MIB - 6, 16 * MIB - 5, 16 * MIB - 4, 16 * MIB, 32 * MIB - 10, 32 * MIB):
            value = scalar(connection, f"SELECT REPEAT('x', {size})")
            equal(len(value), size)
        # So does the packet of this statement.
        for size in range(16 * MIB - 22, 16 * MIB - 8):
            equal(scalar(connection, f"SELECT LENGTH('{'x' * size}')"), size)
        connection.close()

    @check
    def large__beyond_max_allowed_packet():
        connection = open_()
        # An expression's value is NULL with a warning beyond it; a statement ends its connection.
        equal(scalar(connection, "SELECT REPEAT('x', @@max_allowed_packet + 1)"), None)
        equal(query(connection, "SHOW WARNINGS")[0][1], 1301)
        try:
            query(connection, f"SELECT LENGTH('{'x' * (65 * MIB)}')")
            raise AssertionError("no error")
        except client.module.Error as error:
            true(client.errno(error) in (1153, 2006, 2013, 2055, 32), f"{error}")
        after = open_()
        equal(scalar(after, "SELECT 1"), 1)
        after.close()

    @check
    def large__result_of_200000_rows():
        connection = open_()
        query(connection, "SET cte_max_recursion_depth = 1000000" if SERVER != "mariadb" else "SET max_recursive_iterations = 1000000")
        cursor = client.stream(connection)
        cursor.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
            " SELECT i, CONCAT('row ', i), i / 2 FROM n"
        )
        total, last = 0, 0
        for number, label, half in cursor:
            total += 1
            if number != last + 1 or label != f"row {number}" or half != D(number) / 2:
                raise AssertionError(f"row {total}: {number}, {label}, {half}")
            last = number
        equal(total, 200000)
        cursor.close()
        equal(scalar(connection, "SELECT 1"), 1)
        connection.close()

    def infile(content, kind="data"):
        path = TEMPORARY / f"{name}_{kind}.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def load(connection, path, target="loaded", more=""):
        cursor = connection.cursor()
        cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {target} {more}")
        loaded = cursor.rowcount
        cursor.close()
        return loaded

    @check
    def infile__a_file():
        connection = client.connect(local_infile=True)
        table(connection, "loaded")
        path = infile("".join(f"{number}\tvalue {number} {TEXT}\n" for number in range(3000)))
        equal(load(connection, path, more="CHARACTER SET utf8mb4"), 3000)
        connection.commit()
        equal(query(connection, "SELECT COUNT(*), MAX(id) FROM loaded"), [(3000, 2999)])
        equal(scalar(connection, "SELECT v FROM loaded WHERE id = 7"), f"value 7 {TEXT}")
        csv = infile('id,v\n5000,"a, ""b"""\n5001,\\N\n', "csv")
        more = "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES (id, @v) SET v = UPPER(@v)"
        equal(load(connection, csv, more=more), 2)
        equal(query(connection, "SELECT v FROM loaded WHERE id >= 5000 ORDER BY id"), [('A, "B"',), (None,)])
        connection.close()

    @check
    def infile__an_empty_file():
        connection = client.connect(local_infile=True)
        table(connection, "loaded")
        equal(load(connection, infile("", "empty")), 0)
        equal(scalar(connection, "SELECT COUNT(*) FROM loaded"), 0)
        connection.close()

    @check
    def infile__a_file_of_20_mib():
        connection = client.connect(local_infile=True)
        query(connection, "DROP TABLE IF EXISTS loaded_long")
        query(connection, "CREATE TABLE loaded_long (id INT PRIMARY KEY, v LONGTEXT)")
        path = infile(f"1\t{'x' * (18 * MIB)}\n2\t{'y' * (2 * MIB)}\n", "long")
        equal(load(connection, path, "loaded_long"), 2)
        equal(query(connection, "SELECT id, LENGTH(v), RIGHT(v, 1) FROM loaded_long ORDER BY id"), [
            (1, 18 * MIB, "x"), (2, 2 * MIB, "y")])  # fmt: skip
        connection.close()

    @check
    def infile__duplicates_are_warnings():
        connection = client.connect(local_infile=True)
        table(connection, "loaded", 1)
        equal(load(connection, infile("0\ttaken\n1\tfree\nx\tno number\n", "warn")), 1)
        equal(sorted(row[1] for row in query(connection, "SHOW WARNINGS")), [1062, 1062, 1366])
        equal(scalar(connection, "SELECT COUNT(*) FROM loaded"), 2)
        connection.close()

    @check
    def infile__an_error_in_the_middle():
        connection = client.connect(local_infile=True)
        query(connection, "DROP TABLE IF EXISTS checked")
        query(connection, "CREATE TABLE checked (id INT PRIMARY KEY, v VARCHAR(50))")
        path = infile("".join(f"{number}\tvalue\n" for number in range(200000)), "middle")
        fails(client, lambda: load(connection, path, "checked", "(id, @v) SET v = IF(id = 500, (SELECT 1 UNION SELECT 2), @v)"), 1242, "21000")
        equal(scalar(connection, "SELECT 1"), 1, "afterwards")
        fails(client, lambda: load(connection, path, "nosuch"), 1146, "42S02")
        equal(scalar(connection, "SELECT 1"), 1, "afterwards")
        connection.close()

    @check
    def infile__disabled_at_the_server():
        admin = open_()
        table(admin, "loaded")
        query(admin, "SET GLOBAL local_infile = 0")
        try:
            connection = client.connect(local_infile=True)
            path = infile("1\ta\n")
            fails(client, lambda: load(connection, path), client.own_errno or (4166 if SERVER == "mariadb" else 3948))
            equal(scalar(connection, "SELECT COUNT(*) FROM loaded"), 0)
            connection.close()
        finally:
            query(admin, "SET GLOBAL local_infile = 1")
            admin.close()

    @check
    def charset__utf8mb4():
        connection = client.connect(charset="utf8mb4")
        equal(query(connection, "SELECT %s, CHAR_LENGTH(%s), HEX(%s)", ("😀", "😀", "😀")), [("😀", 1, "F09F9880")])
        equal(text(scalar(connection, "SELECT @@character_set_client")), "utf8mb4")
        connection.close()

    @check
    def charset__latin1():
        connection = client.connect(charset="latin1")
        equal(text(scalar(connection, "SELECT @@character_set_results")), "latin1")
        equal(query(connection, "SELECT %s, HEX(%s)", ("grün", "ü")), [("grün", "FC")])
        table(connection, "umlauts")
        query(connection, "INSERT INTO umlauts VALUES (1, %s)", ("Öl",))
        connection.commit()
        equal(query(connection, "SELECT v, HEX(v) FROM umlauts"), [("Öl", "C3966C")])
        query(connection, "UPDATE umlauts SET v = CONVERT(X'F09F9880' USING utf8mb4)")
        equal(scalar(connection, "SELECT v FROM umlauts"), "?", "what latin1 has not")
        connection.close()

    def killed(how):
        connection, other = open_(), open_()
        number = scalar(connection, "SELECT CONNECTION_ID()")
        query(other, f"KILL {number}")
        wait_until(
            lambda: scalar(other, f"SELECT COUNT(*) FROM information_schema.processlist WHERE id = {number}") == 0, "the end")
        try:
            how(connection)
            raise AssertionError("no error")
        except client.module.Error as error:
            true(client.lost(error), f"{type(error).__name__}: {error}")
        other.close()
        return connection

    client.killed = killed

    @check
    def kill__connection():
        killed(lambda connection: query(connection, "SELECT 1"))

    @check
    def kill__query():
        connection, other = open_(), open_()
        number = scalar(connection, "SELECT CONNECTION_ID()")
        running = Background(lambda: query(connection, "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c WHERE SLEEP(1) = 5"))
        wait_until(
            lambda: scalar(other, f"SELECT COUNT(*) FROM information_schema.processlist WHERE id = {number} AND info LIKE '%SLEEP%'") == 1,
            "the statement running",
        )
        query(other, f"KILL QUERY {number}")
        fails(client, running.join, 1317, "70100", "Query execution was interrupted")
        equal(scalar(connection, "SELECT 1"), 1)
        fails(client, lambda: query(other, "KILL 4294967290"), 1094, "HY000", "Unknown thread id: 4294967290")
        connection.close()
        other.close()

    @check
    def kill__processlist():
        connection = open_()
        number = scalar(connection, "SELECT CONNECTION_ID()")
        rows = {row[0]: row for row in query(connection, "SHOW FULL PROCESSLIST")}
        equal((text(rows[number][1]), text(rows[number][3]), text(rows[number][4]), text(rows[number][7])), (
            USER, DATABASE, "Query", "SHOW FULL PROCESSLIST"))  # fmt: skip
        connection.close()
