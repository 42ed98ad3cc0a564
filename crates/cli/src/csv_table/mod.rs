//! `mayfly data.csv`: a CSV file as a table of its name, with types inferred.
//!
//! The file is read once to learn its shape (header, delimiter, types, NULLs) and to find unreadable
//! rows, which are reported with file, line and column; then LOAD DATA fills the table. Types come
//! from all rows, not from a sample, so that the second reading cannot meet a surprise.

mod byte_order_mark;
mod infer;

use std::path::Path;

use mayfly_engine::Session;

use byte_order_mark::UnmarkedFile;
use infer::{Column, ColumnType, Shape};

/// Makes the table and fills it.
pub(crate) fn open(session: &mut Session, path: &str) -> Result<(), String> {
    let shape = infer::infer(path, read_buffer_size(session)?)?;
    let stem = Path::new(path)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("data");
    if shape.has_byte_order_mark {
        session.set_local_files(Box::new(UnmarkedFile::new(path)));
    }
    for sql in [
        create_statement(stem, &shape),
        load_statement(stem, path, &shape),
    ] {
        session.execute(&sql).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// How much of the file the session reads at a time.
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
        let null = if column.has_empty || column.ty.is_text() {
            ""
        } else {
            " NOT NULL"
        };
        format!("{} {}{null}", identifier(&column.name), column.ty.sql())
    };
    let columns: Vec<String> = shape.columns.iter().map(column).collect();
    let table = identifier(table);
    format!("CREATE TABLE {table} ({})", columns.join(", "))
}

/// An empty field of a column that is not text is NULL; LOAD DATA says so with a variable.
fn load_statement(table: &str, path: &str, shape: &Shape) -> String {
    let mut targets = Vec::new();
    let mut assignments = Vec::new();
    for (index, column) in shape.columns.iter().enumerate() {
        let name = identifier(&column.name);
        if column.has_empty && !matches!(column.ty, ColumnType::Text(_)) {
            targets.push(format!("@field{index}"));
            assignments.push(format!("{name} = NULLIF(@field{index}, '')"));
        } else {
            targets.push(name);
        }
    }
    let set = if assignments.is_empty() {
        String::new()
    } else {
        format!(" SET {}", assignments.join(", "))
    };
    let carriage_return = if shape.carriage_returns { "\\r" } else { "" };
    format!(
        "LOAD DATA LOCAL INFILE {} INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY {} OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
         LINES TERMINATED BY '{carriage_return}\\n' IGNORE {} LINES ({}){set}",
        text_literal(path),
        identifier(table),
        text_literal(&char::from(shape.delimiter).to_string()),
        u8::from(shape.has_header),
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
    use super::*;

    #[test]
    fn statements_quote_what_they_name() {
        let column = |name: &str, ty, has_empty| Column {
            name: name.into(),
            ty,
            has_empty,
        };
        let shape = Shape {
            columns: vec![
                column("id", ColumnType::Integer(1, 9), false),
                column("the `day`", ColumnType::Date, true),
                column("text", ColumnType::Text(300), true),
            ],
            delimiter: b',',
            has_header: true,
            carriage_returns: true,
            has_byte_order_mark: false,
        };
        assert_eq!(
            create_statement("a`b", &shape),
            "CREATE TABLE `a``b` (`id` INT NOT NULL, `the ``day``` DATE, `text` LONGTEXT)"
        );
        assert_eq!(
            load_statement("t", "it's.csv", &shape),
            "LOAD DATA LOCAL INFILE 'it''s.csv' INTO TABLE `t` CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
             LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (`id`, @field1, `text`) \
             SET `the ``day``` = NULLIF(@field1, '')"
        );
    }
}
