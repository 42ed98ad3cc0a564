#!/usr/bin/env bash
# DuckDB's COPY … TO a Parquet file, of whole numbers of 128 bits, which is what SUM() of any whole numbers gives:
#
# | column | its type in DuckDB | in the file | a value | in the file |
# |---|---|---|---|---|
# | SUM(BIGINT) | HUGEINT | DOUBLE | 9007199254740993 | 9007199254740992 |
# | the sum as DECIMAL(38, 0) | DECIMAL(38, 0) | DECIMAL(38, 0) | 9007199254740993 | the same |
#
# Parquet has no such integer, but a DECIMAL(38, 0) holds all that a sum of BIGINTs can be. There is neither a warning nor an
# error. A sum of amounts in cents that goes through a file is another one beyond 2^53, and a check in DuckDB with `=` does not
# find it, since it compares the two as DOUBLEs.
#
# Seen with duckdb 2.0.1 and pyarrow 26.0.1. Fails when that has changed.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/python"
"$home/python/bin/pip" install --quiet duckdb==2.0.1 pyarrow==26.0.1
cd "$home"
"$home/python/bin/python" - <<'PYTHON'
from decimal import Decimal

import duckdb
import pyarrow.parquet

print("duckdb", duckdb.__version__)
connection = duckdb.connect()
connection.execute("CREATE TABLE payments AS SELECT * FROM (VALUES (9007199254740990::BIGINT), (3)) AS v(cents)")
sums = "SELECT SUM(cents) AS total, SUM(cents)::DECIMAL(38, 0) AS exact FROM payments"
(here,) = connection.execute(sums).fetchall()
print("in DuckDB:", *here)
assert here == (9007199254740993, Decimal(9007199254740993))
connection.execute(f"COPY ({sums}) TO 'sums.parquet'")
file = pyarrow.parquet.read_table("sums.parquet")
print("in the file:", *(f"{field.name} is {field.type}: {file[field.name][0].as_py()}" for field in file.schema))
assert [str(field.type) for field in file.schema] == ["double", "decimal128(38, 0)"], "this has changed"
assert file["total"][0].as_py() == 9007199254740992.0, "this has changed"
assert file["exact"][0].as_py() == Decimal(9007199254740993), "this has changed"
back = connection.execute("SELECT f.total = p.total FROM 'sums.parquet' f, (SELECT SUM(cents) AS total FROM payments) p").fetchone()
print("the sum is that of the file, says =:", *back)
assert back == (True,), "this has changed"
PYTHON
