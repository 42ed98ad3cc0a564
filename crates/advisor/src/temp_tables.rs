//! Temporary tables that a server makes for a statement, and their contents.
//!
//! The rules are those of the servers' optimizers (MySQL manual "Internal Temporary Table Use in MySQL", "GROUP BY
//! Optimization", "DISTINCT Optimization"; MariaDB documentation "Internal Temporary Tables"), each checked on MariaDB
//! 10.11 and MySQL 9.7. A table that the optimizer may or may not make, by costs that are not known here, is
//! [`Strength::Perhaps`]: it counts only when the server has reported a table that nothing else explains.

use mayfly_syntax::ast::{self, Expr, Visit, Visitor};

use crate::explain::Explain;
use crate::index;
use crate::schema::Schema;
use crate::server::{Family, LONG_STRING_CHARACTERS, Server};
use crate::statement::{
    Block, Origin, Role, SetOperation, Statement, StatementKind, SubqueryKind, Value, ValueTypes,
};
use crate::workload::Digest;

/// A temporary table that a statement needs.
#[derive(Debug, Clone)]
pub(crate) struct TemporaryTable {
    /// Its purpose.
    pub(crate) purpose: Purpose,
    /// The block that it is made for.
    pub(crate) block: Option<usize>,
    /// Strength of the reason to make it.
    pub(crate) strength: Strength,
    /// The values in its rows.
    pub(crate) held: Vec<Held>,
}

/// Whether a temporary table is always made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Depends on costs.
    Perhaps,
    /// Required by the server's rules.
    Always,
}

/// Purpose of a temporary table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Purpose {
    /// GROUP BY
    GroupBy,
    /// GROUP BY has an index, and ORDER BY wants another order.
    OrderDiffersFromGroup,
    /// DISTINCT
    Distinct,
    /// ORDER BY over a join, by columns of other tables than its first.
    OrderByAcrossJoin,
    /// A window function.
    Window,
    /// COUNT(DISTINCT …), GROUP_CONCAT(…).
    DistinctAggregate(String),
    /// A derived table, a view or a common table expression that is not merged, and the reason.
    NotMerged(NotMerged),
    /// A recursive common table expression.
    Recursive(String),
    /// UNION, INTERSECT, EXCEPT, or UNION ALL with an ORDER BY.
    SetOperation(usize),
    /// A materialized subquery.
    Materialization,
    /// The results of a subquery by the values of the outer row that it reads (MariaDB).
    SubqueryCache,
    /// SQL_BUFFER_RESULT
    Buffer,
    /// INSERT … SELECT from the target table.
    InsertFromSameTable,
    /// UPDATE of several tables.
    MultiTableUpdate,
    /// SHOW, and tables that the server generates.
    Metadata(String),
}

/// Reason why a query block is not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotMerged {
    Distinct,
    GroupBy,
    Aggregate,
    Having,
    Limit,
    Union,
    Window,
    SelectedSubquery,
    UserVariable,
    NoTable,
    SwitchedOff,
    Algorithm,
}

/// A value in the rows of a temporary table.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// Its expression.
    pub(crate) expr: Expr,
    /// Width of the value.
    pub(crate) value: Value,
    /// Whether rows are looked up by it.
    pub(crate) is_key: bool,
    /// Whether it is computed: neither a column nor the MIN or MAX of one.
    pub(crate) computed: bool,
}

impl Held {
    /// Whether a server with rows of fixed length makes it a BLOB.
    pub(crate) fn is_long(&self) -> bool {
        let characters = self.value.characters().unwrap_or(0);
        characters > LONG_STRING_CHARACTERS && (self.computed || self.is_key)
    }
}

/// Finds the temporary tables of a statement.
pub(crate) struct Finder<'a> {
    pub(crate) statement: &'a Statement,
    pub(crate) server: &'a Server,
    pub(crate) types: &'a ValueTypes<'a>,
}

