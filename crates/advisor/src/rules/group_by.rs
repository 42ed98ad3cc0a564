//! Rule for GROUP BY without an index in its order, and for ORDER BY in another order.

use mayfly_syntax::ast::Expr;

use super::context::{Context, index_change, list_of};
use crate::finding::{Cause, Change, ChangeKind, Finding};
use crate::index;
use crate::rewrite;
use crate::server::Family;
use crate::sql_text::quoted;
use crate::statement::{Block, ColumnPlace};
use crate::temp_tables::Purpose;

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables_for(|purpose| *purpose == Purpose::GroupBy) {
        let Some(block) = context.block(table) else {
            continue;
        };
        let keys: Vec<&Expr> = block.group_by.iter().collect();
        let evidence = format!(
            "no index gives the rows of each group of ({}) one after the other",
            list_of(keys.iter().copied())
        );
        let mut finding = context.finding(Cause::GroupByWithoutIndex, table.strength, evidence);
        changes(context, block, &keys, &mut finding);
        findings.push(finding);
    }
    for table in context.tables_for(|purpose| *purpose == Purpose::OrderDiffersFromGroup) {
        let Some(block) = context.block(table) else {
            continue;
        };
        let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
        let evidence = format!(
            "groups of ({}) come in the order of an index, but ORDER BY ({}) needs all of them before the first is sent",
            list_of(&block.group_by),
            list_of(order)
        );
        let mut finding = context.finding(Cause::OrderDiffersFromGroup, table.strength, evidence);
        if !reorder(context, block, &mut finding) {
            finding.changes.push(Change::advice(
                "the table holds one row for each group, and stays; keep its rows short (group by ids and join names \
                 afterwards), or keep the sums in a table of their own",
            ));
        }
        findings.push(finding);
    }
}

fn changes(context: &Context<'_>, block: &Block, keys: &[&Expr], finding: &mut Finding) {
    let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
    let reordered = order_first(keys, &order);
    let stays = !order.is_empty()
        && reordered.is_none()
        && !is_beginning(&order, keys)
        && context.server.sorts_in_tables();
    if let Some(change) = fewer_keys(context, block, keys) {
        finding.changes.push(change);
    }
    if stays {
        finding.evidence.push_str(
            "; ORDER BY wants another order, so that the groups are kept even with an index",
        );
        finding.changes.push(Change::advice(
            "the table holds one row for each group, and no index removes it; keep its rows short (group by ids and \
             join names afterwards), or keep the sums in a table of their own",
        ));
        return;
    }
    let wanted: Vec<&Expr> = reordered.clone().unwrap_or_else(|| keys.to_vec());
    if let Some((table, columns)) = index::key_columns(block, &wanted) {
        match index::advise(block, table, &columns) {
            Some(advice) => {
                let mut change = index_change(&advice, "GROUP BY");
                if block.tables.len() > 1 {
                    change.does.push_str("; the table must be the first of the join");
                }
                if reordered.is_some()
                    && let Some(text) = context.text()
                    && let Some(text) = with_keys(text, block, &wanted)
                {
                    let uncertain = change.is_uncertain;
                    change = Change::new(ChangeKind::Index, format!("{};\n{text}", change.sql), change.does)
                        .at_risk(format!("{}; the keys of GROUP BY stand in another order, which changes no row", change.risk));
                    change.is_uncertain = uncertain;
                }
                // Costs decide whether the table is the first of the join.
                change.is_uncertain |= block.tables.len() > 1;
                finding.changes.push(change);
            }
            None => finding.changes.push(Change::advice(
                "an index over these columns would be too long; group by a shorter column, such as a generated column \
                 with a hash of them",
            )),
        }
    } else if let Some(change) = generated_column(context, block, keys) {
        finding.changes.push(change);
    } else if context.known && keys.iter().any(|key| block.place(key).is_none()) {
        finding.changes.push(Change::advice(
            "no index can be over a computed key; group by the columns that it is computed of, where \
             that makes the same groups, with an index over them",
        ));
    } else if keys.iter().all(|key| block.place(key).is_some()) {
        finding.changes.push(Change::advice(
            "the keys are columns of several tables, which no index can be over; group by the columns of one table, \
             such as its primary key, and join the others to the groups",
        ));
    }
}

