//! Short statements: DO, FLUSH, and the maintenance of tables.

use mayfly_syntax::ast::{Expr, Flush, FlushTarget, TableMaintenance, TableVerb};
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::expressions;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;

/// DO
pub(super) fn do_expressions(session: &mut Session, expressions: &[Expr]) -> Result<Outcome> {
    super::count(session, Counter::ComDo);
    for expression in expressions {
        expressions::evaluate(session, expression)?;
    }
    Ok(StatementResult::default().into())
}

/// FLUSH
pub(super) fn flush(session: &mut Session, statement: &Flush) -> Result<Outcome> {
    if statement.targets.contains(&FlushTarget::Status) {
        session.flush_status();
    }
    Ok(StatementResult::default().into())
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE: there is nothing to repair; a line a table.
pub(super) fn maintain(session: &mut Session, statement: &TableMaintenance) -> Result<Outcome> {
    let verb = match statement.verb {
        TableVerb::Analyze => "analyze",
        TableVerb::Check => "check",
        TableVerb::Optimize => "optimize",
        TableVerb::Repair => "repair",
        TableVerb::Checksum => {
            return Err(mayfly_types::error::codes::ER_NOT_SUPPORTED_YET.with(&[&"CHECKSUM TABLE"]));
        }
    };
    let mut rows = Vec::new();
    for table in &statement.tables {
        let (database, name) = super::qualified(session, table)?;
        let full = format!("{database}.{name}");
        if session.find_table(&database, &name).is_some() {
            rows.push([full, verb.to_owned(), "status".to_owned(), "OK".to_owned()]);
        } else {
            let text = format!("Table '{full}' doesn't exist");
            rows.push([full.clone(), verb.to_owned(), "Error".to_owned(), text]);
            rows.push([
                full,
                verb.to_owned(),
                "status".to_owned(),
                "Operation failed".to_owned(),
            ]);
        }
    }
    Ok(text_rows(&["Table", "Op", "Msg_type", "Msg_text"], &rows).into())
}

/// A result of text columns.
pub(super) fn text_rows<const N: usize>(
    names: &[&str; N],
    rows: &[[String; N]],
) -> StatementResult {
    let ty = SqlType::text(TypeKind::MediumText, CollationId::UTF8MB4_0900_AI_CI);
    let columns = names.map(|name| (name, ty.clone()));
    let values = |row: &[String; N]| row.each_ref().map(|text| Value::from(text.as_str()));
    let rows: Vec<[Value; N]> = rows.iter().map(values).collect();
    StatementResult::of_rows(&columns, &rows)
}
