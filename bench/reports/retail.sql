-- Reports over a shop's tables in the shape of TPC-DS: windows, ROLLUP, set operations, CTEs that are used several
-- times, and correlated subqueries. Every ORDER BY is total where rows are cut off, so that answers can be compared.

-- returners: customers who return more than 1.2 times what is usual in the store
WITH returned AS (
  SELECT sr_customer, sr_store, SUM(sr_amount) AS total
  FROM store_returns JOIN day ON sr_day = d_day
  WHERE d_year = 2021 GROUP BY sr_customer, sr_store
)
SELECT c_id, r.total
FROM returned AS r JOIN store ON s_store = r.sr_store JOIN customer ON c_customer = r.sr_customer
WHERE s_state = 'CA' AND r.total > (SELECT AVG(total) * 1.2 FROM returned AS o WHERE o.sr_store = r.sr_store)
ORDER BY c_id, r.total LIMIT 100;

-- week_against_year: sales of each weekday against the same week a year ago
WITH weekly AS (
  SELECT d_week,
    SUM(CASE WHEN d_name = 'Sunday' THEN amount END) AS sunday,
    SUM(CASE WHEN d_name = 'Wednesday' THEN amount END) AS wednesday,
    SUM(CASE WHEN d_name = 'Saturday' THEN amount END) AS saturday
  FROM (
    SELECT ws_day AS sold, ws_price AS amount FROM web_sales
    UNION ALL
    SELECT ss_day, ss_price FROM store_sales
  ) AS sales JOIN day ON sold = d_day
  GROUP BY d_week
)
SELECT a.d_week, b.sunday / a.sunday AS sunday, b.wednesday / a.wednesday AS wednesday, b.saturday / a.saturday AS saturday
FROM weekly AS a JOIN weekly AS b ON b.d_week = a.d_week + 52
ORDER BY a.d_week;

-- brand_by_year: brands of a manager in November
SELECT d_year, i_brand, SUM(ss_price) AS total
FROM day JOIN store_sales ON ss_day = d_day JOIN item ON ss_item = i_item
WHERE i_manager BETWEEN 20 AND 30 AND d_month = 11
GROUP BY d_year, i_brand ORDER BY d_year, total DESC, i_brand LIMIT 100;

-- growth_of_customers: customers whose spending on the web grew faster than in stores
WITH yearly AS (
  SELECT ss_customer AS buyer, d_year, SUM(ss_price * ss_quantity) AS total, 's' AS kind
  FROM store_sales JOIN day ON ss_day = d_day GROUP BY ss_customer, d_year
  UNION ALL
  SELECT ws_customer, d_year, SUM(ws_price * ws_quantity), 'w'
  FROM web_sales JOIN day ON ws_day = d_day GROUP BY ws_customer, d_year
)
SELECT c_id, c_name
FROM yearly AS s1 JOIN yearly AS s2 ON s2.buyer = s1.buyer
  JOIN yearly AS w1 ON w1.buyer = s1.buyer JOIN yearly AS w2 ON w2.buyer = s1.buyer
  JOIN customer ON c_customer = s1.buyer
WHERE s1.kind = 's' AND s1.d_year = 2021 AND s2.kind = 's' AND s2.d_year = 2022
  AND w1.kind = 'w' AND w1.d_year = 2021 AND w2.kind = 'w' AND w2.d_year = 2022
  AND s1.total > 0 AND w1.total > 0 AND w2.total / w1.total > s2.total / s1.total
ORDER BY c_id LIMIT 100;

-- channels_rollup: sales, returns and profit of each channel, with sums
WITH channels AS (
  SELECT 'store' AS channel, CONCAT('store', ss_store) AS place, ss_price * ss_quantity AS sales, 0 AS returns, ss_profit AS profit, ss_day AS sold
  FROM store_sales
  UNION ALL
  SELECT 'store', CONCAT('store', sr_store), 0, sr_amount, -sr_amount, sr_day FROM store_returns
  UNION ALL
  SELECT 'web', CONCAT('warehouse', ws_warehouse), ws_price * ws_quantity, 0, ws_profit, ws_day FROM web_sales
)
SELECT channel, place, SUM(sales) AS sales, SUM(returns) AS returns, SUM(profit) AS profit
FROM channels JOIN day ON sold = d_day
WHERE d_date BETWEEN DATE '2022-08-01' AND DATE '2022-08-31'
GROUP BY ROLLUP (channel, place)
ORDER BY channel, place;

