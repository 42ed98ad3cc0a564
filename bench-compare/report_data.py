"""Tables that reports.py asks: TPC-H's, made by tpchgen-cli, db-benchmark's, made by the rules of its
groupby-datagen.R and join-datagen.R, one for windows, a shop's (retail_data.py), page views (hits_data.py), and TPC-DS's
(tpcds_data.py). Every table is a CSV file that is made once.

Needs: pip install tpchgen-cli numpy pyarrow."""
import re, subprocess
from pathlib import Path

import hits_data, retail_data, tpcds_data
from csv_columns import Named, write

STATEMENTS = Path(__file__).resolve().parent.parent / "bench/reports"

# Columns in words that MySQL and DuckDB share, and the key that Mayfly's durable tables have. DuckDB's have
# none, as its own documentation advises.
TPCH = {
    "region": ("r_regionkey INT NOT NULL, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)", "r_regionkey"),
    "nation": (
        "n_nationkey INT NOT NULL, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, n_comment VARCHAR(152)",
        "n_nationkey",
    ),
    "supplier": (
        "s_suppkey INT NOT NULL, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_nationkey INT NOT NULL,"
        " s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL",
        "s_suppkey",
    ),
    "customer": (
        "c_custkey INT NOT NULL, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, c_nationkey INT NOT NULL,"
        " c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL,"
        " c_comment VARCHAR(117) NOT NULL",
        "c_custkey",
    ),
    "part": (
        "p_partkey INT NOT NULL, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL,"
        " p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL, p_container CHAR(10) NOT NULL,"
        " p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL",
        "p_partkey",
    ),
    "partsupp": (
        "ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL,"
        " ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL",
        "ps_partkey, ps_suppkey",
    ),
    "orders": (
        "o_orderkey BIGINT NOT NULL, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL,"
        " o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,"
        " o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL",
        "o_orderkey",
    ),
    "lineitem": (
        "l_orderkey BIGINT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL,"
        " l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL,"
        " l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL,"
        " l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL,"
        " l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL",
        "l_orderkey, l_linenumber",
    ),
}

NUMBERS_AND_NAMES = {
    "id1": "INT", "id2": "INT", "id3": "INT", "id4": "VARCHAR(20)", "id5": "VARCHAR(20)", "id6": "VARCHAR(20)",
    "v1": "DOUBLE", "v2": "DOUBLE",
}  # fmt: skip


def join_table(columns):
    return (", ".join(f"{name} {NUMBERS_AND_NAMES[name]}" for name in columns.split()), None)


TABLES = {
    "tpch": TPCH,
    "retail": retail_data.TABLES,
    "hits": hits_data.TABLES,
    "groupby": {
        "x": (
            "id1 VARCHAR(20), id2 VARCHAR(20), id3 VARCHAR(20), id4 INT, id5 INT, id6 INT, v1 INT, v2 INT, v3 DOUBLE",
            None,
        ),
    },
    "windows": {
        "x": ("id BIGINT NOT NULL, few INT NOT NULL, many INT NOT NULL, place INT NOT NULL, v INT NOT NULL, d DOUBLE", None),
    },
    "join": {
        "x": join_table("id1 id2 id3 id4 id5 id6 v1"),
        "small": join_table("id1 id4 v2"),
        "medium": join_table("id1 id2 id4 id5 v2"),
        "big": join_table("id1 id2 id3 id4 id5 id6 v2"),
    },
}

# Reports, by the name of the command.
REPORTS = [*TABLES, "tpcds"]


def folder_of(report, options):
    """The folder with a report's data; made if it is not there."""
    makers = {
        "tpch": (f"tpch_{options.scale:g}", lambda into: tpch(into, options.scale)),
        "tpcds": (f"tpcds_{options.scale:g}", lambda into: tpcds_data.make(into, options.scale)),
        "retail": (f"retail_{options.scale:g}", lambda into: retail_data.retail(into, options.scale)),
        "hits": (f"hits_{options.rows}", lambda into: hits_data.hits(into, options.rows)),
        "groupby": (f"groupby_{options.rows}_{options.groups}", lambda into: groupby(into, options.rows, options.groups)),
        "windows": (f"windows_{options.rows}", lambda into: windows(into, options.rows)),
        "join": (f"join_{options.rows}", lambda into: join(into, options.rows)),
    }
    name, make = makers[report]
    folder = options.data / name
    if not folder.exists():
        partial = folder.with_suffix(".part")
        partial.mkdir(parents=True, exist_ok=True)
        make(partial)
        partial.rename(folder)
    return folder


