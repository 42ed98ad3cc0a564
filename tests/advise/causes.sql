-- Statements that make temporary tables or sort on disk, each below the causes that have to be found: for MariaDB 10.11
-- and for MySQL 9.7, with `-` where that server makes no table. Further causes may not be found.

-- mariadb: group_by_without_index
-- mysql: group_by_without_index
SELECT status, count(*) FROM purchase GROUP BY status;

-- mariadb: group_by_without_index, long_string
-- mysql: group_by_without_index
SELECT note, count(*) FROM purchase GROUP BY note;

-- mariadb: group_by_without_index, blob_column
-- mysql: group_by_without_index
SELECT agent, count(*) FROM visit GROUP BY agent;

-- mariadb: distinct_without_index, blob_column
-- mysql: distinct_without_index
SELECT DISTINCT biography FROM customer;

-- mariadb: distinct_without_index, long_string
-- mysql: distinct_without_index
SELECT DISTINCT email FROM customer;

-- mariadb: distinct_without_index
-- mysql: distinct_without_index
SELECT DISTINCT channel FROM purchase;

-- mariadb: group_by_without_index, size_limit, sort_on_disk
-- mysql: group_by_without_index, size_limit
SELECT referrer, count(*) FROM visit GROUP BY referrer;

-- mariadb: group_by_without_index, size_limit, sort_on_disk
-- mysql: group_by_without_index, size_limit
SELECT page, referrer, count(*) FROM visit GROUP BY page, referrer;

-- mariadb: group_by_without_index, blob_column
-- mysql: group_by_without_index
SELECT page, max(agent) FROM visit GROUP BY page;

-- mariadb: order_differs_from_group
-- mysql: -
SELECT customer_id, sum(amount) AS total FROM purchase GROUP BY customer_id ORDER BY total DESC LIMIT 10;

-- mariadb: order_differs_from_group
-- mysql: -
SELECT country, count(*) AS customers FROM customer GROUP BY country ORDER BY customers;

-- mariadb: group_by_without_index
-- mysql: group_by_without_index
SELECT status, channel, count(*) FROM purchase GROUP BY status, channel ORDER BY channel, status;

-- mariadb: union_distinct
-- mysql: union_distinct
SELECT customer_id FROM purchase WHERE status = 'open' UNION SELECT customer_id FROM purchase WHERE status = 'paid';

-- mariadb: union_distinct
-- mysql: union_distinct
SELECT 'purchase' AS kind, id FROM purchase WHERE amount > 900 UNION SELECT 'visit' AS kind, id FROM visit WHERE seconds > 595;

-- mariadb: union_distinct, blob_column
-- mysql: union_distinct
SELECT biography FROM customer WHERE id < 100 UNION SELECT agent FROM visit WHERE id < 100;

-- mariadb: set_operation
-- mysql: set_operation
SELECT customer_id FROM purchase WHERE id < 500 EXCEPT SELECT id FROM customer WHERE country = 'DE';

-- mariadb: set_operation
-- mysql: set_operation
SELECT id FROM purchase WHERE id < 20 UNION ALL SELECT id FROM customer WHERE id < 10 ORDER BY id;

-- mariadb: distinct_aggregate
-- mysql: distinct_aggregate
SELECT count(DISTINCT channel) FROM purchase;

-- mariadb: distinct_aggregate, blob_column
-- mysql: distinct_aggregate
SELECT count(DISTINCT biography) FROM customer;

-- mariadb: distinct_aggregate
-- mysql: distinct_aggregate
SELECT country, group_concat(DISTINCT city) FROM customer GROUP BY country;

-- mariadb: group_by_without_index
-- mysql: group_by_without_index
SELECT p.status, count(*) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY p.status;

-- mariadb: order_by_across_join
-- mysql: -
SELECT c.name, p.amount FROM customer c JOIN purchase p ON p.customer_id = c.id WHERE c.country = 'DE' ORDER BY p.amount LIMIT 20;