-- dear_items: states with customers who bought items of a price over 1.2 times the category's average
SELECT a_state, COUNT(*) AS bought
FROM address JOIN customer ON a_address = c_address JOIN store_sales ON c_customer = ss_customer
  JOIN day ON ss_day = d_day JOIN item AS i ON ss_item = i_item
WHERE d_year = 2021 AND d_month = 1
  AND i_price > 1.2 * (SELECT AVG(j.i_price) FROM item AS j WHERE j.i_category = i.i_category)
GROUP BY a_state HAVING COUNT(*) >= 10 ORDER BY bought, a_state;

-- promotions: averages of items sold with a promotion by neither mail nor event
SELECT i_id, AVG(ss_quantity) AS quantity, AVG(ss_list_price) AS list_price, AVG(ss_price) AS price
FROM store_sales JOIN item ON ss_item = i_item JOIN day ON ss_day = d_day JOIN promotion ON ss_promotion = p_promotion
WHERE (p_email = 'N' OR p_event = 'N') AND d_year = 2020
GROUP BY i_id ORDER BY i_id LIMIT 100;

-- zips: stores' profit from customers whose zip is common and preferred
SELECT s_name, SUM(ss_profit) AS profit
FROM store_sales JOIN day ON ss_day = d_day JOIN store ON ss_store = s_store JOIN customer ON ss_customer = c_customer
  JOIN address ON c_address = a_address
WHERE d_quarter = 2 AND d_year = 2021 AND a_zip IN (
  SELECT a_zip FROM address WHERE SUBSTRING(a_zip, 1, 2) IN ('00', '02', '05', '08')
  INTERSECT
  SELECT a_zip FROM address JOIN customer ON a_address = c_address WHERE c_preferred = 'Y' GROUP BY a_zip HAVING COUNT(*) > 4
)
GROUP BY s_name ORDER BY s_name;

-- buckets: one value or another for each range of quantities
SELECT
  CASE WHEN (SELECT COUNT(*) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20) > 100000
    THEN (SELECT AVG(ss_list_price) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20)
    ELSE (SELECT AVG(ss_profit) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20) END AS low,
  CASE WHEN (SELECT COUNT(*) FROM store_sales WHERE ss_quantity BETWEEN 41 AND 60) > 10000000
    THEN (SELECT AVG(ss_list_price) FROM store_sales WHERE ss_quantity BETWEEN 41 AND 60)
    ELSE (SELECT AVG(ss_profit) FROM store_sales WHERE ss_quantity BETWEEN 41 AND 60) END AS middle,
  CASE WHEN (SELECT COUNT(*) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 100) > 100000
    THEN (SELECT AVG(ss_list_price) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 100)
    ELSE (SELECT AVG(ss_profit) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 100) END AS high
FROM store WHERE s_store = 1;

-- who_buys: customers of some states who bought in a store and on the web in a quarter
SELECT a_state, c_preferred, c_birth_year, COUNT(*) AS buyers
FROM customer AS c JOIN address ON c.c_address = a_address
WHERE a_state IN ('CA', 'NY', 'TX')
  AND EXISTS (SELECT * FROM store_sales JOIN day ON ss_day = d_day WHERE c.c_customer = ss_customer AND d_year = 2021 AND d_quarter < 3)
  AND (EXISTS (SELECT * FROM web_sales JOIN day ON ws_day = d_day WHERE c.c_customer = ws_customer AND d_year = 2021 AND d_quarter < 3)
    OR EXISTS (SELECT * FROM store_returns JOIN day ON sr_day = d_day WHERE c.c_customer = sr_customer AND d_year = 2021 AND d_quarter < 3))
GROUP BY a_state, c_preferred, c_birth_year ORDER BY a_state, c_preferred, c_birth_year;

-- share_of_class: an item's share of its class's revenue
SELECT i_id, i_category, i_class, SUM(ws_price) AS revenue,
  SUM(ws_price) * 100 / SUM(SUM(ws_price)) OVER (PARTITION BY i_class) AS share
