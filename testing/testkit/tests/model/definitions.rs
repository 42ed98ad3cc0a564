//! Steps that define tables and indexes.

use crate::table::{Store, Table};
use crate::values::Value;
use crate::world::{Act, Step, World};

const ER_DUP_ENTRY: u16 = 1062;

impl World {
    /// A statement that changes what a table is. While the other session's transaction holds tables it
    /// would wait.
    pub(crate) fn define(&mut self) -> Option<Step> {
        if !self.is_quiet() {
            return None;
        }
        if self.tables.len() < 5 && self.random().one_in(4) {
            return self.create();
        }
        let name = self.any_table();
        let mut table = Table::clone(&self.tables[&name]);
        let mut errno = 0;
        let sql = match self.random().below(9) {
            0 => {
                let temporary = match table.store {
                    Store::Temporary => "TEMPORARY ",
                    _ => "",
                };
                if !self.random().one_in(6) {
                    return None;
                }
                self.tables.remove(&name);
                return Some(Step {
                    act: Act::Write,
                    sql: format!("DROP {temporary}TABLE {name}"),
                    errno: 0,
                    table: None,
                });
            }
            1 if table.store != Store::Temporary => {
                self.tables.remove(&name);
                table.name = self.new_name();
                format!("RENAME TABLE {name} TO {}", table.name)
            }
            2 | 3 if table.indexes.len() < 6 => {
                let unique = self.random().one_in(3);
                let mut index = table.new_index(self.random(), unique);
                table.named += 1;
                index.name = format!("j{}", table.named);
                let sql = table.index_sql(&index);
                let sql = match self.random().one_in(2) {
                    true => format!("ALTER TABLE {name} ADD {sql}"),
                    false => {
                        let (kind, rest) = sql.split_once(&index.name)?;
                        let kind = kind.replace("KEY", "INDEX");
                        // The type of an index stands before its parts, or behind them.
                        format!("CREATE {kind}{} ON {name}{rest}", index.name)
                    }
                };
                match unique && table.has_duplicates(&index, table.rows.iter()) {
                    true => errno = ER_DUP_ENTRY,
                    false => table.indexes.push(index),
                }
                sql
            }
            4 | 5 if !table.indexes.is_empty() => {
                let place = self.random().below(table.indexes.len());
                let index = table.indexes.remove(place);
                match (index.name.as_str(), self.random().one_in(2)) {
                    ("PRIMARY", _) => format!("ALTER TABLE {name} DROP PRIMARY KEY"),
                    (other, true) => format!("ALTER TABLE {name} DROP INDEX {other}"),
                    (other, false) => format!("DROP INDEX {other} ON {name}"),
                }
            }
            6 if table.columns.len() < 8 => {
                let mut column = table.new_column(self.random());
                column.nullable = true;
                let default = column.kind.value(true, self.random());
                let sql = format!(
                    "ALTER TABLE {name} ADD COLUMN {} DEFAULT {}",
                    column.sql(),
                    match &default {
                        Value::Text(_) => "NULL".to_owned(),
                        known => column.kind.literal(known),
                    }
                );
                let default = match default {
                    Value::Text(_) => Value::Null,
                    known => known,
                };
                table.columns.push(column);
                table
                    .rows
                    .iter_mut()
                    .for_each(|row| row.push(default.clone()));
                sql
            }
            7 if table.columns.len() > 3 => {
                let place = 2 + self.random().below(table.columns.len() - 2);
                let used = table.indexes.iter().flat_map(|index| &index.parts);
                if used.clone().any(|part| part.column == place) {
                    return None;
                }
                let column = table.columns.remove(place);
                table
                    .rows
                    .iter_mut()
                    .for_each(|row| drop(row.remove(place)));
                for part in table.indexes.iter_mut().flat_map(|index| &mut index.parts) {
                    part.column -= usize::from(part.column > place);
                }
                format!("ALTER TABLE {name} DROP COLUMN {}", column.name)
            }
            8 if table.indexes.iter().all(|index| index.name != "PRIMARY") => {
                let mut key = table.new_index(self.random(), true);
                key.name = "PRIMARY".to_owned();
                if key
                    .parts
                    .iter()
                    .any(|part| table.columns[part.column].nullable)
                {
                    return None;
                }
                let sql = format!("ALTER TABLE {name} ADD {}", table.index_sql(&key));
                match table.has_duplicates(&key, table.rows.iter()) {
                    true => errno = ER_DUP_ENTRY,
                    false => table.indexes.insert(0, key),
                }
                sql
            }
            _ => return None,
        };
        self.end_transaction();
        let found = Step {
            act: Act::Write,
            sql,
            errno,
            table: Some(table.name.clone()),
        };
        self.set(table);
        Some(found)
    }
}
