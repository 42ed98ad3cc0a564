#!/usr/bin/env python3
"""Runs sysbench and mysqlslap against `mayfly serve` and other servers, turn about, and prints ratios.

Needs sysbench and a mysqlslap or mariadb-slap; cargo build --release -p mayfly-cli -p mayfly-bench. Mayfly is started here, with a data
directory of its own; the others run already and are reached through their Unix sockets as root without a password.

  bench-compare/server.py --peer mariadb=/run/mysqld/mysqld.sock              every operation, two clients
  bench-compare/server.py --peer mariadb=… --clients 2,64 oltp_point_select   one, with 2 and with 64
  bench-compare/server.py --peer … --mayfly old=…/mayfly --mayfly new=…/mayfly  two builds and a peer

The figure is the median of the rounds, in transactions a second (queries for derived_…), and the server's processor time
for each, which also has the work to make the rows that it reads, in ( ). A line ends with the ratio to
each peer; with several numbers of clients, also to the first of them. Every server syncs its log at each commit, as all of them do by default.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = "mayfly_bench"

OLTP = ["oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only"]
DERIVED = ["derived_merge_on", "derived_merge_off"]
JSON = ["ro", "rw", "distinct_range"]
TEMPORARY = ["create_drop", "insert", "update_pk", "update_key", "delete_pk", "select_pk"]
OPERATIONS = OLTP + DERIVED + [f"json_{name}" for name in JSON] + [f"temporary_{name}" for name in TEMPORARY]

# Article 1: a subquery's VARCHAR(2000) is sorted outside of the derived table that it is in.
LOGINS = """
DROP TABLE IF EXISTS login2;
CREATE TABLE login2 (user_id INT UNSIGNED NOT NULL AUTO_INCREMENT, user_name VARCHAR(50), user_email VARCHAR(2000) CHARACTER SET utf8mb3,
  created DATETIME, PRIMARY KEY (user_id)) ENGINE=InnoDB DEFAULT CHARSET=latin1;
INSERT INTO login2 WITH RECURSIVE n (i) AS (SELECT 100001 UNION ALL SELECT i + 1 FROM n WHERE i < 100900)
  SELECT i, CONCAT('user', i), CONCAT('user', i, '@example.com'), '2011-01-11 17:16:45' + INTERVAL i SECOND FROM n;
"""
LOGIN_QUERY = (
    "SELECT * FROM (SELECT user_id, created, (SELECT user_email FROM login2 b WHERE b.user_id = a.user_id) AS mail"
    " FROM login2 a WHERE a.user_id IN (100005, 100002, 100004, 100003)) AS a ORDER BY created"
)


class Server:
    """A server that runs."""

    def __init__(self, name, path):
        self.name, self.socket, self.process = name, str(path), None

    def sql(self, text):
        command = [program("mariadb", "mysql"), "--no-defaults", f"--socket={self.socket}", "--user=root", "--batch", "--skip-column-names"]
        return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout

    def processor_time(self):
        """Seconds of processor time that the server's process has used; it is the one that has the socket."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(self.socket)
            process, _, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()


class Mayfly(Server):
    """One that is started here."""

    def __init__(self, name, path, home, settings):
        super().__init__(name, home / f"{name}.sock")
        command = [path, "serve", "--insecure", "--port", "0", "--socket", self.socket, "--datadir", home / name]
        for setting in settings:
            command += ["--set", setting]
        self.log = open(home / f"{name}.log", "w")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if "ready for connections" in line:
                return
        sys.exit(f"{path} does not start: {(home / f'{name}.log').read_text()}")


def program(*names):
    for name in names:
        if shutil.which(name):
            return name
    sys.exit(f"{names[0]} is missing")


def sysbench(options, server, script, command, clients, *arguments):
    """Runs sysbench: its events a second. An error ends everything."""
    line = ["sysbench", str(script), f"--mysql-socket={server.socket}", "--mysql-user=root", f"--mysql-db={SCHEMA}", f"--threads={clients}",
            f"--time={options.seconds}", "--rand-type=uniform", *arguments, command]  # fmt: skip
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{server.name}: {' '.join(line)}\n{done.stdout}")
    if command != "run":
        return None
    count = lambda what: int(re.search(rf"{what}:\s+(\d+)", done.stdout)[1])
    if count("reconnects"):
        sys.exit(f"{server.name}: {' '.join(line)}\n{done.stdout}")
    seconds = float(re.search(r"total time:\s+([\d.]+)s", done.stdout)[1])
    events = int(re.search(r"total number of events:\s+(\d+)", done.stdout)[1])
    # What InnoDB's deadlocks and Mayfly's made sysbench try again.
    ignored = count("ignored errors")
    return events / seconds, events, ignored