FROM web_sales JOIN item ON ws_item = i_item JOIN day ON ws_day = d_day
WHERE i_category IN ('Sports', 'Books', 'Home') AND d_date BETWEEN DATE '2021-02-22' AND DATE '2021-03-24'
GROUP BY i_id, i_category, i_class
ORDER BY i_category, i_class, i_id LIMIT 200;

-- in_both: brands sold in both channels in each of three years
WITH both_channels AS (
  SELECT i_brand FROM store_sales JOIN item ON ss_item = i_item JOIN day ON ss_day = d_day WHERE d_year BETWEEN 2020 AND 2022 AND ss_quantity > 90
  INTERSECT
  SELECT i_brand FROM web_sales JOIN item ON ws_item = i_item JOIN day ON ws_day = d_day WHERE d_year BETWEEN 2020 AND 2022 AND ws_quantity > 90
), average AS (
  SELECT AVG(quantity * price) AS sales FROM (
    SELECT ss_quantity AS quantity, ss_list_price AS price FROM store_sales JOIN day ON ss_day = d_day WHERE d_year BETWEEN 2020 AND 2022
    UNION ALL
    SELECT ws_quantity, ws_price FROM web_sales JOIN day ON ws_day = d_day WHERE d_year BETWEEN 2020 AND 2022
  ) AS x
)
SELECT i_brand, i_category, SUM(ss_quantity * ss_list_price) AS sales, COUNT(*) AS number_sales
FROM store_sales JOIN item ON ss_item = i_item JOIN day ON ss_day = d_day
WHERE i_brand IN (SELECT i_brand FROM both_channels) AND d_year = 2022 AND d_month = 11
GROUP BY ROLLUP (i_brand, i_category)
HAVING SUM(ss_quantity * ss_list_price) > (SELECT sales FROM average)
ORDER BY i_brand, i_category LIMIT 100;

-- web_only_orders: orders from one warehouse alone, without a return of the item in stores
SELECT COUNT(DISTINCT ws_order) AS orders, SUM(ws_price) AS price, SUM(ws_profit) AS profit
FROM web_sales AS w1 JOIN day ON ws_ship_day = d_day JOIN customer ON ws_customer = c_customer JOIN address ON c_address = a_address
WHERE d_date BETWEEN DATE '2021-02-01' AND DATE '2021-04-02' AND a_state = 'GA'
  AND EXISTS (SELECT * FROM web_sales AS w2 WHERE w1.ws_order = w2.ws_order AND w1.ws_warehouse <> w2.ws_warehouse)
  AND NOT EXISTS (SELECT * FROM store_returns WHERE sr_customer = ws_customer AND sr_item = ws_item);

-- returned_soon: how many days went by before what was sold came back
SELECT s_name, s_city,
  SUM(CASE WHEN sr_day - ss_day <= 15 THEN 1 ELSE 0 END) AS within_15,
  SUM(CASE WHEN sr_day - ss_day > 15 AND sr_day - ss_day <= 30 THEN 1 ELSE 0 END) AS within_30,
  SUM(CASE WHEN sr_day - ss_day > 30 THEN 1 ELSE 0 END) AS later
FROM store_sales JOIN store_returns ON ss_ticket = sr_ticket AND ss_item = sr_item AND ss_customer = sr_customer
  JOIN store ON ss_store = s_store JOIN day ON sr_day = d_day
WHERE d_year = 2022 AND d_month = 8
GROUP BY s_name, s_city ORDER BY s_name, s_city;

-- deviations: how unevenly returned items sell again on the web
SELECT i_id, s_state, COUNT(ss_quantity) AS sold, AVG(ss_quantity) AS average, STDDEV_SAMP(ss_quantity) AS deviation,
  COUNT(ws_quantity) AS again, AVG(ws_quantity) AS again_average
FROM store_sales JOIN store_returns ON ss_customer = sr_customer AND ss_item = sr_item AND ss_ticket = sr_ticket
  JOIN web_sales ON sr_customer = ws_customer AND sr_item = ws_item
  JOIN store ON s_store = ss_store JOIN item ON i_item = ss_item
GROUP BY i_id, s_state ORDER BY i_id, s_state LIMIT 100;

-- averages_rollup: averages of the web's sales at each level of place
SELECT i_id, a_state, a_city, AVG(ws_quantity) AS quantity, AVG(ws_price) AS price
FROM web_sales JOIN customer ON ws_customer = c_customer JOIN address ON c_address = a_address JOIN item ON ws_item = i_item
  JOIN day ON ws_day = d_day
