"""Statements that keep temporary tables alive while the page is looked at: a shop whose reports have no index to follow."""

import threading
import time

import pymysql

DATABASE = "page_shop"

# Number of times that the rows of a table are doubled.
DOUBLINGS = 15

TABLES = """
CREATE TABLE customers (id INT PRIMARY KEY, city VARCHAR(40))
CREATE TABLE products (id INT PRIMARY KEY, name VARCHAR(60), price DECIMAL(8, 2))
CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT, product_id INT, total DECIMAL(10, 2), note VARCHAR(200))
INSERT INTO customers WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, CONCAT('city ', i % 90) FROM n
INSERT INTO products WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, CONCAT('product ', i), i / 7 FROM n
INSERT INTO orders (customer_id, product_id, total, note) VALUES (1, 1, 12.5, 'gift'), (2, 7, 3.25, 'by post'), (3, 11, 99, 'express'), (4, 2, 17, '')
"""

# One more row for each: other customers, products and notes.
DOUBLE = """INSERT INTO orders (customer_id, product_id, total, note)
SELECT (id * 7919 + {step}) % 900 + 1, (id * 104729 + {step}) % 300 + 1, (id * 31 % 9973) / 10, CONCAT('note of order ', id * 2 + {step}, ', to be left at the door') FROM orders"""

# Their rows are read slowly, so that their temporary tables live; each in a session of its own.
SLOW = [
    "SELECT g.note, g.n, SLEEP(0.05) FROM (SELECT note, COUNT(*) AS n FROM orders GROUP BY note) g",
    "SELECT g.customer_id, g.revenue, SLEEP(0.05) FROM (SELECT customer_id, SUM(total) AS revenue, GROUP_CONCAT(note) AS notes FROM orders GROUP BY customer_id) g",
    "SELECT d.note, SLEEP(0.05) FROM (SELECT DISTINCT note, product_id FROM orders) d",
]

# These come again and again.
QUICK = [
    "SELECT c.city, COUNT(DISTINCT o.customer_id), SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.city",
    "SELECT product_id, COUNT(*) AS sold FROM orders GROUP BY product_id ORDER BY sold DESC LIMIT 10",
    "SELECT note, COUNT(*) FROM orders GROUP BY note ORDER BY 2 DESC LIMIT 5",
    "SELECT name, price FROM products WHERE id = 17",
]

# The one that is explained.
REPORT = """SELECT p.name, g.city, g.sold
FROM (SELECT o.product_id, c.city, COUNT(*) AS sold
      FROM orders o JOIN customers c ON c.id = o.customer_id
      GROUP BY o.product_id, c.city) g
JOIN products p ON p.id = g.product_id
ORDER BY g.sold DESC LIMIT 20"""

# The one that is killed.
VICTIM = "SELECT SLEEP(600) AS asleep"


class Workload:
    def __init__(self, host, port):
        self.address = {"host": host, "port": port, "user": "root", "password": "", "autocommit": True}
        self.ended = threading.Event()
        self.killed = threading.Event()
        self.connections = []
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
            cursor.execute(f"CREATE DATABASE {DATABASE}")
            cursor.execute(f"USE {DATABASE}")
            for statement in TABLES.strip().splitlines():
                cursor.execute(statement)
            for step in range(DOUBLINGS):
                cursor.execute(DOUBLE.format(step=step))
            # Reports of this size are to meet a limit.
            cursor.execute("SET GLOBAL tmp_table_size = 2 * 1024 * 1024")
        basket = self.connect(DATABASE)
        basket.cursor().execute("CREATE TEMPORARY TABLE basket SELECT * FROM orders LIMIT 4000")
        self.connections.append(basket)
        for statement in SLOW:
            self.start(self.repeat, [statement], 0.1)
        self.start(self.repeat, QUICK, 0.05)
        self.start(self.wait_for_kill)

    def connect(self, database=None):
        return pymysql.connect(database=database, **self.address)

    def start(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def repeat(self, statements, pause):
        connection = self.connect(DATABASE)
        self.connections.append(connection)
        try:
            while not self.ended.is_set():
                for statement in statements:
                    with connection.cursor(pymysql.cursors.SSCursor) as cursor:
                        cursor.execute(statement)
                        while cursor.fetchmany(100) and not self.ended.is_set():
                            pass
                        if self.ended.is_set():
                            return
                    time.sleep(pause)
        except pymysql.Error:
            # The server ends with the suite.
            pass

    def wait_for_kill(self):
        connection = self.connect(DATABASE)
        self.connections.append(connection)
        with connection.cursor() as cursor:
            try:
                cursor.execute(VICTIM)
                # SLEEP() that is killed gives 1 where its statement does not fail.
                if cursor.fetchone()[0] == 1:
                    self.killed.set()
            except pymysql.Error as error:
                if error.args[0] == 1317:
                    self.killed.set()
