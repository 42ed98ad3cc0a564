"""The ``mayfly`` program: shell, server and more. Its code is in the extension module, beside the engine."""

import signal
import sys

from ._mayfly import run_program


def main() -> int:
    # The program treats Ctrl-C itself, or is ended by it; Python's handler would wait for the program's end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
