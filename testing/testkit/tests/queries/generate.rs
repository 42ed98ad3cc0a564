//! Random queries over the tables of [`crate::schema`], whose answers are defined: no LIMIT without an
//! order, no value that any row of a group may give.

use crate::random::Random;
use crate::schema::{Schema, VIEW};
use crate::tree::{Kind, Tree};

/// A column that an expression may read.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Kind,
}

/// Makes one query.
pub(crate) struct Generator<'g> {
    random: &'g mut Random,
    schema: &'g Schema,
    /// Comparisons mix types: only where a MySQL is asked.
    mixes: bool,
    aliases: usize,
    /// Common table expressions that may be read, with their columns.
    common: Vec<(String, Vec<Column>)>,
}

impl<'g> Generator<'g> {
    pub(crate) fn new(random: &'g mut Random, schema: &'g Schema, mixes: bool) -> Self {
        Self {
            random,
            schema,
            mixes,
            aliases: 0,
            common: Vec::new(),
        }
    }

    /// A whole statement.
    pub(crate) fn statement(&mut self) -> Tree {
        let width = 1 + self.random.below(4);
        let kinds: Vec<Kind> = (0..width).map(|_| self.kind()).collect();
        if !self.random.one_in(5) {
            return self.query(&kinds, &[], 3);
        }
        let own: Vec<Kind> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
        let common = self.query(&own, &[], 2);
        let columns = own.iter().enumerate().map(|(at, kind)| Column {
            name: format!("c{at}"),
            kind: *kind,
        });
        self.common.push(("w".to_owned(), columns.collect()));
        let query = self.query(&kinds, &[], 3);
        Tree::of(Kind::Fixed, "WITH w AS ({}) {}", vec![common, query])
    }

