//! Checks of a database against the model: the rows of a table, also by each of its indexes, counts, and tables
//! recreated from SHOW CREATE TABLE.

use mayfly_engine::Session;
use mayfly_testkit::fixture::SessionExt;
use mayfly_trials::Random;

use crate::model::generate::Generator;
use crate::model::rows::Tables;
use crate::model::steps::Lock;
use crate::model::table::{Column, Func, Index, Store, Table};

/// Runs a query, and compares its rows with the expected ones.
fn ask(session: &mut Session, sql: &str, expected: &[String]) -> Result<(), String> {
    let mut found = session
        .rows(sql)
        .map_err(|error| format!("{sql};\n  {error}"))?;
    found.sort_unstable();
    if found == expected {
        return Ok(());
    }
    let first = |all: &[String], other: &[String]| -> Vec<String> {
        let mut other = other.to_vec();
        let mut more = Vec::new();
        for row in all {
            match other.binary_search(row) {
                Ok(place) => drop(other.remove(place)),
                Err(_) => more.push(row.chars().take(300).collect()),
            }
            if more.len() > 3 {
                break;
            }
        }
        more
    };
    Err(format!(
        "{sql};\n  {} rows instead of {}; missing: {:?}; too many: {:?}",
        found.len(),
        expected.len(),
        first(expected, &found),
        first(&found, expected)
    ))
}

/// A condition that every row meets, and by which all of an index is read.
fn everywhere(table: &Table, index: &Index) -> Option<String> {
    let part = &index.parts[0];
    let column = table.column(&part.column)?;
    let (name, never) = match part.func {
        Some(func @ Func::Left3) => (format!("({})", func.sql(&column.name)), "'qqq'"),
        Some(func) => (format!("({})", func.sql(&column.name)), "77"),
        None => (column.name.clone(), column.kind.never),
    };
    Some(format!("({name} IS NULL OR {name} <> {never})"))
}

/// Checks that a table shows its rows, by queries that the seed selects, or by all.
pub(crate) fn table(
    session: &mut Session,
    table: &Table,
    lock: Lock,
    seed: Option<u64>,
) -> Result<(), String> {
    let mut random = Random(seed.unwrap_or(1));
    let mut chosen = |one_in: usize| seed.is_none() || random.one_in(one_in);
    let (selected, name) = (table.selected(), &table.name);
    let expected = table.shown(table.rows.keys().copied());
    let lock = lock.sql();
    let count = [table.rows.len().to_string()];
    // Always run: the first read fixes the snapshot of a transaction.
    let all = format!("SELECT COUNT(*) FROM {name}{lock}");
    ask(session, &all, &count)?;
    if chosen(2) {
        let all = format!("SELECT {selected} FROM {name}{lock}");
        ask(session, &all, &expected)?;
    }
    for index in &table.indexes {
        let forced = format!("{name} FORCE INDEX ({})", index.name);
        let Some(all) = everywhere(table, index) else {
            continue;
        };
        if chosen(3) {
            let sql = format!("SELECT {selected} FROM {forced} WHERE {all}{lock}");
            ask(session, &sql, &expected)?;
        }
        if chosen(4) {
            let sql = format!("SELECT COUNT(*) FROM {forced} WHERE {all}{lock}");
            ask(session, &sql, &count)?;
        }
        for _ in 0..2 {
            if !chosen(3) {
                continue;
            }
            let salt = seed.unwrap_or(0) ^ index.name.len() as u64;
            let condition = Generator::new(salt, 1).condition(table);
            let wanted = table.condition_sql(&condition, "");
            let met = table.shown(table.found(&condition).into_iter());
            let sql = format!("SELECT {selected} FROM {forced} WHERE {wanted}{lock}");
            ask(session, &sql, &met)?;
        }
    }
    Ok(())
}

/// Checks all of these tables by all queries.
pub(crate) fn tables<'t>(
    session: &mut Session,
    tables: impl IntoIterator<Item = &'t std::rc::Rc<Table>>,
) -> Result<(), String> {
    for known in tables {
        table(session, known, Lock::None, None)?;
    }
    Ok(())
}

