"""What the programs that run other people's clients and test suites share: tools, environments of packages, the server.

Packages are pinned and kept in a cache directory outside of the clone.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading


def command(arguments, where=None, environment=None, seconds=1500):
    """Runs a tool; its output is shown when it fails."""
    done = subprocess.run([str(a) for a in arguments], cwd=where, env=environment, timeout=seconds, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Missing(Exception):
    """A tool that is needed is not there."""


# Whether tools that are missing are installed.
INSTALLS = True


def tool(*names, package=None):
    """The path of the first of these programs that is there; installs the Debian package where that is possible."""
    for attempt in (False, True):
        for name in names:
            found = shutil.which(name)
            if found:
                return found
        if attempt or not package or not INSTALLS or not install(package):
            break
    raise Missing(f"{' or '.join(names)} is missing" + (f" (Debian and Ubuntu: apt-get install {package})" if package else ""))


def install(package):
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    arguments = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *package.split()]
    try:
        command(arguments, environment=environment)
    except RuntimeError:
        command(["apt-get", "update", "-qq"], environment=environment)
        command(arguments, environment=environment)
    return True


def fresh(directory, *files):
    """Whether the environment was made from files like these; if not, the old one goes."""
    stamp = directory / "made-from"
    content = "\n".join(file.read_text() for file in files) + sys.version
    if stamp.is_file() and stamp.read_text() == content:
        return True, lambda: None
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return False, lambda: stamp.write_text(content)


class Server:
    """Where the suites connect to: a server of others, or a Mayfly of our own, which ends with us."""

    def __init__(self, options, home):
        self.process = None
        self.program = str(options.mayfly or "")
        self.host, self.port, self.socket = options.host, options.port, options.socket
        self.user, self.password, self.kind = options.user, options.password, options.server
        if options.mayfly:
            self.start(options.mayfly, home)

    def start(self, program, home):
        self.kind, self.user, self.password, self.host = "mayfly", "root", "", "127.0.0.1"
        self.socket = str(home / "mayfly.sock")
        self.log = open(home / "mayfly.log", "wb")
        arguments = [program, "serve", "--ephemeral", "--insecure", "--port", "0", "--socket", self.socket]
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=home)
        ready = threading.Timer(60, self.process.kill)
        ready.start()
        for line in self.process.stdout:
            found = re.match(r"mayfly .*ready for connections\. port: (\d+)", line)
            if found:
                self.port = int(found[1])
                break
        ready.cancel()
        if not self.port:
            raise RuntimeError(f"no ready line from {program}:\n{(home / 'mayfly.log').read_text(errors='replace')[-2000:]}")
        # What it prints later is of no use, but must not fill the pipe.
        threading.Thread(target=lambda: [None for _ in self.process.stdout], daemon=True).start()

    def ended(self):
        return self.process is not None and self.process.poll() is not None

    def stop(self):
        """A graceful end; True if it ended well."""
        if self.process is None:
            return True
        if not self.ended():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False


def add_server_arguments(parser):
    """Where the server is: a program to start, or one that runs already."""
    # Absolute: the server's working directory is another one.
    parser.add_argument("--mayfly", metavar="PROGRAM", type=lambda path: pathlib.Path(path).resolve(), help="start this one")
    parser.add_argument("--server", choices=("mayfly", "mysql", "mariadb"), default="mayfly", help="what runs there")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--socket")
