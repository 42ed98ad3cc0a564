//! Tables of the model: a list of rows, and what MySQL does to it.

use std::collections::{HashMap, HashSet};

use mayfly_testkit::random::Random;

use crate::values::{Family, INT, KINDS, Key, Kind, Value};

pub(crate) type Row = Vec<Value>;

/// Where a table is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Durable,
    Temporary,
    Memory,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: &'static Kind,
    pub(crate) nullable: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) column: usize,
    pub(crate) prefix: Option<usize>,
    descending: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) unique: bool,
}

/// A table with its rows, in no order.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) store: Store,
    /// The first is `id`, the second `n`, which is in no unique index.
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) rows: Vec<Row>,
    /// Columns that were added so far, whose names are not used again.
    pub(crate) named: usize,
}

/// What a condition says of a column.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Compare(&'static str, Value),
    In(Vec<Value>),
    Between(Value, Value),
    Null(bool),
}

/// Conditions that all hold, or one of which does.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    tests: Vec<(usize, Test)>,
    all: bool,
}

impl Table {
    pub(crate) fn random(name: String, store: Store, random: &mut Random) -> Self {
        let plain = |name: &str| Column {
            name: name.to_owned(),
            kind: &INT,
            nullable: false,
        };
        let mut table = Self {
            name,
            store,
            columns: vec![plain("id"), plain("n")],
            indexes: Vec::new(),
            rows: Vec::new(),
            named: 0,
        };
        for _ in 0..1 + random.below(3) {
            let column = table.new_column(random);
            table.columns.push(column);
        }
        if random.below(4) > 0 {
            let mut key = table.new_index(random, true);
            key.name = "PRIMARY".to_owned();
            key.parts
                .retain(|part| !table.columns[part.column].nullable);
            if key.parts.is_empty() || random.one_in(2) {
                key.parts = vec![Part {
                    column: 0,
                    prefix: None,
                    descending: false,
                }];
            }
            table.indexes.push(key);
        }
        for number in 0..random.below(4) {
            let unique = random.one_in(3);
            let mut index = table.new_index(random, unique);
            index.name = format!("k{number}");
            table.indexes.push(index);
        }
        table
    }

    pub(crate) fn new_column(&mut self, random: &mut Random) -> Column {
        self.named += 1;
        Column {
            name: format!("c{}", self.named),
            kind: &KINDS[random.below(KINDS.len())],
            nullable: random.one_in(2),
        }
    }

    pub(crate) fn new_index(&self, random: &mut Random, unique: bool) -> Index {
        let mut columns: Vec<usize> = (0..self.columns.len())
            .filter(|column| !unique || *column != 1)
            .collect();
        let mut parts = Vec::new();
        let mut bytes = 0;
        for _ in 0..1 + random.below(3) {
            if columns.is_empty() {
                break;
            }
            let column = columns.swap_remove(random.below(columns.len()));
            let kind = self.columns[column].kind;
            let whole = match kind.family {
                Family::Text(_) => kind.sql.split(['(', ')']).nth(1).map_or(0, width) * 4,
                _ => 20,
            };
            let lengths = [1, 2, 3, 10, 190];
            let longest = (kind.greatest as usize).min(190);
            let prefix = lengths[random.below(lengths.len())].min(longest.max(1));
            let prefix =
                (kind.prefixes && (random.one_in(2) || bytes + whole > 3000)).then_some(prefix);
            bytes += prefix.map_or(whole, |prefix| prefix * 4);
            if bytes > 3000 && !parts.is_empty() {
                break;
            }
            parts.push(Part {
                column,
                prefix,
                descending: self.store != Store::Memory && random.one_in(4),
            });
        }
        Index {
            name: String::new(),
            parts,
            unique,
        }
    }

    fn columns_sql(&self) -> Vec<String> {
        let column = |column: &Column| column.sql();
        self.columns.iter().map(column).collect()
    }

    pub(crate) fn create(&self) -> String {
        let mut lines = self.columns_sql();
        lines.extend(self.indexes.iter().map(|index| self.index_sql(index)));
        let (temporary, engine) = match self.store {
            Store::Durable => ("", ""),
            Store::Temporary => ("TEMPORARY ", ""),
            Store::Memory => ("", " ENGINE = MEMORY"),
        };
        format!(
            "CREATE {temporary}TABLE {} ({}){engine}",
            self.name,
            lines.join(", ")
        )
    }

