//! SELECT with window functions.
//!
//! Rows that are equal in all columns read give the same values in any order. So windows whose frames count rows are
//! ordered by all columns that their query block reads; the others by any.

use super::{Column, Generator, separated};
use crate::queries::tree::{Kind, Tree};

/// Frames that count rows.
const ROWS: [&str; 8] = [
    "ROWS UNBOUNDED PRECEDING",
    "ROWS 1 PRECEDING",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND 4 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
];

/// Frames of peers.
const PEERS: [&str; 4] = [
    "",
    "RANGE UNBOUNDED PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE CURRENT ROW",
];

/// Frames by the value of a number.
const VALUES: [&str; 5] = [
    "RANGE 1 PRECEDING",
    "RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "RANGE BETWEEN 2 FOLLOWING AND 5 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "RANGE BETWEEN 3 PRECEDING AND UNBOUNDED FOLLOWING",
];

impl Generator<'_> {
    /// A query block whose values are those of window functions.
    pub(super) fn windowed(
        &mut self,
        kinds: &[Kind],
        from: Tree,
        own: &[Column],
        condition: Tree,
    ) -> Tree {
        let exact = own.iter().filter(|column| column.kind.is_exact());
        let exact: Vec<Column> = exact.cloned().collect();
        let mut text = "SELECT ".to_owned();
        let mut parts = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            parts.push(self.over_window(*kind, &exact));
            text += &separated(at, &format!("{{}} AS c{at}"));
        }
        text += " FROM {}{}";
        parts.extend([from, condition]);
        Tree::of(Kind::Query, &text, parts)
    }

    /// A value of a kind over a window.
    fn over_window(&mut self, kind: Kind, columns: &[Column]) -> Tree {
        let of_kind: Vec<&Column> = columns.iter().filter(|one| one.kind == kind).collect();
        let argument = match of_kind.as_slice() {
            [] => None,
            some => Some(some[self.random.below(some.len())].name.clone()),
        };
        let Some(argument) = argument.or_else(|| (kind == Kind::Number).then(|| "1".to_owned()))
        else {
            return self.value(kind, columns, 1);
        };
        let by_rows: &[&str] = match kind {
            Kind::Number => &[
                "ROW_NUMBER()",
                "NTILE(3)",
                "LAG({a})",
                "LEAD({a}, 2, 0)",
                "LAG({a}, 0)",
            ],
            _ => &["LAG({a})", "LEAD({a}, 2)", "LAG({a}, 1, {a})"],
        };
        let framed: &[&str] = match kind {
            Kind::Number => &[
                "COUNT(*)",
                "COUNT({a})",
                "SUM({a})",
                "MIN({a})",
                "MAX({a})",
                "FIRST_VALUE({a})",
                "LAST_VALUE({a})",
                "NTH_VALUE({a}, 2)",
            ],
            _ => &[
                "MIN({a})",
                "MAX({a})",
                "FIRST_VALUE({a})",
                "LAST_VALUE({a})",
                "NTH_VALUE({a}, 2)",
            ],
        };
        let of_peers: &[&str] = match kind {
            Kind::Number => &[
                "RANK()",
                "DENSE_RANK()",
                "COUNT(*)",
                "SUM({a})",
                "MIN({a})",
                "MAX({a})",
            ],
            _ => &["MIN({a})", "MAX({a})"],
        };
        let partition = self.partition(columns);
        let numbers: Vec<&Column> = columns
            .iter()
            .filter(|one| one.kind == Kind::Number)
            .collect();
        let (function, order, frame) = match self.random.below(4) {
            0 => (self.random.pick(by_rows), self.whole_order(columns), ""),
            1 => (
                self.random.pick(framed),
                self.whole_order(columns),
                self.random.pick(&ROWS),
            ),
            2 if !numbers.is_empty() => {
                let key = numbers[self.random.below(numbers.len())].name.clone();
                let direction = self.random.pick(&["", " DESC"]);
                let aggregates: Vec<&str> = of_peers
                    .iter()
                    .copied()
                    .filter(|function| !function.contains("RANK"))
                    .collect();
                let order = format!(" ORDER BY {key}{direction}");
                (
                    self.random.pick(&aggregates),
                    order,
                    self.random.pick(&VALUES),
                )
            }
            _ => {
                let mut order = self.whole_order(columns);
                if let Some(comma) = order.find(',') {
                    order.truncate(comma);
                }
                let frame = if order.is_empty() {
                    ""
                } else {
                    self.random.pick(&PEERS)
                };
                (self.random.pick(of_peers), order, frame)
            }
        };
        let function = function.replace("{a}", &argument);
        let call = format!("{function} OVER ({partition}{order} {frame})");
        let call = call.replace("( ", "(").replace(" )", ")");
        Tree::leaf(kind, call)
    }

    fn partition(&mut self, columns: &[Column]) -> String {
        if columns.is_empty() || self.random.one_in(3) {
            return String::new();
        }
        let column = &columns[self.random.below(columns.len())].name;
        format!("PARTITION BY {column}")
    }

    /// An order by all columns.
    fn whole_order(&mut self, columns: &[Column]) -> String {
        if columns.is_empty() {
            return String::new();
        }
        let first = self.random.below(columns.len());
        let (behind, before) = columns.split_at(first);
        let keys = before.iter().chain(behind).map(|column| {
            let direction = self.random.pick(&["", " DESC"]);
            format!("{}{direction}", column.name)
        });
        format!(" ORDER BY {}", keys.collect::<Vec<_>>().join(", "))
    }
}