/// Shorter keys of a GROUP BY: in GROUP BY id, name, where id is the primary key of the table of name, GROUP BY id
/// makes the same groups.
fn fewer_keys(context: &Context<'_>, block: &Block, keys: &[&Expr]) -> Option<Change> {
    let strict = context.server.variable("sql_mode");
    // MariaDB does not recognize that the primary key determines the other columns.
    if context.server.family == Family::MariaDb
        && strict.is_some_and(|mode| mode.contains("ONLY_FULL_GROUP_BY"))
    {
        return None;
    }
    let places: Vec<Option<ColumnPlace>> = keys.iter().map(|key| block.place(key)).collect();
    let joined = block.joined_columns();
    // A key, or a column that equals one in every row.
    let is_known = |place: ColumnPlace| {
        places.contains(&Some(place))
            || joined.iter().any(|(a, b)| {
                *a == place && places.contains(&Some(*b))
                    || *b == place && places.contains(&Some(*a))
            })
    };
    let mut determined: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, table) in block.tables.iter().enumerate() {
        let Some(source) = table.base() else { continue };
        let unique = source.indexes.iter().find(|index| {
            index.unique
                && !index.parts.is_empty()
                && index.parts.iter().all(|(column, prefix)| {
                    prefix.is_none()
                        && column.is_some_and(|column| {
                            let place = ColumnPlace {
                                table: number,
                                column,
                            };
                            !source.columns[column].nullable && is_known(place)
                        })
                })
        });
        if let Some(index) = unique {
            determined.push((
                number,
                index
                    .parts
                    .iter()
                    .filter_map(|(column, _)| *column)
                    .collect(),
            ));
        }
    }
    let is_needed = |place: &Option<ColumnPlace>| {
        place.is_none_or(|place| {
            determined
                .iter()
                .find(|(table, _)| *table == place.table)
                .is_none_or(|(_, unique)| unique.contains(&place.column))
        })
    };
    let needed = keys
        .iter()
        .zip(&places)
        .filter(|(_, place)| is_needed(place));
    let needed: Vec<&Expr> = needed.map(|(key, _)| *key).collect();
    if needed.is_empty() || needed.len() == keys.len() {
        return None;
    }
    let text = with_keys(context.text()?, block, &needed)?;
    let does = format!(
        "GROUP BY ({}) is the same: the other keys follow from it",
        list_of(needed.iter().copied())
    );
    Some(Change::new(ChangeKind::Rewrite, text, does))
}

/// Keys of GROUP BY with those of ORDER BY first, when ORDER BY names some of them in another order.
fn order_first<'e>(keys: &[&'e Expr], order: &[&Expr]) -> Option<Vec<&'e Expr>> {
    if order.is_empty() || is_beginning(order, keys) {
        return None;
    }
    let mut first = Vec::new();
    for wanted in order {
        first.push(*keys.iter().find(|key| *key == wanted)?);
    }
    first.extend(keys.iter().filter(|key| !order.contains(key)).copied());
    Some(first)
}

fn is_beginning(short: &[&Expr], long: &[&Expr]) -> bool {
    short.len() <= long.len() && short.iter().zip(long).all(|(a, b)| a == b)
}

fn with_keys(text: &str, block: &Block, keys: &[&Expr]) -> Option<String> {
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    rewrite::with_group_keys(text, block.number, &keys)
}

/// Reorders the keys of GROUP BY a, b ORDER BY b, a, whose order is free.
fn reorder(context: &Context<'_>, block: &Block, finding: &mut Finding) -> bool {
    let keys: Vec<&Expr> = block.group_by.iter().collect();
    let order: Vec<&Expr> = block.order_by.iter().map(|key| &key.expr).collect();
    let Some(wanted) = order_first(&keys, &order) else {
        return false;
    };
    let before = finding.changes.len();
    changes(context, block, &keys, finding);
    debug_assert!(wanted.len() == keys.len());
    finding.changes.len() > before
}

/// Recommends an indexed generated column for a single key that is computed from columns of one table.
fn generated_column(context: &Context<'_>, block: &Block, keys: &[&Expr]) -> Option<Change> {
    let [key] = keys else { return None };
    if block.place(key).is_some() || !block.aggregates.is_empty() && is_aggregate(key) {
        return None;
    }
    let places = block.columns_of([*key]);
    let first = places.first()?;
    if places.iter().any(|place| place.table != first.table) {
        return None;
    }
    let table = block.tables.get(first.table)?.base()?;
    let name = index::table_name(table);
    let text = crate::sql_text::one_line(&key.to_string(), 200);
    let column = quoted("group_key");
    let ty = match crate::statement::ValueTypes::new(
        context.schema,
        context.digest.database.as_deref(),
        1024,
    )
    .value(block, key)
    {
        crate::statement::Value::Text { characters, .. } if characters <= 512 => {
            format!("varchar({})", characters.max(1))
        }
        crate::statement::Value::Fixed(bytes) if bytes <= 8 => "bigint".to_owned(),
        _ => return None,
    };
    if context.server.has_functional_indexes() {
        let sql = format!(
            "ALTER TABLE {name} ADD COLUMN {column} {ty} AS ({text}) VIRTUAL, ADD INDEX ({column})"
        );
        let does = "a generated column with an index; the optimizer puts it in place of the same expression";
        let change = Change::new(ChangeKind::Alter, sql, does).at_risk(
            "the expression must be deterministic, and SELECT * gives one column more (declare it INVISIBLE if that matters)",
        );
        return Some(change.uncertain());
    }
    let mut sql = format!(
        "ALTER TABLE {name} ADD COLUMN {column} {ty} AS ({text}) PERSISTENT, ADD INDEX ({column})"
    );
    let does = format!(
        "a generated column with an index; the statement has to group by {column} in place of the expression"
    );
    let rewritten = context
        .text()
        .and_then(|sql| rewrite::with_expression(sql, &key.to_string(), &column));
    if let Some(rewritten) = rewritten {
        sql = format!("{sql};\n{rewritten}");
    }
    let change = Change::new(ChangeKind::Alter, sql, does)
        .at_risk("the table is rebuilt, and SELECT * gives one column more");
    Some(change.uncertain())
}

fn is_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(_)) && expr.to_string().to_ascii_uppercase().starts_with("COUNT(")
}
