"""mysqlclient: the C client library of MariaDB under Python, text protocol."""

import MySQLdb
import MySQLdb.cursors
from MySQLdb.constants import CLIENT, FIELD_TYPE

import dbapi
from checks import DATABASE, HOST, PASSWORD, PORT, SERVER, SOCKET, USER, Round, equal, needs, true
from dbapi import query, scalar


class MySQLClient(dbapi.Client):
    module = MySQLdb
    name = "mysqlclient"

    def connect(self, user=USER, password=PASSWORD, database=DATABASE, unix=False, tls=None, charset="utf8mb4",
                local_infile=False, multi=False, autocommit=None, native=False, **more):  # fmt: skip
        options = dict(user=user, password=password, charset=charset, local_infile=int(local_infile),
                       client_flag=more.pop("client_flag", 0), **more)  # fmt: skip
        if database is not None:
            options["database"] = database
        if unix:
            options["unix_socket"] = SOCKET
        else:
            options.update(host=HOST, port=PORT)
        if tls:
            options["ssl_mode"] = "REQUIRED"
        if tls is False:
            options["ssl_mode"] = "DISABLED"
        # The module always asks for multi-statements unless told.
        options["multi_statements"] = multi
        if autocommit is not None:
            options["autocommit"] = autocommit
        return MySQLdb.connect(**options)

    def write(self, column, value):
        if column == "c_bit" and value is not None:
            return value.to_bytes(8, "big")
        return super().write(column, value)

    def read(self, column, value):
        if column == "c_set" and isinstance(value, (set, frozenset)):
            return ",".join(sorted(value))
        return super().read(column, value)

    def described(self, cursor):
        told = []
        for description, flags in zip(cursor.description, cursor.description_flags, strict=True):
            # The C library keeps 32 bits of flags and adds NUM_FLAG to numbers by itself.
            facts = {"name": description[0], "type": description[1], "flags": flags & 0x7FFF}
            # A length beyond 31 bits is lost, and the decimals of such a column with it.
            if 0 <= description[3] < 2**31:
                facts.update(length=description[3], decimals=description[5])
            told.append(facts)
        return told

    def stream(self, connection):
        return connection.cursor(MySQLdb.cursors.SSCursor)


client = MySQLClient()
round_ = Round()
dbapi.add(round_, client)
check = round_.check


@check
def metadata__nulls():
    connection = client.connect()
    cursor = connection.cursor()
    cursor.execute("SELECT * FROM every_type LIMIT 0")
    equal([description[6] for description in cursor.description], [0] + [1] * len(dbapi.COLUMNS))
    connection.close()


@check
def warnings__count():
    connection = client.connect()
    query(connection, "SELECT CAST('1x' AS SIGNED)")
    equal(connection.warning_count(), 1)
    equal(connection.show_warnings()[0][:2], ("Warning", 1292))
    query(connection, "SELECT 1")
    equal(connection.warning_count(), 0)
    connection.close()


@check
def cursors__unbuffered():
    connection = client.connect()
    cursor = connection.cursor(MySQLdb.cursors.SSCursor)
    cursor.execute("SELECT id FROM every_type ORDER BY id")
    equal(cursor.fetchone(), (1,))
    equal(cursor.fetchmany(2), ((2,), (3,)))
    cursor.close()
    equal(scalar(connection, "SELECT 7"), 7, "after a cursor closed early")
    cursor = connection.cursor(MySQLdb.cursors.SSDictCursor)
    cursor.execute("SELECT id, c_enum FROM every_type WHERE id = 2")
    equal(cursor.fetchall(), ({"id": 2, "c_enum": "large"},))
    cursor.close()
    connection.close()


@check
def multi__statements():
    connection = client.connect(multi=True)
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SET @a = 5; SELECT @a, 'x' UNION ALL SELECT 6, 'y'")
    equal(cursor.fetchall(), ((1,),))
    true(cursor.nextset(), "second")
    true(cursor.nextset(), "third")
    equal(cursor.fetchall(), ((5, "x"), (6, "y")))
    true(not cursor.nextset(), "no fourth")
    cursor.close()
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SELECT * FROM nosuch; SELECT 3")
    dbapi.fails(client, cursor.nextset, 1146)
    equal(scalar(connection, "SELECT 2"), 2)
    connection.close()


