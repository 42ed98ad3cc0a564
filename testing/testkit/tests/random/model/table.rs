//! Tables of the model: definition, rows, and the keys of their unique indexes.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use crate::model::values::{INT, Key, Kind, Value, kind_of};

pub(crate) type Row = Vec<Value>;

/// Storage of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Durable,
    Temporary,
    Memory,
}

/// An expression over one column, in a key or a generated column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Func {
    /// `c MOD 7`
    Mod7,
    /// `LEFT(c, 3)`
    Left3,
    /// `c IS NULL`
    IsNull,
}

#[derive(Debug, Clone)]
pub(crate) struct Generated {
    pub(crate) of: String,
    pub(crate) func: Func,
    pub(crate) stored: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: &'static Kind,
    pub(crate) nullable: bool,
    pub(crate) default: Value,
    pub(crate) generated: Option<Generated>,
}

#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) column: String,
    pub(crate) prefix: Option<usize>,
    pub(crate) func: Option<Func>,
    pub(crate) descending: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) unique: bool,
    pub(crate) btree: bool,
}

/// Action of a foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceOption {
    Cascade,
    SetNull,
    Restrict,
    NoAction,
}

/// A foreign key.
#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    pub(crate) name: String,
    pub(crate) column: String,
    pub(crate) parent: String,
    pub(crate) parent_column: String,
    pub(crate) on_delete: ReferenceOption,
    pub(crate) on_update: ReferenceOption,
}

/// A table with its rows, by internal numbers.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) store: Store,
    /// The first is `id`, the second `n`, which is in no unique index.
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) foreign: Vec<Foreign>,
    pub(crate) rows: BTreeMap<u64, Rc<Row>>,
    /// Number of columns and indexes added so far, whose names are not reused.
    pub(crate) named: usize,
    /// Number that changes with each definition.
    pub(crate) version: u64,
    /// Map of each unique index from hashes of keys to rows; `None` for one that is not built.
    maps: Vec<Option<HashMap<u128, u64>>>,
}

/// An operand of a comparison: a column, or an expression over one.
#[derive(Debug, Clone)]
pub(crate) struct Operand {
    pub(crate) column: String,
    pub(crate) func: Option<Func>,
}

/// A test of an operand.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Compare(&'static str, Value),
    In(Vec<Value>),
    Between(Value, Value),
    Null(bool),
}

/// A conjunction or disjunction of tests.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) tests: Vec<(Operand, Test)>,
    pub(crate) all: bool,
}

impl Func {
    pub(crate) fn sql(self, column: &str) -> String {
        match self {
            Self::Mod7 => format!("{column} MOD 7"),
            Self::Left3 => format!("LEFT({column}, 3)"),
            Self::IsNull => format!("{column} IS NULL"),
        }
    }

    /// Whether it applies to columns of this kind.
    pub(crate) fn takes(self, kind: &Kind) -> bool {
        match self {
            Self::Mod7 => kind.sql.contains("INT"),
            Self::Left3 => kind.collation().is_some() && !kind.is_blob() && kind.sql != "BINARY(4)",
            Self::IsNull => true,
        }
    }

    pub(crate) fn apply(self, value: &Value) -> Value {
        match (self, value) {
            (Self::IsNull, value) => Value::Number(i128::from(*value == Value::Null)),
            (Self::Mod7, Value::Number(number)) => Value::Number(number % 7),
            (Self::Left3, Value::Text(text)) => Value::Text(text.chars().take(3).collect()),
            (_, value) => value.clone(),
        }
    }
}

