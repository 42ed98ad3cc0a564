#!/usr/bin/env python3
"""A rival as a worker: reads {"sql": …, "rows_max": …, "timeout_s": …} a line, answers {"ms": …, "row_count": …,
"rows": …}. What a statement gives is fetched within its time. After its timeout it is interrupted.

usage: worker.py duckdb|sqlite THREADS [MEMORY_LIMIT_BYTES] [FILE]

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
    connection, set_limit, folder = {"duckdb": open_duckdb, "sqlite": open_sqlite}[name](threads, limit, file)
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
