//! Random tables, small and full of NULLs and equal values.

use crate::random::Random;
use crate::tree::Kind;

/// The view over the first table.
pub(crate) const VIEW: &str = "v0";

/// A table.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<(String, Kind)>,
    types: Vec<&'static str>,
    keys: Vec<String>,
    rows: Vec<String>,
}

/// Some tables.
pub(crate) struct Schema {
    pub(crate) tables: Vec<Table>,
}

const NUMBERS: [&str; 5] = ["INT", "BIGINT", "SMALLINT", "DECIMAL(8,2)", "TINYINT"];
const TEXT: &str = "VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
const LOOSE: &str = "VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci";

impl Schema {
    pub(crate) fn random(random: &mut Random) -> Self {
        let tables = (0..3).map(|number| {
            let mut columns = Vec::new();
            let mut types = Vec::new();
            for at in 0..3 + random.below(3) {
                let kind = match at {
                    0 => Kind::Number,
                    1 => Kind::Text,
                    2 => Kind::Date,
                    _ => Kind::VALUES[random.below(Kind::VALUES.len())],
                };
                columns.push((format!("k{at}"), kind));
                types.push(match kind {
                    Kind::Number => random.pick(&NUMBERS),
                    Kind::Text => TEXT,
                    Kind::Loose => LOOSE,
                    _ => "DATE",
                });
            }
            let mut keys = Vec::new();
            for at in 0..random.below(4) {
                let first = random.below(columns.len());
                let second = random.below(columns.len());
                let direction = random.pick(&["", " DESC"]);
                let second = match second == first || random.one_in(2) {
                    true => String::new(),
                    false => format!(", k{second}"),
                };
                keys.push(format!("KEY i{at} (k{first}{direction}{second})"));
            }
            Table {
                name: format!("t{number}"),
                columns,
                types,
                keys,
                rows: Vec::new(),
            }
        });
        let mut schema = Self {
            tables: tables.collect(),
        };
        for at in 0..schema.tables.len() {
            let count = random.below(14);
            for _ in 0..count {
                let kinds: Vec<Kind> = schema.tables[at]
                    .columns
                    .iter()
                    .map(|(_, kind)| *kind)
                    .collect();
                let values: Vec<String> = kinds
                    .iter()
                    .map(|kind| schema.constant(*kind, random))
                    .collect();
                schema.tables[at].rows.push(values.join(", "));
            }
        }
        schema
    }

    /// A constant.
    pub(crate) fn constant(&self, kind: Kind, random: &mut Random) -> String {
        if random.one_in(7) {
            return "NULL".to_owned();
        }
        let of = match kind {
            Kind::Number => ["0", "1", "2", "3", "-1", "7", "100"],
            Kind::Text => ["''", "'a'", "'ab'", "'b'", "'B'", "'1'", "'abc'"],
            Kind::Loose => [
                "_utf8mb4'a' COLLATE utf8mb4_general_ci",
                "_utf8mb4'A' COLLATE utf8mb4_general_ci",
                "_utf8mb4'b' COLLATE utf8mb4_general_ci",
                "_utf8mb4'Ab' COLLATE utf8mb4_general_ci",
                "_utf8mb4'aB' COLLATE utf8mb4_general_ci",
                "_utf8mb4'' COLLATE utf8mb4_general_ci",
                "_utf8mb4'2' COLLATE utf8mb4_general_ci",
            ],
            _ => [
                "DATE'2024-01-31'",
                "DATE'2024-02-29'",
                "DATE'2023-12-31'",
                "DATE'2024-03-01'",
                "DATE'1999-01-01'",
                "DATE'2024-01-01'",
                "DATE'2000-02-29'",
            ],
        };
        of[random.below(of.len())].to_owned()
    }

    /// The statements that make the tables, with the keys or without, and the view.
    pub(crate) fn statements(&self, keys: bool, temporary: bool) -> Vec<String> {
        let mut all = Vec::new();
        for table in &self.tables {
            let word = if temporary { "TEMPORARY " } else { "" };
            let mut elements: Vec<String> = table
                .columns
                .iter()
                .zip(&table.types)
                .map(|((name, _), ty)| format!("{name} {ty}"))
                .collect();
            if keys {
                elements.extend(table.keys.iter().cloned());
            }
            let name = &table.name;
            all.push(format!(
                "CREATE {word}TABLE {name} ({})",
                elements.join(", ")
            ));
            for row in &table.rows {
                all.push(format!("INSERT INTO {name} VALUES ({row})"));
            }
        }
        if !temporary {
            let first = &self.tables[0].name;
            all.push(format!("CREATE VIEW {VIEW} AS SELECT * FROM {first}"));
        }
        all
    }
}