WHERE d_year = 2021 AND c_birth_year BETWEEN 1950 AND 1960 AND i_category = 'Music'
GROUP BY ROLLUP (i_id, a_state, a_city) ORDER BY i_id, a_state, a_city LIMIT 300;

-- stocks_around: stocks before and after a day
SELECT n_warehouse, i_id,
  SUM(CASE WHEN d_date < DATE '2021-03-11' THEN n_quantity ELSE 0 END) AS before_it,
  SUM(CASE WHEN d_date >= DATE '2021-03-11' THEN n_quantity ELSE 0 END) AS after_it
FROM inventory JOIN item ON n_item = i_item JOIN day ON n_day = d_day
WHERE i_price BETWEEN 9 AND 29 AND d_date BETWEEN DATE '2021-01-10' AND DATE '2021-05-10'
GROUP BY n_warehouse, i_id
HAVING SUM(CASE WHEN d_date < DATE '2021-03-11' THEN n_quantity ELSE 0 END) > 0
ORDER BY n_warehouse, i_id LIMIT 100;

-- stocks_rollup: average stock at each level of the product
SELECT i_category, i_class, i_brand, AVG(n_quantity) AS stock
FROM inventory JOIN item ON n_item = i_item JOIN day ON n_day = d_day
WHERE d_year BETWEEN 2021 AND 2022
GROUP BY ROLLUP (i_category, i_class, i_brand) ORDER BY stock, i_category, i_class, i_brand LIMIT 100;

-- frequent_and_best: what the best customers bought of the items that sell most
WITH frequent AS (
  SELECT ss_item AS item, ss_day AS sold, COUNT(*) AS times
  FROM store_sales JOIN day ON ss_day = d_day WHERE d_year IN (2020, 2021, 2022)
  GROUP BY ss_item, ss_day HAVING COUNT(*) > 4
), spent AS (
  SELECT ss_customer AS buyer, SUM(ss_quantity * ss_price) AS total FROM store_sales WHERE ss_customer IS NOT NULL GROUP BY ss_customer
), best AS (
  SELECT buyer FROM spent WHERE total > 0.5 * (SELECT MAX(total) FROM spent)
)
SELECT SUM(sales) AS sales FROM (
  SELECT ws_quantity * ws_price AS sales FROM web_sales WHERE ws_item IN (SELECT item FROM frequent) AND ws_customer IN (SELECT buyer FROM best)
) AS x;

-- colors: customers' names of each color where they paid more than 5 % of the average
WITH paid AS (
  SELECT c_name, s_name, i_color, SUM(ss_price) AS paid
  FROM store_sales JOIN store_returns ON ss_ticket = sr_ticket AND ss_item = sr_item JOIN customer ON ss_customer = c_customer
    JOIN item ON ss_item = i_item JOIN store ON ss_store = s_store
  GROUP BY c_name, s_name, i_color
)
SELECT c_name, s_name, SUM(paid) AS total FROM paid WHERE i_color = 'plum'
GROUP BY c_name, s_name HAVING SUM(paid) > (SELECT 0.05 * AVG(paid) FROM paid)
ORDER BY c_name, s_name LIMIT 100;

-- tickets_rollup: averages of what each state buys, with sums over states
SELECT i_id, s_state, GROUPING(s_state) AS all_states, AVG(ss_quantity) AS quantity, AVG(ss_list_price) AS list_price, AVG(ss_price) AS price
FROM store_sales JOIN day ON ss_day = d_day JOIN item ON ss_item = i_item JOIN store ON ss_store = s_store
WHERE d_year = 2022 AND s_state IN ('CA', 'GA', 'IL')
GROUP BY ROLLUP (i_id, s_state) ORDER BY i_id, s_state, all_states LIMIT 200;