def tables(report, options):
    """Of each table of a report: its CSV file with a heading, its columns, its primary key or None, and the columns
    that have an index each."""
    folder = folder_of(report, options)
    if report == "tpcds":
        found = tpcds_data.tables(folder, options.keys)
    else:
        found = {table: (columns, key if options.keys != "none" else None, []) for table, (columns, key) in TABLES[report].items()}
    return {table: (folder / f"{table}.csv", *definition) for table, definition in found.items()}


def statements_file(report, options):
    """The file with the statements of a report."""
    return tpcds_data.write_statements(folder_of(report, options)) if report == "tpcds" else STATEMENTS / f"{report}.sql"


def tpch(folder, scale):
    subprocess.run(["tpchgen-cli", "csv", "-q", "-s", f"{scale:g}", "--output-dir", str(folder)], check=True)


def groupby(folder, rows, groups):
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(108))
    sample = lambda count: random.integers(1, max(count, 1), rows, endpoint=True)
    columns = {
        "id1": Named("id%03d", sample(groups)),
        "id2": Named("id%03d", sample(groups)),
        "id3": Named("id%010d", sample(rows // groups)),
        "id4": sample(groups),
        "id5": sample(groups),
        "id6": sample(rows // groups),
        "v1": sample(5),
        "v2": sample(15),
        "v3": numpy.round(random.uniform(0, 100, rows), 6),
    }
    write(folder / "x.csv", columns)


def windows(folder, rows):
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(108))
    columns = {
        "id": random.permutation(rows),
        "few": random.integers(0, 100, rows),
        "many": random.integers(0, max(rows // 10, 1), rows),
        "place": random.integers(0, 1_000_000, rows),
        "v": random.integers(0, 1000, rows),
        "d": numpy.round(random.uniform(0, 100, rows), 6),
    }
    write(folder / "x.csv", columns)


def join(folder, rows):
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(108))

    def split(count):
        """Keys of both sides, of the left alone and of the right alone."""
        keys = random.permutation(int(count * 1.1)) + 1
        common, left = int(count * 0.9), count
        return keys[:common], keys[common:left], keys[left:]

    def sample_all(keys, count):
        """Every key at least once, in any order."""
        more = random.choice(keys, max(count - len(keys), 0))
        return random.permutation(numpy.concatenate([keys, more]))[:count]

    keys = [split(max(rows // 1_000_000, 10)), split(max(rows // 1_000, 10)), split(rows)]

    def table(name, count, sides, value):
        numbers = [sample_all(numpy.concatenate([keys[place][0], keys[place][side]]), count) for place, side in sides]
        columns = {f"id{place + 1}": column for (place, _), column in zip(sides, numbers)}
        columns |= {f"id{place + 4}": Named("id%d", column) for (place, _), column in zip(sides, numbers)}
        columns[value] = numpy.round(random.uniform(0, 100, count), 6)
        write(folder / f"{name}.csv", columns)

    table("x", rows, [(0, 1), (1, 1), (2, 1)], "v1")
    table("small", max(rows // 1_000_000, 10), [(0, 2)], "v2")
    table("medium", max(rows // 1_000, 10), [(0, 2), (1, 2)], "v2")
    table("big", rows, [(0, 2), (1, 2), (2, 2)], "v2")


def statements(path, engines):
    """The statements of a file: (name, {engine: SQL}, SQL that sums an answer up, or None).

    A heading `-- name: what it asks` begins a statement, `-- duckdb` and the like one engine's words, `-- check`
    the sums; the other lines of comment are for readers."""
    found, place = [], None
    for line in path.read_text().splitlines():
        if heading := re.fullmatch(r"-- (\w+): (.*)", line):
            found.append((heading.group(1), {}))
            place = "all"
        elif line.startswith("-- ") and line[3:] in (*engines, "check"):
            place = line[3:]
        elif found and not line.startswith("--"):
            parts = found[-1][1]
            parts[place] = f"{parts.get(place, '')}{line}\n"
    clean = lambda text: text and text.strip().rstrip(";")
    for name, parts in found:
        words = {engine: clean(parts.get(engine, parts.get("all"))) for engine in engines}
        yield name, words, clean(parts.get("check"))
