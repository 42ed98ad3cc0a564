#!/usr/bin/env python3
"""Measures what compression and encryption of temporary files cost and save, turn about.

Starts `mayfly serve` once for each way to store temporary files, fills the same tables, and runs each statement with the memory
of one temporary table limited, so that it overflows. The figure is the median of the rounds. Needs: pip install
pymysql; cargo build --release -p mayfly-cli -p mayfly-bench.

  bench-compare/temporary_files.py                          1 M rows, limits of 9 MiB and 1 MiB
  bench-compare/temporary_files.py --rows 4000000 --limits 9 --tmpdir /var/tmp
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pymysql

ROOT = pathlib.Path(__file__).resolve().parent.parent

WAYS = {
    "plain": [],
    "lz4": ["tmp_files_compression=LZ4"],
    "encrypted": ["encrypt_tmp_files=ON"],
    "lz4+encrypted": ["tmp_files_compression=LZ4", "encrypt_tmp_files=ON"],
}

NUMBERS = "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
TABLES = [
    # As in the first article: one group for each text, of which 2.5 % repeat.
    "CREATE TABLE gtest (i INT UNSIGNED NOT NULL, c CHAR(50) NOT NULL)",
    "INSERT INTO gtest " + NUMBERS + " SELECT i, SHA1(i % ({rows} * 39 DIV 40)) FROM n",
    # Text as people write it: words that repeat, in rows that do not.
    "CREATE TABLE orders (i INT UNSIGNED NOT NULL, c VARCHAR(200) NOT NULL)",
    "INSERT INTO orders " + NUMBERS + " SELECT i, CONCAT('order ', i % ({rows} * 39 DIV 40), ' of customer ', i % 9973,"
    " ', paid by ', ELT(1 + i % 3, 'invoice', 'credit card', 'bank transfer'), ', shipped to the address on file') FROM n",
]
GROUP = "SELECT count(*), sum(cnt), max(cnt), max(c) FROM (SELECT count(*) cnt, c FROM {table} GROUP BY c) g"
SORT = "SELECT c, i FROM {table} ORDER BY c, i LIMIT 10 OFFSET {half}"
# Written to a temporary table and read back.
COPY = "CREATE TEMPORARY TABLE copy SELECT * FROM {table}; SELECT count(*), max(c) FROM copy; DROP TEMPORARY TABLE copy"
STATEMENTS = {
    "GROUP BY, hexadecimal": GROUP.format(table="gtest"),
    "GROUP BY, words": GROUP.format(table="orders"),
    "ORDER BY, hexadecimal": SORT.format(table="gtest", half="{half}"),
    "ORDER BY, words": SORT.format(table="orders", half="{half}"),
    "CREATE TEMPORARY, hex.": COPY.format(table="gtest"),
    "CREATE TEMPORARY, words": COPY.format(table="orders"),
}


class Server:
    def __init__(self, mayfly, way, folder, tmpdir):
        socket = folder / f"{way}.sock"
        settings = [part for setting in WAYS[way] for part in ("--set", setting)]
        command = [mayfly, "serve", "--ephemeral", "--insecure", "--port", "0", "--socket", socket, "--log-level", "error", *settings]
        if tmpdir:
            command += ["--tmpdir", tmpdir]
        self.process = subprocess.Popen(command)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connection = pymysql.connect(unix_socket=str(socket), user="root", autocommit=True)
                break
            except pymysql.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def run(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def fill(self, rows):
        self.run(f"SET GLOBAL temptable_max_ram = {1 << 40}")
        self.run("CREATE DATABASE spill")
        self.connection.select_db("spill")
        self.run(f"SET SESSION cte_max_recursion_depth = {rows}, tmp_table_size = {1 << 40}")
        for statement in TABLES:
            self.run(statement.format(rows=rows))

    def measure(self, sql, limit):
        self.run(f"SET SESSION tmp_table_size = {limit}")
        self.run("FLUSH STATUS")
        begun = time.monotonic()
        results = [self.run(statement) for statement in sql.split("; ")]
        elapsed = time.monotonic() - begun
        status = dict(self.run("SHOW STATUS LIKE 'Max_tmp_space_used'"))
        return elapsed, int(status["Max_tmp_space_used"]), str(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mayfly", default=ROOT / "target/release/mayfly")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limits", default="9,1", help="MiB, with commas between them")
    parser.add_argument("--only", default="", help="statements whose names begin so")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tmpdir")
    options = parser.parse_args()
    limits = [int(limit) << 20 for limit in options.limits.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        try:
            for way in WAYS:
                servers[way] = Server(options.mayfly, way, pathlib.Path(folder), options.tmpdir)
                servers[way].fill(options.rows)
            print(f"{'statement':24}{'limit':>8}  {'way':14}{'median':>10}{'spread':>18}{'ratio':>7}{'in files':>11}")
            for name, sql in STATEMENTS.items():
                if not name.startswith(options.only):
                    continue
                for limit in limits:
                    compare(servers, name, sql.format(half=options.rows // 2), limit, options.rounds)
        finally:
            for server in servers.values():
                server.process.terminate()
                server.process.wait()


def compare(servers, name, sql, limit, rounds):
    times = {way: [] for way in servers}
    bytes_used, results = {}, set()
    for number in range(rounds + 1):
        for way, server in servers.items():
            elapsed, used, result = server.measure(sql, limit)
            results.add(result)
            # The first round warms up what later ones reuse.
            if number > 0:
                times[way].append(elapsed)
                bytes_used[way] = used
    if len(results) > 1:
        sys.exit(f"{name}: the results differ")
    base = statistics.median(times["plain"])
    for way, all_times in times.items():
        median = statistics.median(all_times)
        spread = f"{min(all_times) * 1000:.0f}–{max(all_times) * 1000:.0f} ms"
        print(
            f"{name:24}{limit >> 20:>4} MiB  {way:14}{median * 1000:>7.0f} ms{spread:>18}{median / base:>7.2f}"
            f"{bytes_used[way] / 2**20:>7.1f} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
