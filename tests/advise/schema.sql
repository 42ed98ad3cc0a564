-- The schema of the statements in statements.sql, for MariaDB and MySQL alike. Run in a database of its own.

CREATE TABLE customer (
  id int unsigned NOT NULL AUTO_INCREMENT,
  name varchar(100) NOT NULL,
  email varchar(600) CHARACTER SET utf8mb4 DEFAULT NULL,
  country char(2) NOT NULL,
  city varchar(60) NOT NULL,
  biography text,
  settings json DEFAULT NULL,
  created datetime NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY customer_name (name),
  KEY customer_country (country)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE purchase (
  id int unsigned NOT NULL AUTO_INCREMENT,
  customer_id int unsigned NOT NULL,
  status varchar(20) NOT NULL,
  channel varchar(20) NOT NULL,
  amount decimal(10,2) NOT NULL,
  bought date NOT NULL,
  note varchar(800) DEFAULT NULL,
  PRIMARY KEY (id),
  KEY purchase_customer (customer_id),
  KEY purchase_bought (bought)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE purchase_archive LIKE purchase;

CREATE TABLE line (
  purchase_id int unsigned NOT NULL,
  position int unsigned NOT NULL,
  product_id int unsigned NOT NULL,
  quantity int NOT NULL,
  price decimal(10,2) NOT NULL,
  PRIMARY KEY (purchase_id, position),
  KEY line_product (product_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE visit (
  id int unsigned NOT NULL AUTO_INCREMENT,
  page varchar(200) NOT NULL,
  referrer varchar(400) NOT NULL,
  agent text NOT NULL,
  seconds int NOT NULL,
  visited datetime NOT NULL,
  visitor int unsigned NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Article 1's table.
CREATE TABLE login2 (
  user_id int unsigned NOT NULL AUTO_INCREMENT,
  user_name varchar(50) DEFAULT NULL,
  user_email varchar(2000) CHARACTER SET utf8 DEFAULT NULL,
  created datetime DEFAULT NULL,
  PRIMARY KEY (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=latin1;

CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW recent_purchase AS
  SELECT id, customer_id, amount, bought FROM purchase WHERE bought >= '2024-01-01';

CREATE SQL SECURITY INVOKER VIEW customer_total AS
  SELECT customer_id, sum(amount) AS total FROM purchase GROUP BY customer_id;

-- Rows: digits cross-joined, so that both servers make the same ones.
CREATE TABLE digit (d int NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);

INSERT INTO customer (id, name, email, country, city, biography, settings, created)
SELECT n + 1, concat('customer ', n), concat('c', n, '@example.com'),
       elt(n % 5 + 1, 'DE', 'FR', 'US', 'JP', 'BR'), concat('city ', n % 40),
       concat('Biography of ', n), concat('{"theme": "t', n % 7, '"}'),
       '2020-01-01' + INTERVAL n HOUR
FROM (SELECT a.d + 10 * b.d + 100 * c.d AS n FROM digit a, digit b, digit c) numbers;

INSERT INTO purchase (id, customer_id, status, channel, amount, bought, note)
SELECT n + 1, n * 7 % 1000 + 1, elt(n % 4 + 1, 'open', 'paid', 'sent', 'returned'),
       elt(n % 3 + 1, 'web', 'shop', 'phone'), n % 977 + 0.5,
       '2023-01-01' + INTERVAL n % 700 DAY, concat('note ', n % 900)
FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM digit a, digit b, digit c, digit e) numbers;

INSERT INTO line (purchase_id, position, product_id, quantity, price)
SELECT id, 1, id * 3 % 300 + 1, id % 5 + 1, id % 50 + 0.25 FROM purchase;

INSERT INTO visit (page, referrer, agent, seconds, visited, visitor)
SELECT concat('/page/', n), concat('https://example.com/', repeat('r', 300), n), concat('Agent ', n % 90),
       n % 600, '2024-01-01' + INTERVAL n MINUTE, n % 5000
FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
      FROM digit a, digit b, digit c, digit e, digit f WHERE f.d < 6) numbers;

INSERT INTO login2 (user_name, user_email, created)
SELECT concat('user ', n), concat('user', n, '@skysql.com'), '2011-01-11 17:16:00' + INTERVAL n SECOND
FROM (SELECT a.d + 10 * b.d + 100 * c.d AS n FROM digit a, digit b, digit c) numbers;

ANALYZE TABLE customer, purchase, line, visit, login2, digit;
