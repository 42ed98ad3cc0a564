//! A table of random columns with random keys.

use crate::index_access::kinds::{KINDS, Kind, LISTS};
use mayfly_trials::Random;

pub(crate) struct Table {
    pub(crate) kinds: Vec<&'static Kind>,
    pub(crate) keys: Vec<String>,
    /// Expressions over a column, for `{}`, of keys and generated columns.
    expressions: Vec<(usize, &'static str)>,
    /// Columns that `*` does not show: their definitions.
    generated: Vec<String>,
}

/// A column or an expression over one.
pub(crate) struct Operand {
    pub(crate) text: String,
    column: usize,
    of: &'static str,
}

impl Table {
    /// A random table. `for_memory`: of the MEMORY engine, without TEXT, BLOB and expressions.
    pub(crate) fn random(random: &mut Random, for_memory: bool) -> Self {
        let count = 2 + random.below(3);
        let kinds: Vec<&Kind> = (0..count)
            .map(|_| {
                loop {
                    let kind = &KINDS[random.below(KINDS.len())];
                    if !for_memory || !kind.prefix_only {
                        return kind;
                    }
                }
            })
            .collect();
        let mut keys = Vec::new();
        let mut expressions = Vec::new();
        let mut generated = Vec::new();
        for number in 0..1 + random.below(3) {
            let mut parts: Vec<usize> = (0..count).collect();
            random.shuffle(&mut parts);
            parts.truncate(1 + random.below(count.min(3)));
            let mut computed = false;
            let text: Vec<String> = parts
                .iter()
                .map(|column| {
                    let kind = kinds[*column];
                    let direction = if random.one_in(4) { " DESC" } else { "" };
                    if random.one_in(4) && !for_memory {
                        computed = true;
                        let value = format!("c{column}");
                        if let (Some((ty, of)), true) = (kind.generated(), random.one_in(3)) {
                            let name = format!("g{}", generated.len());
                            let of_column = of.replace("{}", &value);
                            let stored = random.pick(&["VIRTUAL", "STORED"]);
                            generated
                                .push(format!("{name} {ty} AS ({of_column}) {stored} INVISIBLE"));
                            expressions.push((*column, of));
                            return format!("{name}{direction}");
                        }
                        let of = kind.expressions()[random.below(kind.expressions().len())];
                        expressions.push((*column, of));
                        return format!("({}){direction}", of.replace("{}", &value));
                    }
                    let prefix = match kind.prefix {
                        Some(prefix) if kind.prefix_only || random.one_in(4) => {
                            if kind.sql.contains("CHAR(1) ") {
                                String::new()
                            } else {
                                format!("({})", prefix + random.below(3) as u32)
                            }
                        }
                        _ => String::new(),
                    };
                    format!("c{column}{prefix}{direction}")
                })
                .collect();
            // A zero DATE in a primary key matches IS NULL.
            let nullable = parts.iter().any(|part| {
                let ty = kinds[*part].sql;
                ty.ends_with("NULL") || ty.starts_with("DATE")
            });
            let unique = if random.one_in(6) { "UNIQUE " } else { "" };
            let using = if for_memory && random.below(3) > 0 {
                " USING BTREE"
            } else {
                ""
            };
            keys.push(
                if number == 0 && !nullable && !computed && random.one_in(4) {
                    format!("PRIMARY KEY ({}){using}", text.join(", "))
                } else {
                    format!("{unique}KEY k{number} ({}){using}", text.join(", "))
                },
            );
        }
        Self {
            kinds,
            keys,
            expressions,
            generated,
        }
    }

    pub(crate) fn columns(&self) -> String {
        let columns = self.kinds.iter().enumerate();
        let text: Vec<String> = columns
            .map(|(number, kind)| format!(", c{number} {}", kind.sql))
            .collect();
        format!("id INT{}", text.concat())
    }

    pub(crate) fn definition(&self) -> String {
        let all = [&[self.columns()], &self.generated[..], &self.keys[..]].concat();
        format!("({})", all.join(", "))
    }

    pub(crate) fn key_names(&self) -> Vec<String> {
        let names = self.keys.iter().enumerate();
        names
            .map(|(number, key)| {
                if key.starts_with("PRIMARY") {
                    "PRIMARY".to_owned()
                } else {
                    format!("k{number}")
                }
            })
            .collect()
    }

    pub(crate) fn value(&self, column: usize, random: &mut Random) -> String {
        if random.one_in(8) {
            "NULL".to_owned()
        } else {
            random.pick(self.kinds[column].values()).to_owned()
        }
    }

    /// A column, or an expression over one that is allowed in a key, with a value to compare it with.
    pub(crate) fn operand(&self, alias: &str, random: &mut Random) -> Operand {
        let (column, of) = if self.expressions.is_empty() || random.below(3) > 0 {
            (random.below(self.kinds.len()), "{}")
        } else {
            self.expressions[random.below(self.expressions.len())]
        };
        Operand {
            text: of.replace("{}", &format!("{alias}c{column}")),
            column,
            of,
        }
    }

    /// A value that an operand is compared with.
    pub(crate) fn compared(&self, operand: &Operand, random: &mut Random) -> String {
        // An expression over a very large integer may be out of range.
        let is_large = self.kinds[operand.column].sql.starts_with("BIG");
        if is_large || operand.of == "{}" || random.one_in(3) {
            self.constant(operand.column, random)
        } else {
            let value = random.pick(self.kinds[operand.column].values());
            operand.of.replace("{}", value)
        }
    }

    pub(crate) fn constant(&self, column: usize, random: &mut Random) -> String {
        match random.below(5) {
            0 | 1 => random.pick(LISTS.items("constants")).to_owned(),
            _ => random.pick(self.kinds[column].values()).to_owned(),
        }
    }
}