-- distinct_prices: average, count and distinct count of prices in ranges
SELECT * FROM
  (SELECT AVG(ss_list_price) AS a1, COUNT(ss_list_price) AS c1, COUNT(DISTINCT ss_list_price) AS d1 FROM store_sales
    WHERE ss_quantity BETWEEN 0 AND 5 AND (ss_list_price BETWEEN 8 AND 18 OR ss_profit BETWEEN 459 AND 1459)) AS b1,
  (SELECT AVG(ss_list_price) AS a2, COUNT(ss_list_price) AS c2, COUNT(DISTINCT ss_list_price) AS d2 FROM store_sales
    WHERE ss_quantity BETWEEN 6 AND 10 AND (ss_list_price BETWEEN 18 AND 28 OR ss_profit BETWEEN 300 AND 1300)) AS b2,
  (SELECT AVG(ss_list_price) AS a3, COUNT(ss_list_price) AS c3, COUNT(DISTINCT ss_list_price) AS d3 FROM store_sales
    WHERE ss_quantity BETWEEN 11 AND 15 AND (ss_list_price BETWEEN 66 AND 76 OR ss_profit BETWEEN 285 AND 1285)) AS b3;

-- quarters_of_places: places where the web grew faster than the stores in each quarter
WITH in_stores AS (
  SELECT a_city, d_quarter, d_year, SUM(ss_price) AS sales
  FROM store_sales JOIN day ON ss_day = d_day JOIN customer ON ss_customer = c_customer JOIN address ON c_address = a_address
  GROUP BY a_city, d_quarter, d_year
), on_web AS (
  SELECT a_city, d_quarter, d_year, SUM(ws_price) AS sales
  FROM web_sales JOIN day ON ws_day = d_day JOIN customer ON ws_customer = c_customer JOIN address ON c_address = a_address
  GROUP BY a_city, d_quarter, d_year
)
SELECT s1.a_city, w2.sales / w1.sales AS web_growth, s2.sales / s1.sales AS store_growth
FROM in_stores AS s1 JOIN in_stores AS s2 ON s1.a_city = s2.a_city JOIN on_web AS w1 ON s1.a_city = w1.a_city JOIN on_web AS w2 ON s1.a_city = w2.a_city
WHERE s1.d_quarter = 1 AND s1.d_year = 2021 AND s2.d_quarter = 2 AND s2.d_year = 2021
  AND w1.d_quarter = 1 AND w1.d_year = 2021 AND w2.d_quarter = 2 AND w2.d_year = 2021
  AND w2.sales / w1.sales > s2.sales / s1.sales
ORDER BY s1.a_city;

-- large_tickets: tickets of many lines and who bought them
SELECT c_name, c_id, ss_ticket, lines_bought FROM (
  SELECT ss_ticket, ss_customer, COUNT(*) AS lines_bought
  FROM store_sales JOIN day ON ss_day = d_day JOIN store ON ss_store = s_store
  WHERE d_month IN (1, 2, 3) AND s_state IN ('CA', 'IL') AND d_year IN (2021, 2022)
  GROUP BY ss_ticket, ss_customer
) AS x JOIN customer ON ss_customer = c_customer
WHERE lines_bought BETWEEN 5 AND 10
ORDER BY lines_bought DESC, c_name, c_id, ss_ticket LIMIT 100;

-- margin_rank: profit by category and class with sums, ranked among their equals
SELECT SUM(ss_profit) / SUM(ss_price * ss_quantity) AS margin, i_category, i_class,
  GROUPING(i_category) + GROUPING(i_class) AS level,
  RANK() OVER (PARTITION BY GROUPING(i_category) + GROUPING(i_class),
    CASE WHEN GROUPING(i_class) = 0 THEN i_category END ORDER BY SUM(ss_profit) / SUM(ss_price * ss_quantity)) AS place
FROM store_sales JOIN day ON ss_day = d_day JOIN item ON ss_item = i_item JOIN store ON ss_store = s_store
WHERE d_year = 2021 AND s_state IN ('CA', 'GA')
GROUP BY ROLLUP (i_category, i_class)
ORDER BY level DESC, i_category, i_class;

-- only_in_stores: customers who bought in stores and not on the web in a quarter
SELECT COUNT(*) AS customers FROM (
  SELECT c_name, d_date FROM store_sales JOIN day ON ss_day = d_day JOIN customer ON ss_customer = c_customer WHERE d_year = 2021 AND d_quarter = 1
  EXCEPT
  SELECT c_name, d_date FROM web_sales JOIN day ON ws_day = d_day JOIN customer ON ws_customer = c_customer WHERE d_year = 2021 AND d_quarter = 1
) AS x;

