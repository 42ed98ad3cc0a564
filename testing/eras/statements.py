"""The statements of the comparison, composed from lists of words, and the tables that they read."""

SETUP = [
    "CREATE TABLE t1 (id INT PRIMARY KEY, a INT NOT NULL, b INT, c VARCHAR(20), d VARCHAR(512), e VARCHAR(513), tx TEXT, bl BLOB, "
    "dt DATE, m INT NOT NULL, KEY a (a), KEY bc (b, c)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
    "CREATE TABLE t2 (id INT PRIMARY KEY, t1_id INT NOT NULL, v INT, c VARCHAR(20), w VARCHAR(600), KEY t1_id (t1_id)) "
    "ENGINE=InnoDB DEFAULT CHARSET=latin1",
    "CREATE TABLE t3 (id INT PRIMARY KEY, n INT, s VARCHAR(10)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
    "INSERT INTO t1 SELECT n, n % 17, n % 23, CONCAT('c', n % 13), CONCAT('d', n % 11), CONCAT('e', n % 7), CONCAT('t', n % 5), "
    "CONCAT('b', n % 3), DATE '2020-01-01' + INTERVAL n DAY, n % 29 FROM "
    "(SELECT x.i + y.i * 10 + z.i * 100 AS n FROM (SELECT 0 i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 "
    "UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) x, (SELECT 0 i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 "
    "UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) y, (SELECT 0 i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 "
    "UNION SELECT 4) z) numbers",
    "INSERT INTO t2 SELECT id, id * 7 % 500, id % 19, c, CONCAT('w', id % 31) FROM t1",
    "INSERT INTO t3 SELECT id, id % 4, c FROM t1 WHERE id < 20",
    "CREATE TABLE target (id INT, x VARCHAR(100), KEY id (id)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
    "INSERT INTO target SELECT id, c FROM t1 WHERE id < 50",
    "CREATE VIEW v_merge AS SELECT id, m, c FROM t1 WHERE m > 3",
    "CREATE VIEW v_group AS SELECT m, COUNT(*) n FROM t1 GROUP BY m",
    "CREATE ALGORITHM=TEMPTABLE VIEW v_temp AS SELECT id, m FROM t1 WHERE m > 3",
    "ANALYZE TABLE t1, t2, t3, target",
]


