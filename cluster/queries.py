#!/usr/bin/env python3
"""Compares random queries on a cluster of this machine with a server alone: rows, types of columns, warnings and errors, as texts
and prepared in the binary protocol, in strict mode and not. All tables are loaded into the cluster. Fails at any difference.

Needs: pip install pymysql; cd cluster && cargo build --release.

  cluster/queries.py                        20,000 queries
  cluster/queries.py --queries 2000 --seed 7
"""
import argparse, os, subprocess, sys, tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--executors", type=int, default=3)
    parser.add_argument("--program", default=bench.HERE / "target/release/mayfly-cluster")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as files:
        given = SimpleNamespace(executors=options.executors, memory=512 << 20, program=options.program)
        with bench.Cluster(given, Path(files)) as cluster:
            settings = {
                "MAYFLY_CLUSTER_SOCKET": str(cluster.socket),
                "MAYFLY_QUERIES_COMPARED": str(options.queries),
                "MAYFLY_SEED": str(options.seed),
                "MAYFLY_TESTS": "all",
            }
            command = "cargo test -p mayfly-testkit --test random random_queries_are_counted -- --nocapture"
            ended = subprocess.run(command.split(), env=os.environ | settings, cwd=bench.HERE.parent)
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
