#!/usr/bin/env python3
"""A rival as a worker: reads {"sql": …, "rows_max": …, "timeout_s": …} a line, answers {"ms": …, "row_count": …,
"rows": …}. What a statement gives is fetched within its time. After its timeout it is interrupted.

usage: worker.py duckdb|sqlite THREADS [MEMORY_LIMIT_BYTES] [FILE]
       worker.py server THREADS SOCKET          a server of MySQL or MariaDB, with its own number of threads

With a memory limit DuckDB works on a file, since it cannot keep a table that is larger than its
memory; `.limit` sets the limit, after loading, which needs more.
"""
import csv, json, sys, tempfile, threading, time

REPORTED_ROWS_MAX = 20


def open_duckdb(threads, limit, file):
    import duckdb

    folder = tempfile.TemporaryDirectory(prefix="mayfly-bench-duckdb-")
    connection = duckdb.connect(file or (f"{folder.name}/database" if limit else ":memory:"))
    connection.execute(f"SET threads={threads}")
    # MySQL's and SQLite's order.
    connection.execute("SET default_null_order='nulls_first_on_asc_last_on_desc'")

    def set_limit():
        if limit:
            connection.execute("CHECKPOINT")
            connection.execute(f"SET memory_limit='{limit}B'")
            connection.execute(f"SET temp_directory='{folder.name}/temporary'")
            connection.execute("SET preserve_insertion_order=false")
        return []

    return connection, set_limit, folder


def open_sqlite(threads, limit, file):
    import sqlite3

    connection = sqlite3.connect(file or ":memory:")
    connection.execute(f"PRAGMA threads={threads}")
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection, list, None


def open_server(threads, limit, socket):
    # A driver in C: one in Python takes longer to read 20,000 rows than the servers to make them.
    import MySQLdb

    connection = MySQLdb.connect(unix_socket=socket, user="root", autocommit=True)
    version = connection.get_server_info()

    class Cursors:
        """What the others' connections have: `execute`, `interrupt`, `close`."""

        def execute(self, sql):
            cursor = connection.cursor()
            cursor.execute(sql)
            return cursor

        def interrupt(self):
            other = MySQLdb.connect(unix_socket=socket, user="root")
            other.cursor().execute(f"KILL QUERY {connection.thread_id()}")
            other.close()

        def close(self):
            connection.close()

    # Sorts and joins have room, as Mayfly's and DuckDB's have by default.
    if "mayfly" in version:
        return Cursors(), list, None
    for name in ["sort_buffer_size", "join_buffer_size"]:
        connection.cursor().execute(f"SET {name} = {256 << 20}")
    for name in ["tmp_table_size", "max_heap_table_size"]:
        connection.cursor().execute(f"SET {name} = {4 << 30}")
    if "MariaDB" in version:
        # The hash join that MariaDB has is off by default.
        connection.cursor().execute("SET join_cache_level = 8")
    return Cursors(), list, None


def load_csv(connection, table, path):
    """SQLite has no COPY: what its shell's .import does."""
    with open(path) as file:
        rows = csv.reader(file)
        first = next(rows)
        marks = ",".join("?" * len(first))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", first)
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    connection.commit()
    return []


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    limit = int(next((word for word in sys.argv[3:] if word.isdigit()), 0))
    file = next((word for word in sys.argv[3:] if not word.isdigit()), None)
    connection, set_limit, folder = {"duckdb": open_duckdb, "sqlite": open_sqlite, "server": open_server}[name](threads, limit, file)
    for line in sys.stdin:
        request = json.loads(line)
        sql = request["sql"]
        timer = threading.Timer(request["timeout_s"], connection.interrupt) if "timeout_s" in request else None
        start = time.perf_counter()
        try:
            if timer:
                timer.start()
            if sql == ".limit":
                rows = set_limit()
            elif sql.startswith(".load "):
                rows = load_csv(connection, *sql.split()[1:])
            else:
                rows = connection.execute(sql).fetchall()
            elapsed = (time.perf_counter() - start) * 1e3
            shown = [[None if value is None else str(value) for value in row] for row in rows[: request.get("rows_max", REPORTED_ROWS_MAX)]]
            answer = {"ms": elapsed, "row_count": len(rows), "rows": shown}
        except Exception as error:
            answer = {"ms": (time.perf_counter() - start) * 1e3, "error": str(error)}
        finally:
            if timer:
                timer.cancel()
        print(json.dumps(answer), flush=True)
    connection.close()
    if folder:
        folder.cleanup()


main()
