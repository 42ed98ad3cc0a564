//! Plans of fragments. A table scan reads an input of the fragment, by its number.

use std::sync::Arc;

use mayfly_plan::physical::FirstRows;
use mayfly_plan::physical::{
    Grouping, JoinKey, JoinKind, Operator, Plan, PushedTerm, SetOperationKind, TemporaryTable,
    WindowOrder,
};
use mayfly_plan::{Expression, with_stack};
use mayfly_types::{Result, SqlType, TermOperator, TermShape};

use super::bytes::{Encoded, Reader, Refused, Writer, encoded_enum, encoded_struct, malformed};
use crate::job::input_source;

encoded_enum!(JoinKind { 0 => Inner, 1 => Left, 2 => Semi, 3 => Anti, 4 => NullAwareAnti });
encoded_enum!(SetOperationKind { 0 => Union, 1 => Intersect, 2 => Except });
encoded_struct!(JoinKey {
    left,
    right,
    null_safe
});
encoded_struct!(FirstRows {
    count,
    counts_values
});
encoded_struct!(WindowOrder {
    partition_keys,
    orders_partitions,
    first
});
encoded_struct!(TemporaryTable {
    purpose,
    cause,
    operator,
    text_bytes,
    work_bytes
});
encoded_struct!(Grouping {
    keys,
    aggregates,
    rollup,
    first_groups,
    ordered,
    gives_states,
    temporary,
});

impl Encoded for Plan {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        with_stack(|| {
            self.number.write(to)?;
            self.operator.write(to)?;
            self.output.write(to)?;
            self.estimated_rows.write(to)
        })
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        with_stack(|| {
            Ok(Self {
                number: Encoded::read(from)?,
                operator: Encoded::read(from)?,
                output: Encoded::read(from)?,
                estimated_rows: Encoded::read(from)?,
            })
        })
    }
}

/// Scan of an input: its number, the types of its columns, and what is read of it.
struct InputScan {
    input: usize,
    types: Vec<SqlType>,
    columns: Vec<usize>,
    predicate: Option<Expression>,
    pushed: Vec<PushedTerm>,
}

encoded_struct!(InputScan {
    input,
    types,
    columns,
    predicate,
    pushed
});
encoded_struct!(PushedTerm {
    shape,
    predicate,
    is_exact
});
encoded_struct!(TermShape {
    column,
    operator,
    collation
});
encoded_enum!(TermOperator {
    0 => Equal, 1 => Less, 2 => AtMost, 3 => Greater, 4 => AtLeast, 5 => Among, 6 => Null, 7 => NotNull,
});

/// The operators of fragments, with a number each.
macro_rules! operators {
    ($( $tag:literal => $variant:ident { $($field:ident),* } ),* $(,)?) => {
        impl Encoded for Operator {
            fn write(&self, to: &mut Writer) -> Result<(), Refused> {
                match self {
                    Self::TableScan { table, columns, predicate, pushed, .. } => {
                        to.byte(0);
                        InputScan {
                            input: usize::try_from(table.id.0).unwrap_or(usize::MAX),
                            types: table.columns.iter().map(|column| column.ty.clone()).collect(),
                            columns: columns.clone(),
                            predicate: predicate.clone(),
                            pushed: pushed.clone(),
                        }
                        .write(to)
                    }
                    $( Self::$variant { $($field),* } => {
                        to.byte($tag);
                        $( $field.write(to)?; )*
                        Ok(())
                    } )*
                    other => Err(Refused(format!("{} is not offloaded", name(other)))),
                }
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                match from.byte()? {
                    0 => {
                        let scan = InputScan::read(from)?;
                        Ok(Self::TableScan {
                            table: Arc::new(input_source(scan.input, &scan.types, 0.0)),
                            alias: String::new(),
                            columns: scan.columns,
                            predicate: scan.predicate,
                            pushed: scan.pushed,
                            order: Vec::new(),
                            possible: Vec::new(),
                        })
                    }
                    $( $tag => Ok(Self::$variant { $( $field: Encoded::read(from)? ),* }), )*
                    _ => Err(malformed()),
                }
            }
        }
    };
}

operators! {
    1 => Values { rows },
    2 => Filter { input, predicate },
    3 => Project { input, expressions },
    4 => Limit { input, offset, count },
    5 => Aggregate { input, grouping },
    6 => Sort { input, keys, limit, for_windows, temporary },
    7 => Window { input, partition, order, calls, temporary },
    8 => SetOperation { kind, all, inputs, temporary },
    9 => HashJoin { kind, left, right, keys, residual, build_left, partnered, filters, temporary },
    10 => NestedLoopJoin { kind, left, right, condition, temporary },
}

/// Name of an operator, for users.
pub(crate) fn name(operator: &Operator) -> &'static str {
    match operator {
        Operator::IndexScan(_) | Operator::IndexMerge(_) => "an index scan",
        Operator::IndexLookupJoin(_) => "a join by lookups",
        Operator::Apply { .. } => "a dependent subquery",
        Operator::SharedScan { .. } => "a shared result",
        Operator::WorkingTable { .. } => "a recursive common table expression",
        _ => "an operator",
    }
}
