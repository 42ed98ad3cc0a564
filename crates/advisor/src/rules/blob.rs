//! Rule for BLOB, TEXT and JSON values, which engines with rows of fixed length cannot keep in memory.

use super::context::{Context, list_of};
use super::size_limit::characters_that_fit;
use crate::finding::{Cause, Change, ChangeKind, Finding};
use crate::index::table_name;
use crate::server::{Family, LONG_STRING_CHARACTERS};
use crate::sql_text::quoted;
use crate::statement::{Block, ColumnPlace, Value};
use crate::temp_tables::{Held, TemporaryTable};

pub(super) fn find(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let values = context.disk_values(|held| held.value == Value::Blob);
    let Some((first, _)) = values.first() else {
        return;
    };
    let evidence = format!(
        "the temporary table holds {}, of type BLOB, TEXT or JSON, which {} keeps on disk from the start",
        list_of(values.iter().map(|(_, held)| &held.expr)),
        context.server.name
    );
    let mut finding = context.finding(Cause::BlobColumn, first.strength, evidence);
    if context.server.family == Family::MySql && context.server.version >= (8, 0, 13) {
        finding.changes.push(
            Change::new(
                ChangeKind::Setting,
                "SET GLOBAL internal_tmp_mem_storage_engine = TempTable",
                "the engine TempTable keeps such values in memory",
            )
            .at_risk("holds for sessions that begin afterwards; memory of all of them is limited by temptable_max_ram"),
        );
    }
    for (table, held) in &values {
        if let Some(block) = context.block(table) {
            finding.changes.extend(shorter(context, table, block, held));
        }
    }
    finding.changes.extend(
        values
            .iter()
            .find_map(|(table, held)| outside(context, table, held)),
    );
    if context.server.family == Family::MariaDb {
        finding.changes.push(Change::advice(
            "MariaDB keeps BLOBs of temporary tables in memory from 13.1 on",
        ));
    }
    findings.push(finding);
}

/// Recommends VARCHAR for a column of a base table that holds short texts, unless it is the argument of a function.
fn shorter(
    context: &Context<'_>,
    table: &TemporaryTable,
    block: &Block,
    held: &Held,
) -> Option<Change> {
    let places = if held.computed {
        Vec::new()
    } else {
        block.columns_of([&held.expr])
    };
    let [place] = places.as_slice() else {
        return None;
    };
    let ty = &block.column(*place)?.ty;
    let bytes = bytes_per_character(ty);
    match characters_that_fit(context, table, held, LONG_STRING_CHARACTERS, bytes) {
        Some(characters) => alter(block, *place, characters),
        None => Some(Change::advice(
            "a VARCHAR in its place would send the table to disk too: rows in memory are as long as they are declared, \
             and with all of them the table outgrows its limit",
        )),
    }
}

/// Bytes of the longest character of a type.
fn bytes_per_character(ty: &mayfly_types::SqlType) -> u64 {
    if ty.is_binary_string() {
        1
    } else {
        u64::from(ty.collation.charset().max_length()).max(1)
    }
}

/// ALTER TABLE that makes a column a VARCHAR of `characters` characters, without other changes.
pub(super) fn alter(block: &Block, place: ColumnPlace, characters: u64) -> Option<Change> {
    let table = block.tables.get(place.table)?.base()?;
    let column = table.columns.get(place.column)?;
    // JSON documents are validated when written, and a generated column follows its expression.
    if column.ty.kind == mayfly_types::TypeKind::Json
        || column.generated
        || column.attributes.contains("json_valid")
    {
        return None;
    }
    let name = quoted(&column.name);
    let kind = if column.ty.is_binary_string() {
        "varbinary"
    } else {
        "varchar"
    };
    let length = if column.ty.is_binary_string() {
        "LENGTH"
    } else {
        "CHAR_LENGTH"
    };
    let sql = format!(
        "ALTER TABLE {} MODIFY {name} {kind}({characters}) {}",
        table_name(table),
        column.attributes
    );
    Some(
        Change::new(ChangeKind::Alter, sql.trim_end(), format!("the value then fits a row in memory ({kind}({characters}))"))
            .checked_by(format!("SELECT MAX({length}({name})) <= {characters} FROM {}", table_name(table)))
            .at_risk("longer values are refused from then on; the table is rebuilt, and indexes over a prefix stay"),
    )
}

/// Recommends reading a value that is not a key after the temporary table.
fn outside(context: &Context<'_>, table: &TemporaryTable, held: &Held) -> Option<Change> {
    if held.is_key {
        let text = held.expr.to_string();
        // The widest character set is assumed.
        let characters = characters_that_fit(context, table, held, 255, 4)?;
        let short = format!("LEFT({text}, {characters})");
        let does = format!(
            "{text} is compared by its first {characters} characters, which fit a row in memory"
        );
        let rewritten = context
            .text()
            .and_then(|sql| crate::rewrite::with_expression(sql, &text, &short));
        let change = match rewritten {
            Some(sql) => Change::new(ChangeKind::Rewrite, sql, does),
            None => Change::advice(does),
        };
        return Some(change.at_risk(format!("values that begin with the same {characters} characters become one, and the result has the shortened text")));
    }
    context.block(table)?;
    Some(Change::advice(format!(
        "make the temporary table without {}: select the primary key in its place, in a derived table, and join the column to its rows afterwards",
        crate::sql_text::one_line(&held.expr.to_string(), 60)
    )))
}
