"""PyMySQL: pure Python, text protocol only."""

import ssl
import warnings

import pymysql
import pymysql.constants.CLIENT as CLIENT
import pymysql.cursors

import dbapi
from checks import DATABASE, HOST, MIB, PASSWORD, PORT, SERVER, SOCKET, USER, Round, equal, needs, rows_of, true
from dbapi import query, scalar

UNSET = object()


class PyMySQL(dbapi.Client):
    module = pymysql
    name = "pymysql"
    password = "p55 w@rd"

    def connect(self, user=USER, password=PASSWORD, database=DATABASE, unix=False, tls=None, charset="utf8mb4",
                local_infile=False, multi=False, autocommit=None, native=False, **more):  # fmt: skip
        options = dict(user=user, password=password, database=database, charset=charset, local_infile=local_infile,
                       max_allowed_packet=64 * MIB, read_timeout=60, **more)  # fmt: skip
        if unix:
            options["unix_socket"] = SOCKET
        else:
            options.update(host=HOST, port=PORT)
        if tls:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            options["ssl"] = context
        if tls is False:
            options["ssl_disabled"] = True
        if multi:
            options["client_flag"] = CLIENT.MULTI_STATEMENTS
        if autocommit is not None:
            options["autocommit"] = autocommit
        return pymysql.connect(**options)

    def described(self, cursor):
        return [{"name": f.name, "type": f.type_code, "charset": f.charsetnr, "length": f.length, "flags": f.flags, "decimals": f.scale}
                for f in cursor._result.fields]  # fmt: skip

    def stream(self, connection):
        return connection.cursor(pymysql.cursors.SSCursor)


client = PyMySQL()
round_ = Round()
dbapi.add(round_, client)
check = round_.check


@check
def metadata__origins():
    connection = client.connect()
    cursor = connection.cursor()
    cursor.execute("SELECT * FROM every_type t LIMIT 0")
    for field in cursor._result.fields:
        equal((dbapi.text(field.db), field.table_name, field.org_table, field.org_name), (DATABASE, "t", "every_type", field.name))
    connection.close()


@check
def metadata__of_expressions():
    needs(SERVER != "mariadb", "MariaDB's flags and lengths differ")
    connection = client.connect()
    for name, *expected, sql in rows_of("metadata_expressions.tsv"):
        cursor = connection.cursor()
        cursor.execute(sql)
        field = cursor._result.fields[0]
        got = [str(v) for v in (field.type_code, field.charsetnr, field.length, field.flags, field.scale)]
        equal(got, expected, name)
        equal((dbapi.text(field.db), field.table_name, field.org_table, field.org_name), ("", "", "", ""), name)
    connection.close()


@check
def metadata__description():
    connection = client.connect()
    cursor = connection.cursor()
    cursor.execute("SELECT id AS number, c_varchar, c_decimal FROM every_type LIMIT 1")
    equal([d[0] for d in cursor.description], ["number", "c_varchar", "c_decimal"])
    true(cursor.description[0][1] == pymysql.NUMBER and cursor.description[1][1] == pymysql.STRING, "types")
    equal([d[6] for d in cursor.description], [False, True, True])
    connection.close()


@check
def warnings__count():
    connection = client.connect()
    cursor = connection.cursor()
    cursor.execute("SELECT CAST('1x' AS SIGNED)")
    equal(cursor.warning_count, 1)
    equal([row[:2] for row in connection.show_warnings()], [("Warning", 1292)])
    cursor.execute("SELECT 1")
    equal(cursor.warning_count, 0)
    connection.close()


@check
def cursors__unbuffered():
    connection = client.connect()
    cursor = connection.cursor(pymysql.cursors.SSCursor)
    cursor.execute("SELECT id FROM every_type ORDER BY id")
    equal(cursor.fetchone(), (1,))
    equal(cursor.fetchmany(2), [(2,), (3,)])
    cursor.close()
    equal(scalar(connection, "SELECT 7"), 7, "after a cursor closed early")
    connection.close()


