"""TPC-DS for reports.py: tables and the 99 statements, from the extension of DuckDB that generates them, which its
own package brings. The statements are turned into words that MySQL and DuckDB share.

Needs: the network for pip, once; the packages go to a virtual environment of their own beside the data."""
import json, re, subprocess, sys, textwrap

# The newest version that has a package with the extension.
GENERATOR = ["duckdb==1.5.5", "duckdb-extension-tpcds==1.5.5"]

# Primary keys by TPC-DS 3.2, section 2.
KEYS = {
    "call_center": "cc_call_center_sk",
    "catalog_page": "cp_catalog_page_sk",
    "catalog_returns": "cr_item_sk, cr_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "customer": "c_customer_sk",
    "customer_address": "ca_address_sk",
    "customer_demographics": "cd_demo_sk",
    "date_dim": "d_date_sk",
    "household_demographics": "hd_demo_sk",
    "income_band": "ib_income_band_sk",
    "inventory": "inv_date_sk, inv_item_sk, inv_warehouse_sk",
    "item": "i_item_sk",
    "promotion": "p_promo_sk",
    "reason": "r_reason_sk",
    "ship_mode": "sm_ship_mode_sk",
    "store": "s_store_sk",
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "time_dim": "t_time_sk",
    "warehouse": "w_warehouse_sk",
    "web_page": "wp_web_page_sk",
    "web_returns": "wr_item_sk, wr_order_number",
    "web_sales": "ws_item_sk, ws_order_number",
    "web_site": "web_site_sk",
}

# MySQL has no FULL JOIN: the rows of the left side with those of the right, and the others of the right.
FULL_JOINS = {
    51: (
        r"FROM web_v1 web\s+FULL OUTER JOIN store_v1 store ON (\(.*?\))\)x\)y",
        r"""FROM (SELECT web.item_sk AS web_item, web.d_date AS web_day, web.cume_sales AS web_cume, store.item_sk AS store_item,
              store.d_date AS store_day, store.cume_sales AS store_cume FROM web_v1 web LEFT JOIN store_v1 store ON \1
              UNION ALL SELECT NULL, NULL, NULL, store.item_sk, store.d_date, store.cume_sales
              FROM store_v1 store LEFT JOIN web_v1 web ON \1 WHERE web.item_sk IS NULL) joined)x)y""",
        {"web.item_sk": "web_item", "store.item_sk": "store_item", "web.d_date": "web_day", "store.d_date": "store_day",
         "web.cume_sales": "web_cume", "store.cume_sales": "store_cume"},
    ),
    97: (
        r"FROM ssci\s+FULL OUTER JOIN csci ON (\(.*?\))\s*LIMIT",
        r"""FROM (SELECT ssci.customer_sk AS store_customer, csci.customer_sk AS catalog_customer FROM ssci LEFT JOIN csci ON \1
              UNION ALL SELECT NULL, csci.customer_sk FROM csci LEFT JOIN ssci ON \1 WHERE ssci.customer_sk IS NULL) joined
            LIMIT""",
        {"ssci.customer_sk": "store_customer", "csci.customer_sk": "catalog_customer"},
    ),
}  # fmt: skip

# Runs in the virtual environment: tables as CSV files, their columns and the statements as JSON.
GENERATE = """
    import duckdb, glob, json, os, sys
    folder, scale = sys.argv[1], float(sys.argv[2])
    import duckdb_extension_tpcds
    package = os.path.dirname(duckdb_extension_tpcds.__file__)
    connection = duckdb.connect(f"{folder}/generated")
    connection.execute(f"LOAD '{glob.glob(package + '/extensions/*/*.duckdb_extension')[0]}'")
    connection.execute(f"CALL dsdgen(sf={scale:g})")
    tables = {}
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall():
        columns = []
        for name, kind in connection.execute(f"SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = '{table}' ORDER BY column_index").fetchall():
            if kind == "VARCHAR":
                longest = connection.execute(f"SELECT max(length({name})) FROM {table}").fetchone()[0] or 1
                kind = f"VARCHAR({-(-longest // 10) * 10})"
            if kind == "BIGINT":
                kind = "INT"
            columns.append((name, kind))
        tables[table] = columns
        connection.execute(f"COPY {table} TO '{folder}/{table}.csv' (HEADER, NULLSTR '\\\\N')")
    statements = connection.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall()
    json.dump({"tables": tables, "statements": statements}, open(f"{folder}/tpcds.json", "w"))
    connection.close()
    os.remove(f"{folder}/generated")
"""


def make(folder, scale):
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", *GENERATOR], check=True)
    subprocess.run([python, "-c", textwrap.dedent(GENERATE), str(folder), f"{scale:g}"], check=True)


def write_statements(folder):
    """Writes the statements of the generator in shared words, and returns the file."""
    parts = []
    for number, text in json.loads((folder / "tpcds.json").read_text())["statements"]:
        parts.append(f"-- q{number}: TPC-DS\n{shared_words(number, text)};\n")
    file = folder / "tpcds.sql"
    file.write_text("\n".join(parts))
    return file


def tables(folder, keys):
    """Columns and key of each table; with `all` keys an index for each column that leads to another table."""
    found = {}
    for table, columns in json.loads((folder / "tpcds.json").read_text())["tables"].items():
        primary = KEYS[table] if keys != "none" else None
        required = primary.split(", ") if primary else []
        words = [f"{name} {kind}{' NOT NULL' if name in required else ''}" for name, kind in columns]
        leads = [name for name, _ in columns if name.endswith("_sk") and name not in required[:1]] if keys == "all" else []
        found[table] = (", ".join(words), primary, leads)
    return found


def shared_words(number, text):
    """A statement in words of both: NULLs stand first in ascending order and last in descending order, which is
    MySQL's order and the setting of DuckDB here; names in double quotes become plain ones."""
    text = re.sub(r"--.*", "", text).strip().rstrip(";")
    text = re.sub(r"\s+NULLS (FIRST|LAST)", "", text, flags=re.IGNORECASE)
    text = re.sub(r"(d_date) \+ (\d+)\b(?! DAY)", r"\1 + INTERVAL \2 DAY", text)
    text = re.sub(r'"([^"]*)"', lambda quoted: "n_" + re.sub(r"\W+", "_", quoted.group(1)), text)
    # MySQL takes no blank before the bracket of a function, and names of tables keep their case.
    text = re.sub(r"\b(cast|sum|avg|min|max|count)\s+\(", r"\1(", text, flags=re.IGNORECASE).replace(") CATALOG\n", ") catalog\n")
    # In MySQL a plain asterisk stands first in its list.
    text = re.sub(r",\s*\*\s+FROM (\w+)", r", \1.* FROM \1", text)
    text = text.replace("cast(round(revenue/50) AS int)", "CAST(round(revenue/50) AS decimal(10,0))")
    if number in FULL_JOINS:
        pattern, replacement, names = FULL_JOINS[number]
        head, chosen, tail = re.fullmatch(rf"(.*)(SELECT.*?)({pattern}.*)", text, flags=re.DOTALL).group(1, 2, 3)
        for name, other in names.items():
            chosen = chosen.replace(name, other)
        text = head + chosen + re.sub(pattern, replacement, tail, flags=re.DOTALL)
    return text
