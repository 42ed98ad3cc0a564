//! Steps: statements as data, so that a script can be run again without some of them; with the effect of each on the
//! model, and its SQL.

use std::collections::HashSet;

use crate::model::definitions::Alteration;
use crate::model::rows::{Change, ER_DUP_ENTRY, Fail};
use crate::model::table::{Condition, Foreign, Row, Store, Table};
use crate::model::values::{Kind, Value};
use crate::model::world::{Answer, Level, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    None,
    Share,
    Update,
}

impl Lock {
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Share => " FOR SHARE",
            Self::Update => " FOR UPDATE",
        }
    }
}

/// Kind of an insertion, by its treatment of duplicate keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Insert,
    Ignore,
    Replace,
    /// `ON DUPLICATE KEY UPDATE n = n + 10`
    Add,
    /// `ON DUPLICATE KEY UPDATE c = VALUES(c)` for all columns but the first two
    Copy,
}

/// The value that UPDATE sets a column to.
#[derive(Debug, Clone)]
pub(crate) enum Set {
    More(i128),
    To(Value),
}

/// Source of a column of INSERT … SELECT.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    Column(String),
    /// The id plus an offset.
    Id(i128),
    Value(Value),
}

/// Columns of a bulk load, computed from a number.
#[derive(Debug, Clone)]
pub(crate) enum Fill {
    Number,
    /// (length): equal characters before the number.
    Run(usize),
    Value(Value),
}

/// A session does something.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Its session; arbitrary for steps that concern the whole server.
    pub(crate) session: usize,
    pub(crate) action: Action,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Begin(Level, bool),
    Commit,
    Rollback,
    Savepoint(String),
    RollbackTo(String),
    Release(String),
    Look {
        table: String,
        lock: Lock,
        seed: u64,
    },
    Definition(String),
    Backup,
    Restart,
    Insert {
        table: String,
        verb: Verb,
        columns: Vec<String>,
        rows: Vec<Row>,
        /// Whether by LOAD DATA.
        file: bool,
    },
    Select {
        table: String,
        verb: Verb,
        of: String,
        columns: Vec<(String, Given)>,
        condition: Condition,
    },
    Load {
        table: String,
        verb: Verb,
        columns: Vec<(String, Fill)>,
        first: i128,
        count: usize,
        stride: i128,
    },
    Update {
        table: String,
        ignore: bool,
        forced: Option<String>,
        set: Vec<(String, Set)>,
        condition: Condition,
        limit: Option<usize>,
    },
    Delete {
        table: String,
        ignore: bool,
        condition: Condition,
        limit: Option<usize>,
    },
    DeleteTwo {
        tables: [String; 2],
        condition: Condition,
        both: bool,
    },
    UpdateTwo {
        tables: [String; 2],
        condition: Condition,
    },
    Truncate(String),
    Create(Box<Table>),
    Like {
        name: String,
        of: String,
        temporary: bool,
    },
    CreateSelect {
        name: String,
        of: String,
        temporary: bool,
        primary: bool,
        condition: Condition,
    },
    Drop(String),
    Rename(String, String),
    Alter {
        table: String,
        changes: Vec<Alteration>,
        /// Whether by CREATE INDEX and DROP INDEX, where possible.
        by_index: bool,
    },
}

/// Modulus of the numbers of a load.
const PRIME: i128 = 200_003;

pub(crate) fn statement(sql: String, errno: u16) -> Option<Answer> {
    Some(Answer::Statement {
        sql,
        file: None,
        errno,
    })
}

impl Verb {
    fn head(self) -> &'static str {
        match self {
            Self::Ignore => "INSERT IGNORE INTO",
            Self::Replace => "REPLACE INTO",
            _ => "INSERT INTO",
        }
    }

    fn tail(self, table: &str, columns: &[String]) -> String {
        match self {
            Self::Add => format!(" ON DUPLICATE KEY UPDATE n = {table}.n + 10"),
            Self::Copy => {
                let columns = columns.iter().filter(|name| *name != "id");
                let columns: Vec<String> = columns
                    .map(|name| format!("{name} = VALUES({name})"))
                    .collect();
                format!(" ON DUPLICATE KEY UPDATE {}", columns.join(", "))
            }
            _ => String::new(),
        }
    }

    fn add(
        self,
        change: &mut Change<'_>,
        table: &str,
        columns: &[String],
        row: Row,
    ) -> Result<(), Fail> {
        match self {
            Self::Insert => change.insert(table, row),
            Self::Ignore => change.ignoring(|change| change.insert(table, row)),
            Self::Replace => change.replace(table, row),
            Self::Add => change.upsert(table, row, |_, old, _| {
                let mut row = old.clone();
                add(&mut row[1], 10);
                Some(row)
            }),
            Self::Copy => change.upsert(table, row, |table, old, new| {
                let mut row = old.clone();
                for name in columns.iter().filter(|name| *name != "id") {
                    let place = table.place(name)?;
                    row[place] = new[place].clone();
                }
                table.complete(&mut row);
                Some(row)
            }),
        }
    }
}

