-- The five questions of db-benchmark about joins of x with small, medium and big tables, whose data is made by
-- its rules. As there, an answer is a table, and sums over it (`check`) are compared.

-- q1: small inner on int
SELECT x.*, small.id4 AS small_id4, v2 FROM x JOIN small USING (id1);
-- check
SELECT COUNT(*), SUM(v1), SUM(v2) FROM answer;

-- q2: medium inner on int
SELECT x.*, medium.id1 AS medium_id1, medium.id4 AS medium_id4, medium.id5 AS medium_id5, v2 FROM x JOIN medium USING (id2);
-- check
SELECT COUNT(*), SUM(v1), SUM(v2) FROM answer;

-- q3: medium outer on int
SELECT x.*, medium.id1 AS medium_id1, medium.id4 AS medium_id4, medium.id5 AS medium_id5, v2 FROM x LEFT JOIN medium USING (id2);
-- check
SELECT COUNT(*), SUM(v1), SUM(v2) FROM answer;

-- q4: medium inner on factor
SELECT x.*, medium.id1 AS medium_id1, medium.id2 AS medium_id2, medium.id4 AS medium_id4, v2 FROM x JOIN medium USING (id5);
-- check
SELECT COUNT(*), SUM(v1), SUM(v2) FROM answer;

-- q5: big inner on int
SELECT x.*, big.id1 AS big_id1, big.id2 AS big_id2, big.id4 AS big_id4, big.id5 AS big_id5, big.id6 AS big_id6, v2 FROM x JOIN big USING (id3);
-- check
SELECT COUNT(*), SUM(v1), SUM(v2) FROM answer;
