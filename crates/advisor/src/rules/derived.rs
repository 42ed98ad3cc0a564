//! Rule for derived tables, views and common table expressions that are not merged.

use super::context::Context;
use crate::finding::{Cause, Change, ChangeKind, Finding};
use crate::rewrite;
use crate::sql_text::quoted;
use crate::statement::{Block, Role};
use crate::temp_tables::{NotMerged, Purpose, TemporaryTable};

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for table in context.tables {
        match &table.purpose {
            Purpose::NotMerged(why) => {
                if let Some(block) = context.block(table) {
                    findings.push(not_merged(context, table, block, *why));
                }
            }
            Purpose::Recursive(name) => {
                let evidence = format!(
                    "the rows of the recursive common table expression {name} are kept until the last is found"
                );
                let mut finding = context.finding(Cause::RecursiveQuery, table.strength, evidence);
                finding.changes.push(Change::advice(
                    "recursion needs the table; keep its rows short (ids alone), and end it early with a condition or LIMIT",
                ));
                findings.push(finding);
            }
            _ => {}
        }
    }
}

fn not_merged(
    context: &Context<'_>,
    table: &TemporaryTable,
    block: &Block,
    why: NotMerged,
) -> Finding {
    let name = match &block.role {
        Role::Derived(name) => format!("the derived table {name}"),
        Role::CommonTable(name, uses) if *uses > 1 => {
            format!("the common table expression {name}, which is named {uses} times,")
        }
        Role::CommonTable(name, _) => format!("the common table expression {name}"),
        Role::View {
            name: (_, name), ..
        } => format!("the view {name}"),
        Role::Top | Role::Subquery(_) => "a query block".to_owned(),
    };
    let reason = match why {
        NotMerged::Distinct => "it is DISTINCT",
        NotMerged::GroupBy => "it has a GROUP BY",
        NotMerged::Aggregate => "it has an aggregate function",
        NotMerged::Having => "it has a HAVING",
        NotMerged::Limit => "it has a LIMIT",
        NotMerged::Union => "it is a UNION",
        NotMerged::Window => "it has a window function",
        NotMerged::SelectedSubquery => "there is a subquery in its select list",
        NotMerged::UserVariable => "it assigns a user variable",
        NotMerged::NoTable => "it reads no table",
        NotMerged::SwitchedOff => "optimizer_switch has derived_merge=off",
        NotMerged::Algorithm => "its definition says ALGORITHM=TEMPTABLE",
    };
    let evidence = format!("{name} is made into a table before it is read, because {reason}");
    let mut finding = context.finding(Cause::DerivedTable, table.strength, evidence);
    finding.changes.extend(change(context, block, why));
    if let Some(change) = without_unread(context, block) {
        finding.changes.insert(0, change);
    }
    finding
}

fn change(context: &Context<'_>, block: &Block, why: NotMerged) -> Option<Change> {
    Some(match why {
        NotMerged::SwitchedOff => Change::new(
            ChangeKind::Setting,
            "SET GLOBAL optimizer_switch = 'derived_merge=on'",
            "the block is merged into the one around it",
        )
        .at_risk("holds for sessions that begin afterwards; plans of other statements may change"),
        NotMerged::Algorithm => {
            let Role::View {
                name: (database, name),
                ..
            } = &block.role
            else {
                return None;
            };
            let view = context.schema.view(database, name)?;
            let full = if database.is_empty() {
                quoted(name)
            } else {
                format!("{}.{}", quoted(database), quoted(name))
            };
            Change::new(
                ChangeKind::Alter,
                format!(
                    "ALTER ALGORITHM = MERGE VIEW {full} AS {}",
                    view.text.trim()
                ),
                "the view becomes part of the statement that reads it",
            )
            .at_risk("DEFINER and SQL SECURITY have to be repeated as SHOW CREATE VIEW shows them")
        }
        NotMerged::SelectedSubquery => Change::advice(
            "join the table of the subquery with LEFT JOIN instead, if it gives one row at most; the block can then be merged",
        ),
        NotMerged::Union => Change::advice(
            "put the conditions of the outer block into each arm, so that fewer rows are kept",
        ),
        NotMerged::Limit => Change::advice(
            "select only the ids in the limited block and join the other columns to them",
        ),
        NotMerged::Distinct => Change::advice(
            "where the block only says which rows there are, use EXISTS or IN in its place",
        ),
        NotMerged::GroupBy | NotMerged::Aggregate | NotMerged::Having => Change::advice(
            "put the conditions of the outer block on grouped columns into it, so that fewer groups are made; the table \
             holds one row for each group",
        ),
        NotMerged::Window => Change::advice(
            "keep only the columns that are needed outside in the select list of the block",
        ),
        NotMerged::UserVariable => {
            Change::advice("use a window function, such as ROW_NUMBER(), in place of the variable")
        }
        NotMerged::NoTable => Change::advice("one row is kept, which costs next to nothing"),
    })
}

/// Columns of a derived table that are BLOBs or long and that the outer blocks do not read.
fn without_unread(context: &Context<'_>, block: &Block) -> Option<Change> {
    let Role::Derived(alias) = &block.role else {
        return None;
    };
    if block.has_wildcard()
        || block.is_distinct()
        || context
            .statement
            .set_operations
            .iter()
            .any(|one| one.blocks.contains(&block.number))
    {
        return None;
    }
    let text = context.text()?;
    let is_outer = |other: &&Block| other.tables.iter().any(|table| table.alias == *alias);
    let outer = context.statement.blocks.iter().find(is_outer)?;
    let outer_text = outer.select.to_string();
    if outer.has_wildcard() {
        return None;
    }
    let names: Vec<Option<&str>> = block
        .select
        .projection
        .iter()
        .map(mayfly_syntax::encodings::item_name)
        .collect();
    let order: Vec<String> = block
        .order_by
        .iter()
        .map(|key| key.expr.to_string())
        .collect();
    let unread: Vec<usize> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| {
            name.is_some_and(|name| {
                // The block's own text is part of the outer one's.
                let inside = count_words(&block.select.to_string(), name);
                count_words(&outer_text, name) <= inside
                    && !order.iter().any(|key| count_words(key, name) > 0)
            })
        })
        .map(|(number, _)| number)
        .collect();
    if unread.is_empty() || unread.len() == names.len() {
        return None;
    }
    let shown: Vec<&str> = unread.iter().filter_map(|number| names[*number]).collect();
    let sql = rewrite::without_items(text, block.number, names.len(), &unread)?;
    Some(Change::new(
        ChangeKind::Rewrite,
        sql,
        format!(
            "leaves out what nothing outside of the block reads: {}",
            shown.join(", ")
        ),
    ))
}

fn count_words(text: &str, word: &str) -> usize {
    let tokens = crate::sql_text::tokens(text);
    tokens
        .filter(|token| token.name(text).eq_ignore_ascii_case(word))
        .count()
}