-- mariadb: order_by_across_join, blob_column
-- mysql: -
SELECT c.name, c.biography, p.bought FROM customer c JOIN purchase p ON p.customer_id = c.id WHERE c.country = 'DE' ORDER BY p.bought;

-- mariadb: derived_table
-- mysql: derived_table
SELECT d.customer_id, d.n FROM (SELECT customer_id, count(*) AS n FROM purchase GROUP BY customer_id) d WHERE d.n > 9;

-- mariadb: derived_table, blob_column
-- mysql: derived_table, sort_on_disk
SELECT d.page FROM (SELECT page, referrer, agent FROM visit ORDER BY visited LIMIT 1000) d WHERE d.page LIKE '/page/1%';

-- mariadb: -
-- mysql: derived_table
SELECT * FROM (SELECT user_id, created, (SELECT user_email FROM login2 b WHERE b.user_id = a.user_id) AS mail FROM login2 a WHERE a.user_id IN (100, 200, 300, 400)) AS a ORDER BY created;

-- mariadb: derived_table
-- mysql: derived_table
SELECT * FROM recent_purchase WHERE customer_id = 7;

-- mariadb: derived_table
-- mysql: derived_table
SELECT * FROM customer_total WHERE total > 5000;

-- mariadb: derived_table
-- mysql: derived_table
WITH total AS (SELECT customer_id, sum(amount) AS s FROM purchase GROUP BY customer_id) SELECT max(s) FROM total;

-- mariadb: derived_table, long_string
-- mysql: derived_table
SELECT d.k FROM (SELECT concat(note, status) AS k FROM purchase LIMIT 50) d;

-- mariadb: derived_table
-- mysql: derived_table
SELECT * FROM (SELECT id FROM purchase WHERE id < 20 UNION ALL SELECT id FROM customer WHERE id < 10) u;

-- mariadb: recursive_query
-- mysql: recursive_query
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT sum(i) FROM n;

-- mariadb: subquery_materialization
-- mysql: subquery_materialization
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM purchase WHERE status = 'returned');

-- mariadb: subquery_materialization
-- mysql: subquery_materialization
SELECT c.name FROM customer c WHERE EXISTS (SELECT 1 FROM purchase p WHERE p.customer_id = c.id AND p.status = 'open');

-- mariadb: buffered_result
-- mysql: buffered_result
SELECT SQL_BUFFER_RESULT name FROM customer WHERE country = 'DE';

-- mariadb: window_function
-- mysql: -
SELECT id, amount, rank() OVER (ORDER BY amount) AS place FROM purchase WHERE id < 500;

-- mariadb: window_function
-- mysql: window_function
SELECT id, sum(amount) OVER (PARTITION BY status) AS s FROM purchase WHERE id < 500;

-- mariadb: group_by_without_index
-- mysql: group_by_without_index
SELECT date_format(visited, '%Y-%m') AS month, count(*) FROM visit GROUP BY month;

-- mariadb: group_by_without_index, long_string, sort_on_disk
-- mysql: group_by_without_index, size_limit
SELECT concat(page, referrer) AS k, count(*) FROM visit GROUP BY k;

-- mariadb: group_by_without_index, blob_column
-- mysql: group_by_without_index
SELECT settings, count(*) FROM customer GROUP BY settings;

-- mariadb: metadata_query
-- mysql: metadata_query
SHOW COLUMNS FROM purchase;

-- mariadb: insert_from_same_table
-- mysql: insert_from_same_table
INSERT INTO purchase_archive SELECT * FROM purchase_archive WHERE status = 'x';

-- mariadb: multi_table_update
-- mysql: multi_table_update
UPDATE customer c JOIN purchase p ON p.customer_id = c.id SET c.city = 'moved', p.channel = 'web' WHERE p.status = 'nothing';

-- mariadb: join_without_index
-- mysql: join_without_index
SELECT count(*) FROM customer a JOIN customer b ON a.city = b.city;

-- mariadb: subquery_cache
-- mysql: -
SELECT name, (SELECT count(*) FROM purchase p WHERE p.customer_id = c.id) AS n FROM customer c WHERE c.id < 20;
