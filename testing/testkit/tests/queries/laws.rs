//! What holds of every condition over every table: two ways to say the same give the same, ternary logic partitions the rows (Rigger and Su,
//! "Finding Bugs in Database Systems via Query Partitioning", 2020), and a condition keeps as many rows
//! as it is true for (the same, "Detecting Optimization Bugs in Database Engines via Non-Optimizing
//! Reference Engine Construction", 2020).

/// Two ways to say the same, of a table, a condition, a value and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// WHERE keeps the rows for which the condition is true.
    Counts,
    /// The rows are those with it, without it, and where it is NULL.
    Rows,
    /// So are the values, each once.
    Distinct,
    /// What is aggregated of the parts is that of the whole.
    Aggregates,
    /// So it is for each group.
    Groups,
    /// Groups are those with a condition of theirs, without it, and where it is NULL.
    Having,
    /// A join keeps what its condition is true for.
    Join,
    /// A join keeps of all pairs what is equal, NULL too.
    EqualJoin,
    /// DISTINCT keeps a row of each group.
    Groupings,
    /// All groups together have all rows.
    Sizes,
    /// What is in a set already adds nothing to it.
    Union,
    /// The rows with a condition and without it are those where it is not NULL.
    UnionAll,
    /// COUNT(DISTINCT) counts what DISTINCT keeps and is not NULL.
    CountDistinct,
    /// EXISTS with an equality is IN.
    Exists,
    /// A common table expression is a derived table.
    Common,
}

impl Law {
    pub(crate) const ALL: [Self; 15] = [
        Self::Counts,
        Self::Rows,
        Self::Distinct,
        Self::Aggregates,
        Self::Groups,
        Self::Having,
        Self::Join,
        Self::EqualJoin,
        Self::Groupings,
        Self::Sizes,
        Self::Union,
        Self::UnionAll,
        Self::CountDistinct,
        Self::Exists,
        Self::Common,
    ];

    /// The two queries, from a table, a condition, a value and a number.
    pub(crate) fn queries(self, parts: &[String]) -> Option<[String; 2]> {
        let [from, condition, value, number] = parts else {
            return None;
        };
        let parts = |query: &dyn Fn(&str) -> String, between: &str| {
            let conditions = [
                condition.clone(),
                format!("NOT ({condition})"),
                format!("({condition}) IS NULL"),
            ];
            conditions.map(|condition| query(&condition)).join(between)
        };
        let all = " UNION ALL ";
        Some(match self {
            Self::Counts => [
                format!("SELECT COUNT(*) FROM {from} WHERE {condition}"),
                format!("SELECT COALESCE(SUM(({condition}) IS TRUE), 0) FROM {from}"),
            ],
            Self::Rows => [
                format!("SELECT {value}, {number} FROM {from}"),
                parts(
                    &|part| format!("SELECT {value}, {number} FROM {from} WHERE {part}"),
                    all,
                ),
            ],
            Self::Distinct => [
                format!("SELECT DISTINCT {value} FROM {from}"),
                parts(
                    &|part| format!("SELECT {value} FROM {from} WHERE {part}"),
                    " UNION ",
                ),
            ],
            Self::Aggregates => {
                let items = format!(
                    "COUNT(*) AS c, MIN({value}) AS l, MAX({value}) AS h, COUNT({number}) AS n, \
                     MAX({number}) AS m"
                );
                let parts = parts(
                    &|part| format!("SELECT {items} FROM {from} WHERE {part}"),
                    all,
                );
                [
                    format!("SELECT {items} FROM {from}"),
                    format!("SELECT SUM(c), MIN(l), MAX(h), SUM(n), MAX(m) FROM ({parts}) AS d"),
                ]
            }
            Self::Groups => {
                let items = format!("{value} AS k, COUNT(*) AS c, MAX({number}) AS m");
                let parts = parts(
                    &|part| format!("SELECT {items} FROM {from} WHERE {part} GROUP BY {value}"),
                    all,
                );
                [
                    format!("SELECT {items} FROM {from} GROUP BY {value}"),
                    format!("SELECT k, SUM(c), MAX(m) FROM ({parts}) AS d GROUP BY k"),
                ]
            }
            Self::Having => {
                let groups =
                    format!("SELECT {value} AS k, MAX({number}) AS m FROM {from} GROUP BY {value}");
                let having = format!("MAX({number}) > COUNT(*)");
                [
                    groups.clone(),
                    format!(
                        "{groups} HAVING {having}{all}{groups} HAVING NOT ({having}){all}\
                         {groups} HAVING ({having}) IS NULL"
                    ),
                ]
            }
            Self::Join => [
                format!("SELECT {value}, y.id FROM {from} JOIN t1 AS y ON {condition}"),
                format!(
                    "SELECT v, i FROM (SELECT {value} AS v, y.id AS i, ({condition}) IS TRUE AS p \
                     FROM {from} CROSS JOIN t1 AS y) AS d WHERE p"
                ),
            ],
            Self::EqualJoin => [
                format!("SELECT COUNT(*) FROM {from} JOIN t1 AS y ON {number} <=> y.id"),
                format!("SELECT COUNT(*) FROM {from} CROSS JOIN t1 AS y WHERE {number} <=> y.id"),
            ],
            Self::Groupings => [
                counted(&format!(
                    "SELECT DISTINCT {value} AS e, {number} AS g FROM {from}"
                )),
                counted(&format!(
                    "SELECT {value} AS e, {number} AS g FROM {from} GROUP BY e, g"
                )),
            ],
            Self::Sizes => [
                format!(
                    "SELECT SUM(c) FROM (SELECT {value} AS e, COUNT(*) AS c FROM {from} \
                     WHERE {condition} GROUP BY e) AS d"
                ),
                format!("SELECT NULLIF(COUNT(*), 0) FROM {from} WHERE {condition}"),
            ],
            Self::Union => [
                counted(&format!(
                    "SELECT {value} AS e FROM {from} UNION SELECT {value} FROM {from} WHERE {condition}"
                )),
                counted(&format!("SELECT DISTINCT {value} AS e FROM {from}")),
            ],
            Self::UnionAll => [
                counted(&format!(
                    "SELECT {value} AS e FROM {from} WHERE {condition}{all}\
                     SELECT {value} FROM {from} WHERE NOT ({condition})"
                )),
                format!("SELECT COUNT(*) FROM {from} WHERE ({condition}) IS NOT NULL"),
            ],
            Self::CountDistinct => [
                format!("SELECT COUNT(DISTINCT {value}) FROM {from}"),
                counted(&format!("SELECT DISTINCT {value} AS e FROM {from}"))
                    + " WHERE e IS NOT NULL",
            ],
            Self::Exists => [
                format!(
                    "SELECT {value} FROM {from} WHERE EXISTS \
                     (SELECT 1 FROM t1 AS y WHERE y.id = {number} AND {condition})"
                ),
                format!(
                    "SELECT {value} FROM {from} WHERE {number} IN (SELECT y.id FROM t1 AS y) \
                     AND {condition}"
                ),
            ],
            Self::Common => {
                let rows =
                    format!("SELECT {value} AS e, {number} AS g FROM {from} WHERE {condition}");
                [
                    format!("SELECT * FROM ({rows}) AS d"),
                    format!("WITH d AS ({rows}) SELECT * FROM d"),
                ]
            }
        })
    }
}

/// How many rows a query gives.
fn counted(query: &str) -> String {
    format!("SELECT COUNT(*) FROM ({query}) AS d")
}