@check
def cursors__dictionary():
    connection = client.connect(cursorclass=pymysql.cursors.DictCursor)
    cursor = connection.cursor()
    cursor.execute("SELECT id, c_enum FROM every_type WHERE id = %(id)s", {"id": 2})
    equal(cursor.fetchall(), [{"id": 2, "c_enum": "large"}])
    connection.close()


@check
def cursors__server_side_prepare():
    """PREPARE and EXECUTE as statements, since this client has no binary protocol."""
    connection = client.connect()
    query(connection, "PREPARE twice FROM 'SELECT ? * 2, CONCAT(?, ''!'')'")
    for number in (1, 21):
        query(connection, "SET @a = %s, @b = %s", (number, f"n{number}"))
        equal(query(connection, "EXECUTE twice USING @a, @b"), [(number * 2, f"n{number}!")])
    query(connection, "DEALLOCATE PREPARE twice")
    dbapi.fails(client, lambda: query(connection, "EXECUTE twice USING @a, @b"), 1243, "HY000")
    connection.close()


@check
def multi__statements():
    connection = client.connect(multi=True)
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SET @a = 5; SELECT @a, 'x' UNION ALL SELECT 6, 'y'; DO 0")
    equal(cursor.fetchall(), ((1,),))
    true(cursor.nextset(), "second")
    equal(cursor.description, None)
    true(cursor.nextset(), "third")
    equal(cursor.fetchall(), ((5, "x"), (6, "y")))
    true(cursor.nextset(), "fourth")
    true(not cursor.nextset(), "no fifth")
    cursor.execute("SELECT 1; SELECT * FROM nosuch; SELECT 3")
    equal(cursor.fetchall(), ((1,),))
    dbapi.fails(client, cursor.nextset, 1146)
    equal(scalar(connection, "SELECT 2"), 2)
    connection.close()


@check
def multi__refused_when_not_asked_for():
    connection = client.connect()
    dbapi.fails(client, lambda: query(connection, "SELECT 1; SELECT 2"), 1064)
    equal(scalar(connection, "SELECT 2;"), 2)
    connection.close()


@check
def infile__disabled_at_the_client():
    connection = client.connect(local_infile=False)
    dbapi.fails(client, lambda: query(connection, "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE every_type"),
                4166 if SERVER == "mariadb" else 3948, "42000")  # fmt: skip
    equal(scalar(connection, "SELECT 1"), 1)
    connection.close()


@check
def infile__no_such_file():
    connection = client.connect(local_infile=True)
    dbapi.fails(client, lambda: query(connection, "LOAD DATA LOCAL INFILE '/nosuch' INTO TABLE every_type"), 1017)
    connection.close()


@check
def reconnect__ping():
    connection = client.killed(lambda connection: connection.ping(reconnect=False))
    connection.ping(reconnect=True)
    equal(scalar(connection, "SELECT 1"), 1)
    connection.close()


@check
def reconnect__found_rows():
    connection = client.connect(client_flag=CLIENT.FOUND_ROWS)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE same (v INT)")
    cursor.execute("INSERT INTO same VALUES (1), (1)")
    equal(cursor.execute("UPDATE same SET v = 1"), 2)
    connection.close()


@check
def connect__attributes():
    needs(SERVER != "mariadb", "performance_schema")
    connection = client.connect(program_name="the round")
    rows = query(connection, "SELECT attr_name, attr_value FROM performance_schema.session_connect_attrs WHERE processlist_id = CONNECTION_ID()")
    equal(dict(rows)["program_name"], "the round")
    connection.close()


@check
def connect__init_command_and_server_version():
    connection = client.connect(init_command="SET @greeting = 'hello'")
    equal(scalar(connection, "SELECT @greeting"), "hello")
    # MariaDB says 5.5.5- before it.
    equal(connection.get_server_info().removeprefix("5.5.5-"), scalar(connection, "SELECT VERSION()"))
    equal(connection.thread_id(), scalar(connection, "SELECT CONNECTION_ID()"))
    connection.select_db("information_schema")
    equal(scalar(connection, "SELECT DATABASE()"), "information_schema")
    connection.close()


warnings.simplefilter("ignore")
round_.run()
