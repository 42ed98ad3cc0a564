"""Signals, threads and processes."""

import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import mayfly
import pytest

#: A statement of many minutes.
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT COUNT(*) FROM n a, n b, n c WHERE a.i * b.i < c.i"
WAITS = "SELECT SLEEP(600)"


def after(seconds, work):
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer


@pytest.mark.parametrize("sql", [LONG, WAITS], ids=["computes", "sleeps"])
def test_ctrl_c_ends_a_statement(con, sql):
    sent = []
    after(0.3, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        con.execute(sql)
    assert time.monotonic() - sent[0] < 0.1
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_ctrl_c_ends_a_wait_for_a_lock():
    holder = mayfly.connect(":memory:locks")
    waiter = mayfly.connect(":memory:locks")
    holder.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    holder.execute("INSERT INTO t VALUES (1)")
    holder.commit()
    holder.execute("UPDATE t SET id = 2")
    sent = []
    after(0.2, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        waiter.execute("UPDATE t SET id = 3")
    assert time.monotonic() - sent[0] < 0.2
    holder.rollback()
    waiter.close()
    holder.close()


def test_ctrl_c_ends_fetching(con):
    cursor = con.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT a.i FROM n a, n b, n c")
    after(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        for _ in cursor:
            pass


def test_handlers_that_do_not_raise_leave_the_statement_alone(con):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        began = time.monotonic()
        assert con.execute("SELECT SLEEP(0.4)").fetchone() == (0,)
        assert seen and seen[0] - began < 0.2
    finally:
        signal.signal(signal.SIGALRM, before)


def test_interrupt_from_another_thread(con):
    after(0.2, con.interrupt)
    with pytest.raises(mayfly.OperationalError) as caught:
        con.execute(LONG)
    assert caught.value.errno == 1317
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_python_runs_while_a_statement_does(con):
    thread = threading.Thread(target=lambda: con.execute("SELECT SLEEP(0.5)"))
    thread.start()
    began, turns = time.monotonic(), 0
    while thread.is_alive():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 100 and time.monotonic() - began > 0.4


def test_connections_run_side_by_side():
    first = mayfly.connect(":memory:parallel", autocommit=True)
    second = first.connect()
    began = time.monotonic()
    threads = [threading.Thread(target=con.execute, args=("SELECT SLEEP(0.5)",)) for con in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 0.9


def test_threads_that_share_a_connection_take_turns(con):
    con.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, thread INT)")
    errors = []

    def work(number):
        try:
            for _ in range(100):
                con.execute("INSERT INTO t (thread) VALUES (?)", (number,))
                rows = con.execute("SELECT id FROM t WHERE thread = ?", (number,)).fetchall()
                assert rows
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert con.execute("SELECT COUNT(*), COUNT(DISTINCT id) FROM t").fetchone() == (400, 400)


def test_a_cursor_in_use_is_an_error_in_another_thread(con):
    cursor = con.cursor()
    thread = threading.Thread(target=lambda: cursor.execute("SELECT SLEEP(0.4)"))
    thread.start()
    time.sleep(0.1)
    with pytest.raises(mayfly.ProgrammingError):
        cursor.fetchone()
    thread.join()
    assert cursor.fetchone() == (0,)


def test_closing_in_another_thread_ends_the_statement(con):
    caught = []

    def work():
        try:
            con.execute(LONG)
        except mayfly.Error as error:
            caught.append(error.errno)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.2)
    con.close()
    thread.join(5)
    assert caught == [1317]


def test_threads_cancels_and_closes():
    """Threads run, cancel, stop reading and close at random; all statements end with rows or an error."""
    import random

    keep = mayfly.connect(":memory:stress")
    keep.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    keep.executemany("INSERT INTO t VALUES (?, ?)", ((n, n % 7) for n in range(10_000)))
    keep.commit()
    until, wrong = time.monotonic() + 3, []
    shared = [keep.connect() for _ in range(3)]

    def work(seed):
        choice = random.Random(seed)
        while time.monotonic() < until:
            place = choice.randrange(len(shared))
            con = shared[place]
            try:
                match choice.randrange(6):
                    case 0:
                        con.interrupt()
                    case 1 if choice.random() < 0.1:
                        con.close()
                        shared[place] = keep.connect()
                    case 2:
                        rows = con.execute("SELECT id FROM t ORDER BY v, id").fetchmany(choice.randrange(9000))
                        assert rows == sorted(rows, key=lambda row: (row[0] % 7, row[0]))
                    case 3:
                        con.execute("UPDATE t SET v = v WHERE id = ?", (choice.randrange(10_000),))
                        con.commit()
                    case _:
                        assert con.execute("SELECT COUNT(*) FROM t a JOIN t b USING (id)").fetchone() == (10_000,)
            except (mayfly.OperationalError, mayfly.InterfaceError):
                pass
            except Exception as error:  # noqa: BLE001
                wrong.append(error)
                return

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    assert keep.execute("SELECT COUNT(*) FROM t").fetchone() == (10_000,)


def test_small_statements_leave_no_memory(con):
    con.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100))")
    con.executemany("INSERT INTO t VALUES (?, ?)", ((n, "v" * 50) for n in range(100)))

    def run(times):
        for number in range(times):
            con.execute("SELECT v, ?, NOW(6) FROM t WHERE id = ?", ("text", number % 100)).fetchall()
            cursor = con.cursor()
            cursor.execute("SELECT id, 1.5, v FROM t")
            cursor.fetchone()
            try:
                con.execute("SELECT missing")
            except mayfly.Error:
                pass

    run(2000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(10_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8 * 1024, f"{grown} KiB"


def test_a_forked_process_may_not_use_the_connection(con):
    def child(pipe):
        try:
            con.execute("SELECT 1")
            pipe.send("no error")
        except mayfly.InterfaceError as error:
            pipe.send(str(error))
        os._exit(0)

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    process.start()
    assert ours.poll(10)
    assert "fork" in ours.recv()
    process.join()
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_a_directory_is_open_once_in_a_process(tmp_path):
    path = tmp_path / "data"
    first = mayfly.connect(path, threads=1)
    first.execute("CREATE TABLE t (id INT)")
    first.execute("INSERT INTO t VALUES (1)")
    first.commit()
    second = mayfly.connect(str(path))
    assert second.execute("SELECT * FROM t").fetchall() == [(1,)]
    with pytest.raises(mayfly.ProgrammingError):
        mayfly.connect(path, threads=2)
    code = "import sys, mayfly; mayfly.connect(sys.argv[1])"
    other = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert other.returncode == 1 and "OperationalError" in other.stderr
    first.close()
    second.close()
    again = mayfly.connect(path, threads=2)
    assert again.execute("SELECT * FROM t").fetchall() == [(1,)]
    again.close()


def test_the_end_of_the_process_is_quiet():
    code = """
        import mayfly, threading
        keep = mayfly.connect()
        cursor = keep.execute("SELECT * FROM information_schema.columns a, information_schema.columns b")
        cursor.fetchone()
        threading.Thread(target=lambda: keep.connect().execute("SELECT SLEEP(5)"), daemon=True).start()
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=20)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_options(tmp_path):
    con = mayfly.connect(memory_limit="64M", threads=2, files=tmp_path, variables={"sql_mode": ""}, temporary_directory=tmp_path)
    assert con.execute("SELECT @@sql_mode").fetchone() == ("",)
    (tmp_path / "a.csv").write_text("id,name\n1,one\n")
    assert con.execute(f"SELECT * FROM '{tmp_path}/a.csv'").fetchall() == [(1, "one")]
    with pytest.raises(mayfly.OperationalError):
        con.execute("SELECT * FROM '/etc/passwd.csv'")
    with pytest.raises(mayfly.OperationalError):
        mayfly.connect(files=False).execute(f"SELECT * FROM '{tmp_path}/a.csv'")
    for wrong in ("x", "5Q", ""):
        with pytest.raises(mayfly.ProgrammingError):
            mayfly.connect(memory_limit=wrong)
    with pytest.raises(mayfly.Error):
        mayfly.connect(database="missing")
    with pytest.raises(TypeError):
        mayfly.connect(no_such_option=1)
