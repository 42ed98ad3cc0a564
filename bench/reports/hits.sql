-- Reports over page views: the shapes of ClickBench's 43 statements, over columns and data of this repository
-- (bench-compare/hits_data.py). Every ORDER BY is total where rows are cut off, so that answers can be compared.

-- h0: all
SELECT COUNT(*) FROM hits;

-- h1: few rows by a number
SELECT COUNT(*) FROM hits WHERE advert <> 0;

-- h2: sums and an average
SELECT SUM(advert), COUNT(*), AVG(width) FROM hits;

-- h3: average of large numbers
SELECT AVG(user_id) FROM hits;

-- h4: distinct numbers
SELECT COUNT(DISTINCT user_id) FROM hits;

-- h5: distinct texts
SELECT COUNT(DISTINCT phrase) FROM hits;

-- h6: first and last day
SELECT MIN(event_date), MAX(event_date) FROM hits;

-- h7: groups of few rows
SELECT advert, COUNT(*) AS n FROM hits WHERE advert <> 0 GROUP BY advert ORDER BY n DESC, advert;

-- h8: users of each region
SELECT region, COUNT(DISTINCT user_id) AS users FROM hits GROUP BY region ORDER BY users DESC, region LIMIT 10;

-- h9: regions
SELECT region, SUM(advert), COUNT(*) AS n, AVG(width), COUNT(DISTINCT user_id) FROM hits GROUP BY region ORDER BY n DESC, region LIMIT 10;

-- h10: users of each model
SELECT phone_model, COUNT(DISTINCT user_id) AS users FROM hits WHERE phone_model <> '' GROUP BY phone_model
ORDER BY users DESC, phone_model LIMIT 10;

-- h11: users of each phone and model
SELECT phone, phone_model, COUNT(DISTINCT user_id) AS users FROM hits WHERE phone_model <> '' GROUP BY phone, phone_model
ORDER BY users DESC, phone, phone_model LIMIT 10;

-- h12: most frequent phrases
SELECT phrase, COUNT(*) AS n FROM hits WHERE phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10;

-- h13: phrases by users
SELECT phrase, COUNT(DISTINCT user_id) AS users FROM hits WHERE phrase <> '' GROUP BY phrase ORDER BY users DESC, phrase LIMIT 10;

-- h14: phrases by engine
SELECT search_engine, phrase, COUNT(*) AS n FROM hits WHERE phrase <> '' GROUP BY search_engine, phrase
ORDER BY n DESC, search_engine, phrase LIMIT 10;

-- h15: busiest users
SELECT user_id, COUNT(*) AS n FROM hits GROUP BY user_id ORDER BY n DESC, user_id LIMIT 10;

-- h16: busiest users by phrase
SELECT user_id, phrase, COUNT(*) AS n FROM hits GROUP BY user_id, phrase ORDER BY n DESC, user_id, phrase LIMIT 10;

-- h17: any ten groups
SELECT user_id, phrase, COUNT(*) AS n FROM hits GROUP BY user_id, phrase LIMIT 10;
-- check
SELECT COUNT(*) FROM answer;

-- h18: by user, minute and phrase
SELECT user_id, EXTRACT(MINUTE FROM event_time) AS m, phrase, COUNT(*) AS n FROM hits GROUP BY user_id, m, phrase
ORDER BY n DESC, user_id, m, phrase LIMIT 10;

-- h19: one user
SELECT user_id, view_id FROM hits WHERE user_id = 313490885347793156 ORDER BY view_id;

-- h20: a word in addresses
SELECT COUNT(*) FROM hits WHERE url LIKE '%google%';

-- h21: phrases on such pages
SELECT phrase, MIN(url), COUNT(*) AS n FROM hits WHERE url LIKE '%google%' AND phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10;

-- h22: phrases of pages with a word in their title
SELECT phrase, MIN(url), MIN(title), COUNT(*) AS n, COUNT(DISTINCT user_id) FROM hits
WHERE title LIKE '%google%' AND url NOT LIKE '%.google.%' AND phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10;

-- h23: first views, all columns
SELECT * FROM hits WHERE url LIKE '%google%' ORDER BY event_time, view_id LIMIT 10;