pub(crate) fn add(value: &mut Value, more: i128) {
    if let Value::Number(number) = value {
        *number += more;
    }
}

/// A row of a table with values for some columns and defaults for the others, if it is valid.
fn row_of(table: &Table, columns: &[String], values: &[Value]) -> Option<Row> {
    let mut row: Row = table
        .columns
        .iter()
        .map(|column| column.default.clone())
        .collect();
    for (name, value) in columns.iter().zip(values) {
        row[table.place(name)?] = value.clone();
    }
    table.complete(&mut row);
    let fits = table.columns.iter().zip(&row).all(|(column, value)| {
        column.generated.is_some()
            || match value {
                Value::Null => column.nullable,
                value => column.kind.has(value),
            }
    });
    fits.then_some(row)
}

/// Number of orders in which the changes of `rows` rows are tried: where failing rows are skipped, a row between two
/// others may have to be the first of the three to make a difference.
fn orders(rows: usize, ignore: bool) -> usize {
    match (rows, ignore) {
        (0 | 1, _) => 1,
        (_, false) => 3,
        (_, true) => 24,
    }
}

fn names<T>(columns: &[(String, T)]) -> Vec<String> {
    columns.iter().map(|(name, _)| name.clone()).collect()
}

fn kind<'t>(table: &'t Table, column: &str) -> Option<&'t Kind> {
    let column = table.column(column)?;
    column.generated.is_none().then_some(column.kind)
}

impl Action {
    pub(crate) fn apply(&self, world: &mut World, session: usize) -> Option<Answer> {
        match self {
            Self::Begin(level, has_snapshot) => {
                world.begin(session, *level, *has_snapshot);
                let with = if *has_snapshot {
                    " WITH CONSISTENT SNAPSHOT"
                } else {
                    ""
                };
                statement(
                    format!(
                        "SET SESSION TRANSACTION ISOLATION LEVEL {}; START TRANSACTION{with}",
                        level.sql()
                    ),
                    0,
                )
            }
            Self::Commit => {
                world.sessions[session].transaction.as_ref()?;
                world.commit(session);
                statement("COMMIT".to_owned(), 0)
            }
            Self::Rollback => {
                world.sessions[session].transaction.as_ref()?;
                world.rollback(session);
                statement("ROLLBACK".to_owned(), 0)
            }
            Self::Savepoint(name) => {
                world.savepoint(session, name)?;
                statement(format!("SAVEPOINT {name}"), 0)
            }
            Self::RollbackTo(name) => {
                world.rollback_to(session, name)?;
                statement(format!("ROLLBACK TO {name}"), 0)
            }
            Self::Release(name) => {
                world.release(session, name)?;
                statement(format!("RELEASE SAVEPOINT {name}"), 0)
            }
            Self::Look { table, lock, seed } => {
                let table = match lock {
                    Lock::None => world.sees(session, table)?,
                    Lock::Share | Lock::Update => {
                        world.sees_newest(session, table, *lock == Lock::Update)?
                    }
                };
                Some(Answer::Rows {
                    table,
                    lock: *lock,
                    seed: *seed,
                })
            }
            Self::Definition(name) => {
                world.is_quiet().then_some(())?;
                let table = world.table(session, name)?.clone();
                Some(Answer::Definition(table))
            }
            Self::Backup => Some(Answer::Backup(world.committed.clone())),
            Self::Restart => {
                world.crash();
                Some(Answer::Restart)
            }
            Self::Insert { .. } | Self::Select { .. } | Self::Load { .. } => {
                self.add_rows(world, session)
            }
            Self::Update { .. }
            | Self::Delete { .. }
            | Self::DeleteTwo { .. }
            | Self::UpdateTwo { .. } => self.change_rows(world, session),
            _ => self.define(world, session),
        }
    }

