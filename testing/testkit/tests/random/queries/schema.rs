//! Random tables, small and full of NULLs and equal values.

use mayfly_trials::Random;

use crate::queries::columns::{ALL, COLLATIONS, ColumnType, PORTABLE, common, odd};
use crate::queries::tree::Kind;

/// The view over the first table.
pub(crate) const VIEW: &str = "v0";

/// Kind of the tables of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    Base,
    Temporary,
    /// Tables of the MEMORY engine, if it supports the columns.
    Memory,
}

/// A column, with the row number of the table that it is computed from.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    definition: String,
}

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) keys: Vec<String>,
    /// The number of each row, and its values.
    pub(crate) rows: Vec<(usize, Vec<String>)>,
}

/// Some tables.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(crate) tables: Vec<Table>,
    /// Whether all servers treat the types alike; otherwise there are all types.
    pub(crate) portable: bool,
    /// The collation of case-insensitive texts.
    collation: &'static str,
}

impl Schema {
    pub(crate) fn random(random: &mut Random, portable: bool) -> Self {
        let collation = if portable {
            COLLATIONS[0]
        } else {
            random.pick(&COLLATIONS)
        };
        let mut schema = Self {
            tables: Vec::new(),
            portable,
            collation,
        };
        for number in 0..3 {
            let table = schema.table(number, random);
            schema.tables.push(table);
        }
        schema
    }

    fn table(&self, number: usize, random: &mut Random) -> Table {
        let of = if self.portable { &*PORTABLE } else { &*ALL };
        let types: Vec<&ColumnType> = (0..3 + random.below(3))
            .map(|at| {
                let wanted = match at {
                    0 => Some(Kind::Number),
                    1 => Some(Kind::Text),
                    2 if self.portable => Some(Kind::Date),
                    _ => None,
                };
                let fits = |ty: &&ColumnType| wanted.is_none_or(|kind| ty.kind == kind);
                let fitting: Vec<&ColumnType> = of.iter().filter(fits).collect();
                fitting[random.below(fitting.len())]
            })
            .collect();
        let columns = types.iter().enumerate().map(|(at, ty)| Column {
            name: format!("k{at}"),
            kind: ty.kind,
            definition: if ty.kind == Kind::Loose && !self.portable {
                format!("{} {}", ty.sql, self.charset_and_collation())
            } else {
                ty.sql.to_owned()
            },
        });
        let rows = (0..random.below(14)).map(|row| {
            let values = types.iter().map(|ty| match random.below(7) {
                0 => "NULL".to_owned(),
                1 | 2 => random.pick(&ty.values).to_owned(),
                _ => random.pick(common(ty.kind)).to_owned(),
            });
            (row, values.collect())
        });
        let rows = rows.collect();
        Table {
            name: format!("t{number}"),
            columns: columns.collect(),
            keys: self.keys(&types, random),
            rows,
        }
    }

    fn charset_and_collation(&self) -> String {
        let charset = self.collation.split('_').next().unwrap_or_default();
        format!("CHARACTER SET {charset} COLLATE {}", self.collation)
    }

    fn keys(&self, types: &[&ColumnType], random: &mut Random) -> Vec<String> {
        let mut keys = Vec::new();
        for at in 0..random.below(4) {
            let mut parts = Vec::new();
            for _ in 0..1 + random.below(2) {
                let column = random.below(types.len());
                if let Some(prefix) = types[column].prefix {
                    let direction = random.pick(&["", "", " DESC"]);
                    parts.push(format!("k{column}{prefix}{direction}"));
                }
            }
            let twice = parts.len() == 2 && parts[0].get(..2) == parts[1].get(..2);
            let parts = if twice { &parts[..1] } else { &parts[..] };
            if !parts.is_empty() {
                keys.push(format!("KEY i{at} ({})", parts.join(", ")));
            }
        }
        let whole = types[1].prefix == Some("");
        if !self.portable && whole && random.one_in(4) {
            keys.push("KEY f ((k0 IS NULL), (HEX(k1)))".to_owned());
        }
        keys
    }

