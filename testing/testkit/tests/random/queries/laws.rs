//! Laws for every condition over every table: two equivalent queries give the same rows, ternary logic partitions the
//! rows (Rigger and Su, "Finding Bugs in Database Systems via Query Partitioning", 2020), and a condition keeps as many
//! rows as it is true for (Rigger and Su, "Detecting Optimization Bugs in Database Engines via Non-Optimizing Reference
//! Engine Construction", 2020).

use std::sync::LazyLock;

use mayfly_testkit::groups::Groups;

/// Laws, each followed by two equivalent queries, with places for a table, a condition, a value and a number. The text
/// in ⟨ ⟩ is repeated for each part of the rows: those that meet the condition, those that do not, and those for which
/// it is NULL. The text behind | is put between the repetitions, UNION ALL without it.
const TEXTS: &str = "\
WHERE keeps the rows for which the condition is true.
  SELECT COUNT(*) FROM {from} WHERE {condition}
  SELECT COALESCE(SUM(({condition}) IS TRUE), 0) FROM {from}
The rows are those with the condition, without it, and where it is NULL.
  SELECT {value}, {number} FROM {from}
  ⟨SELECT {value}, {number} FROM {from} WHERE {part}⟩
So are the values, each once.
  SELECT DISTINCT {value} FROM {from}
  ⟨SELECT {value} FROM {from} WHERE {part}| UNION ⟩
What is aggregated of the parts is that of the whole.
  SELECT COUNT(*) AS c, MIN({value}) AS l, MAX({value}) AS h, COUNT({number}) AS n, MAX({number}) + 0 AS m FROM {from}
  SELECT SUM(c), MIN(l), MAX(h), SUM(n), MAX(m) FROM (⟨SELECT COUNT(*) AS c, MIN({value}) AS l, MAX({value}) AS h, COUNT({number}) AS n, MAX({number}) + 0 AS m FROM {from} WHERE {part}⟩) AS d
So it is for each group.
  SELECT {value} AS k, COUNT(*) AS c, MAX({number}) + 0 AS m FROM {from} GROUP BY {value}
  SELECT k, SUM(c), MAX(m) FROM (⟨SELECT {value} AS k, COUNT(*) AS c, MAX({number}) + 0 AS m FROM {from} WHERE {part} GROUP BY {value}⟩) AS d GROUP BY k
Groups are those with a condition of theirs, without it, and where it is NULL.
  SELECT {value} AS k, MAX({number}) + 0 AS m FROM {from} GROUP BY {value}
  SELECT {value} AS k, MAX({number}) + 0 AS m FROM {from} GROUP BY {value} HAVING MAX({number}) > COUNT(*) UNION ALL SELECT {value} AS k, MAX({number}) + 0 AS m FROM {from} GROUP BY {value} HAVING NOT (MAX({number}) > COUNT(*)) UNION ALL SELECT {value} AS k, MAX({number}) + 0 AS m FROM {from} GROUP BY {value} HAVING (MAX({number}) > COUNT(*)) IS NULL
A join keeps what its condition is true for.
  SELECT {value}, y.id FROM {from} JOIN t1 AS y ON {condition}
  SELECT v, i FROM (SELECT {value} AS v, y.id AS i, ({condition}) IS TRUE AS p FROM {from} CROSS JOIN t1 AS y) AS d WHERE p
A join keeps of all pairs what is equal, NULL too.
  SELECT COUNT(*) FROM {from} JOIN t1 AS y ON {number} <=> y.id
  SELECT COUNT(*) FROM {from} CROSS JOIN t1 AS y WHERE {number} <=> y.id
DISTINCT keeps a row of each group.
  SELECT COUNT(*) FROM (SELECT DISTINCT {value} AS e, {number} AS g FROM {from}) AS d
  SELECT COUNT(*) FROM (SELECT {value} AS e, {number} AS g FROM {from} GROUP BY e, g) AS d
All groups together have all rows.
  SELECT SUM(c) FROM (SELECT {value} AS e, COUNT(*) AS c FROM {from} WHERE {condition} GROUP BY e) AS d
  SELECT NULLIF(COUNT(*), 0) FROM {from} WHERE {condition}
What is in a set already adds nothing to it.
  SELECT COUNT(*) FROM (SELECT {value} AS e FROM {from} UNION SELECT {value} FROM {from} WHERE {condition}) AS d
  SELECT COUNT(*) FROM (SELECT DISTINCT {value} AS e FROM {from}) AS d
