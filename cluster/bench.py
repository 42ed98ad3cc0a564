#!/usr/bin/env python3
"""Runs reports over Parquet files on a cluster of this machine and on its server alone, compares what they answer, and prints
times. The files are tables without a load; each executor reads its share. All processes share the machine's processors, so
that the ratio is the price of the exchanges.

Needs: pip install tpchgen-cli duckdb pymysql pyarrow numpy; cd cluster && cargo build --release.

  cluster/bench.py tpch                            scale 1, three executors of 1 GiB
  cluster/bench.py tpch --scale 10 --memory 1G q1 q5
  cluster/bench.py tpcds
  cluster/bench.py tpch --stages q3                what each stage has done, too
  cluster/bench.py headline --rows 400000000 --memory 512M        groups of texts, of which 95 of 100 are distinct
  cluster/bench.py small                           what the secondary engine costs statements below its threshold
"""
import argparse, json, os, shutil, signal, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench-compare"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", choices=["tpch", "tpcds", "headline", "small"])
    parser.add_argument("statements", nargs="*", help="such as q1; all when none is given")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rows", type=int, default=40_000_000, help="of headline")
    parser.add_argument("--executors", type=int, default=3)
    parser.add_argument("--memory", type=size, default=size("1G"), help="of each executor, and of the server alone")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--program", default=HERE / "target/release/mayfly-cluster")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "report-data", help="where files are kept")
    parser.add_argument("--stages", action="store_true")
    options = parser.parse_intermixed_args()
    # What report_data asks of other reports.
    options.groups = 1
    size_of = options.rows if options.report == "headline" else f"{options.scale:g}"
    files = options.data / f"{options.report}_{size_of}_parquet"
    if options.report == "small":
        with tempfile.TemporaryDirectory() as empty, Cluster(options, Path(empty)) as cluster:
            return small(cluster)
    if not files.exists():
        make(options, files)
    statements = report_statements(options)
    with Cluster(options, files) as cluster:
        run(cluster, statements, options)


HEADLINE = {
    "groups": "SELECT COUNT(*), SUM(cnt) FROM (SELECT COUNT(*) cnt, c FROM gtest GROUP BY c) g",
    "sums": "SELECT i % 10 d, COUNT(*), SUM(i) FROM gtest GROUP BY d ORDER BY d",
}


def size(text):
    """Bytes of 512M or 2G."""
    return int(float(text[:-1]) * (1 << {"K": 10, "M": 20, "G": 30}[text[-1]]))


def make(options, files):
    """Makes the files: a directory for each table."""
    partial = files.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    if options.report == "headline":
        import duckdb

        (partial / "gtest").mkdir()
        rows = f"SELECT hash(i) % 100000 AS i, sha1(CAST(CASE WHEN i % 20 = 19 THEN i - 19 ELSE i END AS VARCHAR)) AS c FROM range({options.rows}) AS r(i)"
        duckdb.sql(f"COPY ({rows}) TO '{partial}/gtest/gtest.parquet' (ROW_GROUP_SIZE 500000)")
    elif options.report == "tpch":
        subprocess.run(["tpchgen-cli", "parquet", "-q", "-s", f"{options.scale:g}", "--output-dir", partial], check=True)
        for file in list(partial.glob("*.parquet")):
            (partial / file.stem).mkdir()
            file.rename(partial / file.stem / file.name)
    else:
        import duckdb, report_data

        folder = report_data.folder_of("tpcds", options)
        for table, columns in json.loads((folder / "tpcds.json").read_text())["tables"].items():
            (partial / table).mkdir()
            rows = f"read_csv('{folder / table}.csv', header = true, nullstr = '\\N', columns = {dict(columns)})"
            duckdb.sql(f"COPY (FROM {rows}) TO '{partial / table}/{table}.parquet' (ROW_GROUP_SIZE 100000)")
    partial.rename(files)


def report_statements(options):
    """The report's statements by name."""
    if options.report == "headline":
        return [(name, sql) for name, sql in HEADLINE.items() if not options.statements or name in options.statements]
    import report_data

    file = report_data.statements_file(options.report, options)
    found = [(name, words["mayfly"]) for name, words, _ in report_data.statements(file, ["mayfly"])]
    return [(name, sql) for name, sql in found if not options.statements or name in options.statements]