-- h24: first phrases
SELECT phrase, event_time FROM hits WHERE phrase <> '' ORDER BY event_time, view_id LIMIT 10;

-- h25: least phrases
SELECT phrase FROM hits WHERE phrase <> '' ORDER BY phrase LIMIT 10;

-- h26: first phrases, least first
SELECT phrase FROM hits WHERE phrase <> '' ORDER BY event_time, phrase LIMIT 10;

-- h27: length of addresses
SELECT counter, AVG(LENGTH(url)) AS l, COUNT(*) AS n FROM hits WHERE url <> '' GROUP BY counter HAVING COUNT(*) > 5000
ORDER BY l DESC, counter LIMIT 25;

-- h28: hosts of referers
-- mayfly
SELECT REGEXP_REPLACE(referer, '^https?://(?:www\\.)?([^/]+)/.*$', '$1') AS k, AVG(LENGTH(referer)) AS l, COUNT(*) AS n, MIN(referer)
FROM hits WHERE referer <> '' GROUP BY k HAVING COUNT(*) > 1000 ORDER BY l DESC, k LIMIT 25;
-- duckdb
SELECT REGEXP_REPLACE(referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS k, AVG(LENGTH(referer)) AS l, COUNT(*) AS n, MIN(referer)
FROM hits WHERE referer <> '' GROUP BY k HAVING COUNT(*) > 1000 ORDER BY l DESC, k LIMIT 25;

-- h29: ninety sums
SELECT SUM(width), SUM(width + 1), SUM(width + 2), SUM(width + 3), SUM(width + 4), SUM(width + 5), SUM(width + 6),
  SUM(width + 7), SUM(width + 8), SUM(width + 9), SUM(width + 10), SUM(width + 11), SUM(width + 12), SUM(width + 13),
  SUM(width + 14), SUM(width + 15), SUM(width + 16), SUM(width + 17), SUM(width + 18), SUM(width + 19), SUM(width + 20),
  SUM(width + 21), SUM(width + 22), SUM(width + 23), SUM(width + 24), SUM(width + 25), SUM(width + 26), SUM(width + 27),
  SUM(width + 28), SUM(width + 29), SUM(width + 30), SUM(width + 31), SUM(width + 32), SUM(width + 33), SUM(width + 34),
  SUM(width + 35), SUM(width + 36), SUM(width + 37), SUM(width + 38), SUM(width + 39), SUM(width + 40), SUM(width + 41),
  SUM(width + 42), SUM(width + 43), SUM(width + 44), SUM(width + 45), SUM(width + 46), SUM(width + 47), SUM(width + 48),
  SUM(width + 49), SUM(width + 50), SUM(width + 51), SUM(width + 52), SUM(width + 53), SUM(width + 54), SUM(width + 55),
  SUM(width + 56), SUM(width + 57), SUM(width + 58), SUM(width + 59), SUM(width + 60), SUM(width + 61), SUM(width + 62),
  SUM(width + 63), SUM(width + 64), SUM(width + 65), SUM(width + 66), SUM(width + 67), SUM(width + 68), SUM(width + 69),
  SUM(width + 70), SUM(width + 71), SUM(width + 72), SUM(width + 73), SUM(width + 74), SUM(width + 75), SUM(width + 76),
  SUM(width + 77), SUM(width + 78), SUM(width + 79), SUM(width + 80), SUM(width + 81), SUM(width + 82), SUM(width + 83),
  SUM(width + 84), SUM(width + 85), SUM(width + 86), SUM(width + 87), SUM(width + 88), SUM(width + 89)
FROM hits;

-- h30: by engine and address
SELECT search_engine, client_ip, COUNT(*) AS n, SUM(is_refresh), AVG(width) FROM hits WHERE phrase <> '' GROUP BY search_engine, client_ip
ORDER BY n DESC, search_engine, client_ip LIMIT 10;

-- h31: nearly a group for each row that has a phrase
SELECT view_id, client_ip, COUNT(*) AS n, SUM(is_refresh), AVG(width) FROM hits WHERE phrase <> '' GROUP BY view_id, client_ip
ORDER BY n DESC, view_id, client_ip LIMIT 10;

-- h32: a group for each row
SELECT view_id, client_ip, COUNT(*) AS n, SUM(is_refresh), AVG(width) FROM hits GROUP BY view_id, client_ip
ORDER BY n DESC, view_id, client_ip LIMIT 10;

-- h33: most frequent addresses
SELECT url, COUNT(*) AS n FROM hits GROUP BY url ORDER BY n DESC, url LIMIT 10;

-- h34: with a constant
SELECT 1 AS one, url, COUNT(*) AS n FROM hits GROUP BY one, url ORDER BY n DESC, url LIMIT 10;

-- h35: keys that follow from another one
SELECT client_ip, client_ip - 1 AS a, client_ip - 2 AS b, client_ip - 3 AS c, COUNT(*) AS n FROM hits GROUP BY client_ip, a, b, c
ORDER BY n DESC, client_ip LIMIT 10;

-- h36: pages of a counter
SELECT url, COUNT(*) AS n FROM hits WHERE counter = 3 AND event_date BETWEEN '2023-07-01' AND '2023-07-31' AND not_counted = 0 AND is_refresh = 0
  AND url <> '' GROUP BY url ORDER BY n DESC, url LIMIT 10;

-- h37: titles of a counter
SELECT title, COUNT(*) AS n FROM hits WHERE counter = 3 AND event_date BETWEEN '2023-07-01' AND '2023-07-31' AND not_counted = 0 AND is_refresh = 0
  AND title <> '' GROUP BY title ORDER BY n DESC, title LIMIT 10;

-- h38: linked pages of a counter, from the thousandth on
SELECT url, COUNT(*) AS n FROM hits WHERE counter = 1 AND event_date BETWEEN '2023-07-01' AND '2023-07-31' AND is_refresh = 0
  AND is_link <> 0 AND is_download = 0 GROUP BY url ORDER BY n DESC, url LIMIT 10 OFFSET 1000;

-- h39: from where to where
SELECT source, search_engine, advert, CASE WHEN search_engine = 0 AND advert = 0 THEN referer ELSE '' END AS src, url AS dst, COUNT(*) AS n
FROM hits WHERE counter = 1 AND event_date BETWEEN '2023-07-01' AND '2023-07-31' AND is_refresh = 0
GROUP BY source, search_engine, advert, src, dst ORDER BY n DESC, source, search_engine, advert, src, dst LIMIT 10 OFFSET 1000;

-- h40: pages by day, of some sources
SELECT url_hash, event_date, COUNT(*) AS n FROM hits WHERE counter = 1 AND event_date BETWEEN '2023-07-01' AND '2023-07-31' AND is_refresh = 0
  AND source IN (-1, 6) AND referer_hash = 2177342782468422677 GROUP BY url_hash, event_date ORDER BY n DESC, url_hash, event_date LIMIT 10;

-- h41: sizes of windows
SELECT window_width, window_height, COUNT(*) AS n FROM hits WHERE counter = 1 AND event_date BETWEEN '2023-07-01' AND '2023-07-31'
  AND is_refresh = 0 AND not_counted = 0 AND url_hash = 7877700192130021919 GROUP BY window_width, window_height
ORDER BY n DESC, window_width, window_height LIMIT 10;

-- h42: views a minute
-- mayfly
SELECT DATE_FORMAT(event_time, '%Y-%m-%d %H:%i:00') AS m, COUNT(*) AS n FROM hits WHERE counter = 1 AND event_date BETWEEN '2023-07-14' AND '2023-07-15'
  AND is_refresh = 0 AND not_counted = 0 GROUP BY m ORDER BY m LIMIT 10 OFFSET 1000;
-- duckdb
SELECT strftime(DATE_TRUNC('minute', event_time), '%Y-%m-%d %H:%M:00') AS m, COUNT(*) AS n FROM hits WHERE counter = 1
  AND event_date BETWEEN '2023-07-14' AND '2023-07-15' AND is_refresh = 0 AND not_counted = 0 GROUP BY m ORDER BY m LIMIT 10 OFFSET 1000;