    /// `UNIQUE KEY k1 (c1(2) DESC, id)`
    pub(crate) fn index_sql(&self, index: &Index) -> String {
        let part = |part: &Part| {
            let prefix = part
                .prefix
                .map_or(String::new(), |prefix| format!("({prefix})"));
            let direction = if part.descending { " DESC" } else { "" };
            format!("{}{prefix}{direction}", self.columns[part.column].name)
        };
        let parts: Vec<String> = index.parts.iter().map(part).collect();
        let name = &index.name;
        let using = match self.store == Store::Memory && name.ends_with(['0', '2']) {
            true => " USING BTREE",
            false => "",
        };
        match (name.as_str(), index.unique) {
            ("PRIMARY", _) => format!("PRIMARY KEY ({})", parts.join(", ")),
            (_, true) => format!("UNIQUE KEY {name} ({}){using}", parts.join(", ")),
            (_, false) => format!("KEY {name} ({}){using}", parts.join(", ")),
        }
    }

    pub(crate) fn row(&self, id: i128, random: &mut Random) -> Row {
        let mut row = vec![Value::Number(id), Value::Number(random.below(5) as i128)];
        let rest = self.columns[2..].iter();
        row.extend(rest.map(|column| column.kind.value(column.nullable, random)));
        row
    }

    pub(crate) fn literals(&self, row: &Row) -> String {
        let values = row.iter().zip(&self.columns);
        let values: Vec<String> = values
            .map(|(value, column)| column.kind.literal(value))
            .collect();
        format!("({})", values.join(", "))
    }

    /// The key of a row in a unique index; none when a part is NULL.
    pub(crate) fn unique_key(&self, index: &Index, row: &Row) -> Option<Vec<Key>> {
        let keys: Vec<Key> = index
            .parts
            .iter()
            .map(|part| {
                self.columns[part.column]
                    .kind
                    .key(&row[part.column], part.prefix)
            })
            .collect();
        (!keys.contains(&Key::Null)).then_some(keys)
    }

    /// Rows, by their places, that have a unique key of this one.
    pub(crate) fn conflicts(&self, row: &Row) -> HashSet<usize> {
        let mut found = HashSet::new();
        for index in self.indexes.iter().filter(|index| index.unique) {
            if let Some(key) = self.unique_key(index, row) {
                let same = |other: &Row| self.unique_key(index, other).as_ref() == Some(&key);
                let rows = self.rows.iter().enumerate();
                found.extend(
                    rows.filter(|(_, other)| same(other))
                        .map(|(place, _)| place),
                );
            }
        }
        found
    }