def slap(options, server, home, clients, merges):
    query = home / "login.sql"
    query.write_text(LOGIN_QUERY + "\n")
    server.sql(f"SET GLOBAL optimizer_switch = 'derived_merge={merges}'")
    line = [program("mariadb-slap", "mysqlslap"), "--no-defaults", f"--socket={server.socket}", "--user=root", f"--create-schema={SCHEMA}",
            f"--query={query}", f"--concurrency={clients}", f"--number-of-queries={options.queries}", "--no-drop"]  # fmt: skip
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"Average number of seconds to run all queries: ([\d.]+)", done.stdout)
    server.sql("SET GLOBAL optimizer_switch = 'derived_merge=on'")
    if done.returncode or not found:
        sys.exit(f"{server.name}: {' '.join(line)}\n{done.stdout}")
    return options.queries / float(found[1]), options.queries, 0


def rows_are_ready(server, operations, options):
    """Makes the tables that the operations read."""
    server.sql(f"DROP DATABASE IF EXISTS {SCHEMA}; CREATE DATABASE {SCHEMA} DEFAULT CHARACTER SET utf8mb4")
    if any(name in OLTP for name in operations):
        sysbench(options, server, "oltp_read_write", "prepare", 1, f"--tables={options.tables}", f"--table-size={options.rows}")
    if any(name in DERIVED for name in operations):
        server.sql(f"USE {SCHEMA};{LOGINS}")
    if any(name.startswith("json_") for name in operations):
        sysbench(options, server, options.scripts / "json_tables.lua", "prepare", 1)
    server.sql("FLUSH STATUS")


def run(options, server, home, name, clients):
    if name in OLTP:
        return sysbench(options, server, name, "run", clients, f"--tables={options.tables}", f"--table-size={options.rows}")
    if name in DERIVED:
        return slap(options, server, home, clients, name.removeprefix("derived_merge_"))
    kind, operation = name.split("_", 1)
    script = {"json": "json_tables.lua", "temporary": "tmp_tables.lua"}[kind]
    return sysbench(options, server, options.scripts / script, "run", clients, f"--op={operation}")


def compare(options, servers, home, name):
    rates = {(server.name, clients): [] for clients in options.clients for server in servers}
    times = {which: [] for which in rates}
    ignored = dict.fromkeys(rates, 0)
    for _ in range(options.rounds):
        for clients in options.clients:
            for server in servers:
                before = server.processor_time()
                rate, events, errors = run(options, server, home, name, clients)
                rates[server.name, clients].append(rate)
                times[server.name, clients].append((server.processor_time() - before) / events * 1e6)
                ignored[server.name, clients] += errors
    medians = {which: statistics.median(values) for which, values in rates.items()}
    for clients in options.clients:
        line = [f"{name:24}", f"{clients:3} clients"] + [
            f"{server.name} {medians[server.name, clients]:9.0f} ({statistics.median(times[server.name, clients]):.1f} us)" for server in servers
        ]
        for server in servers[: options.mayflies]:
            own = medians[server.name, clients]
            line += [f"{server.name}/{peer.name} {own / medians[peer.name, clients]:5.2f}" for peer in servers[options.mayflies :]]
            if clients != options.clients[0]:
                line.append(f"{server.name}: {own / medians[server.name, options.clients[0]]:5.2f} of {options.clients[0]} clients")
        retried = [f"{server.name} {ignored[server.name, clients]}" for server in servers if ignored[server.name, clients]]
        print("  ".join(line + (["retried: " + ", ".join(retried)] if retried else [])), flush=True)


def named(text):
    name, _, path = text.rpartition("=")
    return name or "mayfly", path


def main():
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release/mayfly"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help=f"of {', '.join(OPERATIONS)}; all when none is given")
    parser.add_argument("--mayfly", action="append", type=named, metavar="[NAME=]PROGRAM", help="builds to compare")
    parser.add_argument("--peer", action="append", type=named, default=[], metavar="NAME=SOCKET", help="servers that run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="system variables of Mayfly")
    parser.add_argument("--clients", type=lambda text: [int(it) for it in text.split(",")], default=[2], metavar="N[,N]")
    parser.add_argument("--seconds", type=int, default=10, help="of each run of sysbench")
    parser.add_argument("--queries", type=int, default=20000, help="of each run of mysqlslap")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", type=int, default=1)
    parser.add_argument("--rows", type=int, default=100_000, help="of each of sysbench's own tables")
    parser.add_argument("--scripts", type=pathlib.Path, default=HERE / "sysbench", help="where json_tables.lua and tmp_tables.lua are")
    options = parser.parse_args()
    operations = options.operations or OPERATIONS
    unknown = set(operations) - set(OPERATIONS)
    if unknown:
        parser.error(f"no operation is called {', '.join(sorted(unknown))}")
    program("sysbench")
    home = pathlib.Path(tempfile.mkdtemp(prefix="mayfly-bench-server."))
    servers = []
    try:
        builds = options.mayfly or [("mayfly", default)]
        options.mayflies = len(builds)
        for name, path in builds:
            servers.append(Mayfly(name, path, home, options.set))
        servers += [Server(name, socket) for name, socket in options.peer]
        for server in servers:
            rows_are_ready(server, operations, options)
        print(f"{options.rounds} rounds of {options.seconds} s, {options.tables} tables of {options.rows} rows", flush=True)
        for name in operations:
            compare(options, servers, home, name)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
