//! Steps that define tables and indexes.

use std::rc::Rc;

use crate::model::steps::{Action, duplicates, statement};
use crate::model::table::{Column, Foreign, Index, Part, ReferenceOption, Row, Store, Table};
use crate::model::values::{Collation, Kind, Value};
use crate::model::world::{Answer, World};

/// One change of an ALTER TABLE.
#[derive(Debug, Clone)]
pub(crate) enum Alteration {
    AddIndex(Index),
    DropIndex(String),
    RenameIndex(String, String),
    AddColumn(Column),
    DropColumn(String),
    /// Changes the kind, or nullability.
    Modify(String, &'static Kind, bool),
    RenameColumn(String, String),
    /// Moves a column behind another.
    Move(String, String),
    Engine(Store),
    Force,
    AddForeign(Foreign),
    DropForeign(String),
}

/// Greatest number of bytes of a key.
pub(crate) const KEY_BYTES: usize = 3072;

/// Whether a table may have the index, by the length of its key.
pub(crate) fn is_possible(table: &Table, index: &Index) -> bool {
    let part = |part: &Part| -> Option<usize> {
        let column = table.column(&part.column)?;
        let kind = column.kind;
        if let Some(func) = part.func {
            let fits =
                func.takes(kind) && table.store != Store::Memory && column.generated.is_none();
            return fits.then_some(40);
        }
        if kind.is_blob() && part.prefix.is_none() {
            return None;
        }
        if part.prefix.is_some() && kind.collation().is_none() {
            return None;
        }
        let is_prefix = part
            .prefix
            .is_none_or(|prefix| (prefix as i128) <= kind.greatest);
        is_prefix.then(|| kind.key_bytes(part.prefix))
    };
    let bytes: Option<Vec<usize>> = index.parts.iter().map(part).collect();
    let is_primary = index.name == "PRIMARY";
    let plain = |part: &Part| {
        let column = table.column(&part.column);
        part.func.is_none()
            && column.is_some_and(|column| !column.nullable && column.generated.is_none())
    };
    let descends = index.parts.iter().any(|part| part.descending);
    bytes.is_some_and(|bytes| bytes.iter().sum::<usize>() <= KEY_BYTES)
        && (!is_primary || index.parts.iter().all(plain))
        && !(descends && table.store == Store::Memory)
}

/// Whether a table may be of the MEMORY engine.
fn fits_memory(table: &Table) -> bool {
    let is_plain = |column: &Column| !column.kind.is_blob() && column.generated.is_none();
    let indexes = table.indexes.iter();
    table.columns.iter().all(is_plain)
        && table.foreign.is_empty()
        && table.rows.len() <= 1000
        && indexes
            .flat_map(|index| &index.parts)
            .all(|part| part.func.is_none() && !part.descending)
}

/// Whether a foreign key of this table, or of another, needs an index.
fn is_needed(world: &World, table: &Table, index: &Index) -> bool {
    let own = table.foreign.iter().any(|key| index.uses(&key.column));
    let mut all = world.now.values().flat_map(|other| &other.foreign);
    own || all.any(|key| key.parent == table.name && index.uses(&key.parent_column))
}

/// Whether a column is named by a foreign key, or by a generated column.
fn is_bound(world: &World, table: &Table, column: &str) -> bool {
    let of_foreign = world.now.values().any(|other| {
        other.foreign.iter().any(|key| {
            (other.name == table.name && key.column == column)
                || (key.parent == table.name && key.parent_column == column)
        })
    });
    let of_generated = table.columns.iter().any(|other| {
        let generated = other.generated.as_ref();
        generated.is_some_and(|generated| generated.of == column)
    });
    of_foreign || of_generated
}

/// Whether another table has a foreign key that names this one.
fn is_parent(world: &World, name: &str) -> bool {
    let others = world.now.values().filter(|other| other.name != name);
    let mut keys = others.flat_map(|other| &other.foreign);
    keys.any(|key| key.parent == name)
}

/// Applies one change to the model; returns its SQL, and its error.
fn alter(world: &World, table: &mut Table, change: &Alteration) -> Option<(String, u16)> {
    let sql = match change {
        Alteration::AddIndex(index) => {
            let is_new = table.index(&index.name).is_none();
            (is_new && is_possible(table, index)).then_some(())?;
            let sql = format!("ADD {}", table.index_sql(index));
            if index.name == "PRIMARY" {
                table.indexes.insert(0, index.clone())
            } else {
                table.indexes.push(index.clone())
            }
            return Some((sql, duplicates(table)));
        }
        Alteration::DropIndex(name) => {
            let index = table.index(name)?.clone();
            (!is_needed(world, table, &index)).then_some(())?;
            table.indexes.retain(|other| other.name != *name);
            match name.as_str() {
                "PRIMARY" => "DROP PRIMARY KEY".to_owned(),
                name => format!("DROP INDEX {name}"),
            }
        }
        Alteration::RenameIndex(from, to) => {
            let is_new = table.index(to).is_none() && from != "PRIMARY";
            is_new.then_some(())?;
            table.index(from)?;
            for index in &mut table.indexes {
                if index.name == *from {
                    index.name.clone_from(to);
                }
            }
            format!("RENAME INDEX {from} TO {to}")
        }
        Alteration::AddColumn(column) => {
            if column.kind.is_blob() && table.store == Store::Memory {
                return None;
            }
            if let Some(generated) = &column.generated {
                let of = table.column(&generated.of)?;
                let fits = generated.func.takes(of.kind)
                    && of.generated.is_none()
                    && generated.kind(of.kind)?.sql == column.kind.sql
                    && table.store != Store::Memory;
                // A column that a foreign key action may change cannot be the base of a stored
                // column: 1215.
                let is_fixed = |key: &Foreign| {
                    let options = [key.on_delete, key.on_update];
                    key.column != generated.of
                        || options.iter().all(|option| {
                            matches!(
                                option,
                                ReferenceOption::Restrict | ReferenceOption::NoAction
                            )
                        })
                };
                let fits = fits && (!generated.stored || table.foreign.iter().all(is_fixed));
                fits.then_some(())?;
            }
            table.column(&column.name).is_none().then_some(())?;
            table.columns.push(column.clone());
            let rows = std::mem::take(&mut table.rows);
            for (id, row) in rows {
                let mut row = Row::clone(&row);
                row.push(column.default.clone());
                table.complete(&mut row);
                table.rows.insert(id, Rc::new(row));
            }
            format!("ADD COLUMN {}", column.sql())
        }
        Alteration::DropColumn(name) => {
            let place = table.place(name)?;
            let used = table.indexes.iter().any(|index| index.uses(name));
            (place > 1 && !used && !is_bound(world, table, name)).then_some(())?;
            table.columns.remove(place);
            for row in table.rows.values_mut() {
                Rc::make_mut(row).remove(place);
            }
            format!("DROP COLUMN {name}")
        }
        Alteration::Modify(name, kind, nullable) => {
            let place = table.place(name)?;
            let column = table.columns[place].clone();
            let of_primary = table.index("PRIMARY").is_some_and(|key| key.uses(name));
            let fits = |value: &Value| {
                kind.holds(column.kind, value) && (*nullable || *value != Value::Null)
            };
            let possible = column.generated.is_none()
                && place > 1
                && !is_bound(world, table, name)
                && !(of_primary && *nullable)
                && table.rows.values().all(|row| fits(&row[place]))
                && (column.default == Value::Null || fits(&column.default))
                && !(kind.is_blob() && table.store == Store::Memory);
            possible.then_some(())?;
            let column = &mut table.columns[place];
            column.kind = kind;
            column.nullable = *nullable;
            if !nullable {
                column.default = Value::Null;
            }
            let sql = format!("MODIFY COLUMN {}", column.sql());
            let indexes = table.indexes.iter();
            let all = indexes.clone().all(|index| is_possible(table, index));
            // A prefix of the column's whole length is no longer a prefix.
            let whole = indexes.flat_map(|index| &index.parts).any(|part| {
                part.column == *name
                    && part
                        .prefix
                        .is_some_and(|prefix| prefix as i128 >= kind.greatest)
            });
            (all && !whole).then_some(())?;
            return Some((sql, duplicates(table)));
        }
        Alteration::RenameColumn(from, to) => {
            let place = table.place(from)?;
            let is_new = table.column(to).is_none();
            // Expressions name the column.
            let indexes = table.indexes.iter().flat_map(|index| &index.parts);
            let named = indexes
                .clone()
                .any(|part| part.column == *from && part.func.is_some());
            (place > 1 && is_new && !named && !is_bound(world, table, from)).then_some(())?;
            table.columns[place].name.clone_from(to);
            for index in &mut table.indexes {
                for part in index.parts.iter_mut().filter(|part| part.column == *from) {
                    part.column.clone_from(to);
                }
            }
            format!("RENAME COLUMN {from} TO {to}")
        }
        Alteration::Move(name, behind) => {
            let from = table.place(name)?;
            (from > 1 && table.columns[from].generated.is_none()).then_some(())?;
            let column = table.columns.remove(from);
            let to = table.place(behind)? + 1;
            (to > 1).then_some(())?;
            let sql = format!("MODIFY COLUMN {} AFTER {behind}", column.sql());
            table.columns.insert(to, column);
            for row in table.rows.values_mut() {
                let row = Rc::make_mut(row);
                let value = row.remove(from);
                row.insert(to, value);
            }
            sql
        }
        Alteration::Engine(store) => {
            let possible = match (table.store, store) {
                (Store::Durable, Store::Memory) => {
                    // A foreign key that the statement removes still counts.
                    let before = world.now.get(&table.name);
                    let has_foreign = before.is_some_and(|before| !before.foreign.is_empty());
                    let mut foreign = world.now.values().flat_map(|other| &other.foreign);
                    let is_parent = foreign.any(|key| key.parent == table.name);
                    fits_memory(table) && !is_parent && !has_foreign
                }
                (Store::Memory, Store::Durable) => true,
                _ => false,
            };
            possible.then_some(())?;
            table.store = *store;
            for index in &mut table.indexes {
                index.btree = false;
            }
            match store {
                Store::Memory => "ENGINE = MEMORY".to_owned(),
                _ => "ENGINE = InnoDB".to_owned(),
            }
        }
        Alteration::Force => "FORCE".to_owned(),
        Alteration::AddForeign(key) => {
            let parent = if key.parent == table.name {
                table.clone()
            } else {
                Table::clone(world.now.get(&key.parent)?)
            };
            let (of, named) = (
                table.column(&key.column)?,
                parent.column(&key.parent_column)?,
            );
            let all = [table.store, parent.store];
            let fits = all.iter().all(|store| *store == Store::Durable)
                && of.kind.sql == named.kind.sql
                && of.nullable
                && table.foreign.iter().all(|other| other.column != key.column)
                && parent
                    .indexes
                    .iter()
                    .any(|index| index.identifies(&key.parent_column))
                && table
                    .indexes
                    .iter()
                    .any(|index| matches!(index.parts.as_slice(), [part] if part.column == key.column && part.prefix.is_none() && part.func.is_none() && !part.descending));
            // The existing rows have no parents yet.
            let place = table.place(&key.column)?;
            let are_null = table.rows.values().all(|row| row[place] == Value::Null);
            (fits && are_null).then_some(())?;
            table.foreign.push(key.clone());
            format!("ADD {}", key.sql())
        }
        Alteration::DropForeign(name) => {
            table.foreign.iter().find(|key| key.name == *name)?;
            table.foreign.retain(|key| key.name != *name);
            format!("DROP FOREIGN KEY {name}")
        }
    };
    Some((sql, 0))
}

/// The statement for a change of one index by CREATE or DROP INDEX.
fn by_index(table: &Table, name: &str, change: &Alteration) -> Option<String> {
    match change {
        Alteration::AddIndex(index) if index.name != "PRIMARY" => {
            let unique = if index.unique { "UNIQUE " } else { "" };
            let parts = table.parts_sql(index);
            Some(format!(
                "CREATE {unique}INDEX {} ON {name} {parts}",
                index.name
            ))
        }
        Alteration::DropIndex(index) if index != "PRIMARY" => {
            Some(format!("DROP INDEX {index} ON {name}"))
        }
        _ => None,
    }
}

impl Action {
    pub(crate) fn define(&self, world: &mut World, session: usize) -> Option<Answer> {
        match self {
            Self::Truncate(name) => {
                let table = define_anew(world, session, name)?;
                (!is_parent(world, name)).then_some(())?;
                let mut empty = table;
                empty.rows.clear();
                world.define(session, empty);
                statement(format!("TRUNCATE TABLE {name}"), 0)
            }
            Self::Create(table) => {
                let is_new = world.table(session, &table.name).is_none();
                let indexes = table.indexes.iter();
                let possible = indexes.clone().all(|index| is_possible(table, index));
                (is_new && possible && table.foreign.is_empty()).then_some(())?;
                if table.store != Store::Temporary {
                    world.commit(session);
                }
                world.define(session, Table::clone(table));
                statement(table.create(), 0)
            }
            Self::Like {
                name,
                of,
                temporary,
            } => {
                let mut table = world.table(session, of)?.as_ref().clone();
                let possible = table.store == Store::Durable
                    && world.table(session, name).is_none()
                    && world.may_define(session, of);
                possible.then_some(())?;
                if !temporary {
                    world.commit(session);
                } else if world.sessions[session].transaction.is_some() {
                    return None;
                }
                table.name.clone_from(name);
                table.rows.clear();
                table.foreign.clear();
                let kind = if *temporary {
                    table.store = Store::Temporary;
                    "TEMPORARY "
                } else {
                    ""
                };
                world.define(session, table);
                statement(format!("CREATE {kind}TABLE {name} LIKE {of}"), 0)
            }
            Self::CreateSelect {
                name,
                of,
                temporary,
                primary,
                condition,
            } => {
                let is_free = world.sessions[session].transaction.is_none();
                (is_free && world.table(session, name).is_none()).then_some(())?;
                world.reads_newest(session, of)?;
                let source = world.table(session, of)?.as_ref().clone();
                source.knows(condition).then_some(())?;
                let mut columns = source.columns.clone();
                for column in &mut columns {
                    column.generated = None;
                }
                let store = if *temporary {
                    Store::Temporary
                } else {
                    Store::Durable
                };
                let mut table = Table::new(name.clone(), store, columns);
                table.named = source.named;
                let first = world.new_rows(source.rows.len());
                for (id, number) in source.found(condition).iter().zip(first..) {
                    table.rows.insert(number, Rc::clone(&source.rows[id]));
                }
                if *primary {
                    table.indexes.push(Index::primary());
                }
                let errno = duplicates(&table);
                if errno == 0 {
                    world.define(session, table);
                }
                let kind = if *temporary { "TEMPORARY " } else { "" };
                let key = if *primary { " (PRIMARY KEY (id))" } else { "" };
                statement(
                    format!(
                        "CREATE {kind}TABLE {name}{key} SELECT * FROM {of} WHERE {}",
                        source.condition_sql(condition, "")
                    ),
                    errno,
                )
            }
            Self::Drop(name) => {
                let table = define_anew(world, session, name)?;
                (!is_parent(world, name)).then_some(())?;
                world.remove(session, name);
                let kind = match table.store {
                    Store::Temporary => "TEMPORARY ",
                    _ => "",
                };
                statement(format!("DROP {kind}TABLE {name}"), 0)
            }
            Self::Rename(from, to) => {
                let mut table = define_anew(world, session, from)?;
                let is_new = world.table(session, to).is_none();
                (is_new && table.store != Store::Temporary).then_some(())?;
                for key in &mut table.foreign {
                    if key.parent == *from {
                        key.parent.clone_from(to);
                    }
                }
                let children: Vec<Table> = world
                    .now
                    .values()
                    .filter(|other| {
                        other.name != *from && other.foreign.iter().any(|key| key.parent == *from)
                    })
                    .map(|other| Table::clone(other))
                    .collect();
                world.remove(session, from);
                table.name.clone_from(to);
                world.define(session, table);
                for mut child in children {
                    for key in &mut child.foreign {
                        if key.parent == *from {
                            key.parent.clone_from(to);
                        }
                    }
                    world.define(session, child);
                }
                statement(format!("RENAME TABLE {from} TO {to}"), 0)
            }
            Self::Alter {
                table: name,
                changes,
                by_index: by,
            } => {
                let mut table = define_anew(world, session, name)?;
                let mut parts = Vec::new();
                let mut errno = 0;
                // The other changes may mean the old name or the new one.
                let renames = changes.iter().any(|change| {
                    matches!(
                        change,
                        Alteration::RenameColumn(..) | Alteration::RenameIndex(..)
                    )
                });
                (!renames || changes.len() == 1).then_some(())?;
                // A column is changed at most once.
                let mut modified: Vec<&str> = changes
                    .iter()
                    .filter_map(|change| match change {
                        Alteration::Modify(name, ..)
                        | Alteration::Move(name, _)
                        | Alteration::DropColumn(name) => Some(name.as_str()),
                        _ => None,
                    })
                    .collect();
                // MySQL drops and renames columns before it resolves positions.
                modified.extend(changes.iter().filter_map(|change| match change {
                    Alteration::Move(_, behind) => Some(behind.as_str()),
                    _ => None,
                }));
                modified.sort_unstable();
                modified
                    .windows(2)
                    .all(|two| two[0] != two[1])
                    .then_some(())?;
                // The parents of new foreign keys are locked, too.
                for change in changes {
                    if let Alteration::AddForeign(key) = change {
                        world.may_define(session, &key.parent).then_some(())?;
                    }
                }
                let index = match changes.as_slice() {
                    [change] if *by => by_index(&table, name, change),
                    _ => None,
                };
                for change in changes {
                    let (sql, error) = alter(world, &mut table, change)?;
                    parts.push(sql);
                    errno = errno.max(error);
                }
                // An index of one change may be on the values of another.
                if errno == 0 {
                    errno = duplicates(&table);
                }
                if errno == 0 {
                    let children = world.family(name);
                    world.define(session, table);
                    for other in children.iter().filter(|other| *other != name) {
                        let table = Table::clone(world.now.get(other)?);
                        world.define(session, table);
                    }
                }
                let sql =
                    index.unwrap_or_else(|| format!("ALTER TABLE {name} {}", parts.join(", ")));
                statement(sql, errno)
            }
            _ => None,
        }
    }
}

/// Redefines a table by a statement, which commits the session's transaction.
fn define_anew(world: &mut World, session: usize, name: &str) -> Option<Table> {
    let table = world.table(session, name)?.as_ref().clone();
    if table.store == Store::Temporary {
        let is_free = world.sessions[session].transaction.is_none();
        return is_free.then_some(table);
    }
    world.may_define(session, name).then_some(())?;
    world.commit(session);
    world
        .table(session, name)
        .map(|table| table.as_ref().clone())
}

/// Whether two kinds compare alike.
pub(crate) fn is_like(one: &Kind, other: &Kind) -> bool {
    match (one.collation(), other.collation()) {
        (Some(one), Some(other)) => {
            (one == Collation::Code) == (other == Collation::Code) || one != Collation::Code
        }
        (None, None) => true,
        _ => false,
    }
}
