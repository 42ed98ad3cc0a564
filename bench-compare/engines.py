"""Engines to compare, each a process of its own that answers one statement a line: what compare.py and
reports.py share."""
import json, os, re, subprocess, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BENCH_PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/mayfly-bench"

RIVALS = ["duckdb", "sqlite"]
# What a worker calls a server of MySQL or MariaDB, which speaks Mayfly's SQL.
SERVER = "server"


class Engine:
    """A worker process that answers one statement a line."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, sql, **request):
        """The answer to a statement. A request may say `rows_max`, how many rows of the result the answer
        holds, and `timeout_s`, after which the statement is killed and the answer is an error."""
        self.process.stdin.write(json.dumps({"sql": sql, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            return {"error": f"{self.name} ended", "ms": float("nan")}
        return json.loads(line)

    def peak_reset(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_mib(self):
        if self.name == SERVER:
            return float("nan")
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        peak = re.search(r"VmHWM:\s+(\d+)", status)
        return int(peak.group(1)) / 1024 if peak else float("nan")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def open_engine(name, command):
    """A rival by its name, else a build of Mayfly."""
    return Engine(name if name in RIVALS else "mayfly", command)


def rival_command(name, threads):
    return [sys.executable, str(ROOT / "bench-compare/worker.py"), name, str(threads)]


def build(text):
    name, _, path = text.rpartition("=")
    return name or "mayfly", path


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]?)", text).groups()
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]