@check
def multi__option_changes():
    connection = client.connect(multi=False)
    dbapi.fails(client, lambda: query(connection, "SELECT 1; SELECT 2"), 1064)
    connection.set_server_option(0)
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SELECT 2")
    true(cursor.nextset(), "second")
    equal(cursor.fetchall(), ((2,),))
    cursor.close()
    connection.set_server_option(1)
    dbapi.fails(client, lambda: query(connection, "SELECT 1; SELECT 2"), 1064)
    connection.close()


@check
def reset__change_user():
    connection = client.connect()
    query(connection, "CREATE USER IF NOT EXISTS 'mysqlclient_other'@'%' IDENTIFIED BY 'other'")
    query(connection, "GRANT ALL ON *.* TO 'mysqlclient_other'@'%'")
    query(connection, "CREATE TEMPORARY TABLE scratch (a INT)")
    query(connection, "SET @kept = 1, SESSION sql_mode = ''")
    number = connection.thread_id()
    connection.change_user("mysqlclient_other", "other", DATABASE)
    equal(scalar(connection, "SELECT CURRENT_USER()"), "mysqlclient_other@%")
    equal(query(connection, "SELECT @kept, @@sql_mode = '', DATABASE()"), [(None, 0, DATABASE)])
    dbapi.fails(client, lambda: query(connection, "SELECT * FROM scratch"), 1146)
    equal(connection.thread_id(), number)
    dbapi.fails(client, lambda: connection.change_user("mysqlclient_other", "wrong", DATABASE), 1045)
    connection.close()


@check
def reconnect__ping_and_statistics():
    connection = client.connect()
    connection.ping()
    true("Uptime:" in connection.stat(), connection.stat())
    connection.select_db("information_schema")
    equal(scalar(connection, "SELECT DATABASE()"), "information_schema")
    dbapi.fails(client, lambda: connection.select_db("nosuch"), 1049)
    equal(scalar(connection, "SELECT DATABASE()"), "information_schema")
    connection.close()
    client.killed(lambda connection: connection.ping())


@check
def results__info():
    connection = client.connect()
    query(connection, "CREATE TEMPORARY TABLE told (v INT)")
    cursor = connection.cursor()
    cursor.execute("INSERT INTO told VALUES (1), (2)")
    equal(connection.info(), "Records: 2  Duplicates: 0  Warnings: 0")
    cursor.execute("UPDATE told SET v = 2")
    equal(connection.info(), "Rows matched: 2  Changed: 1  Warnings: 0")
    connection.close()


@check
def results__found_rows():
    """This client counts the rows found, not the rows changed, by its default."""
    connection = client.connect(client_flag=CLIENT.FOUND_ROWS)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE same (v INT)")
    cursor.execute("INSERT INTO same VALUES (1), (1)")
    equal(cursor.execute("UPDATE same SET v = 1"), 2)
    cursor.execute("SELECT SQL_CALC_FOUND_ROWS v FROM same LIMIT 1")
    equal(scalar(connection, "SELECT FOUND_ROWS()"), 2)
    connection.close()


@check
def connect__compression():
    connection = client.connect(compress=True)
    equal(dbapi.status(connection, "Compression"), "ON")
    equal(len(scalar(connection, "SELECT REPEAT('x', 1000000)")), 1000000)
    client.same_values(query(connection, client.select_every_type))
    value = bytes(range(256)) * 65536 * 2
    equal(scalar(connection, "SELECT SHA2(%s, 256) = SHA2(REPEAT(%s, 131072), 256) AS same", (value, bytes(range(256)))), 1)
    true(scalar(connection, "SELECT CAST(%s AS BINARY) AS v", (value,)) == value, "32 MiB there and back")
    connection.close()


@check
def connect__attributes():
    needs(SERVER != "mariadb", "performance_schema")
    connection = client.connect()
    rows = query(connection, "SELECT attr_name, attr_value FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID()")
    equal(dict(rows)["_client_name"], "libmariadb")
    connection.close()


@check
def connect__server_version():
    connection = client.connect(init_command="SET @greeting = 'hello'")
    equal(scalar(connection, "SELECT @greeting"), "hello")
    equal(connection.get_server_info(), scalar(connection, "SELECT VERSION()"))
    equal(connection.thread_id(), scalar(connection, "SELECT CONNECTION_ID()"))
    connection.close()


round_.run()
