//! `PARTITION BY …` as a definition keeps it and SHOW CREATE TABLE prints it. Tables have no partitions
//! yet: the clause is kept for those who read it back.

use mayfly_syntax::ast::{
    Expr, Ident, PartitionDefinition, PartitionFunction, PartitionKind, PartitionValues,
    PartitionedBy, Partitioning, TableOption, Value as Literal,
};
use mayfly_syntax::is_keyword;
use mayfly_syntax::printer::quoted_string;

use crate::catalog::expression_text;
use crate::catalog::show_create::{NameQuotes, identifier};

/// The comment in which SHOW CREATE TABLE has the clause: that of the version which knows it.
pub(crate) fn comment(partitioning: &Partitioning, engine: &str) -> String {
    let version = match is_of_columns(&partitioning.function) {
        true => 50500,
        false => 50100,
    };
    format!("/*!{version} {} */", text(partitioning, engine))
}

/// RANGE COLUMNS, LIST COLUMNS
fn is_of_columns(function: &PartitionFunction) -> bool {
    matches!(function.of, PartitionedBy::Columns(_))
        && !matches!(function.kind, PartitionKind::Key { .. })
}

fn text(partitioning: &Partitioning, engine: &str) -> String {
    let of_columns = is_of_columns(&partitioning.function);
    let definitions: Vec<String> = partitioning
        .definitions
        .iter()
        .map(|definition| definition_text(definition, of_columns, engine))
        .collect();
    let mut text = format!("PARTITION BY {}", function_text(&partitioning.function));
    if let (Some(count), true) = (partitioning.count, definitions.is_empty()) {
        text += &format!("\nPARTITIONS {count}");
    }
    if let Some((function, count)) = &partitioning.subpartitions {
        text += &format!("\nSUBPARTITION BY {}", function_text(function));
        if let Some(count) = count {
            text += &format!("\nSUBPARTITIONS {count}");
        }
    }
    if !definitions.is_empty() {
        text += &format!("\n({})", definitions.join(",\n "));
    }
    text
}

fn function_text(function: &PartitionFunction) -> String {
    let linear = if function.linear { "LINEAR " } else { "" };
    let kind = match function.kind {
        PartitionKind::Hash => "HASH ",
        PartitionKind::Key { algorithm: Some(1) } => "KEY ALGORITHM = 1 ",
        PartitionKind::Key { .. } => "KEY ",
        PartitionKind::Range => "RANGE ",
        PartitionKind::List => "LIST ",
    };
    let of = match &function.of {
        PartitionedBy::Expression(expression) => format!("({})", expression_text::text(expression)),
        PartitionedBy::Columns(columns) => {
            let names: Vec<String> = columns.iter().map(name).collect();
            let word = if is_of_columns(function) {
                " COLUMNS"
            } else {
                ""
            };
            format!("{word}({})", names.join(","))
        }
    };
    format!("{linear}{kind}{of}")
}

fn definition_text(definition: &PartitionDefinition, of_columns: bool, engine: &str) -> String {
    let mut text = format!("PARTITION {}", name(&definition.name));
    match &definition.values {
        Some(PartitionValues::LessThan(bounds)) => {
            let bounds: Vec<String> = bounds
                .iter()
                .map(|bound| bound.as_ref().map_or_else(|| "MAXVALUE".to_owned(), value))
                .collect();
            let bounds = bounds.join(",");
            text += &match bounds == "MAXVALUE" && !of_columns {
                true => " VALUES LESS THAN MAXVALUE".to_owned(),
                false => format!(" VALUES LESS THAN ({bounds})"),
            };
        }
        Some(PartitionValues::In(values)) => {
            let mut values: Vec<String> = values
                .iter()
                .map(|values| match values.as_slice() {
                    [only] => value(only),
                    several => {
                        let several: Vec<String> = several.iter().map(value).collect();
                        format!("({})", several.join(","))
                    }
                })
                .collect();
            if !of_columns {
                values.sort_by_key(|value| value != "NULL");
            }
            text += &format!(" VALUES IN ({})", values.join(","));
        }
        None => {}
    }
    if definition.subpartitions.is_empty() {
        return text + &options_text(&definition.options, engine);
    }
    let subpartitions: Vec<String> = definition
        .subpartitions
        .iter()
        .map(|(subpartition, options)| {
            let options = [definition.options.as_slice(), options].concat();
            let options = options_text(&options, engine);
            format!("SUBPARTITION {}{options}", name(subpartition))
        })
        .collect();
    text + &format!("\n ({})", subpartitions.join(",\n  "))
}

fn value(expression: &Expr) -> String {
    let literal = match expression {
        Expr::Value(literal) => Some(&literal.value),
        _ => None,
    };
    match literal {
        Some(Literal::Null) => "NULL".to_owned(),
        Some(Literal::SingleQuotedString(text) | Literal::DoubleQuotedString(text)) => {
            quoted_string(text)
        }
        _ => expression_text::text(expression),
    }
}

/// The options in MySQL's order; of those that are there twice the last.
fn options_text(options: &[TableOption], engine: &str) -> String {
    const NAMES: &[(&str, bool)] = &[
        ("TABLESPACE", false),
        ("MAX_ROWS", false),
        ("MIN_ROWS", false),
        ("DATA DIRECTORY", true),
        ("INDEX DIRECTORY", true),
        ("COMMENT", true),
    ];
    let mut text = String::new();
    for (name, is_text) in NAMES {
        let mut written = options.iter().rev();
        if let Some(option) = written.find(|option| option.name.eq_ignore_ascii_case(name)) {
            let value = match is_text {
                true => quoted_string(&option.value),
                false => option.value.clone(),
            };
            text += &format!(" {name} = {value}");
        }
    }
    text + &format!(" ENGINE = {engine}")
}

/// A name, in quotes where it needs them, and where it is a keyword.
fn name(ident: &Ident) -> String {
    let quotes = match is_keyword(&ident.value) {
        true => NameQuotes::Backticks,
        false => NameQuotes::WhereNeeded { double: false },
    };
    identifier(&ident.value, quotes)
}