    fn kind(&mut self) -> Kind {
        match self.random.below(10) {
            0..5 => Kind::Number,
            5..8 => Kind::Text,
            8 => Kind::Date,
            _ => Kind::Loose,
        }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    /// A query that gives columns `c0`, `c1`, … of these kinds.
    fn query(&mut self, kinds: &[Kind], outer: &[Column], depth: usize) -> Tree {
        let has_loose = kinds.contains(&Kind::Loose);
        if depth > 0 && !has_loose && self.random.one_in(6) {
            let operator = self
                .random
                .pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
            let left = self.select(kinds, outer, depth - 1);
            let right = self.select(kinds, outer, depth - 1);
            let text = format!("{{}} {operator} {{}}");
            return Tree::of(Kind::Query, &text, vec![left, right]);
        }
        self.select(kinds, outer, depth)
    }

    fn select(&mut self, kinds: &[Kind], outer: &[Column], depth: usize) -> Tree {
        let (from, own) = self.from(outer, depth);
        let mut seen = own.clone();
        seen.extend_from_slice(outer);
        let mut parts = Vec::new();
        let groups = !kinds.contains(&Kind::Loose) && self.random.one_in(4);
        let condition = self.condition(&seen, depth);
        let condition = Tree::of(Kind::Fixed, " WHERE {}", vec![condition]).optional();
        let mut text = "SELECT ".to_owned();
        let mut tail = Vec::new();
        if groups {
            let keys: Vec<Column> = own
                .iter()
                .filter(|column| column.kind != Kind::Loose)
                .take(1 + self.random.below(2))
                .cloned()
                .collect();
            for (at, kind) in kinds.iter().enumerate() {
                let item = self.aggregated(*kind, &keys, &own, depth);
                text += &separated(at, &format!("{{}} AS c{at}"));
                parts.push(item);
            }
            let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
            if !names.is_empty() {
                tail.push(Tree::leaf(
                    Kind::Fixed,
                    format!(" GROUP BY {}", names.join(", ")),
                ));
            }
            if self.random.one_in(3) {
                let limit = self.random.below(3);
                let having = format!(" HAVING COUNT(*) > {limit}");
                tail.push(Tree::leaf(Kind::Fixed, having).optional());
            }
        } else {
            if !kinds.contains(&Kind::Loose) && self.random.one_in(6) {
                text += "DISTINCT ";
            }
            for (at, kind) in kinds.iter().enumerate() {
                let item = self.value(*kind, &seen, depth);
                text += &separated(at, &format!("{{}} AS c{at}"));
                parts.push(item);
            }
        }
        text += " FROM {}{}";
        parts.extend([from, condition]);
        for part in tail {
            text += "{}";
            parts.push(part);
        }
        Tree::of(Kind::Query, &text, parts)
    }

    /// Tables, and their columns.
    fn from(&mut self, outer: &[Column], depth: usize) -> (Tree, Vec<Column>) {
        let (mut from, mut columns) = self.factor(depth);
        let joins = match self.random.below(6) {
            0..3 => 0,
            3..5 => 1,
            _ => 2,
        };
        for _ in 0..joins {
            let (right, more) = self.factor(depth);
            columns.extend(more);
            let join = self.random.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
            // Outer columns in ON are MySQL's alone.
            let seen = columns.clone();
            let _ = outer;
            let condition = self.comparison(&seen, 0);
            let text = format!("{{}} {join} {{}} ON {{}}");
            from = Tree::of(Kind::Fixed, &text, vec![from, right, condition]);
        }
        (from, columns)
    }

    fn factor(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        let alias = self.alias();
        let named = |columns: &[(String, Kind)]| -> Vec<Column> {
            let columns = columns.iter();
            columns
                .map(|(name, kind)| Column {
                    name: format!("{alias}.{name}"),
                    kind: *kind,
                })
                .collect()
        };
        if depth > 0 && self.random.one_in(6) {
            let kinds: Vec<Kind> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
            let query = self.query(&kinds, &[], depth - 1);
            let columns: Vec<(String, Kind)> = kinds
                .iter()
                .enumerate()
                .map(|(at, kind)| (format!("c{at}"), *kind))
                .collect();
            let text = format!("({{}}) AS {alias}");
            return (Tree::of(Kind::Fixed, &text, vec![query]), named(&columns));
        }
        if let Some((name, columns)) = self.common.last().cloned()
            && self.random.one_in(2)
        {
            let columns: Vec<(String, Kind)> = columns
                .into_iter()
                .map(|column| (column.name, column.kind))
                .collect();
            return (
                Tree::leaf(Kind::Fixed, format!("{name} AS {alias}")),
                named(&columns),
            );
        }
        let at = self.random.below(self.schema.tables.len());
        let table = &self.schema.tables[at];
        let name = match at == 0 && self.random.one_in(4) {
            true => VIEW,
            false => table.name.as_str(),
        };
        let tree = Tree::leaf(Kind::Fixed, format!("{name} AS {alias}"));
        (tree, named(&table.columns))
    }

    /// A value that a group has one of.
    fn aggregated(&mut self, kind: Kind, keys: &[Column], own: &[Column], depth: usize) -> Tree {
        let of_kind: Vec<&Column> = keys.iter().filter(|key| key.kind == kind).collect();
        if !of_kind.is_empty() && self.random.one_in(2) {
            let at = self.random.below(of_kind.len());
            return Tree::leaf(kind, of_kind[at].name.clone());
        }
        if kind != Kind::Number {
            let function = self.random.pick(&["MIN", "MAX"]);
            let value = self.value(kind, own, depth.min(1));
            return Tree::of(kind, &format!("{function}({{}})"), vec![value]);
        }
        let function = self.random.pick(&[
            "COUNT(*)",
            "COUNT({})",
            "SUM({})",
            "MIN({})",
            "MAX({})",
            "COUNT(DISTINCT {})",
            "BIT_OR(ABS({}))",
        ]);
        let value = self.value(Kind::Number, own, depth.min(1));
        Tree::of(kind, function, vec![value])
    }

    fn value(&mut self, kind: Kind, seen: &[Column], depth: usize) -> Tree {
        if depth == 0 || self.random.one_in(3) {
            return self.operand(kind, seen);
        }
        let below = depth - 1;
        if self.random.one_in(7) {
            let condition = self.condition(seen, below);
            let (a, b) = (self.value(kind, seen, below), self.value(kind, seen, below));
            let text = self.random.pick(&[
                "IF({}, {}, {})",
                "CASE WHEN {} THEN {} ELSE {} END",
                "CASE WHEN {} THEN {} END",
            ]);
            return Tree::of(kind, text, vec![condition, a, b]);
        }
        if self.random.one_in(6) {
            let (a, b) = (self.value(kind, seen, below), self.value(kind, seen, below));
            let text = self
                .random
                .pick(&["COALESCE({}, {})", "IFNULL({}, {})", "NULLIF({}, {})"]);
            return Tree::of(kind, text, vec![a, b]);
        }
        if kind == Kind::Number && self.random.one_in(5) {
            let (from, own) = self.factor(0);
            let mut inner = own.clone();
            inner.extend_from_slice(seen);
            let item = self.aggregated(kind, &[], &own, 1);
            let condition = self.condition(&inner, below);
            let text = "(SELECT {} FROM {} WHERE {})";
            return Tree::of(kind, text, vec![item, from, condition]);
        }
        let mut part = |of: Kind| self.value(of, seen, below);
        match kind {
            Kind::Number => {
                let (a, b) = (part(Kind::Number), part(Kind::Number));
                let (text, date) = (part(Kind::Text), part(Kind::Date));
                match self.random.below(9) {
                    0 => Tree::of(kind, "({} + {})", vec![a, b]),
                    1 => Tree::of(kind, "({} - {})", vec![a, b]),
                    2 => Tree::of(kind, "({} * {})", vec![a, b]),
                    3 => Tree::of(kind, "ABS({})", vec![a]),
                    4 => Tree::of(kind, "({} % 3)", vec![a]),
                    5 => Tree::of(kind, "FLOOR({})", vec![a]),
                    6 => Tree::of(kind, "CHAR_LENGTH({})", vec![text]),
                    7 => Tree::of(kind, "MONTH({})", vec![date]),
                    _ => Tree::of(kind, "SIGN({})", vec![a]),
                }
            }
            Kind::Text => {
                let (a, b) = (part(kind), part(kind));
                match self.random.below(6) {
                    0 => Tree::of(kind, "CONCAT({}, {})", vec![a, b]),
                    1 => Tree::of(kind, "LEFT({}, 2)", vec![a]),
                    2 => Tree::of(kind, "REPLACE({}, 'a', {})", vec![a, b]),
                    3 => Tree::of(kind, "TRIM({})", vec![a]),
                    4 => Tree::of(kind, "LPAD({}, 4, 'xy')", vec![a]),
                    _ => Tree::of(kind, "REVERSE({})", vec![a]),
                }
            }
            Kind::Date => {
                let a = part(kind);
                match self.random.below(3) {
                    0 => Tree::of(kind, "({} + INTERVAL 1 DAY)", vec![a]),
                    1 => Tree::of(kind, "({} - INTERVAL 1 MONTH)", vec![a]),
                    _ => Tree::of(kind, "LAST_DAY({})", vec![a]),
                }
            }
            _ => self.operand(kind, seen),
        }
    }

    /// A column or a constant.
    fn operand(&mut self, kind: Kind, seen: &[Column]) -> Tree {
        let of_kind: Vec<&Column> = seen.iter().filter(|column| column.kind == kind).collect();
        if !of_kind.is_empty() && !self.random.one_in(4) {
            let at = self.random.below(of_kind.len());
            return Tree::leaf(kind, of_kind[at].name.clone());
        }
        Tree::leaf(kind, self.schema.constant(kind, self.random))
    }

    fn condition(&mut self, seen: &[Column], depth: usize) -> Tree {
        if depth == 0 {
            return self.comparison(seen, 0);
        }
        let below = depth - 1;
        match self.random.below(9) {
            0 => {
                let (a, b) = (self.condition(seen, below), self.condition(seen, below));
                let text = self.random.pick(&["({} AND {})", "({} OR {})"]);
                Tree::of(Kind::Condition, text, vec![a, b])
            }
            1 => {
                let inner = self.condition(seen, below);
                let text = self
                    .random
                    .pick(&["(NOT {})", "(({}) IS TRUE)", "(({}) IS NULL)"]);
                Tree::of(Kind::Condition, text, vec![inner])
            }
            2 => {
                let query = self.query(&[Kind::Number], seen, below.min(1));
                let text = self.random.pick(&["EXISTS ({})", "NOT EXISTS ({})"]);
                Tree::of(Kind::Condition, text, vec![query])
            }
            3 => {
                let kind = self.kind();
                let value = self.value(kind, seen, below.min(1));
                let query = self.query(&[kind], seen, below.min(1));
                let text = self.random.pick(&[
                    "{} IN ({})",
                    "{} NOT IN ({})",
                    "{} > ANY ({})",
                    "{} <= ALL ({})",
                ]);
                Tree::of(Kind::Condition, text, vec![value, query])
            }
            4 => {
                let kind = self.kind();
                let parts = (0..3)
                    .map(|_| self.value(kind, seen, below.min(1)))
                    .collect();
                let text = self.random.pick(&[
                    "{} BETWEEN {} AND {}",
                    "{} IN ({}, {})",
                    "{} NOT IN ({}, {})",
                ]);
                Tree::of(Kind::Condition, text, parts)
            }
            5 => {
                let kind = match self.random.one_in(2) {
                    true => Kind::Text,
                    false => Kind::Loose,
                };
                let value = self.value(kind, seen, below.min(1));
                let pattern = self.random.pick(&["a%", "%b%", "_", "A_", "%"]);
                let text = format!("{{}} LIKE '{pattern}'");
                Tree::of(Kind::Condition, &text, vec![value])
            }
            6 => {
                let kind = self.kind();
                let value = self.value(kind, seen, below.min(1));
                let text = self.random.pick(&["({} IS NULL)", "({} IS NOT NULL)"]);
                Tree::of(Kind::Condition, text, vec![value])
            }
            _ => self.comparison(seen, below.min(2)),
        }
    }

    fn comparison(&mut self, seen: &[Column], depth: usize) -> Tree {
        let kind = self.kind();
        let other = match self.mixes && self.random.one_in(4) {
            true => Kind::VALUES[self.random.below(Kind::VALUES.len())],
            false => kind,
        };
        let (a, b) = (
            self.value(kind, seen, depth),
            self.value(other, seen, depth),
        );
        let operator = self.random.pick(&["=", "=", "<", "<=", ">", "<>", "<=>"]);
        Tree::of(
            Kind::Condition,
            &format!("({{}} {operator} {{}})"),
            vec![a, b],
        )
    }
}

fn separated(at: usize, text: &str) -> String {
    match at {
        0 => text.to_owned(),
        _ => format!(", {text}"),
    }
}
