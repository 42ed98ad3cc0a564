#!/usr/bin/env python3
"""Runs an analyst's reports on Mayfly and DuckDB, turn about, compares what they answer, and prints ratios.

The reports are files of statements in bench/reports: `tpch` (TPC-H's 22 questions), `retail` (35 of a shop, in the
shape of TPC-DS), `tpcds` (TPC-DS's 99 statements, made by DuckDB's extension), `hits` (the shapes of ClickBench's 43 statements, over
page views), `groupby` and `join` (db-benchmark's), `windows` (functions over 100 large partitions and a million small ones).
Each engine is a process of its own (engines.py); in each round every engine runs the statement once,
after a first round that does not count, and the figure is the median. What DuckDB gives is fetched within its
time; what Mayfly gives is in its result before it is made into text.

Needs: pip install duckdb tpchgen-cli numpy pyarrow; cargo build --release -p mayfly-cli -p mayfly-bench.

  bench-compare/reports.py tpch                                   scale 1, durable tables
  bench-compare/reports.py tpch --scale 0.1 --storage temporary q1 q5    two statements over temporary tables
  bench-compare/reports.py tpch --memory-limit 256M               for everything, the tables' cache too
  bench-compare/reports.py groupby --storage temporary            10 M rows, 100 groups
  bench-compare/reports.py groupby --groups 2 --storage temporary         5 M groups of each small id, 10 M of all
  bench-compare/reports.py join --storage temporary
  bench-compare/reports.py retail
  bench-compare/reports.py hits                                   10 M page views
  bench-compare/reports.py tpcds --keys none                      TPC-DS at scale 1 without keys; `--keys all` has one for each reference
  bench-compare/reports.py windows --storage temporary [--memory-limit 64M --engines mayfly,mayfly-unlimited]
  bench-compare/reports.py tpch --datadir DIRECTORY               keep the loaded tables there for the next run
  bench-compare/reports.py tpch --mayfly new=… --mayfly old=… --engines mayfly   two builds
  bench-compare/reports.py tpch --scale 0.1 --peer mariadb=SOCKET --engines mayfly   a server that runs (pip install mysqlclient)

`--set SQL` runs on Mayfly after loading, such as `--set "ANALYZE TABLE lineitem"`.
"""
import argparse, math, statistics, tempfile
from datetime import datetime
from pathlib import Path

import report_data
from engines import BENCH_PROGRAM, RIVALS, ROOT, SERVER, Engine, build, bytes_of, open_engine, rival_command

# Rows of results that are compared.
COMPARED_ROWS_MAX = 100_000
# AVG and division of DECIMALs have four decimals more in MySQL; DuckDB's are doubles.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-6, 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", choices=report_data.REPORTS)
    parser.add_argument("statements", nargs="*", help="such as q1; all when none is given")
    parser.add_argument("--scale", type=float, default=1, help="of tpch, tpcds and retail")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of db-benchmark's tables and of the page views")
    parser.add_argument("--groups", type=int, default=100, help="db-benchmark's K: groups of a large id; the small ones have rows/K")
    parser.add_argument("--storage", choices=["durable", "memory", "temporary"], default="durable",
                        help="tables on disk; tables of a database that has no directory; temporary tables. DuckDB is on disk for the first, else in memory")
    parser.add_argument("--keys", choices=["none", "primary", "all"], default="primary",
                        help="of Mayfly's durable tables; `all` has an index for each column of tpcds that leads to another table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory-limit", type=bytes_of, help="for everything, such as 256M")
    parser.add_argument("--timeout", type=float, default=120, help="seconds after which a statement is killed, and not run again")
    parser.add_argument("--engines", default="mayfly,duckdb", help="of mayfly, duckdb, mayfly-unlimited")
    parser.add_argument("--set", action="append", default=[], help="SQL run on Mayfly after loading")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "report-data", help="where CSV files are kept")
    parser.add_argument("--datadir", type=Path, help="where durable tables are kept")
    parser.add_argument("--mayfly", action="append", type=build, metavar="[NAME=]PROGRAM", help="builds to compare; ratios are the first one's")
    parser.add_argument("--peer", action="append", type=build, default=[], metavar="NAME=SOCKET", help="servers of MySQL, MariaDB or Mayfly, user root without a password; they get a database `mayfly_reports`")
    options = parser.parse_intermixed_args()

    builds = dict(options.mayfly or [("mayfly", str(BENCH_PROGRAM))])
    names = [name for engine in options.engines.split(",") for name in (builds if engine == "mayfly" else [engine])]
    with tempfile.TemporaryDirectory(prefix="mayfly-reports-") as folder:
        directory = options.datadir or Path(folder)
        engines = {name: start(name, builds, directory, options) for name in names}
        for name, socket in options.peer:
            engines[name] = Engine(SERVER, rival_command(SERVER, options.threads) + [socket])
        for name, engine in engines.items():
            load(engine, name, directory, options)
        limit = f"{options.memory_limit >> 20} MiB" if options.memory_limit else "none"
        print(f"{options.report}, {options.storage} tables, {options.threads} threads, median of {options.rounds} rounds, limit {limit}")
        run(engines, options)
        for engine in engines.values():
            engine.close()