    /// Whether two of these rows have a unique key in common.
    pub(crate) fn has_duplicates<'r>(
        &self,
        index: &Index,
        rows: impl Iterator<Item = &'r Row>,
    ) -> bool {
        let mut seen = HashSet::new();
        let mut keys = rows.filter_map(|row| self.unique_key(index, row));
        keys.any(|key| !seen.insert(key))
    }

    /// What changing rows to these, by place, comes to: `Some(true)` when it succeeds in any order,
    /// `Some(false)` when a duplicate is certain, nothing when it depends on the order.
    pub(crate) fn may_change(&self, changed: &HashMap<usize, Row>) -> Option<bool> {
        let mut certain = true;
        for index in self.indexes.iter().filter(|index| index.unique) {
            let after = self.rows.iter().enumerate();
            let after = after.map(|(place, row)| changed.get(&place).unwrap_or(row));
            if self.has_duplicates(index, after) {
                return Some(false);
            }
            let mut before = HashMap::new();
            for (place, row) in self.rows.iter().enumerate() {
                if let Some(key) = self.unique_key(index, row) {
                    before.insert(key, place);
                }
            }
            certain &= changed.iter().all(|(place, row)| {
                let key = self.unique_key(index, row);
                let other = key.and_then(|key| before.get(&key).copied());
                other.is_none_or(|other| other == *place)
            });
        }
        certain.then_some(true)
    }

    pub(crate) fn condition(&self, random: &mut Random) -> Condition {
        const SIGNS: &[&str] = &["=", "<", "<=", ">", ">=", "<>", "<=>"];
        let mut tests = Vec::new();
        for _ in 0..1 + random.below(2) {
            let column = random.below(self.columns.len());
            let of = &self.columns[column];
            let value = |random: &mut Random| match self.rows.is_empty() || random.one_in(4) {
                true => of.kind.value(false, random),
                false => match &self.rows[random.below(self.rows.len())][column] {
                    Value::Null => of.kind.value(false, random),
                    known => known.clone(),
                },
            };
            tests.push((
                column,
                match random.below(8) {
                    0 => Test::Null(random.one_in(2)),
                    1 => Test::In((0..3).map(|_| value(random)).collect()),
                    2 => Test::Between(value(random), value(random)),
                    _ => Test::Compare(random.pick(SIGNS), value(random)),
                },
            ));
        }
        Condition {
            tests,
            all: random.below(3) > 0,
        }
    }

    pub(crate) fn condition_sql(&self, condition: &Condition, alias: &str) -> String {
        let tests = condition.tests.iter().map(|(column, test)| {
            let Column { name, kind, .. } = &self.columns[*column];
            let literal = |value: &Value| kind.literal(value);
            match test {
                Test::Compare(sign, value) => format!("{alias}{name} {sign} {}", literal(value)),
                Test::In(list) => {
                    let list: Vec<String> = list.iter().map(literal).collect();
                    format!("{alias}{name} IN ({})", list.join(", "))
                }
                Test::Between(low, high) => {
                    format!(
                        "{alias}{name} BETWEEN {} AND {}",
                        literal(low),
                        literal(high)
                    )
                }
                Test::Null(true) => format!("{alias}{name} IS NULL"),
                Test::Null(false) => format!("{alias}{name} IS NOT NULL"),
            }
        });
        let tests: Vec<String> = tests.collect();
        tests.join(if condition.all { " AND " } else { " OR " })
    }

    pub(crate) fn meets(&self, row: &Row, condition: &Condition) -> bool {
        let mut tests = condition.tests.iter().map(|(column, test)| {
            let kind = self.columns[*column].kind;
            let key = kind.key(&row[*column], None);
            let other = |value: &Value| kind.key(value, None);
            let is_value = key != Key::Null;
            match test {
                Test::Null(null) => is_value != *null,
                Test::In(list) => is_value && list.iter().any(|value| key == other(value)),
                Test::Between(low, high) => is_value && (other(low)..=other(high)).contains(&key),
                Test::Compare(sign, value) => {
                    let order = key.cmp(&other(value));
                    is_value
                        && match *sign {
                            "=" | "<=>" => order.is_eq(),
                            "<" => order.is_lt(),
                            "<=" => order.is_le(),
                            ">" => order.is_gt(),
                            ">=" => order.is_ge(),
                            _ => order.is_ne(),
                        }
                }
            }
        });
        match condition.all {
            true => tests.all(|met| met),
            false => tests.any(|met| met),
        }
    }

    /// The places of the rows that meet a condition.
    pub(crate) fn found(&self, condition: &Condition) -> Vec<usize> {
        let rows = self.rows.iter().enumerate();
        let met = rows.filter(|(_, row)| self.meets(row, condition));
        met.map(|(place, _)| place).collect()
    }

    /// What a statement selects to show rows, and the rows as it shows them, sorted.
    pub(crate) fn shown(&self) -> (String, Vec<String>) {
        let columns = self.columns.iter();
        let selected: Vec<String> = columns
            .map(|column| column.kind.shown_by(&column.name))
            .collect();
        let mut shown: Vec<String> = self.rows.iter().map(|row| self.shown_row(row)).collect();
        shown.sort_unstable();
        (selected.join(", "), shown)
    }

    pub(crate) fn shown_row(&self, row: &Row) -> String {
        let values = row.iter().zip(&self.columns);
        let values: Vec<String> = values
            .map(|(value, column)| column.kind.shown(value))
            .collect();
        values.join("\t")
    }

    pub(crate) fn new_id(&self) -> i128 {
        let ids = self.rows.iter().map(|row| match &row[0] {
            Value::Number(id) => *id,
            _ => 0,
        });
        ids.max().unwrap_or(0) + 1
    }
}

impl Column {
    pub(crate) fn sql(&self) -> String {
        let null = if self.nullable { "" } else { " NOT NULL" };
        format!("{} {}{null}", self.name, self.kind.sql)
    }
}

fn width(digits: &str) -> usize {
    digits.parse().unwrap_or(0)
}
