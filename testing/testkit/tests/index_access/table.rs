//! A table of random columns with random keys.

use crate::constants::CONSTANTS;
use crate::kinds::{KINDS, Kind};
use crate::random::Random;

pub(crate) struct Table {
    pub(crate) kinds: Vec<&'static Kind>,
    pub(crate) keys: Vec<String>,
}

impl Table {
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let kinds: Vec<&Kind> = (0..count)
            .map(|_| &KINDS[random.below(KINDS.len())])
            .collect();
        let mut keys = Vec::new();
        for number in 0..1 + random.below(3) {
            let mut parts: Vec<usize> = (0..count).collect();
            for place in (1..count).rev() {
                parts.swap(place, random.below(place + 1));
            }
            parts.truncate(1 + random.below(count.min(3)));
            let text: Vec<String> = parts
                .iter()
                .map(|column| {
                    let kind = kinds[*column];
                    let prefix = match kind.prefix {
                        Some(prefix) if kind.prefix_only || random.one_in(4) => {
                            format!("({})", prefix + random.below(2) as u32)
                        }
                        _ => String::new(),
                    };
                    let direction = if random.one_in(4) { " DESC" } else { "" };
                    format!("c{column}{prefix}{direction}")
                })
                .collect();
            let nullable = parts.iter().any(|part| kinds[*part].sql.ends_with("NULL"));
            let unique = if random.one_in(6) { "UNIQUE " } else { "" };
            keys.push(match number == 0 && !nullable && random.one_in(4) {
                true => format!("PRIMARY KEY ({})", text.join(", ")),
                false => format!("{unique}KEY k{number} ({})", text.join(", ")),
            });
        }
        Self { kinds, keys }
    }

    pub(crate) fn columns(&self) -> String {
        let columns = self.kinds.iter().enumerate();
        let text: Vec<String> = columns
            .map(|(number, kind)| format!(", c{number} {}", kind.sql))
            .collect();
        format!("id INT{}", text.concat())
    }

    pub(crate) fn definition(&self) -> String {
        format!("({}, {})", self.columns(), self.keys.join(", "))
    }

    pub(crate) fn key_names(&self) -> Vec<String> {
        let names = self.keys.iter().enumerate();
        names
            .map(|(number, key)| match key.starts_with("PRIMARY") {
                true => "PRIMARY".to_owned(),
                false => format!("k{number}"),
            })
            .collect()
    }

    pub(crate) fn value(&self, column: usize, random: &mut Random) -> String {
        match random.one_in(8) {
            true => "NULL".to_owned(),
            false => random.pick(self.kinds[column].values).to_owned(),
        }
    }

    pub(crate) fn constant(&self, column: usize, random: &mut Random) -> String {
        match random.below(5) {
            0 | 1 => random.pick(CONSTANTS).to_owned(),
            _ => random.pick(self.kinds[column].values).to_owned(),
        }
    }
}