def limit_of(name, options):
    """The memory limit of an engine, if it has one."""
    return options.memory_limit if name != "mayfly-unlimited" else None


def start(name, builds, directory, options):
    limited = limit_of(name, options)
    if name == "duckdb":
        command = rival_command(name, options.threads) + ([str(limited)] if limited else [])
    else:
        program = builds.get(name, next(iter(builds.values())))
        command = [program, "worker", "--threads", str(options.threads)]
        command += ["--memory-limit", str(limited)] if limited else []
    if options.storage == "durable":
        directory.mkdir(parents=True, exist_ok=True)
        place = str(directory / f"{options.report}-{name}")
        command += [place] if name == "duckdb" else ["--datadir", place]
    return open_engine(name, command)


def load(engine, name, directory, options):
    """Makes and fills the tables, unless a kept directory has them."""
    marker = directory / f"{options.report}-{name}.loaded"
    if engine.name == SERVER:
        for sql in ["DROP DATABASE IF EXISTS mayfly_reports", "CREATE DATABASE mayfly_reports CHARACTER SET ascii", "USE mayfly_reports"]:
            engine.run(sql)
    is_kept = options.storage == "durable" and engine.name != SERVER
    if not (is_kept and marker.exists()):
        for table, (path, columns, key, indexed) in report_data.tables(options.report, options).items():
            if engine.name == "duckdb":
                making = [f"CREATE TABLE {table} ({columns})", f"COPY {table} FROM '{path}' (HEADER, NULLSTR '\\N')"]
            else:
                kind = "TEMPORARY TABLE" if options.storage == "temporary" and engine.name != SERVER else "TABLE"
                keys = (f", PRIMARY KEY ({key})" if key else "") + "".join(f", KEY ({column})" for column in indexed)
                making = [
                    f"CREATE {kind} {table} ({columns}{keys})",
                    f"LOAD DATA INFILE '{path}' INTO TABLE {table} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES",
                ]
            for sql in making:
                answer = engine.run(sql)
                if "error" in answer:
                    raise SystemExit(f"{name} could not load {table}: {answer['error']}")
            if engine.name == SERVER:
                engine.run(f"ANALYZE TABLE {table}")
        if engine.name == "duckdb":
            engine.run("CHECKPOINT")
        if is_kept:
            marker.touch()
    if engine.name == "duckdb":
        engine.run(".limit")
    for sql in options.set if engine.name == "mayfly" else []:
        answer = engine.run(sql)
        if "error" in answer:
            raise SystemExit(f"{name}: {sql}: {answer['error']}")