    fn add_rows(&self, world: &mut World, session: usize) -> Option<Answer> {
        match self {
            Self::Insert {
                table: name,
                verb,
                columns,
                rows,
                file,
            } => {
                world.writes(session, name)?;
                let table = world.table(session, name)?.clone();
                let added: Option<Vec<Row>> = rows
                    .iter()
                    .map(|row| row_of(&table, columns, row))
                    .collect();
                let added = added?;
                let errno = world.change(session, 1, |change| {
                    for row in &added {
                        verb.add(change, name, columns, row.clone())?;
                    }
                    Ok(())
                })?;
                let kinds: Option<Vec<&Kind>> =
                    columns.iter().map(|name| kind(&table, name)).collect();
                let kinds = kinds?;
                let list = columns.join(", ");
                if *file {
                    let way = match verb {
                        Verb::Insert => "",
                        Verb::Ignore => "IGNORE ",
                        Verb::Replace => "REPLACE ",
                        Verb::Add | Verb::Copy => return None,
                    };
                    let line = |row: &Row| {
                        let fields = row.iter().zip(&kinds);
                        let fields: Vec<String> =
                            fields.map(|(value, kind)| kind.field(value)).collect();
                        format!("{}\n", fields.join("\t"))
                    };
                    return Some(Answer::Statement {
                        sql: format!(
                            "LOAD DATA INFILE '${{FILE}}' {way}INTO TABLE {name} CHARACTER SET utf8mb4 ({list})"
                        ),
                        file: Some(rows.iter().map(line).collect()),
                        errno,
                    });
                }
                let line = |row: &Row| {
                    let values = row.iter().zip(&kinds);
                    let values: Vec<String> =
                        values.map(|(value, kind)| kind.literal(value)).collect();
                    format!("({})", values.join(", "))
                };
                let lines: Vec<String> = rows.iter().map(line).collect();
                statement(
                    format!(
                        "{} {name} ({list}) VALUES {}{}",
                        verb.head(),
                        lines.join(", "),
                        verb.tail(name, columns)
                    ),
                    errno,
                )
            }
            Self::Select {
                table: name,
                verb,
                of,
                columns,
                condition,
            } => {
                world.reads_newest(session, of)?;
                world.writes(session, name)?;
                let source = world.table(session, of)?.clone();
                let table = world.table(session, name)?.clone();
                let mut selected = Vec::new();
                let names = names(columns);
                for (column, from) in columns {
                    let wanted = kind(&table, column)?;
                    selected.push(match from {
                        Given::Column(other) => {
                            let given = source.column(other)?.kind;
                            (given.sql == wanted.sql).then_some(())?;
                            format!("s.{other}")
                        }
                        Given::Id(more) => format!("s.id + {more}"),
                        Given::Value(value) => wanted.literal(value),
                    });
                }
                source.knows(condition).then_some(())?;
                let mut added = Vec::new();
                for id in source.found(condition) {
                    let row = &source.rows[&id];
                    let values: Option<Vec<Value>> = columns
                        .iter()
                        .map(|(_, from)| match from {
                            Given::Column(other) => Some(row[source.place(other)?].clone()),
                            Given::Id(more) => {
                                let mut id = row[0].clone();
                                add(&mut id, *more);
                                Some(id)
                            }
                            Given::Value(value) => Some(value.clone()),
                        })
                        .collect();
                    added.push(row_of(&table, &names, &values?)?);
                }
                let errno = world.change(session, 24, |change| {
                    for row in change.ordered(added.clone()) {
                        verb.add(change, name, &names, row)?;
                    }
                    Ok(())
                })?;
                statement(
                    format!(
                        "{} {name} ({}) SELECT {} FROM {of} AS s WHERE {}{}",
                        verb.head(),
                        names.join(", "),
                        selected.join(", "),
                        source.condition_sql(condition, "s."),
                        verb.tail(name, &names)
                    ),
                    errno,
                )
            }
            Self::Load {
                table: name,
                verb,
                columns,
                first,
                count,
                stride,
            } => {
                world.writes(session, name)?;
                let table = world.table(session, name)?.clone();
                let names: Vec<String> = ["id".to_owned(), "n".to_owned()]
                    .into_iter()
                    .chain(names(columns))
                    .collect();
                let mut selected = vec![format!("{first} + p"), "p % 5".to_owned()];
                for (column, fill) in columns {
                    let wanted = kind(&table, column)?;
                    selected.push(match fill {
                        Fill::Number => "p".to_owned(),
                        Fill::Run(run) => format!("CONCAT(REPEAT('a', {run}), p)"),
                        Fill::Value(value) => wanted.literal(value),
                    });
                }
                let mut added = Vec::new();
                for number in 0..*count as i128 {
                    let p = number * stride % PRIME;
                    let mut values = vec![Value::Number(first + p), Value::Number(p % 5)];
                    values.extend(columns.iter().map(|(_, fill)| match fill {
                        Fill::Number => Value::Number(p),
                        Fill::Run(run) => Value::Text(format!("{}{p}", "a".repeat(*run))),
                        Fill::Value(value) => value.clone(),
                    }));
                    added.push(row_of(&table, &names, &values)?);
                }
                let errno = world.change(session, 2, |change| {
                    for row in change.ordered((0..added.len()).collect()) {
                        verb.add(change, name, &names, added[row].clone())?;
                    }
                    Ok(())
                })?;
                statement(
                    format!(
                        "{} {name} ({}) WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r \
                         WHERE i < {}) SELECT {} FROM (SELECT i * {stride} % {PRIME} AS p FROM r) AS q{}",
                        verb.head(),
                        names.join(", "),
                        count - 1,
                        selected.join(", "),
                        verb.tail(name, &names)
                    ),
                    errno,
                )
            }
            _ => None,
        }
    }

