//! The rules: which internal temporary tables a server makes, what EXPLAIN notes, and where the tables are.
//!
//! A place of a statement (`site`: a query block, a set operation, a derived table, a subquery …) has facts. The first rule of
//! [`RULES`] for the era whose facts hold applies to it; [`PLACES`] says which tables start on disk. Sources: `M80` is the manual
//! of MySQL 8.0, "Internal Temporary Table Use in MySQL", "ORDER BY Optimization", "GROUP BY Optimization", "DISTINCT
//! Optimization" and "Window Function Optimization"; `M57` and `M50` those of 5.7 and 5.0; `K` is MariaDB's Knowledge Base; `A1` the
//! article "Back on disk temporary tables" (2011); `live` is what the servers of `testing/eras` did.

use super::era::{Era, Eras};
use super::facts::Fact::{self, *};

/// What a rule makes at its site.
#[derive(Debug, Clone, Copy)]
pub(super) enum Makes {
    /// This number of tables.
    Tables(u64),
    /// A table for each of the windows' steps and buffers, and this number more.
    Windows(u64),
}

/// A rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// Where it holds.
    pub(super) eras: Eras,
    /// Facts of the site that must hold.
    pub(super) when: &'static [Fact],
    /// Facts that must not.
    pub(super) unless: &'static [Fact],
    /// Tables that are made.
    pub(super) makes: Makes,
    /// Notes of EXPLAIN: `T` for "Using temporary", `F` for "Using filesort".
    pub(super) notes: &'static str,
    /// Number of sorts when the statement runs.
    pub(super) sorts: u64,
    /// Where the rule is from.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for readers, and a test that each rule has one")
    )]
    pub(super) source: &'static str,
}

const ALL: Eras = Eras(&[
    Era::MySql80,
    Era::MySql57,
    Era::MySql50,
    Era::MariaDb1011,
    Era::MariaDb13,
]);
const M80: Eras = Eras(&[Era::MySql80]);
const M5X: Eras = Eras(&[Era::MySql57, Era::MySql50]);
const M50: Eras = Eras(&[Era::MySql50]);
const MARIA: Eras = Eras(&[Era::MariaDb1011, Era::MariaDb13]);
/// All that sort groups without being asked to.
const SORTING: Eras = Eras(&[Era::MySql57, Era::MySql50, Era::MariaDb1011, Era::MariaDb13]);
/// All that have a result of a set operation in EXPLAIN's notes.
const MYSQL: Eras = Eras(&[Era::MySql80, Era::MySql57, Era::MySql50]);

