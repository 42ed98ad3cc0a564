//! Random queries over the tables of [`crate::queries::schema`], whose answers are defined: no LIMIT without an order,
//! no value from an arbitrary row of a group.

mod condition;
mod select;
mod value;
mod window;

use mayfly_trials::Random;

use crate::queries::laws::{LAWS, Law};
use crate::queries::schema::Schema;
use crate::queries::tree::{Kind, Tree};

/// A column that an expression may read.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Kind,
}

/// Generator of one query.
pub(crate) struct Generator<'g> {
    random: &'g mut Random,
    schema: &'g Schema,
    /// Whether comparisons mix types, and all functions are called: where the tables are not portable.
    wild: bool,
    /// Whether window functions stand only where MySQL supports them.
    supported: bool,
    aliases: usize,
    /// Common table expressions in scope, with their columns.
    common: Vec<(String, Vec<Column>)>,
}

impl<'g> Generator<'g> {
    pub(crate) fn new(random: &'g mut Random, schema: &'g Schema) -> Self {
        Self {
            random,
            schema,
            wild: !schema.portable,
            supported: false,
            aliases: 0,
            common: Vec::new(),
        }
    }

    /// The generator without queries for which MySQL's answer is error 1235: IN, ANY and ALL of a subquery with window
    /// functions that it cannot materialize.
    pub(crate) fn of_supported_queries(random: &'g mut Random, schema: &'g Schema) -> Self {
        Self {
            supported: true,
            ..Self::new(random, schema)
        }
    }

    /// A whole statement.
    pub(crate) fn statement(&mut self) -> Tree {
        if self.wild && self.random.one_in(2) {
            return self.values();
        }
        let width = 1 + self.random.below(4);
        let kinds: Vec<Kind> = (0..width).map(|_| self.kind()).collect();
        let query = match self.random.below(10) {
            0..7 => self.query(&kinds, &[], 3),
            7 => {
                let counted = self.counted();
                let query = self.query(&kinds, &[], 3);
                Tree::of(Kind::Fixed, "WITH RECURSIVE {} {}", vec![counted, query])
            }
            _ => {
                let own: Vec<Kind> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
                let common = self.query(&own, &[], 2);
                let columns = numbered(&own);
                self.common.push(("w".to_owned(), columns));
                let query = self.query(&kinds, &[], 3);
                Tree::of(Kind::Fixed, "WITH w AS ({}) {}", vec![common, query])
            }
        };
        if !kinds.iter().all(|kind| kind.is_exact()) || !self.random.one_in(4) {
            return query;
        }
        // An order that distinguishes any two rows that are not equal.
        let mut order: Vec<usize> = (1..=kinds.len()).collect();
        order.rotate_left(self.random.below(kinds.len()));
        let order: Vec<String> = order
            .iter()
            .map(|column| format!("{column}{}", self.random.pick(&["", " DESC"])))
            .collect();
        let limit =
            self.random
                .pick(&["", " LIMIT 3", " LIMIT 5 OFFSET 2", " LIMIT 1", " LIMIT 0"]);
        let order = format!(" ORDER BY {}{limit}", order.join(", "));
        let order = Tree::leaf(Kind::Fixed, order).optional();
        Tree::of(Kind::Fixed, "{}{}", vec![query, order])
    }

    /// Numbers that a recursive common table expression counts.
    fn counted(&mut self) -> Tree {
        let number = Column {
            name: "n".to_owned(),
            kind: Kind::Number,
        };
        self.common.push(("r".to_owned(), vec![number]));
        let most = 1 + self.random.below(9);
        let text = match self.random.below(6) {
            0 => format!("r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {most})"),
            1 => format!(
                "r (n) AS (SELECT 0 UNION SELECT (n + 3) % {} FROM r)",
                most + 1
            ),
            // Rows that overflow to disk where there is little memory.
            2 => format!(
                "r (n, s) AS (SELECT 0, CAST('' AS CHAR(300)) UNION \
                 SELECT (n * 5 + 3) % {0}, REPEAT('p', (n * 5 + 3) % {0}) FROM r)",
                30 * most + 1
            ),
            3 => format!(
                "r (n, m) AS (SELECT 1, 1 UNION SELECT n + 1, m FROM r WHERE n < {most} UNION \
                 SELECT n, m + 1 FROM r WHERE m < {most})"
            ),
            4 => format!(
                "r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {most} UNION ALL \
                 SELECT n + 2 FROM r WHERE n < {most})"
            ),
            _ => {
                let table = &self.schema.tables[self.random.below(self.schema.tables.len())].name;
                format!(
                    "r (n) AS (SELECT id FROM {table} UNION \
                     SELECT x.id FROM r JOIN {table} AS x ON x.id = r.n + {most})"
                )
            }
        };
        Tree::leaf(Kind::Fixed, text)
    }

    /// Expressions over the rows of a table without conditions: an error here is one in every plan.
    fn values(&mut self) -> Tree {
        let (from, columns) = self.factor(0);
        let count = 1 + self.random.below(2);
        let mut text = "SELECT ".to_owned();
        let mut parts = Vec::new();
        for at in 0..count {
            let kind = self.kind();
            let depth = 1 + self.random.below(2);
            parts.push(self.value(kind, &columns, depth));
            text += &separated(at, &format!("{{}} AS c{at}"));
        }
        text += " FROM {}";
        parts.push(from);
        Tree::of(Kind::Query, &text, parts)
    }

    /// A law, with its parts.
    pub(crate) fn law(&mut self) -> (Law, Tree) {
        let law = self.random.pick(&LAWS);
        let (from, columns) = self.from(&[], 1);
        let condition = self.condition(&columns, 3);
        let kind = loop {
            let kind = self.kind();
            if kind.is_exact() {
                break kind;
            }
        };
        let value = self.value(kind, &columns, 1);
        let number = self.value(Kind::Number, &columns, 1);
        let parts = vec![from, condition, value, number];
        (law, Tree::of(Kind::Fixed, "{}\n{}\n{}\n{}", parts))
    }

    fn kind(&mut self) -> Kind {
        match self.random.below(10) {
            0..4 => Kind::Number,
            4..6 => Kind::Text,
            6 => Kind::Date,
            7 => Kind::Loose,
            _ if self.wild => Kind::VALUES[self.random.below(Kind::VALUES.len())],
            _ => Kind::Number,
        }
    }

    /// The kind to compare a kind with: mostly the same.
    fn other_kind(&mut self, kind: Kind) -> Kind {
        let mixes = |kind| !matches!(kind, Kind::Binary | Kind::Json);
        let other = Kind::VALUES[self.random.below(Kind::VALUES.len())];
        if self.wild && self.random.one_in(4) && mixes(kind) && mixes(other) {
            other
        } else {
            kind
        }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }
}

/// Columns `c0`, `c1`, … of these kinds.
fn numbered(kinds: &[Kind]) -> Vec<Column> {
    let columns = kinds.iter().enumerate().map(|(at, kind)| Column {
        name: format!("c{at}"),
        kind: *kind,
    });
    columns.collect()
}

fn separated(at: usize, text: &str) -> String {
    match at {
        0 => text.to_owned(),
        _ => format!(", {text}"),
    }
}
