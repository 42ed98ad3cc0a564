#!/usr/bin/env python3
"""Compares EXPLAIN's estimates with what EXPLAIN ANALYZE counts, for TPC-H's statements and the articles'.

For each node of a plan the rows that were thought to come out of it and those that came, and for each temporary
table its rows and its bytes in memory: the error is the larger divided by the smaller, of numbers that are 1
at least. A node that never ran has none; rows are those of all loops together. Prints the distribution of the errors,
and the worst. Bytes are compared where a table stayed in memory.

Needs: pip install tpchgen-cli numpy pyarrow; cargo build --release -p mayfly-cli -p mayfly-bench.

  bench-compare/estimates.py                            TPC-H at scale 0.1, the articles with 1 M rows
  bench-compare/estimates.py tpch q5 q21 --worst 100    some statements, and more of what is wrong
  bench-compare/estimates.py articles --rows 4000000
  bench-compare/estimates.py tpch --show q9             the tree as EXPLAIN ANALYZE prints it
"""
import argparse, re, tempfile
from pathlib import Path
from types import SimpleNamespace

import compare, report_data
from engines import BENCH_PROGRAM, ROOT, open_engine

NODE = re.compile(r"^( *)-> (.*?)(?:\((?:cost=\S+ )?rows=([\d.e+]+)\) \(actual time=\S+ rows=([\d.e+]+) loops=([\d.e+]+)\))?(?: \[(.*)\])?$")
TABLE = re.compile(r"([\d.e+]+) rows, ([\d.]+) (B|[KMGTPE]iB),.*; actual ([\d.e+]+) rows(?: in (\d+) tables)?, ([\d.]+) (B|[KMGTPE]iB) in memory$")
UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

# What the articles ask of tables that bench/articles has no statement for: article 1's, whose rows are its own.
ARTICLE_1 = [
    "CREATE TABLE login2 (user_id int unsigned NOT NULL AUTO_INCREMENT, user_name varchar(50) DEFAULT NULL,"
    " user_email varchar(2000) DEFAULT NULL, created datetime DEFAULT NULL, PRIMARY KEY (user_id))",
    "INSERT INTO login2 VALUES (100002, 'a', 'a@example.org', '2011-01-11 17:16:45'), (100003, 'b', 'b@example.org', '2011-01-11 17:16:45'),"
    " (100004, 'c', 'c@example.org', '2011-01-11 17:16:46'), (100005, 'd', 'd@example.org', '2011-01-11 17:16:46')",
]
ARTICLE_1_STATEMENT = (
    "select * from (select user_id, created, (select user_email from login2 b where b.user_id = a.user_id) as mail"
    " from login2 a where a.user_id IN (100005, 100002, 100004, 100003)) as a order by created"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="tpch, articles, or names of statements; all when none is given")
    parser.add_argument("--scale", type=float, default=0.1, help="of TPC-H")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the articles' tables")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worst", type=int, default=25, help="so many errors are listed")
    parser.add_argument("--show", action="append", default=[], help="print the tree of this statement")
    parser.add_argument("--set", action="append", default=[], help="SQL run after loading")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "report-data", help="where CSV files are kept")
    parser.add_argument("--mayfly", default=str(BENCH_PROGRAM), metavar="PROGRAM")
    options = parser.parse_intermixed_args()

    groups = [name for name in ("tpch", "articles") if name in options.what]
    wanted = [name for name in options.what if name not in groups]
    engine = open_engine("mayfly", [options.mayfly, "worker", "--threads", str(options.threads)])
    found = []
    for group, statements in (("tpch", tpch), ("articles", articles)):
        if groups and group not in groups:
            continue
        part = []
        for name, sql in statements(engine, options):
            if wanted and name not in wanted:
                continue
            answer = engine.run(f"EXPLAIN ANALYZE {sql}", rows_max=1)
            if "error" in answer:
                raise SystemExit(f"{name}: {answer['error']}")
            text = answer["rows"][0][0]
            if name in options.show:
                print(text)
            part += errors(name, text)
        report(group, part)
        found += part
    if not groups:
        report("together", found)
    engine.close()
    found.sort(key=lambda error: -error.factor)
    for error in found[: options.worst]:
        print(f"{error.factor:10.1f}  {error.kind:11} {error.statement:22} estimated {error.estimated:12.6g} actual {error.actual:12.6g}  {error.node[:110]}")


def tpch(engine, options):
    files = report_data.data_files("tpch", SimpleNamespace(data=options.data, scale=options.scale))
    for table, path in files.items():
        columns, key = report_data.TABLES["tpch"][table]
        prepare(engine, f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key}))")
        prepare(engine, f"LOAD DATA INFILE '{path}' INTO TABLE {table} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES")
    for sql in options.set:
        prepare(engine, sql)
    for name, words, _ in report_data.statements(ROOT / "bench/reports/tpch.sql", ["mayfly"]):
        yield name, words["mayfly"]


def articles(engine, options):
    folder = Path(tempfile.gettempdir()) / "mayfly-bench-data"
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted((ROOT / "bench/articles").glob("*.benchmark"))
    benchmarks = [(file.stem, compare.read_benchmark(file)) for file in files]
    for table in sorted({table for _, fields in benchmarks for table in fields["tables"].split()}):
        answer = compare.load(engine, table, options.rows, folder, False)
        if "error" in answer:
            raise SystemExit(f"{table}: {answer['error']}")
    for sql in ARTICLE_1:
        prepare(engine, sql)
    yield "article_1", ARTICLE_1_STATEMENT
    for name, fields in benchmarks:
        yield name, fields.get("mayfly", fields["sql"])


def prepare(engine, sql):
    answer = engine.run(sql)
    if "error" in answer:
        raise SystemExit(f"{sql}: {answer['error']}")


def errors(statement, text):
    """What was estimated and counted of each node and temporary table of a tree."""
    found = []

    def add(kind, node, estimated, actual):
        large, small = max(estimated, actual, 1), max(min(estimated, actual), 1)
        found.append(SimpleNamespace(statement=statement, kind=kind, node=node, estimated=estimated, actual=actual, factor=large / small))

    for line in text.splitlines():
        node = NODE.match(line)
        if not node:
            continue
        _, words, estimated, rows, loops, table = node.groups()
        if rows is not None:
            loops = float(loops)
            add("rows", words.strip(), float(estimated) * loops, float(rows) * loops)
        if table and (sizes := TABLE.search(table)):
            rows, size, unit, actual_rows, tables, actual_size, actual_unit = sizes.groups()
            tables = int(tables or 1)
            add("table rows", words.strip(), float(rows) * tables, float(actual_rows))
            bytes_of = lambda size, unit: float(size) * 1024 ** UNITS.index(unit)
            # The peak of several tables of one place is that of one of them.
            add("table bytes", words.strip(), bytes_of(size, unit), bytes_of(actual_size, actual_unit))
    return found


def report(title, found):
    for kind in ("rows", "table rows", "table bytes"):
        factors = sorted(error.factor for error in found if error.kind == kind)
        if factors:
            at = lambda part: factors[min(int(len(factors) * part), len(factors) - 1)]
            parts = "  ".join(f"{name} {at(part):.4g}" for name, part in (("median", 0.5), ("75 %", 0.75), ("90 %", 0.9), ("95 %", 0.95)))
            print(f"{title:9} {kind:12} {len(factors):4} factors: {parts}  most {factors[-1]:.4g}", flush=True)


if __name__ == "__main__":
    main()