const fn rule(
    eras: Eras,
    when: &'static [Fact],
    unless: &'static [Fact],
    (tables, notes, sorts): (u64, &'static str, u64),
    source: &'static str,
) -> Rule {
    Rule {
        eras,
        when,
        unless,
        makes: Makes::Tables(tables),
        notes,
        sorts,
        source,
    }
}

const fn windows(
    eras: Eras,
    when: &'static [Fact],
    unless: &'static [Fact],
    (more, notes, sorts): (u64, &'static str, u64),
    source: &'static str,
) -> Rule {
    Rule {
        makes: Makes::Windows(more),
        ..rule(eras, when, unless, (0, notes, sorts), source)
    }
}

/// The rules, in the order in which they are tried.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // Query blocks of which nothing is read twice.
    rule(ALL, &[Block, OneGroup], &[Buffer], (0, "", 0), "M80: aggregates without GROUP BY give one row"),
    rule(MYSQL, &[Block, OneRow], &[Buffer], (0, "", 0), "M80: a derived table of one row is read while the statement is planned; live"),

    // SQL_BUFFER_RESULT, and INSERT … SELECT from the table itself.
    rule(M80, &[Block, Buffer, Group], &[], (1, "T", 0), "M80: SQL_BUFFER_RESULT"),
    rule(SORTING, &[Block, Buffer, Group, GroupByIndex], &[], (1, "T", 0), "live"),
    rule(SORTING, &[Block, Buffer, Group, OrderNull], &[], (1, "T", 0), "M57"),
    rule(SORTING, &[Block, Buffer, Group], &[], (1, "TF", 1), "M57: GROUP BY sorts its groups"),
    rule(ALL, &[Block, Buffer, Order], &[OrderByIndex], (1, "TF", 1), "M80: SQL_BUFFER_RESULT"),
    rule(ALL, &[Block, Buffer], &[], (1, "T", 0), "M80: SQL_BUFFER_RESULT; INSERT … SELECT from the table itself"),

    // Windows.
    windows(M80, &[Block, Window, Group, Order], &[GroupByIndex], (2, "TF", 1), "M80: window functions"),
    windows(M80, &[Block, Window, Group], &[GroupByIndex], (1, "TF", 0), "M80: window functions; live"),
    windows(M80, &[Block, Window, Order], &[], (1, "F", 1), "M80: the rows of the last window are kept to be sorted; live"),
    windows(M80, &[Block, Window, SortedWindow], &[], (0, "F", 0), "M80: a frame is kept unless the function needs the current row alone; live"),
    windows(M80, &[Block, Window], &[], (0, "", 0), "M80: window functions"),
    rule(MARIA, &[Block, Window, Group], &[], (1, "TF", 1), "live: all windows are computed in one table"),
    rule(MARIA, &[Block, Window, Order], &[], (1, "TF", 1), "live"),
    rule(MARIA, &[Block, Window, SortedWindow], &[], (1, "T", 1), "live: EXPLAIN does not count the sort of a window"),
    rule(MARIA, &[Block, Window], &[], (1, "T", 1), "live: a window without an order is sorted, too"),

    // GROUP BY whose rows must come group by group.
    rule(ALL, &[Block, Group, ContiguousGroups, GroupByIndex, Order], &[], (1, "TF", 1), "M80: ORDER BY that is not GROUP BY's"),
    rule(ALL, &[Block, Group, ContiguousGroups, GroupByIndex], &[BigResult], (0, "", 0), "M80: the index gives the groups in order"),
    rule(M80, &[Block, Group, ContiguousGroups, Order], &[], (0, "TF", 2), "live: groups flow into the second sort without a table"),
    rule(SORTING, &[Block, Group, ContiguousGroups, Order], &[], (1, "TF", 2), "M57; live"),
    rule(ALL, &[Block, Group, ContiguousGroups], &[SeveralTables], (0, "F", 1), "M80: rows are sorted and grouped as they come; live"),
    rule(M80, &[Block, Group, ContiguousGroups], &[], (0, "F", 1), "live"),
    rule(SORTING, &[Block, Group, ContiguousGroups, FirstTableGives], &[], (0, "F", 1), "M57"),
    rule(SORTING, &[Block, Group, ContiguousGroups], &[], (1, "TF", 1), "M57: a join is sorted in a table"),

    // GROUP BY.
    rule(M80, &[Block, Group, Distinct, Order], &[], (2, "TF", 1), "M80: DISTINCT of groups"),
    rule(M80, &[Block, Group, Distinct], &[], (1, "T", 1), "M80: DISTINCT of groups; live: duplicates are dropped by a sort"),
    rule(MARIA, &[Block, Group, Distinct], &[], (1, "TF", 1), "live"),
    rule(M5X, &[Block, Group, Distinct], &[], (1, "TF", 1), "M57"),
    rule(M80, &[Block, Group, GroupByIndex, Order], &[], (0, "TF", 1), "live: groups flow into the sort without a table, whatever EXPLAIN says"),
    rule(SORTING, &[Block, Group, GroupByIndex, Order], &[], (1, "TF", 1), "M57; live"),
    rule(ALL, &[Block, Group, GroupByIndex], &[], (0, "", 0), "M80: GROUP BY Optimization, the index gives the groups"),
    rule(ALL, &[Block, Group, Order], &[], (1, "TF", 1), "M80: ORDER BY that is not GROUP BY's"),
    rule(M80, &[Block, Group], &[], (1, "T", 0), "M80: GROUP BY without ORDER BY is not sorted"),
    rule(SORTING, &[Block, Group, OrderNull], &[], (1, "T", 0), "M57: ORDER BY NULL"),
    rule(SORTING, &[Block, Group], &[], (1, "TF", 1), "M57: GROUP BY sorts its groups; K: Group By"),

    // DISTINCT.
    rule(ALL, &[Block, Distinct, DistinctByKey, Order], &[OrderByIndex], (0, "F", 1), "M80: DISTINCT Optimization"),
    rule(ALL, &[Block, Distinct, DistinctByKey], &[], (0, "", 0), "M80: DISTINCT Optimization, a key tells the rows apart or gives them in order"),
    rule(ALL, &[Block, Distinct, Order], &[], (1, "TF", 1), "M80: DISTINCT with ORDER BY"),
    rule(ALL, &[Block, Distinct], &[], (1, "T", 0), "M80: DISTINCT Optimization"),

    // ORDER BY.
    rule(ALL, &[Block, Order, OrderByIndex], &[], (0, "", 0), "M80: ORDER BY Optimization"),
    rule(M80, &[Block, Order, SeveralTables], &[FirstTableGives], (0, "TF", 1), "live: the rows of the join flow into the sort without a table, whatever EXPLAIN says"),
    rule(SORTING, &[Block, Order, SeveralTables], &[FirstTableGives], (1, "TF", 1), "M57: ORDER BY of columns of other tables than the first one"),
    rule(ALL, &[Block, Order], &[], (0, "F", 1), "M80: ORDER BY Optimization"),
    rule(ALL, &[Block], &[], (0, "", 0), "M80: nothing needs a table"),

    // Aggregates with tables of their own.
    rule(ALL, &[DistinctAggregate, LooseScan], &[], (0, "", 0), "M80: Loose Index Scan"),
    rule(ALL, &[DistinctAggregate], &[], (1, "", 0), "M80: COUNT(DISTINCT)"),
    rule(ALL, &[GroupConcat], &[], (1, "", 0), "M80: GROUP_CONCAT()"),

    // Set operations.
    rule(MYSQL, &[SetOperation, UnionAll, Order], &[], (1, "TF", 1), "M80: UNION ALL with a global ORDER BY"),
    rule(MARIA, &[SetOperation, UnionAll, Order], &[], (1, "F", 1), "live"),
    rule(M50, &[SetOperation, UnionAll], &[], (1, "T", 0), "M57: UNION ALL has no table since 5.7.3"),
    rule(ALL, &[SetOperation, UnionAll], &[], (0, "", 0), "M80: UNION ALL that is not the source of an INSERT; K"),
    rule(MYSQL, &[SetOperation, Order], &[], (1, "TF", 1), "M80: UNION"),
    rule(MYSQL, &[SetOperation], &[], (1, "T", 0), "M80: UNION"),
    rule(MARIA, &[SetOperation, Order], &[], (1, "F", 1), "live: EXPLAIN shows the row of the result without a note"),
    rule(MARIA, &[SetOperation], &[], (1, "", 0), "live"),

    // Derived tables, common table expressions and views.
    rule(ALL, &[Derived], &[], (1, "", 0), "M80: derived tables and views that are not merged"),
    rule(M80, &[Recursive, UnionAll], &[], (1, "", 0), "M80: common table expressions"),
    rule(M80, &[Recursive], &[], (2, "T", 0), "live"),
    rule(MARIA, &[Recursive], &[], (4, "", 0), "live: the result, its copy for each round, and the union of both"),

    // Subqueries.
    rule(M80, &[InSubquery, InnerIndex], &[OuterCovered], (0, "", 0), "M80: semijoin by FirstMatch or LooseScan; live"),
    rule(Eras(&[Era::MySql80, Era::MySql57, Era::MariaDb1011, Era::MariaDb13]), &[InSubquery], &[InDelete], (1, "", 0), "M80: subquery materialization"),
    rule(M80, &[InSubquery], &[], (1, "", 0), "M80: semijoins in DELETE since 8.0.21"),
    rule(ALL, &[InSubquery], &[], (0, "", 0), "M50: IN is evaluated for each row; K: DELETE has no semijoin"),
    rule(MARIA, &[GroupedInSubquery], &[], (1, "", 0), "K: Non-semi-join Subquery Optimizations"),
    rule(Eras(&[Era::MySql80, Era::MySql57]), &[GroupedInSubquery], &[], (1, "", 0), "M80: subquery materialization"),
    rule(MARIA, &[UnionInSubquery], &[], (1, "", 0), "K: subquery cache"),
    rule(M80, &[NotInSubquery], &[], (1, "", 0), "M80: antijoins since 8.0.17"),
    rule(Eras(&[Era::MySql57]), &[NotInSubquery, Uncorrelated], &[], (1, "", 0), "M57: subquery materialization"),
    rule(MARIA, &[NotInSubquery], &[], (2, "", 0), "K: materialization, and the subquery cache"),
    rule(MARIA, &[ScalarSubquery], &[Uncorrelated], (1, "", 0), "K: subquery cache"),

    // Changes.
    rule(ALL, &[UpdateOfJoin], &[], (1, "", 0), "M80: multiple-table UPDATE"),
    rule(M80, &[UpdateOfReadKey], &[], (0, "T", 0), "live: EXPLAIN alone calls the list of the rows a table"),
    rule(ALL, &[], &[], (0, "", 0), "M80: nothing needs a table"),
];

/// A rule of where a table is from its first row on.
#[derive(Debug)]
pub(super) struct Place {
    /// Where it holds.
    pub(super) eras: Eras,
    /// Facts of the site, of which each sends its tables to disk.
    pub(super) on_disk: &'static [Fact],
    /// Engine of tables in memory, and on disk.
    pub(super) engines: (&'static str, &'static str),
    /// Where the rule is from.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for readers, and a test that each rule has one")
    )]
    pub(super) source: &'static str,
}