    fn change_rows(&self, world: &mut World, session: usize) -> Option<Answer> {
        match self {
            Self::Update {
                table: name,
                ignore,
                forced,
                set,
                condition,
                limit,
            } => {
                world.writes(session, name)?;
                let table = world.table(session, name)?.clone();
                table.knows(condition).then_some(())?;
                // MySQL allows a row to reference its own previous value; Mayfly and MariaDB do not.
                let sets = |column: &String| set.iter().any(|(set, _)| set == column);
                let names_itself = |key: &Foreign| {
                    key.parent == *name && sets(&key.column) && sets(&key.parent_column)
                };
                (!table.foreign.iter().any(names_itself)).then_some(())?;
                let mut assignments = Vec::new();
                let mut places = Vec::new();
                for (column, to) in set {
                    let wanted = kind(&table, column)?;
                    places.push(table.place(column)?);
                    assignments.push(match to {
                        Set::More(more) => format!("{column} = {column} + {more}"),
                        Set::To(value) => {
                            let known = table.column(column)?;
                            let fits = match value {
                                Value::Null => known.nullable,
                                value => wanted.has(value),
                            };
                            fits.then_some(())?;
                            format!("{column} = {}", wanted.literal(value))
                        }
                    });
                }
                let force = match forced {
                    Some(index) => {
                        table.index(index)?;
                        format!(" FORCE INDEX ({index})")
                    }
                    None => String::new(),
                };
                let (ids, rest) = limited(&table, table.found(condition), *limit)?;
                let orders = orders(ids.len(), *ignore);
                let errno = world.change(session, orders, |change| {
                    for id in change.ordered(ids.clone()) {
                        let known = change.table(name).ok_or(Fail::Unknown)?;
                        // A cascade may have changed it.
                        let mut row = known.rows.get(&id).ok_or(Fail::Unknown)?.as_ref().clone();
                        for (place, (_, to)) in places.iter().zip(set) {
                            match to {
                                Set::More(more) => add(&mut row[*place], *more),
                                Set::To(value) => row[*place] = value.clone(),
                            }
                        }
                        if *ignore {
                            change.ignoring(|change| change.update(name, id, row, 0))?
                        } else {
                            change.update(name, id, row, 0)?
                        }
                    }
                    Ok(())
                })?;
                let ignore = if *ignore { "IGNORE " } else { "" };
                statement(
                    format!(
                        "UPDATE {ignore}{name}{force} SET {} WHERE {}{rest}",
                        assignments.join(", "),
                        table.condition_sql(condition, "")
                    ),
                    errno,
                )
            }
            Self::Delete {
                table: name,
                ignore,
                condition,
                limit,
            } => {
                world.writes(session, name)?;
                let table = world.table(session, name)?.clone();
                table.knows(condition).then_some(())?;
                let (ids, rest) = limited(&table, table.found(condition), *limit)?;
                let orders = orders(ids.len(), *ignore);
                let errno = world.change(session, orders, |change| {
                    for id in change.ordered(ids.clone()) {
                        let is_there = change
                            .table(name)
                            .is_some_and(|table| table.rows.contains_key(&id));
                        match ignore {
                            // A cascade has removed it already.
                            _ if !is_there => {}
                            true => change.ignoring(|change| change.delete(name, id, 0))?,
                            false => change.delete(name, id, 0)?,
                        }
                    }
                    Ok(())
                })?;
                let ignore = if *ignore { "IGNORE " } else { "" };
                statement(
                    format!(
                        "DELETE {ignore}FROM {name} WHERE {}{rest}",
                        table.condition_sql(condition, "")
                    ),
                    errno,
                )
            }
            Self::DeleteTwo {
                tables: [a, b],
                condition,
                both,
            } => {
                let (met, partners, wanted) = joined(world, session, a, b, condition)?;
                let errno = world.change(session, 3, |change| {
                    let left = met.iter().map(|id| (a, *id)).filter(|_| *both);
                    let right = partners.iter().map(|id| (b, *id));
                    for (name, id) in change.ordered(left.chain(right).collect()) {
                        change.delete(name, id, 0)?;
                    }
                    Ok(())
                })?;
                let of = if *both { "x, y" } else { "y" };
                statement(
                    format!(
                        "DELETE {of} FROM {a} AS x JOIN {b} AS y ON x.id = y.id WHERE {wanted}"
                    ),
                    errno,
                )
            }
            Self::UpdateTwo {
                tables: [a, b],
                condition,
            } => {
                let (met, partners, wanted) = joined(world, session, a, b, condition)?;
                let errno = world.change(session, 3, |change| {
                    let left = met.iter().map(|id| (a, *id, 100));
                    let right = partners.iter().map(|id| (b, *id, 1000));
                    for (name, id, more) in change.ordered(left.chain(right).collect()) {
                        let known = change.table(name).ok_or(Fail::Unknown)?;
                        let mut row = known.rows.get(&id).ok_or(Fail::Unknown)?.as_ref().clone();
                        add(&mut row[1], more);
                        change.update(name, id, row, 0)?;
                    }
                    Ok(())
                })?;
                statement(
                    format!(
                        "UPDATE {a} AS x JOIN {b} AS y ON x.id = y.id SET x.n = x.n + 100, y.n = y.n + 1000 WHERE {wanted}"
                    ),
                    errno,
                )
            }
            _ => None,
        }
    }
}

