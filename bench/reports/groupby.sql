-- The ten questions of db-benchmark about groups, over a table x whose data is made by its rules. As there,
-- an answer is a table, and sums over it (`check`) are compared.

-- q1: sum v1 by id1
SELECT id1, SUM(v1) AS v1 FROM x GROUP BY id1;
-- check
SELECT COUNT(*), SUM(v1) FROM answer;

-- q2: sum v1 by id1:id2
SELECT id1, id2, SUM(v1) AS v1 FROM x GROUP BY id1, id2;
-- check
SELECT COUNT(*), SUM(v1) FROM answer;

-- q3: sum v1 mean v3 by id3
SELECT id3, SUM(v1) AS v1, AVG(v3) AS v3 FROM x GROUP BY id3;
-- check
SELECT COUNT(*), SUM(v1), SUM(v3) FROM answer;

-- q4: mean v1:v3 by id4
SELECT id4, AVG(v1) AS v1, AVG(v2) AS v2, AVG(v3) AS v3 FROM x GROUP BY id4;
-- check
SELECT COUNT(*), SUM(v1), SUM(v2), SUM(v3) FROM answer;

-- q5: sum v1:v3 by id6
SELECT id6, SUM(v1) AS v1, SUM(v2) AS v2, SUM(v3) AS v3 FROM x GROUP BY id6;
-- check
SELECT COUNT(*), SUM(v1), SUM(v2), SUM(v3) FROM answer;

-- q6: median v3 sd v3 by id4 id5
-- duckdb
SELECT id4, id5, QUANTILE_CONT(v3, 0.5) AS median_v3, STDDEV(v3) AS sd_v3 FROM x GROUP BY id4, id5;
-- mayfly
SELECT id4, id5, AVG(CASE WHEN place * 2 BETWEEN members AND members + 2 THEN v3 END) AS median_v3,
       STDDEV_SAMP(v3) AS sd_v3
FROM (SELECT id4, id5, v3, ROW_NUMBER() OVER (PARTITION BY id4, id5 ORDER BY v3) AS place,
             COUNT(*) OVER (PARTITION BY id4, id5) AS members FROM x) AS ranked
GROUP BY id4, id5;
-- check
SELECT COUNT(*), SUM(median_v3), SUM(sd_v3) FROM answer;

-- q7: max v1 - min v2 by id3
SELECT id3, MAX(v1) - MIN(v2) AS range_v1_v2 FROM x GROUP BY id3;
-- check
SELECT COUNT(*), SUM(range_v1_v2) FROM answer;

-- q8: largest two v3 by id6
SELECT id6, v3 AS largest2_v3
FROM (SELECT id6, v3, ROW_NUMBER() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS place FROM x WHERE v3 IS NOT NULL) AS ranked
WHERE place <= 2;
-- check
SELECT COUNT(*), SUM(largest2_v3) FROM answer;

-- q9: regression v1 v2 by id2 id4
-- duckdb
SELECT id2, id4, POW(CORR(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4;
-- mayfly
SELECT id2, id4, POW(COUNT(*) * SUM(v1 * v2) - SUM(v1) * SUM(v2), 2)
       / (COUNT(*) * SUM(v1 * v1) - SUM(v1) * SUM(v1)) / (COUNT(*) * SUM(v2 * v2) - SUM(v2) * SUM(v2)) AS r2
FROM x GROUP BY id2, id4;
-- check
SELECT COUNT(*), SUM(r2) FROM answer;

-- q10: sum v3 count by id1:id6
SELECT id1, id2, id3, id4, id5, id6, SUM(v3) AS v3, COUNT(*) AS n FROM x GROUP BY id1, id2, id3, id4, id5, id6;
-- check
SELECT COUNT(*), SUM(v3), SUM(n) FROM answer;
