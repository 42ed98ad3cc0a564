#!/usr/bin/env python3
"""Statements over CSV and Parquet files on Mayfly and DuckDB, turn about, each in a process of its own, with default settings and two threads.

  bench-compare/files.py                        both kinds, 1 GB each; the data are made once in --folder
  bench-compare/files.py --kind csv --only join one statement
  bench-compare/files.py --memory 64M           Mayfly under a memory limit beside Mayfly without one

Prints, for each statement, medians of wall time, processor time and peak memory, and the ratios of the first engine to the second. DuckDB's
time is that of the statement alone; Mayfly's is that of its whole process. Results are compared. Needs: pip install duckdb numpy pyarrow;
cargo build --release -p mayfly-cli."""
import argparse, json, multiprocessing, os, statistics, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = {"csv": 10_000_000, "parquet": 20_000_000}
CUSTOMERS = 1_000_000
TOWNS = 300

STATEMENTS = {
    "scan": "SELECT COUNT(*), SUM(amount), MAX(day), MIN(note), MAX(visited) FROM '{f}'",
    "count": "SELECT COUNT(*) FROM '{f}'",
    "filter": "SELECT COUNT(*), SUM(quantity) FROM '{f}' WHERE day BETWEEN '2025-03-01' AND '2025-03-31' AND town = 'town 17'",
    "group_few": "SELECT town, COUNT(*), SUM(amount), MIN(day) FROM '{f}' GROUP BY town ORDER BY town",
    "group_many": "SELECT customer, COUNT(*) AS n, SUM(amount) AS s FROM '{f}' GROUP BY customer ORDER BY s DESC, customer LIMIT 10",
    "distinct": "SELECT COUNT(DISTINCT note) FROM '{f}'",
    "top": "SELECT id, amount, note FROM '{f}' ORDER BY amount DESC, id LIMIT 20",
    "join": "SELECT c.segment, COUNT(*), SUM(v.amount) FROM '{f}' AS v JOIN '{c}' AS c ON v.customer = c.customer GROUP BY c.segment ORDER BY 1",
    "write": "COPY (SELECT * FROM '{f}' WHERE quantity < 50) TO '{o}'",
    "sort_write": "COPY (SELECT id, customer, amount, note FROM '{f}' ORDER BY note, id) TO '{o}'",
}


def tables(kind):
    """Batches of the big table, and the table of customers."""
    import numpy, pyarrow

    random = numpy.random.default_rng(38)
    words = ["red", "iron", "small", "open", "late", "cold", "round", "plain", "sharp", "quiet"]
    towns = pyarrow.array([f"town {n}" for n in range(TOWNS)])

    def batches():
        step = 1_000_000
        for start in range(0, ROWS[kind], step):
            number = random.integers(0, 4_000_000, step)
            note = [f"{words[n % 10]} {words[n // 10 % 10]} order {n}" for n in number.tolist()]
            cents = random.integers(1, 10_000_000, step)
            day = random.integers(19723, 20454, step).astype("int32")
            second = random.integers(0, 86400, step) + day.astype("int64") * 86400
            yield pyarrow.table({
                "id": numpy.arange(start, start + step),
                "customer": random.integers(0, CUSTOMERS, step).astype("int32"),
                "amount": decimal(cents),
                "quantity": random.integers(0, 100, step).astype("int32"),
                "day": pyarrow.array(day).cast(pyarrow.date32()),
                "visited": pyarrow.array(second).cast(pyarrow.timestamp("s")).cast(pyarrow.timestamp("us")),
                "town": towns.take(pyarrow.array(random.integers(0, TOWNS, step))),
                "note": note,
            })

    def decimal(cents):
        """Hundredths as DECIMAL(12, 2): the 16 bytes of each, little-endian."""
        bytes_ = numpy.zeros((len(cents), 2), dtype="int64")
        bytes_[:, 0] = cents
        return pyarrow.Array.from_buffers(pyarrow.decimal128(12, 2), len(cents), [None, pyarrow.py_buffer(bytes_.tobytes())])

    customers = pyarrow.table({
        "customer": numpy.arange(CUSTOMERS, dtype="int32"),
        "segment": [f"segment {n % 25}" for n in range(CUSTOMERS)],
        "name": [f"customer {n}" for n in range(CUSTOMERS)],
    })
    return batches, customers