/// Where tables are: one line for each era.
#[rustfmt::skip]
pub(super) const PLACES: &[Place] = &[
    Place { eras: M80, on_disk: &[BigTables], engines: ("TempTable", "InnoDB"), source: "M80: TempTable holds BLOBs since 8.0.13; live: no width sends a table of 9.7 to disk" },
    Place { eras: Eras(&[Era::MySql57]), on_disk: &[BigTables, HasBlob, WideKey, WideValue, WideUnion], engines: ("MEMORY", "InnoDB"), source: "M57: a BLOB or TEXT; more than 512 characters in GROUP BY, DISTINCT, or in the select list of a UNION" },
    Place { eras: M50, on_disk: &[BigTables, HasBlob, WideKey, WideValue, WideUnion], engines: ("MEMORY", "MyISAM"), source: "M50: as 5.7; A1" },
    Place { eras: Eras(&[Era::MariaDb1011]), on_disk: &[BigTables, HasBlob, WideKey, WideValue], engines: ("MEMORY", "Aria"), source: "K: Internal Temporary Tables; A1: a computed column; live: VARCHAR(513) stays in memory in a UNION, and in a derived table as a plain column" },
    Place { eras: Eras(&[Era::MariaDb13]), on_disk: &[BigTables], engines: ("MEMORY", "Aria"), source: "K: MEMORY holds BLOBs and rows of variable length since 13.1 (MDEV-38975)" },
];

/// Temporary files of a sort: its rows exceed `sort_buffer_size`.
#[rustfmt::skip]
pub(super) const SORT_FILES: &[(Eras, Fact, u64, &str)] = &[
    (M80, WideSort, 2, "M80: sort_buffer_size, one file for the runs and one for their places; live"),
];