class Cluster:
    """A coordinator and executors as processes."""

    def __init__(self, options, files, partitions=None):
        self.options, self.files, self.partitions = options, files, partitions or options.executors
        self.folder = Path(tempfile.mkdtemp(prefix="mayfly-cluster-reports-"))
        self.socket = self.folder / "socket"
        self.processes = []

    def __enter__(self):
        try:
            return self.begin()
        except BaseException:
            self.__exit__()
            raise

    def begin(self):
        import pymysql

        options = self.options
        coordinator = self.start(
            ["coordinator", "--listen-executors", "127.0.0.1:0", "--partitions", self.partitions, "--port", 0, "--insecure",
             "--socket", self.socket, "--ephemeral", "--log-level", "error", "--memory-limit", options.memory],
            "coordinator", stdout=subprocess.PIPE)  # fmt: skip
        heard = coordinator.stdout.readline().decode().split()[-1]
        port = int(coordinator.stdout.readline().decode().split("port:")[1].split()[0])
        for number in range(options.executors):
            name = f"executor-{number + 1}"
            self.start(["executor", "--coordinator", heard, "--name", name, "--tasks", 1, "--memory", options.memory], name)
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
        self.cursor = self.connection.cursor()
        while self.cursor.execute("SHOW CLUSTER") < options.executors:
            time.sleep(0.1)
        self.cursor.execute("CREATE DATABASE reports")
        self.cursor.execute("USE reports")
        # TPC-DS has spaces behind names of functions.
        self.cursor.execute("SET sql_mode = CONCAT(@@sql_mode, ',IGNORE_SPACE')")
        # The coordinator's own files are here, too.
        tables = [it for it in self.files.iterdir() if it.is_dir() and it.name != "copies"]
        for table in sorted(tables):
            self.cursor.execute(f"CREATE VIEW {table.name} AS SELECT * FROM '{table}'")
        return self

    def start(self, arguments, name, **others):
        common = ["--data", self.files, "--directory", self.folder / name]
        process = subprocess.Popen([str(it) for it in [self.options.program, *arguments, *common]], **others)
        self.processes.append(process)
        return process

    def cpu(self):
        """Seconds of processor time of all processes so far."""
        ticks = os.sysconf("SC_CLK_TCK")
        return sum(sum(map(int, Path(f"/proc/{it.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) for it in self.processes) / ticks

    def __exit__(self, *_):
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stages(self, sql):
        """What each stage of a statement has done."""
        self.cursor.execute(f"EXPLAIN ANALYZE {sql}")
        self.cursor.execute("SHOW WARNINGS")
        return [text for _, _, text in self.cursor.fetchall() if text.startswith("Stage ")]

    def ask(self, engine, sql):
        """Rows, seconds and processor seconds of a statement, or its error."""
        self.cursor.execute(f"SET use_secondary_engine = {engine}")
        cpu, start = self.cpu(), time.perf_counter()
        self.cursor.execute(sql)
        rows = self.cursor.fetchall()
        return rows, time.perf_counter() - start, self.cpu() - cpu


SMALL = {
    "by key": "SELECT v FROM t WHERE id = 77",
    "groups": "SELECT v % 10 AS k, COUNT(*), MAX(id) FROM t GROUP BY k ORDER BY k",
    "join": "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.v = b.id WHERE a.id < 100",
}


def small(cluster):
    """Microseconds of small statements over a loaded table, with the secondary engine and without it, turn about."""
    cursor = cluster.cursor
    rows = ", ".join(f"({number}, {number * 7919 % 1000})" for number in range(1000))
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT) SECONDARY_ENGINE = CLUSTER")
    cursor.execute(f"INSERT INTO t VALUES {rows}")
    cursor.execute("ALTER TABLE t SECONDARY_LOAD")
    print(f"{'':8} {'OFF µs':>8} {'ON µs':>8} {'ratio':>6}")
    for name, sql in SMALL.items():
        times = {"OFF": [], "ON": []}
        for _ in range(41):
            for engine, found in times.items():
                cursor.execute(f"SET use_secondary_engine = {engine}")
                start = time.perf_counter()
                for _ in range(100):
                    cursor.execute(sql)
                found.append((time.perf_counter() - start) * 1e4)
        off, on = (statistics.median(found[1:]) for found in times.values())
        print(f"{name:8} {off:8.1f} {on:8.1f} {on / off:6.3f}")


def run(cluster, statements, options):
    import pymysql

    size_of = f"{options.rows:,} rows" if options.report == "headline" else f"scale {options.scale:g}"
    print(f"{options.report} {size_of}, {options.executors} executors of {options.memory >> 20} MiB, median of {options.rounds} rounds")
    print(f"{'':6} {'server s':>9} {'cluster s':>9} {'ratio':>6} {'cpu ratio':>9}  rows")
    sums, refused, differing = [0.0, 0.0], [], []
    for name, sql in statements:
        measured = {"OFF": [], "FORCED": []}
        rows = {}
        try:
            for _ in range(options.rounds):
                for engine, times in measured.items():
                    rows[engine], seconds, cpu = cluster.ask(engine, sql)
                    times.append((seconds, cpu))
        except pymysql.Error as error:
            refused.append((name, str(error)))
            print(f"{name:6} {error}")
            if error.args[0] == 3889:
                continue
            raise
        (alone, alone_cpu), (together, cpu) = (map(statistics.median, zip(*times)) for times in measured.values())
        sums = [sums[0] + alone, sums[1] + together]
        is_equal = sorted(map(repr, rows["OFF"])) == sorted(map(repr, rows["FORCED"]))
        if not is_equal:
            differing.append(name)
        equal = "" if is_equal else "  DIFFERENT"
        print(f"{name:6} {alone:9.3f} {together:9.3f} {together / alone:6.2f} {cpu / max(alone_cpu, 0.01):9.2f}  {len(rows['OFF'])}{equal}", flush=True)
        for stage in cluster.stages(sql) if options.stages else []:
            print(f"         {stage}")
    print(f"{'sum':6} {sums[0]:9.3f} {sums[1]:9.3f} {sums[1] / max(sums[0], 1e-9):6.2f}")
    print(f"{len(statements) - len(refused) - len(differing)} equal, {len(differing)} different {differing}, {len(refused)} refused {[name for name, _ in refused]}")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
