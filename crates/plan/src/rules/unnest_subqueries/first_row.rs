//! First row of each group, for `ORDER BY … LIMIT 1` in a subquery: rows are numbered within their groups by a window,
//! and the one with the number is kept (Neumann, "Improving Unnesting of Complex Queries", BTW 2025).
//!
//! ```text
//! (SELECT b FROM u WHERE u.k = t.k ORDER BY c LIMIT 1)
//!   t LEFT JOIN (SELECT k, b FROM (SELECT k, b, ROW_NUMBER() OVER (PARTITION BY k ORDER BY c) n FROM u) x WHERE n = 1) d ON d.k = t.k
//! ```

use mayfly_types::{SqlType, Value};

use crate::bind::compare_expression as compare;
use crate::rules::rule::{NewColumns, is_movable};
use crate::tree::expression::{Comparison, Expression};
use crate::tree::logical::{ColumnSet, Computed, Relation, Window, has_subquery};
use crate::tree::physical::SortKey;
use crate::window::{Frame, FrameBound, Over, WindowCall, WindowFunction};

/// `ORDER BY order LIMIT offset, 1`.
pub(super) struct FirstRow {
    order: Vec<SortKey>,
    offset: u64,
    /// Columns computed from that row, step by step.
    above: Vec<Vec<Computed>>,
}

impl FirstRow {
    /// Takes the ORDER BY and LIMIT off a relation.
    pub(super) fn of(relation: Relation) -> Option<(Relation, Self)> {
        let (mut rest, offset) = match relation {
            Relation::Block {
                input,
                derived: None,
                ..
            } => return Self::of(*input),
            Relation::Limit {
                input,
                offset,
                count: 1,
            } => (*input, offset),
            _ => return None,
        };
        let mut above = Vec::new();
        loop {
            rest = match rest {
                Relation::Extend { input, columns } => {
                    above.push(columns);
                    *input
                }
                Relation::Sort {
                    input,
                    keys,
                    limit: None,
                    for_windows: None,
                    ..
                } => {
                    let order = keys;
                    return Some((
                        *input,
                        Self {
                            order,
                            offset,
                            above,
                        },
                    ));
                }
                _ => return None,
            };
        }
    }

    /// Whether the first row depends on the group's rows alone, whenever it is computed.
    pub(super) fn is_of_group(&self, outer: &ColumnSet) -> bool {
        let computed = self.above.iter().flatten().map(|column| &column.expression);
        let mut all = self.order.iter().map(|key| &key.expression).chain(computed);
        all.all(|one| !one.columns().intersects(outer) && is_movable(one) && !has_subquery(one))
    }

    /// Whether the first row is the only one where there is one.
    pub(super) fn is_only_row(&self) -> bool {
        self.offset == 0
    }

    /// Columns computed from the row, over the rows of a relation.
    pub(super) fn computed(self, rows: Relation) -> Relation {
        let above = self.above.into_iter().rev();
        above.fold(rows, Relation::extended)
    }

    /// First row of each group of `keys`, of the rows of a relation.
    pub(super) fn of_groups(
        mut self,
        rows: Relation,
        keys: Vec<Computed>,
        columns: &NewColumns,
    ) -> Relation {
        let column = |id, one: &Expression| Expression::column(id, one.ty.clone(), one.nullable);
        let partition = keys.iter().map(|key| column(key.id, &key.expression));
        let partition = partition.collect();
        let mut computed = keys;
        for SortKey { expression, .. } in &mut self.order {
            if expression.as_column().is_none() {
                let id = columns.one();
                let read = column(id, expression);
                let expression = std::mem::replace(expression, read);
                computed.push(Computed { id, expression });
            }
        }
        let (id, call) = (columns.one(), row_number());
        let number = Expression::column(id, call.result.clone(), false);
        let wanted = Expression::literal(Value::UInt(self.offset + 1), call.result.clone());
        let order = std::mem::take(&mut self.order);
        let numbered = Window::over(rows.extended(computed), partition, order, vec![(id, call)]);
        self.computed(numbered.filtered(vec![compare(Comparison::Equal, number, wanted)]))
    }
}

/// ROW_NUMBER()
fn row_number() -> WindowCall {
    WindowCall {
        function: WindowFunction::RowNumber,
        arguments: Vec::new(),
        frame: Frame {
            counts_rows: false,
            start: FrameBound::Unbounded,
            end: FrameBound::CurrentRow,
        },
        result: SqlType {
            length: 21,
            ..SqlType::bigint_unsigned()
        },
        nullable: false,
        over: Over::default(),
    }
}
