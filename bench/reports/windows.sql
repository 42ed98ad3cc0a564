-- Functions over windows of a table x of rows in any order: 100 partitions (few) and one for ten rows (many).
-- The values are summed up, so that what is measured is the windows and not what fetches their rows.

-- row_number_few: row_number in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY few ORDER BY id) AS w FROM x) AS y;

-- rank_few: rank in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT RANK() OVER (PARTITION BY few ORDER BY place) AS w FROM x) AS y;

-- lag_few: lag in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT LAG(v) OVER (PARTITION BY few ORDER BY id) AS w FROM x) AS y;

-- running_sum_few: running_sum in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(v) OVER (PARTITION BY few ORDER BY id ROWS UNBOUNDED PRECEDING) AS w FROM x) AS y;

-- sliding_sum_few: sliding_sum in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(v) OVER (PARTITION BY few ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS w FROM x) AS y;

-- running_double_few: running_double in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(d) OVER (PARTITION BY few ORDER BY id ROWS UNBOUNDED PRECEDING) AS w FROM x) AS y;

-- sliding_max_few: sliding_max in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT MAX(v) OVER (PARTITION BY few ORDER BY id ROWS BETWEEN 10 PRECEDING AND 10 FOLLOWING) AS w FROM x) AS y;

-- share_few: share in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT d / SUM(d) OVER (PARTITION BY few) AS w FROM x) AS y;

-- first_few: first in partitions by few
SELECT COUNT(*), SUM(w) FROM (SELECT CASE WHEN ROW_NUMBER() OVER (PARTITION BY few ORDER BY place, id) <= 3 THEN id END AS w FROM x) AS y;

-- row_number_many: row_number in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY many ORDER BY id) AS w FROM x) AS y;

-- rank_many: rank in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT RANK() OVER (PARTITION BY many ORDER BY place) AS w FROM x) AS y;

-- lag_many: lag in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT LAG(v) OVER (PARTITION BY many ORDER BY id) AS w FROM x) AS y;

-- running_sum_many: running_sum in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(v) OVER (PARTITION BY many ORDER BY id ROWS UNBOUNDED PRECEDING) AS w FROM x) AS y;

-- sliding_sum_many: sliding_sum in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(v) OVER (PARTITION BY many ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS w FROM x) AS y;

-- running_double_many: running_double in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT SUM(d) OVER (PARTITION BY many ORDER BY id ROWS UNBOUNDED PRECEDING) AS w FROM x) AS y;

-- sliding_max_many: sliding_max in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT MAX(v) OVER (PARTITION BY many ORDER BY id ROWS BETWEEN 10 PRECEDING AND 10 FOLLOWING) AS w FROM x) AS y;

-- share_many: share in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT d / SUM(d) OVER (PARTITION BY many) AS w FROM x) AS y;

-- first_many: first in partitions by many
SELECT COUNT(*), SUM(w) FROM (SELECT CASE WHEN ROW_NUMBER() OVER (PARTITION BY many ORDER BY place, id) <= 3 THEN id END AS w FROM x) AS y;
