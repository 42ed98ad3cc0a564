#!/usr/bin/env python3
"""What a cluster of 3, 10 and 100 executors would do: a simulation with figures that this machine gives.

Measured: processor time a row before and after an exchange, bytes a row on the wire, and the time of a job over few rows by its
number of partitions, whose streams grow with the square. Simulated: each executor has processors and a network of its own,
partitions get groups by a hash, a stage ends with its slowest partition, and sending, receiving and computing overlap.

Needs: pip install pymysql numpy; cd cluster && cargo build --release.

  cluster/scaling.py                   measures, and simulates the headline statement over 4 billion rows
  cluster/scaling.py --rows 400000000
"""
import argparse, sys, time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench

HEADLINE = "SELECT COUNT(*), SUM(n) FROM (SELECT c, COUNT(*) n FROM t GROUP BY c) g"
SCAN = "SELECT COUNT(*), MAX(c) FROM t"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000_000, help="of the simulated table; 95 of 100 are groups of their own")
    parser.add_argument("--measured-rows", type=int, default=4_000_000)
    parser.add_argument("--cores", type=int, default=8, help="of a simulated executor")
    parser.add_argument("--gigabits", type=float, default=10, help="of a simulated network interface")
    parser.add_argument("--program", default=bench.HERE / "target/release/mayfly-cluster")
    parser.add_argument("--data", type=Path, default=Path("/tmp/report-data"))
    options = parser.parse_args()
    figures = measure(options)
    print(f"a row of {figures.bytes:.0f} bytes on the wire: {figures.scan * 1e6:.2f} µs of a processor to scan and {figures.group * 1e6:.2f} µs to exchange and group;"
          f" a job takes {figures.job * 1e3:.0f} ms and {figures.stream * 1e6:.0f} µs a stream")  # fmt: skip
    print(f"{'executors':>9} {'partitions':>10} {'seconds':>8} {'of it: compute':>15} {'network':>8} {'streams':>8} {'slowest partition':>18} {'speedup':>8}")
    first = None
    for executors in (1, 3, 10, 30, 100):
        found = simulate(options, figures, executors)
        first = first or found.seconds
        print(f"{executors:9} {found.partitions:10} {found.seconds:8.1f} {found.compute:15.1f} {found.network:8.1f} {found.streams:8.2f} {found.skew:18.3f} {first / found.seconds:8.1f}")


def measure(options):
    """The figures of this machine."""
    files = options.data / f"scaling_{options.measured_rows}"
    if not (files / "t").exists():
        import duckdb

        (files / "t").mkdir(parents=True)
        rows = f"SELECT sha1(CAST(CASE WHEN i % 20 = 19 THEN i - 19 ELSE i END AS VARCHAR)) c FROM range({options.measured_rows}) r(i)"
        duckdb.sql(f"COPY ({rows}) TO '{files}/t/t.parquet' (ROW_GROUP_SIZE 100000)")
        duckdb.sql(f"COPY (SELECT * FROM '{files}/t/t.parquet' LIMIT 200) TO '{files}/few.parquet'")
        (files / "few").mkdir()
        (files / "few.parquet").rename(files / "few/few.parquet")
    jobs = {}
    for partitions in (3, 12, 24, 48):
        with bench.Cluster(SimpleNamespace(executors=3, memory=1 << 30, program=options.program), files, partitions) as cluster:
            few = HEADLINE.replace("FROM t", "FROM few")
            cluster.ask("FORCED", few)
            jobs[partitions] = min(cluster.ask("FORCED", few)[1] for _ in range(5))
            if partitions == 3:
                scan = min(cluster.ask("FORCED", SCAN)[2] for _ in range(3))
                group = min(cluster.ask("FORCED", HEADLINE)[2] for _ in range(3))
                stages = cluster.stages(HEADLINE)
    sent = next(stage for stage in stages if stage.startswith("Stage 0"))
    sent = int(sent.split(" bytes sent")[0].split()[-1])
    # A job's time grows by the streams: each partition sends to each.
    stream = (jobs[48] - jobs[3]) / (48**2 - 3**2)
    rows = options.measured_rows
    return SimpleNamespace(scan=scan / rows, group=(group - scan) / rows, bytes=sent / rows, job=jobs[3], stream=max(stream, 0))


def simulate(options, figures, executors):
    """The time of the headline statement on a cluster."""
    import numpy

    random = numpy.random.default_rng(1)
    partitions = executors * options.cores
    groups = int(options.rows * 0.95)
    # Groups fall into partitions at random, 1 of 19 with two rows: the slowest one counts.
    load = random.multinomial(groups, [1 / partitions] * partitions) * (options.rows / groups)
    share = options.rows / partitions
    compute = share * figures.scan + max(share, load.max()) * figures.group
    # What an executor keeps does not cross the network.
    network = options.rows / executors * figures.bytes * (executors - 1) / executors / (options.gigabits * 125e6)
    # The streams of an executor's partitions are opened by its own processors.
    streams = figures.stream * partitions**2 / executors
    return SimpleNamespace(partitions=partitions, compute=compute, network=network, streams=streams, skew=load.max() / share,
                           seconds=max(compute, network) + figures.job + streams)  # fmt: skip


if __name__ == "__main__":
    main()
