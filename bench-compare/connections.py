#!/usr/bin/env python3
"""Measures what connections cost `mayfly serve`: the time to the first answer, and memory.

  bench-compare/connections.py --mayfly target/release/mayfly

Prints the median time from the start of the process, with --ephemeral, to the answer to its first query; its resident
memory with idle connections; and what connections that came, asked and went have left.
"""

import argparse
import os
import pathlib
import resource
import signal
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH
CAPABILITIES = 1 | 1 << 9 | 1 << 15 | 1 << 19


class Client:
    """A connection as root, who has no password."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.read()
        response = CAPABILITIES.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + bytes([45]) + bytes(23)
        self.send(1, response + b"root\0\0caching_sha2_password\0")
        answer = self.read()
        assert answer[0] in (0, 1), answer

    def read(self):
        head = self.exactly(4)
        return self.exactly(int.from_bytes(head[:3], "little"))

    def exactly(self, count):
        found = b""
        while len(found) < count:
            piece = self.socket.recv(count - len(found))
            assert piece, "the server closed the connection"
            found += piece
        return found

    def send(self, sequence, payload):
        self.socket.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)

    def ask(self, sql="SELECT 1"):
        """Reads columns up to an EOF and rows up to another."""
        self.send(0, b"\3" + sql.encode())
        ends, row = 0, None
        while ends < 2:
            payload = self.read()
            if payload[0] == 0xFE and len(payload) < 9:
                ends += 1
            elif ends == 1:
                row = payload
        return row

    def quit(self):
        self.send(0, b"\1")
        self.socket.close()


class Server:
    def __init__(self, program, home):
        self.socket = home / "socket"
        command = [program, "serve", "--ephemeral", "--insecure", "--port", "0", "--socket", self.socket, "--set", "max_connections=100000"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ready(self):
        assert "ready for connections" in self.process.stdout.readline()
        return self

    def mebibytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def start_time(program, home):
    began = time.perf_counter()
    server = Server(program, home).ready()
    Client(server.socket).ask()
    elapsed = time.perf_counter() - began
    server.stop()
    return elapsed * 1000


def main():
    default = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/mayfly"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mayfly", default=default)
    parser.add_argument("--starts", type=int, default=11)
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--cycles", type=int, default=10_000)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="mayfly-bench.") as directory:
        home = pathlib.Path(directory)
        times = [start_time(options.mayfly, home) for _ in range(options.starts)]
        print(f"start to first answer: median {statistics.median(times):.1f} ms of {len(times)}, {min(times):.1f} to {max(times):.1f}")

        server = Server(options.mayfly, home).ready()
        Client(server.socket).ask()
        first = server.mebibytes()
        clients = [Client(server.socket) for _ in range(options.idle)]
        for client in clients:
            client.ask()
        busy = server.mebibytes()
        # Threads without work end after ten seconds.
        time.sleep(12)
        print(f"{options.idle} idle connections: {server.mebibytes():.1f} MiB resident ({busy:.1f} when they had just asked, {first:.1f} with one)")
        for client in clients:
            client.quit()
        server.stop()

        server = Server(options.mayfly, home).ready()
        seen = []
        for part in range(2):
            for _ in range(options.cycles):
                client = Client(server.socket)
                client.ask()
                client.quit()
            time.sleep(1)
            seen.append((server.mebibytes(), server.descriptors()))
        (before, open_before), (after, open_after) = seen
        print(f"{options.cycles} times connect, query, quit, twice: {before:.1f} MiB and {open_before} descriptors, then {after:.1f} and {open_after}")
        server.stop()


if __name__ == "__main__":
    main()