impl Generated {
    /// The kind of its results for a column's kind.
    pub(crate) fn kind(&self, of: &'static Kind) -> Option<&'static Kind> {
        match self.func {
            Func::Mod7 => kind_of("BIGINT"),
            Func::Left3 => Some(of),
            Func::IsNull => None,
        }
    }
}

impl Column {
    pub(crate) fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: &INT,
            nullable: false,
            default: Value::Null,
            generated: None,
        }
    }

    pub(crate) fn sql(&self) -> String {
        let Self { name, kind, .. } = self;
        if let Some(generated) = &self.generated {
            let stored = if generated.stored {
                "STORED"
            } else {
                "VIRTUAL"
            };
            let of = generated.func.sql(&generated.of);
            return format!("{name} {} AS ({of}) {stored}", kind.sql);
        }
        let null = match (self.nullable, kind.sql.starts_with("TIMESTAMP")) {
            (false, _) => " NOT NULL",
            (true, true) => " NULL",
            (true, false) => "",
        };
        let default = match (&self.default, kind.is_blob()) {
            (Value::Null, _) => String::new(),
            (value, false) => format!(" DEFAULT {}", kind.literal(value)),
            (value, true) => format!(" DEFAULT ({})", kind.literal(value)),
        };
        format!("{name} {}{null}{default}", kind.sql)
    }
}

impl ReferenceOption {
    fn sql(self) -> &'static str {
        match self {
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::Restrict => "RESTRICT",
            Self::NoAction => "NO ACTION",
        }
    }
}

impl Foreign {
    pub(crate) fn sql(&self) -> String {
        format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}",
            self.name,
            self.column,
            self.parent,
            self.parent_column,
            self.on_delete.sql(),
            self.on_update.sql()
        )
    }
}

impl Part {
    /// A key part of a whole column.
    pub(crate) fn of(column: &str) -> Self {
        Self {
            column: column.to_owned(),
            prefix: None,
            func: None,
            descending: false,
        }
    }
}

impl Index {
    /// The primary key over the id.
    pub(crate) fn primary() -> Self {
        Self {
            name: "PRIMARY".to_owned(),
            parts: vec![Part::of("id")],
            unique: true,
            btree: false,
        }
    }

    pub(crate) fn uses(&self, column: &str) -> bool {
        self.parts.iter().any(|part| part.column == column)
    }

    /// Whether it is unique over this column alone, so that a foreign key may reference it.
    pub(crate) fn identifies(&self, column: &str) -> bool {
        matches!(self.parts.as_slice(), [Part { column: one, prefix: None, func: None, descending: false }] if self.unique && one == column)
    }
}