def statements():
    """(statements before it, the statement) of each case."""
    cases = []

    def add(sql, *before):
        if (list(before), sql) not in cases:
            cases.append((list(before), sql))

    keys = ["a", "b", "m", "c", "d", "e", "tx", "bl", "id", "m + 1", "b, c", "m, c", "YEAR(dt)"]
    for key in keys:
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key}")
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key} ORDER BY NULL")
        add(f"SELECT {key}, COUNT(*) n FROM t1 GROUP BY {key} ORDER BY n DESC")
        add(f"SELECT DISTINCT {key} FROM t1")
    for key in ["a", "m", "c", "e", "m, c"]:
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key} ORDER BY {key}")
        add(f"SELECT {key}, SUM(b) FROM t1 GROUP BY {key} ORDER BY {key} DESC LIMIT 3")
    for key in ["a", "m", "c", "d", "e", "tx", "bl", "m + 1", "m, c"]:
        add(f"SELECT DISTINCT {key} FROM t1 ORDER BY {key}")
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key} LIMIT 3")
        add(f"SELECT id, {key} FROM t1 ORDER BY {key}")
        add(f"SELECT id, {key} FROM t1 ORDER BY {key} LIMIT 5")
    for aggregate in ["SUM(b)", "MIN(c)", "MAX(tx)", "COUNT(DISTINCT b)", "GROUP_CONCAT(c)", "GROUP_CONCAT(DISTINCT c ORDER BY c)", "AVG(m)"]:
        add(f"SELECT m, {aggregate} FROM t1 GROUP BY m")
        add(f"SELECT a, {aggregate} FROM t1 GROUP BY a")
        add(f"SELECT {aggregate} FROM t1")
        add(f"SELECT m, {aggregate} x FROM t1 GROUP BY m ORDER BY x")
    for key in ["a", "m", "e"]:
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key} WITH ROLLUP")
        add(f"SELECT {key}, COUNT(*) FROM t1 GROUP BY {key} HAVING COUNT(*) > 5")
        add(f"SELECT DISTINCT COUNT(*) FROM t1 GROUP BY {key}")
        for hint in ["SQL_BIG_RESULT", "SQL_SMALL_RESULT", "SQL_BUFFER_RESULT"]:
            add(f"SELECT {hint} {key}, COUNT(*) FROM t1 GROUP BY {key}")
            add(f"SELECT {hint} {key} FROM t1 ORDER BY {key}")
    add("SELECT SQL_BUFFER_RESULT * FROM t1")
    add("SELECT SQL_BUFFER_RESULT id FROM t1")
    for column in ["m", "c", "d", "e", "tx", "bl"]:
        add(f"SELECT {column} FROM t1 UNION SELECT {column} FROM t1")
        add(f"SELECT {column} FROM t1 UNION ALL SELECT {column} FROM t1")
        add(f"SELECT {column} FROM t1 UNION ALL SELECT {column} FROM t1 ORDER BY 1")
        add(f"SELECT {column} FROM t1 UNION SELECT {column} FROM t1 ORDER BY 1 LIMIT 3")
    add("SELECT m FROM t1 UNION SELECT n FROM t3 UNION ALL SELECT v FROM t2")
    add("SELECT m FROM t1 UNION ALL SELECT n FROM t3 UNION SELECT v FROM t2")
    add("SELECT w FROM t2 UNION SELECT c FROM t1")
    add("SELECT m FROM t1 INTERSECT SELECT n FROM t3")
    add("SELECT m FROM t1 EXCEPT SELECT n FROM t3")
    add("(SELECT m FROM t1 ORDER BY m LIMIT 2) UNION ALL (SELECT n FROM t3 ORDER BY n LIMIT 2)")
    add("(SELECT m, COUNT(*) FROM t1 GROUP BY m) UNION ALL (SELECT n, COUNT(*) FROM t3 GROUP BY n)")
    derived = [
        "SELECT id, m FROM t1", "SELECT id, m FROM t1 LIMIT 100", "SELECT m, COUNT(*) n FROM t1 GROUP BY m", "SELECT DISTINCT m FROM t1",
        "SELECT m FROM t1 UNION SELECT n FROM t3", "SELECT m FROM t1 UNION ALL SELECT n FROM t3", "SELECT e m FROM t1 LIMIT 100",
        "SELECT tx m FROM t1 LIMIT 100", "SELECT d m FROM t1 LIMIT 100", "SELECT m, RANK() OVER (ORDER BY m) r FROM t1",
        "SELECT a m, COUNT(*) n FROM t1 GROUP BY a", "SELECT COUNT(*) m FROM t1",
    ]
    for source in derived:
        add(f"SELECT * FROM ({source}) x")
        add(f"SELECT * FROM ({source}) x ORDER BY m")
        add(f"SELECT m, COUNT(*) FROM ({source}) x GROUP BY m")
        add(f"WITH x AS ({source}) SELECT COUNT(*) FROM x")
    for value in ["CONCAT(c, d)", "CONCAT(c, c)", "UPPER(e)", "(SELECT e FROM t1 y WHERE y.id = z.id)", "(SELECT d FROM t1 y WHERE y.id = z.id)"]:
        add(f"SELECT * FROM (SELECT id, {value} v FROM t1 z LIMIT 100) x ORDER BY v")
        add(f"SELECT {value} v, COUNT(*) FROM t1 z GROUP BY v")
        add(f"SELECT {value} v FROM t1 z UNION SELECT c FROM t1")
    for source in derived[:4]:
        add(f"WITH x AS ({source}) SELECT COUNT(*) FROM x, x y WHERE x.m = y.m")
        add(f"SELECT COUNT(*) FROM t3 JOIN ({source}) x ON x.m = t3.n")
    add("WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT * FROM r")
    add("WITH RECURSIVE r AS (SELECT 1 n UNION SELECT n + 1 FROM r WHERE n < 20) SELECT * FROM r")
    for view in ["v_merge", "v_group", "v_temp"]:
        add(f"SELECT * FROM {view}")
        add(f"SELECT m, COUNT(*) FROM {view} GROUP BY m")
        add(f"SELECT * FROM {view} ORDER BY m")
    for condition in [
        "id IN (SELECT t1_id FROM t2)", "m IN (SELECT n FROM t3)", "m NOT IN (SELECT n FROM t3 WHERE n IS NOT NULL)",
        "EXISTS (SELECT 1 FROM t2 WHERE t2.t1_id = t1.id)", "NOT EXISTS (SELECT 1 FROM t2 WHERE t2.t1_id = t1.id)",
        "m = (SELECT MAX(n) FROM t3)", "m IN (SELECT n FROM t3 GROUP BY n HAVING COUNT(*) > 2)",
        "m > (SELECT AVG(v) FROM t2 WHERE t2.t1_id = t1.id)", "m IN (SELECT v FROM t2 UNION SELECT n FROM t3)", "id < 10",
    ]:
        add(f"SELECT id FROM t1 WHERE {condition}")
        add(f"SELECT m, COUNT(*) FROM t1 WHERE {condition} GROUP BY m")
    for window in ["ROW_NUMBER() OVER ()", "ROW_NUMBER() OVER (ORDER BY m)", "SUM(b) OVER (PARTITION BY m)", "SUM(b) OVER (PARTITION BY m ORDER BY id)",
                   "LAG(m) OVER (ORDER BY id)", "RANK() OVER (ORDER BY e)", "SUM(b) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"]:
        add(f"SELECT id, {window} FROM t1")
        add(f"SELECT id, {window} x FROM t1 ORDER BY x")
    add("SELECT id, RANK() OVER (ORDER BY m), RANK() OVER (ORDER BY c) FROM t1")
    add("SELECT m, COUNT(*), RANK() OVER (ORDER BY COUNT(*)) FROM t1 GROUP BY m")
    joins = ["t1 JOIN t2 ON t2.t1_id = t1.id", "t1 JOIN t3 ON t1.m = t3.n", "t1 LEFT JOIN t2 ON t2.t1_id = t1.id"]
    for join in joins:
        other = "t3.s" if "t3" in join else "t2.v"
        for key in ["t1.m", "t1.a", other]:
            add(f"SELECT {key}, COUNT(*) FROM {join} GROUP BY {key}")
            add(f"SELECT {key} FROM {join} ORDER BY {key}")
            add(f"SELECT DISTINCT {key} FROM {join}")
        add(f"SELECT t1.m, COUNT(*) FROM {join} GROUP BY t1.m ORDER BY {other}")
        add(f"SELECT t1.m, {other}, COUNT(*) n FROM {join} GROUP BY t1.m, {other} ORDER BY n")
    add("INSERT INTO target SELECT id, c FROM t1 WHERE id < 10")
    add("INSERT INTO target SELECT id, x FROM target")
    add("INSERT INTO target SELECT m, COUNT(*) FROM t1 GROUP BY m")
    add("INSERT INTO target SELECT DISTINCT m, 'x' FROM t1")
    add("REPLACE INTO target SELECT id, x FROM target WHERE id < 5")
    add("UPDATE target JOIN t3 ON target.id = t3.id SET target.x = t3.s")
    add("DELETE target FROM target JOIN t3 ON target.id = t3.id")
    add("UPDATE target SET x = 'y' ORDER BY id LIMIT 3")
    add("UPDATE target SET id = id + 1000 WHERE id > 10")
    add("DELETE FROM target WHERE id IN (SELECT n FROM t3)")
    big = "SET SESSION big_tables = 1"
    for sql in ["SELECT m, COUNT(*) FROM t1 GROUP BY m", "SELECT DISTINCT m FROM t1", "SELECT m FROM t1 UNION SELECT n FROM t3",
                "SELECT * FROM (SELECT m FROM t1 LIMIT 5) x"]:
        add(sql, big)
    small = "SET SESSION tmp_table_size = 1024"
    for sql in ["SELECT id, COUNT(*) FROM t1 GROUP BY id, m ORDER BY NULL", "SELECT DISTINCT m, id FROM t1", "SELECT m FROM t1 UNION SELECT id FROM t1"]:
        add(sql, small)
    return cases


if __name__ == "__main__":
    print(len(statements()))
