//! `mayfly data.csv`: a CSV file as a table of its name, with inferred types.
//!
//! The file is read once to infer its format (header, delimiter, types, NULLs) and to find unreadable rows, which are
//! reported with file, line and column; then LOAD DATA fills the table. Types are inferred from all rows, not from a
//! sample, so that the second reading finds no value that does not fit.

mod column_type;
mod header;
mod infer;
mod rows;
mod slashed_date;
mod source;

use std::path::Path;
use std::sync::Arc;

use mayfly_engine::Session;

use crate::load_progress::LoadProgress;
use infer::{Column, Shape};
use source::{Files, Loaded, TextFile};

/// Makes the table and fills it.
pub(crate) fn open(session: &mut Session, path: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{path}: {e}");
    let length = std::fs::metadata(path).map_err(failed)?.len();
    // The file is read twice.
    let progress = Arc::new(LoadProgress::of_source(Some(path), Some(2 * length)));
    let file = TextFile::new(path, Arc::clone(&progress)).map_err(failed)?;
    let path_of_table = Path::new(path);
    let ending = path_of_table.extension().unwrap_or_default();
    let delimiter = (!ending.eq_ignore_ascii_case("csv")).then_some(b'\t');
    let shape = infer::infer(path, &file, delimiter, read_buffer_size(session)?)?;
    let stem = path_of_table.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.unwrap_or("data");
    for column in &shape.columns {
        if let Some(unclear) = &column.unclear {
            let name = &column.name;
            progress.suspend(|| eprintln!("mayfly: {path}: column {name} is text: {unclear}"));
        }
    }
    let line_end = match (shape.ends_open, shape.carriage_returns) {
        (false, _) => "",
        (true, false) => "\n",
        (true, true) => "\r\n",
    };
    session.set_local_files(Box::new(Files::new(Loaded {
        file,
        skipped: shape.skipped,
        line_end,
        rewritten: shape.is_irregular.then_some(shape.dialect),
        done: length,
    })));
    for sql in [
        create_statement(stem, &shape),
        load_statement(stem, path, &shape),
    ] {
        session.execute(&sql).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// Number of bytes of the file that the session reads at a time.
fn read_buffer_size(session: &mut Session) -> Result<u64, String> {
    let results = session.execute("SELECT @@read_buffer_size");
    let rows = results.map_err(|error| error.to_string())?;
    let rows = rows
        .first()
        .map(|result| result.rows_text())
        .unwrap_or_default();
    let value = rows
        .first()
        .and_then(|row| row.first()?.as_ref()?.parse().ok());
    value.ok_or_else(|| "@@read_buffer_size is no number".to_owned())
}

fn create_statement(table: &str, shape: &Shape) -> String {
    let column = |column: &Column| {
        let is_nullable = column.has_null || column.has_empty || column.ty.is_text();
        let null = if is_nullable { "" } else { " NOT NULL" };
        format!("{} {}{null}", identifier(&column.name), column.ty.sql())
    };
    let columns: Vec<String> = shape.columns.iter().map(column).collect();
    let table = identifier(table);
    format!("CREATE TABLE {table} ({})", columns.join(", "))
}

/// The LOAD DATA statement. An empty field is NULL, and so is a quoted empty one unless the column is text; LOAD DATA
/// expresses this by a variable.
fn load_statement(table: &str, path: &str, shape: &Shape) -> String {
    let mut targets = Vec::new();
    let mut assignments = Vec::new();
    for (index, column) in shape.columns.iter().enumerate() {
        let name = identifier(&column.name);
        let is_text = column.ty.is_text();
        // A rewritten file has the word NULL there.
        let has_null = column.has_null && !(is_text && shape.is_irregular);
        let is_nullable = has_null || (column.has_empty && !is_text);
        if !is_nullable && column.ty.is_stored_as_written() {
            targets.push(name);
            continue;
        }
        let field = format!("@field{index}");
        let value = if is_nullable {
            format!("IF(LENGTH({field}) = 0, NULL, {field})")
        } else {
            field.clone()
        };
        targets.push(field);
        assignments.push(format!("{name} = {}", column.ty.conversion(value)));
    }
    let set = if assignments.is_empty() {
        String::new()
    } else {
        format!(" SET {}", assignments.join(", "))
    };
    let carriage_return = if shape.carriage_returns && !shape.is_irregular {
        "\\r"
    } else {
        ""
    };
    format!(
        "LOAD DATA LOCAL INFILE {} INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY {} OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
         LINES TERMINATED BY '{carriage_return}\\n' ({}){set}",
        text_literal(path),
        identifier(table),
        text_literal(&char::from(shape.dialect.delimiter).to_string()),
        targets.join(", "),
    )
}

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::column_type::ColumnType;
    use super::rows::Dialect;
    use super::*;

    #[test]
    fn statements_quote_what_they_name() {
        let column = |name: &str, ty, has_null| Column {
            name: name.into(),
            ty,
            has_null,
            has_empty: false,
            unclear: None,
        };
        let shape = Shape {
            columns: vec![
                column("id", ColumnType::Integer(1, 9), false),
                column("the `day`", ColumnType::Date, true),
                column("text", ColumnType::Text(300), true),
                column("paid", ColumnType::Boolean, false),
            ],
            dialect: Dialect {
                delimiter: b',',
                lone_returns: false,
                skips_blank_lines: true,
            },
            skipped: 9,
            carriage_returns: true,
            ends_open: false,
            is_irregular: false,
        };
        assert_eq!(
            create_statement("a`b", &shape),
            "CREATE TABLE `a``b` (`id` INT NOT NULL, `the ``day``` DATE, `text` LONGTEXT, \
             `paid` BOOLEAN NOT NULL)"
        );
        assert_eq!(
            load_statement("t", "it's.csv", &shape),
            "LOAD DATA LOCAL INFILE 'it''s.csv' INTO TABLE `t` CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
             LINES TERMINATED BY '\\r\\n' (`id`, @field1, @field2, @field3) \
             SET `the ``day``` = IF(LENGTH(@field1) = 0, NULL, @field1), \
             `text` = IF(LENGTH(@field2) = 0, NULL, @field2), \
             `paid` = @field3 = 'true'"
        );
    }
}