-- neighbours: months in which a brand sold differently from its year, with the months before and after
WITH monthly AS (
  SELECT i_category, i_brand, s_name, d_year, d_month, SUM(ss_price) AS sales,
    AVG(SUM(ss_price)) OVER (PARTITION BY i_category, i_brand, s_name, d_year) AS average,
    RANK() OVER (PARTITION BY i_category, i_brand, s_name ORDER BY d_year, d_month) AS place
  FROM item JOIN store_sales ON ss_item = i_item JOIN day ON ss_day = d_day JOIN store ON ss_store = s_store
  WHERE d_year = 2021 OR (d_year = 2020 AND d_month = 12) OR (d_year = 2022 AND d_month = 1)
  GROUP BY i_category, i_brand, s_name, d_year, d_month
)
SELECT v.i_brand, v.s_name, v.d_year, v.d_month, v.average, v.sales, before_it.sales AS earlier, after_it.sales AS later
FROM monthly AS v
  JOIN monthly AS before_it ON v.i_category = before_it.i_category AND v.i_brand = before_it.i_brand AND v.s_name = before_it.s_name AND v.place = before_it.place + 1
  JOIN monthly AS after_it ON v.i_category = after_it.i_category AND v.i_brand = after_it.i_brand AND v.s_name = after_it.s_name AND v.place = after_it.place - 1
WHERE v.d_year = 2021 AND v.average > 0 AND ABS(v.sales - v.average) / v.average > 0.9
ORDER BY v.i_brand, v.s_name, v.d_month, v.sales LIMIT 100;

-- worst_returns: items whose share of returns is among the ten highest of a channel
SELECT channel, item, share, place FROM (
  SELECT 'store' AS channel, item, share, RANK() OVER (ORDER BY share DESC, item) AS place FROM (
    SELECT ss_item AS item, SUM(COALESCE(sr_quantity, 0)) / SUM(ss_quantity) AS share
    FROM store_sales LEFT JOIN store_returns ON ss_ticket = sr_ticket AND ss_item = sr_item JOIN day ON ss_day = d_day
    WHERE d_year = 2021 AND d_month = 12 GROUP BY ss_item
  ) AS s
  UNION
  SELECT 'web', item, share, RANK() OVER (ORDER BY share DESC, item) FROM (
    SELECT ws_item AS item, SUM(CASE WHEN ws_ship_day IS NULL THEN ws_quantity ELSE 0 END) / SUM(ws_quantity) AS share
    FROM web_sales JOIN day ON ws_day = d_day WHERE d_year = 2021 AND d_month = 12 GROUP BY ws_item
  ) AS w
) AS ranked WHERE place <= 10 ORDER BY channel, place;

-- cumulative: days on which the web had sold more of an item than the stores so far
WITH web AS (
  SELECT ws_item AS item, ws_day AS sold, SUM(SUM(ws_price)) OVER (PARTITION BY ws_item ORDER BY ws_day ROWS UNBOUNDED PRECEDING) AS total
  FROM web_sales JOIN day ON ws_day = d_day WHERE d_year = 2021 GROUP BY ws_item, ws_day
), shops AS (
  SELECT ss_item AS item, ss_day AS sold, SUM(SUM(ss_price)) OVER (PARTITION BY ss_item ORDER BY ss_day ROWS UNBOUNDED PRECEDING) AS total
  FROM store_sales JOIN day ON ss_day = d_day WHERE d_year = 2021 GROUP BY ss_item, ss_day
)
SELECT COUNT(*) AS days, SUM(web_highest) AS highest FROM (
  SELECT item, sold, MAX(web_total) OVER (PARTITION BY item ORDER BY sold ROWS UNBOUNDED PRECEDING) AS web_highest,
    MAX(shop_total) OVER (PARTITION BY item ORDER BY sold ROWS UNBOUNDED PRECEDING) AS shop_highest
  FROM (SELECT web.item AS item, web.sold AS sold, web.total AS web_total, shops.total AS shop_total
    FROM web JOIN shops ON web.item = shops.item AND web.sold = shops.sold) AS x
) AS y WHERE web_highest > shop_highest;

-- top_of_states: profit of the states that are among the five best, with their cities
SELECT SUM(ss_profit) AS profit, s_state, s_city, GROUPING(s_state) + GROUPING(s_city) AS level,
  RANK() OVER (PARTITION BY GROUPING(s_state) + GROUPING(s_city), CASE WHEN GROUPING(s_city) = 0 THEN s_state END ORDER BY SUM(ss_profit) DESC) AS place
