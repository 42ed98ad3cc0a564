#!/usr/bin/env python3
"""Measures what clients that have no password cost `mayfly serve`: CPU of a login attempt, and others' waiting.

  bench-compare/logins.py --mayfly target/release/mayfly

Prints the milliseconds of the server's CPU for an attempt of each kind, and how long a login and a query take while
1,000 clients have begun to log in and say nothing more, with the server's memory before and with them.
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import resource
import socket
import subprocess
import tempfile
import time

from connections import CAPABILITIES, Client

ATTEMPTS = 20
HALF_OPEN = 1_000
# What an attempt may cost.
LIMIT_MS = 50


class Stranger(Client):
    """A connection that has not answered the greeting."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.greeting = self.read()

    def answer(self, user, proof):
        response = CAPABILITIES.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + bytes([45]) + bytes(23)
        self.send(1, response + user + b"\0" + bytes([len(proof)]) + proof + b"caching_sha2_password\0")


def password(length):
    """The whole password, as who comes through the socket may send it."""
    def attempt(stranger, user):
        stranger.answer(user, hashlib.sha256(b"x").digest())
        stranger.read()
        content = b"x" * length + b"\0"
        sequence = 3
        while True:
            piece, content = content[:0xFFFFFF], content[0xFFFFFF:]
            stranger.send(sequence, piece)
            sequence += 1
            if len(piece) < 0xFFFFFF:
                break
    return attempt


def long_answer(stranger, user):
    stranger.send(1, bytes(1 << 20))


def noise(stranger, user):
    stranger.socket.sendall(os.urandom(1 << 16))


def bytes_alone(stranger, user):
    stranger.socket.sendall((60_000).to_bytes(3, "little") + b"\1")
    for _ in range(60_000):
        stranger.socket.sendall(b"x")


KINDS = {
    "a wrong password of 6 bytes": password(6),
    "a password of 256 bytes": password(256),
    "a password of 257 bytes": password(257),
    "a password of 60,000 bytes": password(60_000),
    "a password of 1 MiB": password(1 << 20),
    "an answer of 1 MiB": long_answer,
    "64 KiB of noise": noise,
    "60,000 bytes, one at a time": bytes_alone,
}


def cpu(pid):
    """Seconds of CPU that the process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def attempts(pid, path, attempt, user):
    before = cpu(pid)
    for _ in range(ATTEMPTS):
        # A login that succeeds ends the growing delays of those that fail.
        Client(path).socket.close()
        stranger = Stranger(path)
        with contextlib.suppress(OSError, AssertionError):
            attempt(stranger, user)
            # Who stops in the middle would be waited for.
            stranger.socket.shutdown(socket.SHUT_WR)
            while True:
                stranger.read()
        stranger.socket.close()
    return (cpu(pid) - before) * 1000 / ATTEMPTS


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--mayfly", required=True)
    options = arguments.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "mayfly.sock"
        server = subprocess.Popen(
            [options.mayfly, "serve", "--ephemeral", "--insecure", "--socket", str(path), "--port", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not path.exists():
                time.sleep(0.01)
            root = Client(path)
            root.send(0, b"\3CREATE USER known@localhost IDENTIFIED BY 'secret'")
            root.read()
            worst = 0
            for kind, attempt in KINDS.items():
                for user in (b"known", b"unknown"):
                    cost = attempts(server.pid, path, attempt, user)
                    worst = max(worst, cost)
                    print(f"{kind:32} {user.decode():8} {cost:8.2f} ms", flush=True)
            before = resident(server.pid)
            strangers = [Stranger(path) for _ in range(HALF_OPEN)]
            begun = time.monotonic()
            client = Client(path)
            client.ask()
            waited = (time.monotonic() - begun) * 1000
            begun = time.monotonic()
            root.ask()
            asked = (time.monotonic() - begun) * 1000
            print(f"with {HALF_OPEN} half-open logins: a login and a query {waited:.1f} ms, a query {asked:.1f} ms, "
                  f"resident {before} MiB before, {resident(server.pid)} MiB with them")
            for stranger in strangers:
                stranger.socket.close()
            if worst > LIMIT_MS:
                raise SystemExit(f"an attempt costs {worst:.0f} ms, more than {LIMIT_MS}")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