/// Checks that the database has exactly these tables, with their rows.
pub(crate) fn database(session: &mut Session, known: &Tables) -> Result<(), String> {
    // A process that was killed while it checked a definition has left the copy.
    session
        .rows("DROP TABLE IF EXISTS again")
        .map_err(|error| error.to_string())?;
    let mut found = session
        .rows("SHOW TABLES")
        .map_err(|error| error.to_string())?;
    found.sort_unstable();
    let names: Vec<String> = known.keys().cloned().collect();
    if found != names {
        return Err(format!("tables {found:?} instead of {names:?}"));
    }
    for table in known.values() {
        let of = format!("table_schema = 'model' AND table_name = '{}'", table.name);
        let mut columns: Vec<String> = table.columns.iter().map(column_shown).collect();
        columns.sort_unstable();
        let shown = "column_name, is_nullable, REPLACE(column_type, ' ', ''), collation_name";
        let sql = format!("SELECT {shown} FROM information_schema.columns WHERE {of}");
        ask(session, &sql, &columns)?;
        let mut indexes: Vec<String> = table.indexes.iter().map(|it| it.name.clone()).collect();
        indexes.sort_unstable();
        let sql =
            format!("SELECT DISTINCT index_name FROM information_schema.statistics WHERE {of}");
        ask(session, &sql, &indexes)?;
        let mut foreign: Vec<String> = table.foreign.iter().map(|it| it.name.clone()).collect();
        foreign.sort_unstable();
        let sql = format!(
            "SELECT constraint_name FROM information_schema.table_constraints \
             WHERE constraint_type = 'FOREIGN KEY' AND {of}"
        );
        ask(session, &sql, &foreign)?;
    }
    tables(session, known.values())
}

/// The row of information_schema for a column.
fn column_shown(column: &Column) -> String {
    let sql = column.kind.sql;
    let (ty, named) = sql.split_once(" COLLATE ").unwrap_or((sql, ""));
    let is_enumerated = ty.starts_with("ENUM") || ty.starts_with("SET");
    let collation = match column.kind.collation() {
        _ if is_enumerated => "utf8mb4_0900_ai_ci",
        None => "NULL",
        Some(_) if column.kind.is_binary() => "NULL",
        Some(_) if named.is_empty() => "utf8mb4_0900_ai_ci",
        Some(_) => named,
    };
    let ty = if is_enumerated {
        let (verb, list) = ty.split_once('(').unwrap_or((ty, ""));
        format!("{}({list}", verb.to_lowercase())
    } else {
        ty.to_lowercase()
    };
    let nullable = if column.nullable { "YES" } else { "NO" };
    format!(
        "{}\t{nullable}\t{}\t{collation}",
        column.name,
        ty.replace(' ', "")
    )
}

/// Checks that a table created from SHOW CREATE TABLE is shown in the same way, and CHECK TABLE.
pub(crate) fn definition(session: &mut Session, table: &Table) -> Result<(), String> {
    let failed = |error: mayfly_engine::Error| format!("{}: {error}", table.name);
    let show = |session: &mut Session, name: &str| -> Result<String, String> {
        let shown = session
            .rows(&format!("SHOW CREATE TABLE {name}"))
            .map_err(failed)?;
        let text = shown.first().and_then(|row| row.split_once('\t'));
        Ok(text.map_or(String::new(), |(_, text)| {
            text.replace("\\n", "\n").replace("\\\\", "\\")
        }))
    };
    let first = show(session, &table.name)?;
    if first.contains("\\x") {
        // Control characters are shown here in another form than in statements.
        return Ok(());
    }
    let mut again = first.replace("CONSTRAINT `", "CONSTRAINT `again_");
    again = again.replace(&format!("TABLE `{}` (", table.name), "TABLE `again` (");
    again = again.replace(
        &format!("REFERENCES `{}` (", table.name),
        "REFERENCES `again` (",
    );
    session
        .rows(&again)
        .map_err(|error| format!("{again}: {error}"))?;
    let second = show(session, "again")?;
    session.rows("DROP TABLE again").map_err(failed)?;
    if second != again {
        return Err(format!(
            "SHOW CREATE TABLE {}:\n{again}\n{second}",
            table.name
        ));
    }
    if table.store == Store::Durable {
        let checked = session
            .rows(&format!("CHECK TABLE {}", table.name))
            .map_err(failed)?;
        if !checked.iter().all(|row| row.ends_with("status\tOK")) {
            return Err(format!("CHECK TABLE {}: {checked:?}", table.name));
        }
    }
    Ok(())
}