/// A hash without collisions among the keys of a test.
pub(crate) fn hash(of: &impl std::hash::Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        of.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl Table {
    pub(crate) fn new(name: String, store: Store, columns: Vec<Column>) -> Self {
        Self {
            name,
            store,
            columns,
            indexes: Vec::new(),
            foreign: Vec::new(),
            rows: BTreeMap::new(),
            named: 0,
            version: 0,
            maps: Vec::new(),
        }
    }

    pub(crate) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|known| known.name == name)
    }

    pub(crate) fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|known| known.name == name)
    }

    /// The columns that a statement may give values.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .filter(|column| column.generated.is_none())
    }

    pub(crate) fn create(&self) -> String {
        let mut lines: Vec<String> = self.columns.iter().map(Column::sql).collect();
        lines.extend(self.indexes.iter().map(|index| self.index_sql(index)));
        lines.extend(self.foreign.iter().map(Foreign::sql));
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

    /// `(c1(2) DESC, id, (c2 MOD 7))`
    pub(crate) fn parts_sql(&self, index: &Index) -> String {
        let part = |part: &Part| {
            let direction = if part.descending { " DESC" } else { "" };
            match (part.func, part.prefix) {
                (Some(func), _) => format!("({}){direction}", func.sql(&part.column)),
                (_, Some(prefix)) => format!("{}({prefix}){direction}", part.column),
                _ => format!("{}{direction}", part.column),
            }
        };
        let parts: Vec<String> = index.parts.iter().map(part).collect();
        let using = if self.store == Store::Memory && index.btree {
            " USING BTREE"
        } else {
            ""
        };
        format!("({}){using}", parts.join(", "))
    }

    /// `UNIQUE KEY k1 (c1(2) DESC, id)`
    pub(crate) fn index_sql(&self, index: &Index) -> String {
        let (name, parts) = (&index.name, self.parts_sql(index));
        match (name.as_str(), index.unique) {
            ("PRIMARY", _) => format!("PRIMARY KEY {parts}"),
            (_, true) => format!("UNIQUE KEY {name} {parts}"),
            (_, false) => format!("KEY {name} {parts}"),
        }
    }

    /// Computes the generated columns of a row.
    pub(crate) fn complete(&self, row: &mut Row) {
        for (place, column) in self.columns.iter().enumerate() {
            if let Some(generated) = &column.generated
                && let Some(of) = self.place(&generated.of)
            {
                row[place] = generated.func.apply(&row[of]);
            }
        }
    }

    pub(crate) fn part_key(&self, part: &Part, row: &Row) -> Key {
        let Some(place) = self.place(&part.column) else {
            return Key::Null;
        };
        let kind = self.columns[place].kind;
        match part.func {
            Some(func) => kind.key(&func.apply(&row[place]), None),
            None => kind.key(&row[place], part.prefix),
        }
    }

    /// The hash of a row's key in a unique index; `None` when a part is NULL.
    pub(crate) fn unique_key(&self, index: &Index, row: &Row) -> Option<u128> {
        let parts = index.parts.iter();
        let keys: Vec<Key> = parts.map(|part| self.part_key(part, row)).collect();
        (!keys.contains(&Key::Null)).then(|| hash(&keys))
    }

    /// Whether two rows have equal keys in an index.
    pub(crate) fn has_duplicates(&self, index: &Index) -> bool {
        let mut seen = std::collections::HashSet::new();
        let rows = self.rows.values();
        let mut keys = rows.filter_map(|row| self.unique_key(index, row));
        index.unique && keys.any(|key| !seen.insert(key))
    }

    /// Discards the maps after a change of the definition, or of all rows.
    pub(crate) fn forget_maps(&mut self) {
        self.maps.clear();
    }

    /// Builds the maps of the unique indexes.
    pub(crate) fn know_maps(&mut self) {
        if self.maps.len() == self.indexes.len() {
            return;
        }
        let map = |index: &Index| {
            let rows = self.rows.iter();
            let keys = rows.filter_map(|(id, row)| Some((self.unique_key(index, row)?, *id)));
            index.unique.then(|| keys.collect())
        };
        self.maps = self.indexes.iter().map(map).collect();
    }

    /// The row with this key in the unique index over one column.
    pub(crate) fn identified(&self, column: &str, key: &Key) -> Option<u64> {
        let place = self
            .indexes
            .iter()
            .position(|index| index.identifies(column))?;
        let map = self.maps.get(place)?.as_ref()?;
        map.get(&hash(&vec![key.clone()])).copied()
    }

    /// Rows with a unique key of this row, without repetition, in the order of the indexes.
    pub(crate) fn conflicts(&self, row: &Row) -> Vec<u64> {
        let mut found = Vec::new();
        for (index, map) in self.indexes.iter().zip(&self.maps) {
            if let (Some(map), Some(key)) = (map, self.unique_key(index, row))
                && let Some(other) = map.get(&key)
                && !found.contains(other)
            {
                found.push(*other);
            }
        }
        found
    }

    pub(crate) fn put(&mut self, id: u64, row: Row) {
        let mut maps = std::mem::take(&mut self.maps);
        for (index, map) in self.indexes.iter().zip(&mut maps) {
            if let (Some(map), Some(key)) = (map, self.unique_key(index, &row)) {
                map.insert(key, id);
            }
        }
        self.maps = maps;
        self.rows.insert(id, Rc::new(row));
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<Rc<Row>> {
        let row = self.rows.remove(&id)?;
        let mut maps = std::mem::take(&mut self.maps);
        for (index, map) in self.indexes.iter().zip(&mut maps) {
            if let (Some(map), Some(key)) = (map, self.unique_key(index, &row)) {
                map.remove(&key);
            }
        }
        self.maps = maps;
        Some(row)
    }

    /// Whether it has the columns of a condition, with kinds that fit the condition's values.
    pub(crate) fn knows(&self, condition: &Condition) -> bool {
        condition.tests.iter().all(|(operand, _)| {
            let column = self.column(&operand.column);
            column.is_some_and(|column| operand.func.is_none_or(|func| func.takes(column.kind)))
        })
    }

    pub(crate) fn condition_sql(&self, condition: &Condition, alias: &str) -> String {
        let tests = condition.tests.iter().map(|(operand, test)| {
            let kind = self
                .column(&operand.column)
                .map_or(&INT, |known| known.kind);
            let literal = |value: &Value| match operand.func {
                Some(Func::Mod7 | Func::IsNull) => INT.literal(value),
                _ => kind.literal(value),
            };
            let of = format!("{alias}{}", operand.column);
            let name = match operand.func {
                Some(func) => format!("({})", func.sql(&of)),
                None => of,
            };
            match test {
                Test::Compare(sign, value) => format!("{name} {sign} {}", literal(value)),
                Test::In(list) => {
                    let list: Vec<String> = list.iter().map(literal).collect();
                    format!("{name} IN ({})", list.join(", "))
                }
                Test::Between(low, high) => {
                    format!("{name} BETWEEN {} AND {}", literal(low), literal(high))
                }
                Test::Null(true) => format!("{name} IS NULL"),
                Test::Null(false) => format!("{name} IS NOT NULL"),
            }
        });
        let tests: Vec<String> = tests.collect();
        tests.join(if condition.all { " AND " } else { " OR " })
    }

    /// The rows that meet a condition; none if a column is missing.
    pub(crate) fn found(&self, condition: &Condition) -> Vec<u64> {
        let tests: Vec<_> = condition
            .tests
            .iter()
            .filter_map(|(operand, test)| {
                let place = self.place(&operand.column)?;
                let kind = self.columns[place].kind;
                let keys = match test {
                    Test::Compare(_, value) => vec![kind.key(value, None)],
                    Test::In(list) => list.iter().map(|value| kind.key(value, None)).collect(),
                    Test::Between(low, high) => vec![kind.key(low, None), kind.key(high, None)],
                    Test::Null(_) => Vec::new(),
                };
                Some((place, kind, operand.func, test, keys))
            })
            .collect();
        let meets = |row: &Row| {
            let mut tests = tests.iter().map(|(place, kind, func, test, keys)| {
                let value = &row[*place];
                let key = match func {
                    Some(func) => kind.key(&func.apply(value), None),
                    None => kind.key(value, None),
                };
                let is_value = key != Key::Null;
                match test {
                    Test::Null(null) => is_value != *null,
                    Test::In(_) => is_value && keys.contains(&key),
                    Test::Between(..) => is_value && (&keys[0]..=&keys[1]).contains(&&key),
                    Test::Compare(sign, _) => {
                        let order = key.cmp(&keys[0]);
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
            if condition.all {
                tests.all(|met| met)
            } else {
                tests.any(|met| met)
            }
        };
        let rows = self.rows.iter().filter(|(_, row)| meets(row));
        let mut ids: Vec<u64> = rows.map(|(id, _)| *id).collect();
        ids.sort_by_key(|id| Self::id_of(&self.rows[id]));
        ids
    }

    /// The select list that shows rows.
    pub(crate) fn selected(&self) -> String {
        let columns = self.columns.iter();
        let selected: Vec<String> = columns
            .map(|column| column.kind.shown_by(&column.name))
            .collect();
        selected.join(", ")
    }

    pub(crate) fn shown_row(&self, row: &Row) -> String {
        let values = row.iter().zip(&self.columns);
        let values: Vec<String> = values
            .map(|(value, column)| column.kind.shown(value))
            .collect();
        values.join("\t")
    }

    pub(crate) fn shown(&self, ids: impl Iterator<Item = u64>) -> Vec<String> {
        let mut shown: Vec<String> = ids.map(|id| self.shown_row(&self.rows[&id])).collect();
        shown.sort_unstable();
        shown
    }

    pub(crate) fn id_of(row: &Row) -> i128 {
        match row.first() {
            Some(Value::Number(id)) => *id,
            _ => 0,
        }
    }

    pub(crate) fn new_id(&self) -> i128 {
        let ids = self.rows.values().map(|row| Self::id_of(row));
        ids.max().unwrap_or(0) + 1
    }
}
