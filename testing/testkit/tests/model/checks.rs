//! What a database must show after a step: all rows of the tables, the same by each index, counts, and
//! tables that can be made again of what SHOW CREATE TABLE says.

use mayfly_engine::Session;
use mayfly_testkit::fixture::rows;
use mayfly_testkit::random::Random;

use crate::table::{Index, Store, Table};
use crate::world::Tables;

/// Asks, and compares with what is expected.
fn ask(session: &mut Session, sql: &str, expected: &[String]) -> Result<(), String> {
    let mut found = rows(session, sql).map_err(|error| format!("{sql};\n  {error}"))?;
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
fn everywhere(table: &Table, index: &Index) -> String {
    let column = &table.columns[index.parts[0].column];
    let never = match column.kind.sql {
        sql if sql.starts_with("DATETIME") => "'2000-07-07 07:07:07'",
        sql if sql.contains("CHAR") || sql.contains("BIN") => "'qqq'",
        _ => "77777777",
    };
    let name = &column.name;
    format!("({name} IS NULL OR {name} <> {never})")
}

/// Whether a table shows its rows, and by each of its indexes.
pub(crate) fn table(
    session: &mut Session,
    table: &Table,
    random: &mut Random,
) -> Result<(), String> {
    let (selected, expected) = table.shown();
    let name = &table.name;
    ask(
        session,
        &format!("SELECT {selected} FROM {name}"),
        &expected,
    )?;
    let count = [table.rows.len().to_string()];
    ask(session, &format!("SELECT COUNT(*) FROM {name}"), &count)?;
    for index in &table.indexes {
        let forced = format!("{name} FORCE INDEX ({})", index.name);
        let all = everywhere(table, index);
        ask(
            session,
            &format!("SELECT {selected} FROM {forced} WHERE {all}"),
            &expected,
        )?;
        ask(
            session,
            &format!("SELECT COUNT(*) FROM {forced} WHERE {all}"),
            &count,
        )?;
        for _ in 0..2 {
            let condition = table.condition(random);
            let wanted = table.condition_sql(&condition, "");
            let places = table.found(&condition);
            let mut met: Vec<String> = places
                .iter()
                .map(|place| table.shown_row(&table.rows[*place]))
                .collect();
            met.sort_unstable();
            ask(
                session,
                &format!("SELECT {selected} FROM {forced} WHERE {wanted}"),
                &met,
            )?;
        }
    }
    Ok(())
}

/// All tables that a session sees.
pub(crate) fn tables(
    session: &mut Session,
    tables: &Tables,
    random: &mut Random,
) -> Result<(), String> {
    for known in tables.values() {
        table(session, known, random)?;
    }
    Ok(())
}

/// A table made of what SHOW CREATE TABLE says is shown in the same way; CHECK TABLE finds it in order.
pub(crate) fn definition(session: &mut Session, table: &Table) -> Result<(), String> {
    let failed = |error: mayfly_engine::Error| format!("{}: {error}", table.name);
    let show = |session: &mut Session, name: &str| -> Result<String, String> {
        let shown = rows(session, &format!("SHOW CREATE TABLE {name}")).map_err(failed)?;
        let text = shown.first().and_then(|row| row.split_once('\t'));
        Ok(text.map_or(String::new(), |(_, text)| text.replace("\\n", "\n")))
    };
    let first = show(session, &table.name)?;
    let again = first.replacen(&format!("`{}`", table.name), "`again`", 1);
    rows(session, &again).map_err(failed)?;
    let second = show(session, "again")?;
    rows(session, "DROP TABLE again").map_err(failed)?;
    if second != again {
        return Err(format!(
            "SHOW CREATE TABLE {}:\n{again}\n{second}",
            table.name
        ));
    }
    if table.store == Store::Durable {
        let checked = rows(session, &format!("CHECK TABLE {}", table.name)).map_err(failed)?;
        if !checked.iter().all(|row| row.ends_with("status\tOK")) {
            return Err(format!("CHECK TABLE {}: {checked:?}", table.name));
        }
    }
    Ok(())
}