def make(folder, kind):
    big, small = folder / f"visits.{kind}", folder / f"customers.{kind}"
    if big.exists() and small.exists():
        return big, small
    from pyarrow import csv, parquet

    batches, customers = tables(kind)
    if kind == "csv":
        with open(big, "wb") as file:
            for number, batch in enumerate(batches()):
                csv.write_csv(batch, file, csv.WriteOptions(include_header=number == 0, quoting_style="none"))
        csv.write_csv(customers, small, csv.WriteOptions(quoting_style="none"))
    else:
        writer = None
        for batch in batches():
            writer = writer or parquet.ParquetWriter(big, batch.schema, compression="snappy")
            writer.write_table(batch, row_group_size=250_000)
        writer.close()
        parquet.write_table(customers, small)
    return big, small


DUCK = """
import duckdb, json, sys, time
con = duckdb.connect(); con.execute("SET threads=2"); con.execute("SET enable_progress_bar=false")
start = time.time(); rows = con.execute(sys.argv[1]).fetchall(); took = time.time() - start
print(json.dumps([took, ["\\t".join(str(v) for v in row) for row in rows]]))
"""


def run(engine, statement, memory, program, folder):
    """(seconds, processor seconds, peak bytes, hash of the result) of one process."""
    if engine.startswith("mayfly"):
        limit = ["--memory-limit", memory] if memory and engine == "mayfly-limited" else []
        command = [program, *limit, "--batch", "--skip-column-names", "-e", statement]
    else:
        command = [sys.executable, "-c", DUCK, statement]
    start = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder)
    text = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.time() - start
    if status:
        raise SystemExit(f"{engine} failed: {statement}")
    if engine == "duckdb":
        took, rows = json.loads(text)
    else:
        rows = text.splitlines()
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, rows


def normal(row):
    """A row of both engines in one form: DuckDB reads numbers with a point as doubles, Mayfly as decimals."""
    def value(text):
        try:
            return f"{float(text):.9g}"
        except ValueError:
            return text.removesuffix(".000000")

    return [value(text) for text in row.split("\t")]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--kind", choices=ROWS, action="append")
    options.add_argument("--only", action="append")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--memory")
    options.add_argument("--folder", type=Path, default=Path("/tmp/mayfly-files"))
    options.add_argument("--program", default=str(ROOT / "target/release/mayfly"))
    chosen = options.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    engines = ["mayfly-limited", "mayfly"] if chosen.memory else ["mayfly", "duckdb"]
    for kind in chosen.kind or ROWS:
        # In a process of its own: a child's peak memory is not below its parent's when it begins.
        with multiprocessing.Pool(1) as pool:
            big, small = pool.apply(make, (chosen.folder, kind))
        print(f"{kind}: {big.stat().st_size / 1e9:.2f} GB, {ROWS[kind]:,} rows; {' against '.join(engines)}")
        sums = [0.0, 0.0]
        for name, form in STATEMENTS.items():
            if chosen.only and name not in chosen.only:
                continue
            runs = {engine: [] for engine in engines}
            results = {}
            for _ in range(chosen.rounds):
                for engine in engines:
                    written = chosen.folder / f"written.{kind}"
                    written.unlink(missing_ok=True)
                    statement = form.format(f=big, c=small, o=written)
                    *figures, rows = run(engine, statement, chosen.memory, chosen.program, chosen.folder)
                    runs[engine].append(figures)
                    results[engine] = [] if form.startswith("COPY") else [normal(row) for row in rows]
                    written.unlink(missing_ok=True)
            medians = [[statistics.median(column) for column in zip(*runs[engine])] for engine in engines]
            for place in (0, 1):
                sums[place] += medians[place][0]
            (a, b), same = medians, results[engines[0]] == results[engines[1]]
            print(
                f"  {name:11} {a[0]:7.3f} s {b[0]:7.3f} s  ratio {a[0] / b[0]:5.2f}  cpu {a[1] / b[1]:5.2f}"
                f"  memory {a[2] / 1e6:6.0f} MB {b[2] / 1e6:6.0f} MB ({a[2] / b[2]:.2f}){'' if same else '  RESULTS DIFFER'}",
                flush=True,
            )
        print(f"  {'sum':11} {sums[0]:7.3f} s {sums[1]:7.3f} s  ratio {sums[0] / sums[1]:5.2f}")


if __name__ == "__main__":
    main()
