#!/usr/bin/env python3
"""Runs the statements of bench/ on Mayfly, DuckDB and SQLite, turn about, and prints ratios.

Each engine is a process of its own that answers one statement a line, so that its peak memory is
its own. In each round every engine runs the statement once; the figure is the median of the
rounds. Needs: pip install duckdb; cargo build --release -p mayfly-cli -p mayfly-bench.

  bench-compare/compare.py                               all statements, 4 M rows, in memory
  bench-compare/compare.py --rows 1000000 headline       one statement, 1 M rows
  bench-compare/compare.py --memory-limit 64M --engines mayfly,mayfly-unlimited,duckdb headline
  bench-compare/compare.py --durable headline            over tables on disk, with a primary key
  bench-compare/compare.py --durable --load              loading those
  bench-compare/compare.py --mayfly new=… --mayfly old=… --engines mayfly   two builds, as ratios of the first to the second

A benchmark is a file of fields: `tables` to load, `sql` (and `mayfly`, `duckdb`, `sqlite` where one
needs other words), `compare` (`result` or `rows`: only their number), `target` (the ratio to a
rival to stay below), and `against`: another statement that Mayfly runs in the same process, of
which the time may be at most `at_most` times.
"""
import argparse, hashlib, json, statistics, tempfile
from pathlib import Path

from engines import BENCH_PROGRAM, ROOT, build, bytes_of, open_engine, rival_command

# Each benchmark table, as (columns of MySQL, columns of DuckDB and SQLite, data file).
TABLES = {
    "gtest": ("i int unsigned NOT NULL, c char(50) NOT NULL", "i UINTEGER NOT NULL, c VARCHAR NOT NULL", "gtest"),
    "gtest_text": ("i int unsigned NOT NULL, c text NOT NULL", "i UINTEGER NOT NULL, c VARCHAR NOT NULL", "gtest"),
    "gtest_varchar2000": ("i int unsigned NOT NULL, c varchar(2000) NOT NULL", "i UINTEGER NOT NULL, c VARCHAR NOT NULL", "gtest"),
    "gtest_blob": ("i int unsigned NOT NULL, c blob NOT NULL", "i UINTEGER NOT NULL, c VARCHAR NOT NULL", "gtest"),
    "repeating": ("t text NOT NULL", "t VARCHAR NOT NULL", "repeating"),
}

def random_numbers(seed):
    """SplitMix64: the same data on every machine."""
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def data_file(kind, rows, folder, keyed):
    """Writes the table's data as CSV, once. gtest: 5 % of the values repeat, as in article 0."""
    path = folder / f"{kind}_{rows}{'_keyed' if keyed else ''}.csv"
    if path.exists():
        return path
    numbers = random_numbers(2007)
    values = [hashlib.sha512(str(n).encode()).hexdigest()[:100] for n in range(500)]
    partial = path.with_suffix(".part")
    with open(partial, "w") as out:
        for row in range(rows):
            n = next(numbers)
            if keyed:
                out.write(f"{row + 1},")
            if kind == "gtest":
                text = hashlib.sha1(str(n % (rows * 39 // 4)).encode()).hexdigest()
                out.write(f"{(n >> 40) % 100000},{text}\n")
            else:
                out.write(values[(n >> 20) % 500] + "\n")
    partial.rename(path)
    return path


def load(engine, table, rows, folder, keyed):
    mysql, other, kind = TABLES[table]
    path = data_file(kind, rows, folder, keyed)
    if keyed:
        mysql, other = (f"id bigint NOT NULL PRIMARY KEY, {columns}" for columns in (mysql, other))
    if engine.name == "mayfly":
        engine.run(f"CREATE TABLE {table} ({mysql})")
        return engine.run(f"LOAD DATA INFILE '{path}' INTO TABLE {table} FIELDS TERMINATED BY ','")
    names = ", ".join(part.split()[0] for part in other.split(", "))
    if engine.name == "duckdb" and keyed:
        engine.run(f"CREATE TABLE {table} ({other})")
        answer = engine.run(f"COPY {table} FROM '{path}' (HEADER false)")
        synced = engine.run("CHECKPOINT")
        return {**answer, **synced, "ms": answer["ms"] + synced["ms"]}
    if engine.name == "duckdb":
        kinds = {part.split()[0]: part.split()[1] for part in other.split(", ")}
        return engine.run(f"CREATE TABLE {table} AS SELECT {names} FROM read_csv('{path}', header=false, columns={json.dumps(kinds)})".replace('"', "'"))
    engine.run(f"CREATE TABLE {table} ({other})")
    return engine.run(f".load {table} {path}")


def read_benchmark(path):
    fields = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            key, value = line.split(":", 1)
            fields[key.strip()] = value.strip()
    return fields


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", help="names of benchmarks; all when none is given")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory-limit", type=bytes_of, help="for everything, such as 64M")
    parser.add_argument("--engines", default="mayfly,duckdb", help="of mayfly, duckdb, sqlite, mayfly-unlimited")
    parser.add_argument("--set", action="append", default=[], help="SQL run on Mayfly first")
    parser.add_argument("--durable", action="store_true", help="tables on disk, with a primary key")
    parser.add_argument("--load", action="store_true", help="time loading instead of statements")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "mayfly-bench-data")
    parser.add_argument("--mayfly", action="append", type=build, metavar="[NAME=]PROGRAM", help="builds to compare; ratios are the first one's")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)

    builds = dict(options.mayfly or [("mayfly", str(BENCH_PROGRAM))])
    # Ratios are its own, whichever engine is named first.
    options.subject = next(iter(builds))
    own = {name: [program, "worker", "--threads", str(options.threads)] for name, program in builds.items()}
    commands = {
        **own,
        "mayfly-unlimited": list(next(iter(own.values()))),
        "duckdb": rival_command("duckdb", options.threads),
        "sqlite": rival_command("sqlite", options.threads),
    }
    if options.memory_limit:
        for command in own.values():
            command += ["--memory-limit", str(options.memory_limit)]
        commands["duckdb"] += [str(options.memory_limit)]
    names = [name for engine in options.engines.split(",") for name in (builds if engine == "mayfly" else [engine])]
    if options.durable:
        directory = tempfile.TemporaryDirectory(prefix="mayfly-bench-")
        for name, command in own.items():
            command += ["--datadir", f"{directory.name}/{name}"]
        commands["duckdb"] += [f"{directory.name}/duckdb"]

    if options.load:
        return compare_loads(options, names, commands)
    files = sorted((ROOT / "bench").glob("*/*.benchmark"))
    files = [file for file in files if not options.benchmarks or file.stem in options.benchmarks]
    print(f"{options.rows} rows, {options.threads} threads, median of {options.rounds} rounds, limit {options.memory_limit or 'none'}")
    for file in files:
        compare(file, options, names, commands)


