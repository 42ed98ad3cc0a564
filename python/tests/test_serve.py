"""A server in the process, as a driver of MySQL sees it."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse

import mayfly
import pymysql
import pytest


def connect(server, **options):
    return pymysql.connect(host=server.host, port=server.port, user=server.user, password=server.password, **options)


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_driver_connects_to_a_free_port():
    with mayfly.serve() as server:
        assert server.host == "127.0.0.1" and server.port > 0 and server.socket is None
        assert server.url == f"mysql://root@127.0.0.1:{server.port}/test"
        client = connect(server, database=server.database)
        with client.cursor() as cursor:
            cursor.execute("CREATE TABLE t (a INT)")
            cursor.execute("INSERT INTO t VALUES (1), (2)")
            client.commit()
        with server.connect() as inside:
            assert inside.execute("SELECT SUM(a) FROM t").fetchone() == (3,)
        assert server.connections == 1
    assert repr(server) == f"<mayfly.Server on 127.0.0.1:{server.port} (stopped)>"


def test_stop_ends_clients_and_may_be_repeated():
    server = mayfly.serve()
    client = connect(server)
    server.stop()
    server.stop()
    assert server.connections == 0 and not can_connect(server.port)
    with pytest.raises(pymysql.err.OperationalError), client.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(mayfly.InterfaceError):
        server.connect()


def test_stop_ends_a_running_statement():
    server = mayfly.serve()
    client, ended = connect(server), []

    def wait():
        with pytest.raises(pymysql.err.Error) as raised, client.cursor() as cursor:
            cursor.execute("SELECT SLEEP(600)")
        ended.append(raised.value)

    thread = threading.Thread(target=wait)
    with server.connect() as inside:
        thread.start()
        running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(600)'"
        while inside.execute(running).fetchone() == (0,):
            pass
    server.stop()
    thread.join(30)
    assert len(ended) == 1


def test_a_server_that_is_forgotten_ends():
    server = mayfly.serve()
    port = server.port
    assert can_connect(port)
    del server
    gc.collect()
    assert not can_connect(port)


def test_servers_run_side_by_side_with_databases_of_their_own():
    with mayfly.serve() as one, mayfly.serve() as other:
        assert one.port != other.port
        with connect(one, database="test").cursor() as cursor:
            cursor.execute("CREATE TABLE only_here (a INT)")
        with connect(other, database="test").cursor() as cursor, pytest.raises(pymysql.err.ProgrammingError):
            cursor.execute("SELECT * FROM only_here")


def test_a_socket(tmp_path):
    path = tmp_path / "socket"
    with mayfly.serve(socket=path) as server:
        assert server.socket == path
        with pymysql.connect(unix_socket=str(path), user="root").cursor() as cursor:
            cursor.execute("SELECT USER()")
            assert cursor.fetchone() == ("root@localhost",)
    assert not path.exists()


def test_a_directory_is_stored_and_shared(tmp_path):
    with mayfly.serve(tmp_path / "data") as server:
        with connect(server, database="test", autocommit=True).cursor() as cursor:
            cursor.execute("CREATE TABLE t AS SELECT 7 AS a")
    with mayfly.connect(tmp_path / "data") as connection:
        assert connection.execute("SELECT a FROM t").fetchone() == (7,)
    # Root is there already: its password is not in the directory.
    with mayfly.serve(tmp_path / "data", password=None) as server:
        assert server.password is None
    with mayfly.serve(":memory:shared") as server, mayfly.connect(":memory:shared", files=False) as connection:
        connection.execute("CREATE TABLE t (a INT)")
        with connect(server, database="test").cursor() as cursor:
            assert cursor.execute("SELECT * FROM t") == 0


@pytest.mark.parametrize("password", [None, "a b/c:@%"])
def test_passwords(tmp_path, password):
    with mayfly.serve(password=password, socket=tmp_path / "socket") as server:
        assert server.password == password or password is None and len(server.password) > 10
        assert urllib.parse.unquote(urllib.parse.urlsplit(server.url).password) == server.password
        pymysql.connect(unix_socket=str(server.socket), user="root", password=server.password).close()
        with pytest.raises(pymysql.err.OperationalError) as raised:
            pymysql.connect(unix_socket=str(server.socket), user="root", password="another one")
        assert raised.value.args[0] == 1045


def test_an_empty_password_is_for_this_machine_only():
    with pytest.raises(mayfly.OperationalError, match="loopback"):
        mayfly.serve(host="0.0.0.0")
    with pytest.raises(mayfly.ProgrammingError, match="no address"):
        mayfly.serve(host="example.org")


def test_a_port_that_is_taken():
    with mayfly.serve() as server, pytest.raises(mayfly.OperationalError, match=str(server.port)):
        mayfly.serve(port=server.port)


def test_clients_read_no_files_unless_it_is_allowed(tmp_path):
    (tmp_path / "t.csv").write_text("a\n5\n")
    query = f"SELECT a FROM '{tmp_path}/t.csv'"
    with mayfly.serve() as server, connect(server, database="test").cursor() as cursor:
        with pytest.raises(pymysql.err.Error) as raised:
            cursor.execute(query)
        assert raised.value.args[0] == 1290
    with mayfly.serve(files=tmp_path) as server, connect(server, database="test").cursor() as cursor:
        cursor.execute(query)
        assert cursor.fetchone() == (5,)


def test_options_of_the_database():
    with mayfly.serve(variables={"max_connections": 77}, threads=1) as server, connect(server).cursor() as cursor:
        cursor.execute("SELECT @@max_connections")
        assert cursor.fetchone() == (77,)


def test_a_child_process_leaves_the_server_alone():
    with mayfly.serve() as server:
        child = os.fork()
        if child == 0:
            status = 0
            try:
                server.stop()
                server.connect()
            except mayfly.InterfaceError:
                status = 7
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert can_connect(server.port)


def program(*arguments, **options):
    command = [sys.executable, "-m", "mayfly", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def test_the_program_is_in_the_package():
    ran = program("-N", "-e", "SELECT 6 * 7")
    assert (ran.stdout, ran.stderr, ran.returncode) == ("42\n", "", 0)
    failed = program("-e", "SELECT * FROM missing")
    assert failed.returncode == 1 and "1146" in failed.stderr
    wrong = program("--no-such-option")
    assert wrong.returncode == 2 and "--no-such-option" in wrong.stderr
    assert program("--version").stdout == f"mayfly {mayfly.__version__}\n"
    # A text without a newline at its end.
    assert program("completions", "bash").stdout.startswith("_mayfly()")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_serves_until_a_signal(number):
    command = [sys.executable, "-m", "mayfly", "serve", "--ephemeral", "--insecure", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        line = process.stdout.readline()
        assert "ready for connections" in line
        process.send_signal(number)
        assert process.wait(30) == 0