impl Finder<'_> {
    /// The tables that the server's rules require, and those that they allow.
    pub(crate) fn all(&self) -> Vec<TemporaryTable> {
        let mut found = Vec::new();
        for block in &self.statement.blocks {
            self.not_merged(block, &mut found);
            self.groups(block, &mut found);
            self.others(block, &mut found);
        }
        for (number, operation) in self.statement.set_operations.iter().enumerate() {
            self.set_operation(number, operation, &mut found);
        }
        for name in &self.statement.recursive {
            found.push(plain(
                Purpose::Recursive(name.clone()),
                None,
                Strength::Always,
            ));
        }
        match &self.statement.kind {
            StatementKind::InsertSelect {
                reads_target: true, ..
            } => {
                let held = self
                    .statement
                    .blocks
                    .first()
                    .map_or(Vec::new(), |block| self.items(block));
                let table = plain(Purpose::InsertFromSameTable, Some(0), Strength::Always);
                found.push(TemporaryTable { held, ..table });
            }
            StatementKind::MultiTableUpdate => {
                found.push(plain(Purpose::MultiTableUpdate, None, Strength::Perhaps));
            }
            StatementKind::Show(what) => {
                found.push(plain(
                    Purpose::Metadata(format!("SHOW {}", what.to_uppercase())),
                    None,
                    Strength::Perhaps,
                ));
            }
            _ => {}
        }
        found
    }

    /// Adds the table of a block that the outer block does not merge.
    fn not_merged(&self, block: &Block, found: &mut Vec<TemporaryTable>) {
        let forced = match &block.role {
            Role::Derived(_) | Role::CommonTable(..) => false,
            Role::View { materialized, .. } => *materialized,
            Role::Top | Role::Subquery(_) => return,
        };
        if let Role::CommonTable(name, _) = &block.role
            && self.statement.recursive.contains(name)
        {
            return;
        }
        let is_arm = self
            .statement
            .set_operations
            .iter()
            .any(|operation| operation.blocks.contains(&block.number));
        let cause = if is_arm {
            None
        } else {
            self.why_not_merged(block, forced)
        };
        if let Some(cause) = cause {
            found.push(TemporaryTable {
                purpose: Purpose::NotMerged(cause),
                block: Some(block.number),
                strength: Strength::Always,
                held: self.items(block),
            });
        }
    }

    fn why_not_merged(&self, block: &Block, forced: bool) -> Option<NotMerged> {
        let mut inside = Inside::default();
        for item in block.items() {
            let _ = item.visit(&mut inside);
        }
        Some(if block.is_distinct() {
            NotMerged::Distinct
        } else if !block.group_by.is_empty() {
            NotMerged::GroupBy
        } else if !block.aggregates.is_empty() {
            NotMerged::Aggregate
        } else if block.select.having.is_some() {
            NotMerged::Having
        } else if block.has_windows {
            NotMerged::Window
        } else if block.has_limit {
            NotMerged::Limit
        } else if inside.assigns {
            NotMerged::UserVariable
        } else if block.tables.is_empty() {
            NotMerged::NoTable
        } else if inside.subqueries && !self.server.merges_selected_subqueries() {
            NotMerged::SelectedSubquery
        } else if forced {
            NotMerged::Algorithm
        } else if self.server.switch("derived_merge") == Some(false) {
            NotMerged::SwitchedOff
        } else {
            return None;
        })
    }

    /// Adds the tables of GROUP BY and DISTINCT.
    fn groups(&self, block: &Block, found: &mut Vec<TemporaryTable>) {
        if !block.group_by.is_empty() {
            self.group_by(block, found);
        } else if block.is_distinct() && block.aggregates.is_empty() {
            self.distinct(block, found);
        }
        for aggregate in &block.aggregates {
            let is_list = aggregate.name == "GROUP_CONCAT";
            let counts = matches!(
                aggregate.name.as_str(),
                "COUNT" | "SUM" | "AVG" | "STD" | "STDDEV" | "VARIANCE"
            );
            if is_list || counts && aggregate.distinct {
                let held = aggregate.arguments.iter();
                let held = held
                    .map(|argument| self.held(block, argument, aggregate.distinct))
                    .collect();
                found.push(TemporaryTable {
                    purpose: Purpose::DistinctAggregate(aggregate.name.clone()),
                    block: Some(block.number),
                    strength: Strength::Always,
                    held,
                });
            }
        }
    }

    fn group_by(&self, block: &Block, found: &mut Vec<TemporaryTable>) {
        let keys: Vec<&Expr> = block.group_by.iter().collect();
        let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
        // Rows are sorted, so that equal groups are adjacent.
        let sorts = block.rollup
            || block.modifiers().sql_big_result
            || block
                .aggregates
                .iter()
                .any(|one| one.distinct || one.name == "GROUP_CONCAT");
        let differs = !is_prefix(&order, &keys);
        let by_index = self.order_of_index(block, &keys);
        let (purpose, strength) = match by_index {
            ByIndex::Yes if !differs => return,
            ByIndex::Yes => (Purpose::OrderDiffersFromGroup, self.sorted_in_table()),
            ByIndex::Perhaps if differs => (Purpose::GroupBy, self.sorted_in_table()),
            ByIndex::Perhaps => (Purpose::GroupBy, Strength::Perhaps),
            ByIndex::No => (Purpose::GroupBy, Strength::Always),
        };
        if sorts && !differs {
            return;
        }
        let strength = if sorts { Strength::Perhaps } else { strength };
        found.push(TemporaryTable {
            purpose,
            block: Some(block.number),
            strength,
            held: self.grouped_values(block),
        });
    }

    fn distinct(&self, block: &Block, found: &mut Vec<TemporaryTable>) {
        let items: Vec<&Expr> = block.items().collect();
        let holds_unique_key = !block.has_wildcard() && block.tables.len() == 1 && {
            let places: Vec<_> = items.iter().filter_map(|item| block.place(item)).collect();
            let source = block.tables[0].base();
            source.is_some_and(|source| {
                source
                    .indexes
                    .iter()
                    .filter(|index| index.unique && !index.parts.is_empty())
                    .any(|index| {
                        index.parts.iter().all(|(column, _)| {
                            column.is_some_and(|column| {
                                !source.columns[column].nullable
                                    && places.iter().any(|place| place.column == column)
                            })
                        })
                    })
            })
        };
        if holds_unique_key {
            return;
        }
        let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
        let strength = match self.order_of_index(block, &items) {
            _ if block.has_wildcard() => Strength::Perhaps,
            ByIndex::Yes if is_prefix(&order, &items) => return,
            ByIndex::Perhaps => Strength::Perhaps,
            _ => Strength::Always,
        };
        // Over one table it is a GROUP BY of its items; over a join whole rows are compared.
        let is_key = block.tables.len() == 1;
        let held = items.iter().map(|item| self.held(block, item, is_key));
        found.push(TemporaryTable {
            purpose: Purpose::Distinct,
            block: Some(block.number),
            strength,
            held: held.collect(),
        });
    }

    /// Adds the tables of ORDER BY across a join, windows, SQL_BUFFER_RESULT, materialized subqueries, and generated
    /// tables.
    fn others(&self, block: &Block, found: &mut Vec<TemporaryTable>) {
        let push = |found: &mut Vec<TemporaryTable>, purpose, strength, held| {
            found.push(TemporaryTable {
                purpose,
                block: Some(block.number),
                strength,
                held,
            });
        };
        if block.has_windows {
            let strength = if self.server.family == Family::MariaDb {
                Strength::Always
            } else {
                Strength::Perhaps
            };
            push(found, Purpose::Window, strength, self.items(block));
        }
        if block.modifiers().sql_buffer_result {
            push(found, Purpose::Buffer, Strength::Always, self.items(block));
        }
        let joins = block.tables.len() > 1
            && !(0..block.tables.len()).all(|table| index::is_one_row(block, table));
        if joins
            && !block.order_by.is_empty()
            && block.group_by.is_empty()
            && !block.is_distinct()
            && !block.has_windows
        {
            let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
            // Columns of one table: it may be the first of the join, and is then sorted separately.
            let of_one = index::key_columns(block, &order).is_some();
            let unknown = order.iter().any(|key| block.place(key).is_none());
            let strength = if of_one || unknown {
                Strength::Perhaps
            } else {
                self.sorted_in_table()
            };
            push(
                found,
                Purpose::OrderByAcrossJoin,
                strength,
                self.items(block),
            );
        }
        if matches!(
            block.role,
            Role::Subquery(SubqueryKind::In | SubqueryKind::Exists)
        ) {
            push(
                found,
                Purpose::Materialization,
                Strength::Perhaps,
                self.items(block),
            );
        }
        if block.role == Role::Subquery(SubqueryKind::Scalar)
            && self.server.family == Family::MariaDb
        {
            push(found, Purpose::SubqueryCache, Strength::Perhaps, Vec::new());
        }
        for table in &block.tables {
            if let Origin::System(name) = &table.origin {
                push(
                    found,
                    Purpose::Metadata(name.clone()),
                    Strength::Perhaps,
                    Vec::new(),
                );
            }
        }
    }

    fn set_operation(
        &self,
        number: usize,
        operation: &SetOperation,
        found: &mut Vec<TemporaryTable>,
    ) {
        let held: Vec<Held> = operation
            .blocks
            .iter()
            .filter_map(|block| self.statement.blocks.get(*block))
            .flat_map(|block| self.items(block))
            // The columns of the result are columns of a table, however they are computed.
            .map(|held| Held {
                computed: false,
                is_key: false,
                ..held
            })
            .collect();
        if !operation.all || operation.ordered {
            let table = plain(Purpose::SetOperation(number), None, Strength::Always);
            found.push(TemporaryTable { held, ..table });
        } else if matches!(
            operation.role,
            Role::Derived(_) | Role::CommonTable(..) | Role::View { .. }
        ) && !self.is_recursive(&operation.role)
        {
            let block = operation.blocks.first().copied();
            let table = plain(
                Purpose::NotMerged(NotMerged::Union),
                block,
                Strength::Always,
            );
            found.push(TemporaryTable { held, ..table });
        }
    }

    fn is_recursive(&self, role: &Role) -> bool {
        matches!(role, Role::CommonTable(name, _) if self.statement.recursive.contains(name))
    }

    /// Whether an index gives rows in the order of keys.
    fn order_of_index(&self, block: &Block, keys: &[&Expr]) -> ByIndex {
        let Some((table, columns)) = index::key_columns(block, keys) else {
            let unknown = keys
                .iter()
                .any(|key| is_name(key) && block.place(key).is_none());
            return if unknown && self.has_unknown_table(block) {
                ByIndex::Perhaps
            } else {
                ByIndex::No
            };
        };
        if columns.is_empty() {
            return ByIndex::Yes;
        }
        let Some(source) = block.tables.get(table).and_then(|table| table.base()) else {
            return ByIndex::Perhaps;
        };
        if (0..block.tables.len()).all(|table| index::is_one_row(block, table)) {
            return ByIndex::Yes;
        }
        match index::ordering_index(block, table, &columns, source) {
            Some(_) if block.tables.len() == 1 => ByIndex::Yes,
            Some(_) => ByIndex::Perhaps,
            None => ByIndex::No,
        }
    }

    fn has_unknown_table(&self, block: &Block) -> bool {
        block
            .tables
            .iter()
            .any(|table| matches!(table.origin, Origin::Unknown(_)))
    }

    /// Strength of the reason to sort rows through a table.
    fn sorted_in_table(&self) -> Strength {
        if self.server.sorts_in_tables() {
            Strength::Always
        } else {
            Strength::Perhaps
        }
    }

    fn held(&self, block: &Block, expr: &Expr, is_key: bool) -> Held {
        Held {
            value: self.types.value(block, expr),
            computed: !is_name(expr) && !is_extreme_of_name(expr),
            expr: expr.clone(),
            is_key,
        }
    }

    /// Values of the select list; for `*`, the columns of the tables.
    fn items(&self, block: &Block) -> Vec<Held> {
        let mut held: Vec<Held> = block
            .items()
            .map(|item| self.held(block, item, false))
            .collect();
        if block.has_wildcard()
            && let Some(columns) = self.types.columns(block)
        {
            held.extend(columns.into_iter().map(|(name, value)| Held {
                expr: Expr::Identifier(ast::Ident::with_quote('`', name)),
                value,
                is_key: false,
                computed: false,
            }));
        }
        held
    }

    /// The keys of GROUP BY, and the values kept of each group.
    fn grouped_values(&self, block: &Block) -> Vec<Held> {
        let mut held: Vec<Held> = block
            .group_by
            .iter()
            .map(|key| self.held(block, key, true))
            .collect();
        let order = block.order_by.iter().map(|key| &key.expr);
        for item in block.items().chain(order) {
            if !block.group_by.contains(item) && !held.iter().any(|one| one.expr == *item) {
                held.push(self.held(block, item, false));
            }
        }
        held
    }
}