/// The first rows by their ids, when they are known.
fn limited(table: &Table, mut ids: Vec<u64>, limit: Option<usize>) -> Option<(Vec<u64>, String)> {
    let Some(limit) = limit else {
        return Some((ids, String::new()));
    };
    let id = |place: usize| ids.get(place).map(|id| Table::id_of(&table.rows[id]));
    if limit > 0 && limit < ids.len() && id(limit - 1) == id(limit) {
        return None;
    }
    ids.truncate(limit);
    Some((ids, format!(" ORDER BY id LIMIT {limit}")))
}

/// Rows of two tables with equal ids, where the first meets a condition.
fn joined(
    world: &mut World,
    session: usize,
    a: &str,
    b: &str,
    condition: &Condition,
) -> Option<(Vec<u64>, Vec<u64>, String)> {
    world.writes(session, a)?;
    world.writes(session, b)?;
    let (left, right) = (world.table(session, a)?, world.table(session, b)?);
    let connected = world.family(a).contains(b) || !left.foreign.is_empty();
    left.knows(condition).then_some(())?;
    // The join decides which comes first.
    let is_connected = connected && left.store == Store::Durable;
    (a != b && !is_connected).then_some(())?;
    let ids = |table: &Table, found: &[u64]| -> HashSet<i128> {
        found
            .iter()
            .map(|id| Table::id_of(&table.rows[id]))
            .collect()
    };
    let met = left.found(condition);
    let wanted = ids(left, &met);
    let partners: Vec<u64> = right
        .rows
        .iter()
        .filter(|(_, row)| wanted.contains(&Table::id_of(row)))
        .map(|(id, _)| *id)
        .collect();
    let found = ids(right, &partners);
    let met = met
        .into_iter()
        .filter(|id| found.contains(&Table::id_of(&left.rows[id])))
        .collect();
    Some((met, partners, left.condition_sql(condition, "x.")))
}

/// The error of the new rows of a table, if they would violate a unique index.
pub(crate) fn duplicates(table: &Table) -> u16 {
    let mut indexes = table.indexes.iter();
    if indexes.any(|index| table.has_duplicates(index)) {
        ER_DUP_ENTRY
    } else {
        0
    }
}
