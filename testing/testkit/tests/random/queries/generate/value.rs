//! Values of a kind.

use super::{Column, Generator};
use crate::queries::functions::{Call, SCALAR};
use crate::queries::tree::{Kind, Tree};

impl Generator<'_> {
    pub(super) fn value(&mut self, kind: Kind, seen: &[Column], depth: usize) -> Tree {
        if depth == 0 || self.random.one_in(3) {
            return self.operand(kind, seen);
        }
        let below = depth - 1;
        if self.wild && self.random.one_in(2) {
            let fitting: Vec<&Call> = SCALAR.iter().filter(|call| call.result == kind).collect();
            if !fitting.is_empty() {
                let call = fitting[self.random.below(fitting.len())];
                return self.call(call, seen, below);
            }
        }
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
        if kind.is_exact() && self.random.one_in(8) {
            return self.scalar_subquery(kind, seen, below);
        }
        self.simple(kind, seen, below)
    }

    /// A subquery that gives one value.
    fn scalar_subquery(&mut self, kind: Kind, seen: &[Column], below: usize) -> Tree {
        let (from, own) = self.factor(0);
        let mut inner = own.clone();
        inner.extend_from_slice(seen);
        let condition = self.condition(&inner, below);
        if self.random.one_in(4) {
            let value = self.value(kind, &inner, below.min(1));
            let text = "(SELECT {} FROM {} WHERE {} ORDER BY 1 LIMIT 1)";
            return Tree::of(kind, text, vec![value, from, condition]);
        }
        let item = self.aggregated(kind, &[], &own, 1);
        Tree::of(
            kind,
            "(SELECT {} FROM {} WHERE {})",
            vec![item, from, condition],
        )
    }

    /// A call of any function, whose arguments are mostly of the kinds that it wants.
    pub(super) fn call(&mut self, call: &Call, seen: &[Column], below: usize) -> Tree {
        // Servers compare a date with a text differently.
        let is_strict = ["GREATEST", "LEAST"]
            .iter()
            .any(|name| call.text.starts_with(name));
        let arguments = call.arguments.iter().map(|kind| {
            let kind = match kind {
                Kind::Condition => return self.condition(seen, below),
                Kind::Fixed => self.any(call.result),
                Kind::Query => [
                    Kind::Number,
                    Kind::Text,
                    Kind::Date,
                    Kind::Time,
                    Kind::Moment,
                ][self.random.below(5)],
                kind if !is_strict && self.random.one_in(16) => self.another(*kind, call.result),
                kind => *kind,
            };
            self.value(kind, seen, below)
        });
        let arguments = arguments.collect();
        Tree::of(call.result, &call.text, arguments)
    }

    /// Another kind than the one that a function expects: not a text as JSON, which is always an error, nor a number as
    /// a date, which MySQL 9 converts differently from MySQL 8.
    fn another(&mut self, wanted: Kind, result: Kind) -> Kind {
        let kind = self.any(result);
        let is_date = |kind| matches!(kind, Kind::Date | Kind::Time | Kind::Moment);
        match (wanted, kind) {
            (Kind::Json | Kind::Binary, _) | (_, Kind::Float) => wanted,
            (wanted, Kind::Number) if is_date(wanted) => wanted,
            (Kind::Number, kind) if is_date(kind) => wanted,
            _ => kind,
        }
    }

    /// Any kind that can give a result of a kind.
    fn any(&mut self, result: Kind) -> Kind {
        // Comparisons of documents and bytes with other kinds are tested separately.
        let kinds = [
            Kind::Number,
            Kind::Float,
            Kind::Text,
            Kind::Loose,
            Kind::Date,
            Kind::Time,
            Kind::Moment,
        ];
        let kind = kinds[self.random.below(kinds.len())];
        // Strings get their collation from their source.
        match result {
            Kind::Text | Kind::Binary if !kind.is_exact() => Kind::Text,
            _ => kind,
        }
    }

    fn simple(&mut self, kind: Kind, seen: &[Column], below: usize) -> Tree {
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
    pub(super) fn operand(&mut self, kind: Kind, seen: &[Column]) -> Tree {
        let of_kind: Vec<&Column> = seen.iter().filter(|column| column.kind == kind).collect();
        if !of_kind.is_empty() && !self.random.one_in(4) {
            let at = self.random.below(of_kind.len());
            return Tree::leaf(kind, of_kind[at].name.clone());
        }
        Tree::constant(kind, self.schema.constant(kind, self.random))
    }
}