/// Whether an index gives an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByIndex {
    Yes,
    Perhaps,
    No,
}

fn plain(purpose: Purpose, block: Option<usize>, strength: Strength) -> TemporaryTable {
    TemporaryTable {
        purpose,
        block,
        strength,
        held: Vec::new(),
    }
}

fn is_name(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// Whether an expression is MIN or MAX of a column, which have the column's type.
fn is_extreme_of_name(expr: &Expr) -> bool {
    let Expr::Function(call) = expr else {
        return false;
    };
    let name = call.name.to_string().to_ascii_uppercase();
    let ast::FunctionArguments::List(list) = &call.args else {
        return false;
    };
    matches!(name.as_str(), "MIN" | "MAX" | "ANY_VALUE")
        && matches!(list.args.as_slice(), [ast::FunctionArg::Expr(expr)] if is_name(expr))
}

/// Whether one list of keys is a prefix of another.
fn is_prefix(short: &[&Expr], long: &[&Expr]) -> bool {
    let same = |a: &Expr, b: &Expr| {
        let last = |expr: &Expr| match expr {
            Expr::CompoundIdentifier(parts) => parts.last().map(|part| part.value.to_lowercase()),
            Expr::Identifier(part) => Some(part.value.to_lowercase()),
            _ => None,
        };
        a == b || last(a).is_some() && last(a) == last(b)
    };
    short.len() <= long.len() && short.iter().zip(long).all(|(a, b)| same(a, b))
}

/// Visitor that finds subqueries and assignments in a select list.
#[derive(Default)]
struct Inside {
    subqueries: bool,
    assigns: bool,
}

impl Visitor for Inside {
    fn pre_visit_expr(&mut self, expr: &Expr) -> std::ops::ControlFlow<()> {
        self.assigns |= matches!(
            expr,
            Expr::BinaryOp {
                op: ast::BinaryOperator::Assignment,
                ..
            }
        );
        std::ops::ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _query: &ast::Query) -> std::ops::ControlFlow<()> {
        self.subqueries = true;
        std::ops::ControlFlow::Continue(())
    }
}

/// The tables among those of the rules that agree with the server's counters.
pub(crate) fn agreeing(
    mut tables: Vec<TemporaryTable>,
    digest: &Digest,
    explain: Option<&Explain>,
) -> Vec<TemporaryTable> {
    if digest.is_counted() && digest.tables == 0 && digest.disk_tables == 0 {
        return Vec::new();
    }
    if let Some(explain) = explain {
        let temporary = explain.says("Using temporary");
        tables.retain_mut(|table| match table.purpose {
            Purpose::GroupBy
            | Purpose::OrderDiffersFromGroup
            | Purpose::Distinct
            | Purpose::OrderByAcrossJoin
            | Purpose::Buffer => {
                table.strength = table.strength.max(if temporary {
                    Strength::Perhaps
                } else {
                    table.strength
                });
                temporary
            }
            Purpose::Materialization => {
                let seen =
                    explain.has_select_type(&["MATERIALIZED"]) || explain.says("Start temporary");
                if seen {
                    table.strength = Strength::Always;
                }
                seen
            }
            Purpose::NotMerged(_) => {
                explain.has_select_type(&["DERIVED"]) || explain.says("<derived")
            }
            _ => true,
        });
        if temporary
            && !tables
                .iter()
                .any(|table| table.strength == Strength::Always)
        {
            for table in &mut tables {
                table.strength = Strength::Always;
            }
        }
    }
    let is_sure = tables
        .iter()
        .any(|table| table.strength == Strength::Always);
    // Tables that depend on costs are assumed where the server counted tables that nothing else explains.
    let sure = tables
        .iter()
        .filter(|table| table.strength == Strength::Always)
        .count() as u64;
    let missing = digest.is_counted() && (!is_sure || digest.tables_max > sure);
    if is_sure && !missing || !digest.is_counted() {
        tables.retain(|table| table.strength == Strength::Always);
    } else if is_sure {
        // Conversion to disk counts a table twice, so the others need not exist.
        let converted = digest.disk_tables_max > 0;
        tables.retain(|table| {
            table.strength == Strength::Always
                || !converted
                    && matches!(
                        table.purpose,
                        Purpose::Materialization
                            | Purpose::SubqueryCache
                            | Purpose::Metadata(_)
                            | Purpose::MultiTableUpdate
                    )
        });
    }
    tables
}

/// Whether every table of a statement is known.
pub(crate) fn is_known(statement: &Statement, schema: &Schema) -> bool {
    !schema.is_empty()
        && !statement
            .blocks
            .iter()
            .flat_map(|block| &block.tables)
            .any(|table| matches!(table.origin, Origin::Unknown(_)))
}
