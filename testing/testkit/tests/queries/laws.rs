//! What holds of every condition over every table: ternary logic partitions the rows (Rigger and Su,
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
}

impl Law {
    pub(crate) const ALL: [Self; 7] = [
        Self::Counts,
        Self::Rows,
        Self::Distinct,
        Self::Aggregates,
        Self::Groups,
        Self::Having,
        Self::Join,
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
        })
    }
}