def run(engines, options):
    """Runs the statements; prints a line for each, and the sums."""
    subject = next(iter(engines))
    medians = {name: {} for name in engines}
    file = report_data.statements_file(options.report, options)
    dialect = lambda engine: "mayfly" if engine.name == SERVER else engine.name
    kinds = {dialect(engine) for engine in engines.values()}
    for statement, words, check in report_data.statements(file, kinds):
        if options.statements and statement not in options.statements:
            continue
        times, failures, results, peaks = {name: [] for name in engines}, {}, {}, {}
        for round_number in range(options.rounds + 1):
            for name, engine in engines.items():
                if name in failures:
                    continue
                if round_number == 1 and engine.name != SERVER:
                    engine.peak_reset()
                answer = ask(engine, words[dialect(engine)], check, round_number == 0, options.timeout)
                if "error" in answer:
                    failures[name] = f"over {options.timeout:g} s" if answer["ms"] > options.timeout * 1e3 else answer["error"]
                elif round_number == 0:
                    results[name] = answer["rows"]
                else:
                    times[name].append(answer["ms"])
        for name, engine in engines.items():
            peaks[name] = engine.peak_mib()
            if name not in failures:
                medians[name][statement] = statistics.median(times[name])
        print_statement(statement, subject, medians, peaks, failures)
        others = [name for name in results if name != subject]
        # A rival, if one has answered.
        reference = min(others, key=lambda name: name not in RIVALS, default=None)
        if subject in results and reference and (difference := differs(results[subject], results[reference])):
            print(f"      answers differ: {difference}"[:400])
    print_sums(subject, medians)


def ask(engine, sql, check, compared, timeout):
    """Runs a statement. With sums to check, its answer becomes a table, and the rows are the sums over that."""
    if check is None:
        return engine.run(sql, rows_max=COMPARED_ROWS_MAX if compared else 0, timeout_s=timeout)
    engine.run("DROP TABLE IF EXISTS answer")
    answer = engine.run(f"CREATE TEMPORARY TABLE answer AS {sql}", timeout_s=timeout)
    if compared and "error" not in answer:
        answer = {**engine.run(check), "ms": answer["ms"]}
    engine.run("DROP TABLE IF EXISTS answer")
    return answer


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same(one, other):
    if one == other:
        return True
    numbers = (number(one), number(other))
    if None not in numbers:
        return math.isclose(*numbers, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
    try:
        return datetime.fromisoformat(one) == datetime.fromisoformat(other)
    except (TypeError, ValueError):
        return False


def differs(rows, reference):
    """The first difference, as text, or None."""
    if len(rows) != len(reference):
        return f"{len(rows)} rows, {len(reference)} in the other's"
    for place, (row, other) in enumerate(zip(rows, reference)):
        if not all(map(same, row, other)):
            return f"row {place + 1}: {row}, {other} in the other's"
    return None


def print_statement(statement, subject, medians, peaks, failures):
    parts = [f"{statement:4}"]
    for name, times in medians.items():
        if name in failures:
            parts.append(f"{name} {failures[name][:90]}")
            continue
        peak = "" if math.isnan(peaks[name]) else f" ({peaks[name]:5.0f} MiB)"
        parts.append(f"{name} {times[statement]:9.1f} ms{peak}")
        if name != subject and statement in medians[subject]:
            parts.append(f"ratio {medians[subject][statement] / times[statement]:7.3f}")
    print("  ".join(parts), flush=True)


def print_sums(subject, medians):
    """Sums over the statements that each engine finished, and the worst and the geometric mean of the ratios."""
    base = medians[subject]
    print(f"{subject}: {len(base)} statements finished")
    for name, times in medians.items():
        both = [statement for statement in times if statement in base]
        if name == subject or not both:
            continue
        sums = [sum(medians[statement] for statement in both) for medians in (base, times)]
        ratios = {statement: base[statement] / times[statement] for statement in both}
        worst = sorted(ratios, key=ratios.get, reverse=True)[:5]
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        print(f"of {len(both)} that {name} finished, too: sum {sums[0]:.0f} ms to {sums[1]:.0f} ms, ratio {sums[0] / sums[1]:.3f}; geometric mean {mean:.3f}")
        print("  worst: " + ", ".join(f"{statement} {ratios[statement]:.3f}" for statement in worst))


if __name__ == "__main__":
    main()
