//! Conditions.

use super::{Column, Generator};
use crate::queries::tree::{Kind, Tree};

impl Generator<'_> {
    pub(super) fn condition(&mut self, seen: &[Column], depth: usize) -> Tree {
        if depth == 0 {
            return self.comparison(seen, 0);
        }
        let below = depth - 1;
        match self.random.below(10) {
            0 => {
                let (a, b) = (self.condition(seen, below), self.condition(seen, below));
                let text = self
                    .random
                    .pick(&["({} AND {})", "({} OR {})", "({} XOR {})"]);
                Tree::of(Kind::Condition, text, vec![a, b])
            }
            1 => {
                let inner = self.condition(seen, below);
                let text = self.random.pick(&[
                    "(NOT {})",
                    "(({}) IS TRUE)",
                    "(({}) IS NULL)",
                    "(({}) IS NOT FALSE)",
                ]);
                Tree::of(Kind::Condition, text, vec![inner])
            }
            2 => {
                let query = self.query(&[Kind::Number], seen, below.min(1));
                let text = self.random.pick(&["EXISTS ({})", "NOT EXISTS ({})"]);
                Tree::of(Kind::Condition, text, vec![query])
            }
            3 => self.quantified(seen, below.min(1)),
            4 => {
                let kind = self.kind();
                let mut parts = vec![self.value(kind, seen, below.min(1))];
                for _ in 0..2 {
                    let other = self.other_kind(kind);
                    parts.push(self.value(other, seen, below.min(1)));
                }
                // MySQL compares a time between a time and NULL as texts.
                let has_null = parts.iter().any(|part| part.text() == "NULL");
                if has_null {
                    return Tree::of(Kind::Condition, "({} IN ({}, {}))", parts);
                }
                let text = self.random.pick(&[
                    "({} BETWEEN {} AND {})",
                    "({} NOT BETWEEN {} AND {})",
                    "({} IN ({}, {}))",
                    "({} NOT IN ({}, {}))",
                ]);
                Tree::of(Kind::Condition, text, parts)
            }
            5 => {
                let kind = if self.random.one_in(2) {
                    Kind::Text
                } else {
                    Kind::Loose
                };
                let value = self.value(kind, seen, below.min(1));
                let pattern = self.random.pick(&["a%", "%b%", "_", "A_", "%"]);
                let text = format!("({{}} LIKE '{pattern}')");
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

    /// IN, ANY and ALL of a subquery.
    fn quantified(&mut self, seen: &[Column], below: usize) -> Tree {
        let kind = self.kind();
        let other = self.other_kind(kind);
        let value = self.value(kind, seen, below);
        if self.random.one_in(4) {
            let second = self.kind();
            let right = self.value(second, seen, below);
            let query = self.quantified_query(&[other, second], seen, below, false);
            let text = self
                .random
                .pick(&["(({}, {}) IN ({}))", "(({}, {}) NOT IN ({}))"]);
            return Tree::of(Kind::Condition, text, vec![value, right, query]);
        }
        let text = self.random.pick(&[
            "({} IN ({}))",
            "({} NOT IN ({}))",
            "({} IN ({}))",
            "({} NOT IN ({}))",
            "({} > ANY ({}))",
            "({} >= ANY ({}))",
            "({} < ANY ({}))",
            "({} <= ALL ({}))",
            "({} > ALL ({}))",
            "({} <> ALL ({}))",
            "({} = ANY ({}))",
            "({} <> ANY ({}))",
            "({} = ALL ({}))",
        ]);
        // MySQL materializes the subquery of an equality unless it compares a text with a value of another type, or a
        // constant, and computes that of `<` and its kind once.
        let is_equality = ["IN", "<> ALL", "= ANY"]
            .iter()
            .any(|word| text.contains(word));
        let is_order = ["{} <", "{} >"].iter().any(|word| text.contains(word));
        let is_order = is_order && !text.contains("<>");
        let reads_column = seen
            .iter()
            .any(|column| value.text().contains(&column.name));
        let is_materialized = is_order || is_equality && kind == other && reads_column;
        let query = self.quantified_query(&[other], seen, below, is_materialized);
        Tree::of(Kind::Condition, text, vec![value, query])
    }

    pub(super) fn comparison(&mut self, seen: &[Column], depth: usize) -> Tree {
        let kind = self.kind();
        let other = self.other_kind(kind);
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