    /// A constant; sometimes an unusual one where the servers need not agree.
    pub(crate) fn constant(&self, kind: Kind, random: &mut Random) -> String {
        if random.one_in(8) {
            return "NULL".to_owned();
        }
        let constant = if !self.portable && random.one_in(3) {
            random.pick(odd(kind))
        } else {
            random.pick(common(kind))
        };
        match kind {
            Kind::Loose => format!("{constant} COLLATE {}", self.loose()),
            Kind::Json => format!("CAST({constant} AS JSON)"),
            _ => constant.to_owned(),
        }
    }

    /// A case-insensitive collation for literals.
    fn loose(&self) -> &'static str {
        if self.collation.starts_with("utf8mb4") {
            self.collation
        } else {
            COLLATIONS[0]
        }
    }

    /// The statements that prepare a session for the tables.
    pub(crate) fn settings(&self) -> Vec<String> {
        let collation = if self.portable {
            "utf8mb4_bin"
        } else {
            "utf8mb4_0900_bin"
        };
        vec![
            format!("SET NAMES utf8mb4 COLLATE {collation}"),
            "SET time_zone = '+00:00'".to_owned(),
            "SET timestamp = 1706695872".to_owned(),
        ]
    }

    /// The statements that create the tables, with the keys or without, and the view.
    pub(crate) fn statements(&self, keys: bool, tables: Tables) -> Vec<String> {
        let mut all = Vec::new();
        for table in &self.tables {
            let word = match tables {
                Tables::Temporary => "TEMPORARY ",
                Tables::Base | Tables::Memory => "",
            };
            let mut elements = vec!["id INT".to_owned()];
            if keys {
                elements[0] += " PRIMARY KEY";
            }
            let columns = table.columns.iter();
            elements.extend(columns.map(|column| format!("{} {}", column.name, column.definition)));
            if keys {
                elements.extend(table.keys.iter().cloned());
            }
            let (name, elements) = (&table.name, elements.join(", "));
            let has = |what: &str| elements.contains(what);
            let fits = !has("TEXT") && !has("BLOB") && !has("JSON") && !has("((");
            let engine = if tables == Tables::Memory && fits {
                " ENGINE = MEMORY"
            } else {
                ""
            };
            all.push(format!("CREATE {word}TABLE {name} ({elements}){engine}"));
            for (number, values) in &table.rows {
                let values = [vec![number.to_string()], values.clone()]
                    .concat()
                    .join(", ");
                all.push(format!("INSERT IGNORE INTO {name} VALUES ({values})"));
            }
        }
        if let Some(first) = self.tables.first()
            && tables != Tables::Temporary
        {
            let mut columns: Vec<&str> = first.columns.iter().map(|c| c.name.as_str()).collect();
            if columns.is_empty() {
                columns.push("id");
            }
            let columns = columns.join(", ");
            all.push(format!(
                "CREATE VIEW {VIEW} AS SELECT {columns} FROM {}",
                first.name
            ));
        }
        all
    }

    /// The tables without columns, and without empty or full tables, that a text does not name.
    pub(crate) fn named_by(&self, text: &str) -> Self {
        let mut schema = self.clone();
        let view = text.contains(VIEW);
        let mut first = true;
        schema
            .tables
            .retain(|table| std::mem::take(&mut first) && view || text.contains(&table.name));
        for table in &mut schema.tables {
            let named: Vec<bool> = table
                .columns
                .iter()
                .map(|column| {
                    let is_read = text.contains(&format!(".{}", column.name));
                    is_read || table.keys.iter().any(|key| key.contains(&column.name))
                })
                .collect();
            let mut keeps = named.iter();
            table.columns.retain(|_| *keeps.next().unwrap_or(&true));
            for (_, values) in &mut table.rows {
                let mut keeps = named.iter();
                values.retain(|_| *keeps.next().unwrap_or(&true));
            }
        }
        schema
    }
}