def compare_loads(options, names, commands):
    times = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            engine = open_engine(name, commands[name])
            answer = load(engine, "gtest", options.rows, options.data, options.durable)
            if "error" in answer:
                print(f"{name} could not load: {answer['error']}")
            times[name].append(answer["ms"])
            if options.durable:
                engine.run("DROP TABLE gtest")
            engine.close()
    report(options.subject, "load gtest", {name: statistics.median(times[name]) for name in names}, {}, None)


def compare(file, options, names, commands):
    fields = read_benchmark(file)
    engines = {name: open_engine(name, commands[name]) for name in names}
    for name, engine in engines.items():
        for table in fields["tables"].split():
            answer = load(engine, table, options.rows, options.data, options.durable)
            if "error" in answer:
                print(f"{file.stem}: {name} could not load: {answer['error']}")
        if engine.name == "mayfly":
            for sql in options.set:
                engine.run(sql)
        if engine.name != "mayfly":
            engine.run(".limit")
    times, peaks, results = {name: [] for name in names}, {}, {}
    against = []
    for round_number in range(options.rounds + 1):
        for name, engine in engines.items():
            if round_number == 1:
                engine.peak_reset()
            answer = engine.run(fields.get(engine.name, fields["sql"]))
            if "error" in answer:
                results[name] = answer["error"]
            else:
                results[name] = answer["rows"] if fields["compare"] == "result" else answer["row_count"]
            if round_number > 0:
                times[name].append(answer["ms"])
            if name == options.subject and "against" in fields:
                answer = engine.run(fields["against"])
                if round_number > 0:
                    against.append(answer["ms"])
    for name, engine in engines.items():
        peaks[name] = engine.peak_mib()
        for table in fields["tables"].split() if options.durable else []:
            engine.run(f"DROP TABLE {table}")
        engine.close()
    report(options.subject, file.stem, {name: statistics.median(times[name]) for name in names}, peaks, fields.get("target"))
    if against:
        base = statistics.median(against)
        ratio = statistics.median(times[options.subject]) / base
        print(f"    against {base:.1f} ms: ratio {ratio:.2f}  at most {fields['at_most']}")
    if len({json.dumps(result) for result in results.values()}) > 1:
        print(f"    results differ: {json.dumps(results)[:600]}")


def report(subject, title, medians, peaks, target):
    base = medians[subject]
    parts = [f"{title:24}"]
    for name, milliseconds in medians.items():
        peak = f" ({peaks[name]:.0f} MiB)" if name in peaks else ""
        parts.append(f"{name} {milliseconds:9.1f} ms{peak}")
        if name != subject:
            parts.append(f"ratio {base / milliseconds:5.2f}")
    if target:
        parts.append(f"target {target}")
    print("  ".join(parts), flush=True)


if __name__ == "__main__":
    main()
