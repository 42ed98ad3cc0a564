#!/usr/bin/env python3
"""Prints what reports.py has printed as the tables of docs/benchmarks.md: a column for each file.

  bench-compare/reports.py tpcds > primary.txt
  bench-compare/reports.py tpcds --keys none > none.txt
  bench-compare/ratios_table.py keys=primary.txt none=none.txt

The first file's milliseconds stand before the ratios.
"""

import argparse
import math
import re
from pathlib import Path

LINE = re.compile(r"^(\S+) +mayfly +([\d.]+) ms .*?duckdb +([\d.]+) ms ")
IN_A_ROW = 3


def times_of(text):
    """(milliseconds, the other's) of each statement that both have finished."""
    found = (LINE.match(line) for line in text.splitlines())
    return {match[1]: (float(match[2]), float(match[3])) for match in found if match}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="NAME=FILE")
    named = [argument.split("=", 1) for argument in parser.parse_args().files]
    columns = {name: times_of(Path(path).read_text()) for name, path in named}

    print("| |" + "".join(f" {name} |" for name in columns))
    print("|---|" + "---|" * len(columns))
    ratios = {name: {statement: own / other for statement, (own, other) in times.items()} for name, times in columns.items()}
    rows = {
        "statements that both finished": [str(len(times)) for times in columns.values()],
        "sum of the times": [f"{sum(own for own, _ in times.values()) / sum(other for _, other in times.values()):.2f} ×" for times in columns.values()],
        "geometric mean of the ratios": [f"{math.exp(sum(map(math.log, found.values())) / len(found)):.2f} ×" for found in ratios.values()],
        "worst ratio": [f"{max(found.values()):.2f} × ({max(found, key=found.get)})" for found in ratios.values()],
        "statements over 2 ×": [str(sum(ratio > 2 for ratio in found.values())) for found in ratios.values()],
    }
    for what, values in rows.items():
        print(f"| {what} | " + " | ".join(values) + " |")

    first = next(iter(columns))
    statements = list(columns[first])
    length = -(-len(statements) // IN_A_ROW)
    print("\n" + "| | ms |" + "".join(f" {name} |" for name in columns) + (" | ms |" + "".join(f" {name} |" for name in columns)) * (IN_A_ROW - 1))
    print("|" + "---|" * (len(columns) + 2) * IN_A_ROW)
    for row in range(length):
        cells = []
        for statement in statements[row::length]:
            known = [ratios[name].get(statement) for name in columns]
            cells += [statement, f"{columns[first][statement][0]:.0f}"] + ["–" if ratio is None else f"{ratio:.2f}" for ratio in known]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