The rows with a condition and without it are those where it is not NULL.
  SELECT COUNT(*) FROM (SELECT {value} AS e FROM {from} WHERE {condition} UNION ALL SELECT {value} FROM {from} WHERE NOT ({condition})) AS d
  SELECT COUNT(*) FROM {from} WHERE ({condition}) IS NOT NULL
COUNT(DISTINCT) counts what DISTINCT keeps and is not NULL.
  SELECT COUNT(DISTINCT {value}) FROM {from}
  SELECT COUNT(*) FROM (SELECT DISTINCT {value} AS e FROM {from}) AS d WHERE e IS NOT NULL
EXISTS with an equality is IN.
  SELECT {value} FROM {from} WHERE EXISTS (SELECT 1 FROM t1 AS y WHERE y.id = {number} AND {condition})
  SELECT {value} FROM {from} WHERE {number} IN (SELECT y.id FROM t1 AS y) AND {condition}
What is less than some is less than the greatest.
  SELECT COUNT(*) FROM {from} WHERE {number} < ANY (SELECT y.id FROM t1 AS y) AND {condition}
  SELECT COUNT(*) FROM {from} WHERE {number} < (SELECT MAX(y.id) FROM t1 AS y) AND {condition}
What is in no row is other than all.
  SELECT COUNT(*) FROM {from} WHERE {number} NOT IN (SELECT y.id FROM t1 AS y WHERE {condition})
  SELECT COUNT(*) FROM {from} WHERE NOT EXISTS (SELECT 1 FROM t1 AS y WHERE ({condition}) AND ({number} = y.id OR {number} IS NULL))
A row without a partner is one that no row is equal to.
  SELECT COUNT(*) FROM {from} LEFT JOIN t1 AS y ON {number} = y.id AND {condition} WHERE y.id IS NULL
  SELECT COUNT(*) FROM {from} WHERE NOT EXISTS (SELECT 1 FROM t1 AS y WHERE {number} = y.id AND {condition})
Sums of groups are those of their rows.
  SELECT {value} AS k, COUNT(y.id) AS c, SUM(y.id) AS s, COUNT(*) AS n FROM {from} JOIN t1 AS y ON {number} = y.id GROUP BY {value}
  SELECT k, SUM(c), SUM(s), SUM(n) FROM (SELECT {value} AS k, y.id AS i, COUNT(y.id) AS c, SUM(y.id) AS s, COUNT(*) AS n FROM {from} JOIN t1 AS y ON {number} = y.id GROUP BY {value}, y.id) AS d GROUP BY k
The text of a value in an expression is what is sent.
  SELECT {value}, {number} FROM {from}
  SELECT CONCAT({value}), CONCAT({number}) FROM {from}
A derived table has the rows of its query.
  SELECT {value}, {number} FROM {from} WHERE {condition}
  SELECT e, g FROM (SELECT {value} AS e, {number} AS g FROM {from} WHERE {condition}) AS d
A common table expression is a derived table.
  SELECT * FROM (SELECT {value} AS e, {number} AS g FROM {from} WHERE {condition}) AS d
  WITH d AS (SELECT {value} AS e, {number} AS g FROM {from} WHERE {condition}) SELECT * FROM d
";

/// A pair of equivalent queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Law([&'static str; 2]);

pub(crate) static LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| {
    let texts = Groups::read(TEXTS);
    let laws = texts.iter().map(|(_, queries)| queries.try_into().map(Law));
    laws.collect::<Result<_, _>>()
        .expect("each has two queries")
});

impl Law {
    /// The two queries, from a table, a condition, a value and a number.
    pub(crate) fn queries(self, parts: &[String]) -> Option<[String; 2]> {
        let [from, condition, value, number] = parts else {
            return None;
        };
        Some(self.0.map(|query| {
            let query = partitioned(query).replace("{condition}", condition);
            let query = query.replace("{from}", from).replace("{value}", value);
            query.replace("{number}", number)
        }))
    }
}

/// The text with the parts in ⟨ ⟩ repeated for each part of the rows.
fn partitioned(text: &str) -> String {
    let Some((before, rest)) = text.split_once('⟨') else {
        return text.to_owned();
    };
    let (each, after) = rest.split_once('⟩').expect("it ends");
    let (each, between) = each.split_once('|').unwrap_or((each, " UNION ALL "));
    let parts = ["{condition}", "NOT ({condition})", "({condition}) IS NULL"];
    let parts = parts.map(|part| each.replace("{part}", part)).join(between);
    format!("{before}{parts}{after}")
}