FROM store_sales JOIN day ON ss_day = d_day JOIN store ON ss_store = s_store
WHERE d_year BETWEEN 2020 AND 2021 AND s_state IN (
  SELECT s_state FROM (
    SELECT s_state, RANK() OVER (PARTITION BY s_state ORDER BY SUM(ss_profit) DESC) AS ranking
    FROM store_sales JOIN store ON s_store = ss_store JOIN day ON d_day = ss_day WHERE d_year BETWEEN 2020 AND 2021 GROUP BY s_state
  ) AS x WHERE ranking <= 5)
GROUP BY ROLLUP (s_state, s_city) ORDER BY level DESC, s_state, s_city;

-- best_items: the three items of each category and year that sold best
SELECT d_year, i_category, place, i_id, total FROM (
  SELECT d_year, i_category, i_id, SUM(ss_price) AS total,
    ROW_NUMBER() OVER (PARTITION BY d_year, i_category ORDER BY SUM(ss_price) DESC, i_id) AS place
  FROM store_sales JOIN day ON ss_day = d_day JOIN item ON ss_item = i_item
  GROUP BY d_year, i_category, i_id
) AS ranked WHERE place <= 3 ORDER BY d_year, i_category, place;

-- quiet_customers: customers who bought in a store in 2022 and never on the web, with their last purchase
SELECT c_id, last_day, tickets FROM (
  SELECT ss_customer, MAX(ss_day) AS last_day, COUNT(DISTINCT ss_ticket) AS tickets
  FROM store_sales JOIN day ON ss_day = d_day WHERE d_year = 2022 GROUP BY ss_customer
) AS s JOIN customer ON c_customer = ss_customer
WHERE c_customer NOT IN (SELECT ws_customer FROM web_sales)
ORDER BY tickets DESC, c_id LIMIT 100;

-- moving_average: sales of each store over seven days, and against the week before
SELECT s_name, d_date, sales, AVG(sales) OVER w AS week_average, sales - LAG(sales, 7) OVER (PARTITION BY s_name ORDER BY d_date) AS against_last_week
FROM (
  SELECT s_name, d_date, SUM(ss_price * ss_quantity) AS sales
  FROM store_sales JOIN store ON ss_store = s_store JOIN day ON ss_day = d_day GROUP BY s_name, d_date
) AS daily
WINDOW w AS (PARTITION BY s_name ORDER BY d_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
ORDER BY s_name, d_date LIMIT 1000;

-- last_purchases: the last ticket of each customer in a year, and what it cost against the one before
WITH of_tickets AS (
  SELECT ss_customer, ss_ticket, MIN(ss_day) AS sold, SUM(ss_price * ss_quantity) AS total
  FROM store_sales WHERE ss_customer IS NOT NULL GROUP BY ss_customer, ss_ticket
), in_order AS (
  SELECT ss_customer, ss_ticket, total, LAG(total) OVER (PARTITION BY ss_customer ORDER BY sold, ss_ticket) AS earlier,
    ROW_NUMBER() OVER (PARTITION BY ss_customer ORDER BY sold DESC, ss_ticket DESC) AS back
  FROM of_tickets
)
SELECT COUNT(*) AS customers, SUM(total) AS total, SUM(earlier) AS earlier, SUM(CASE WHEN total > earlier THEN 1 ELSE 0 END) AS grew
FROM in_order WHERE back = 1;

-- without_promotion: each category's share of sales without a promotion, and the categories above the mean
WITH shares AS (
  SELECT i_category, d_year, SUM(CASE WHEN ss_promotion IS NULL THEN ss_price ELSE 0 END) / SUM(ss_price) AS share
  FROM store_sales JOIN item ON ss_item = i_item JOIN day ON ss_day = d_day GROUP BY i_category, d_year
)
SELECT i_category, d_year, share, (SELECT COUNT(*) FROM shares AS o WHERE o.d_year = s.d_year AND o.share > s.share) AS better
FROM shares AS s
WHERE share > (SELECT AVG(share) FROM shares AS m WHERE m.d_year = s.d_year)
ORDER BY d_year, i_category;
