//! Printer of `PARTITION BY …` for SHOW CREATE TABLE. Tables have no partitions yet: the clause is only stored and
//! printed.

use itertools::Itertools;
use mayfly_syntax::ast::{
    Expr, Ident, PartitionDefinition, PartitionFunction, PartitionKind, PartitionValues,
    PartitionedBy, Partitioning, TableOption, Value as Literal,
};
use mayfly_syntax::is_keyword;
use mayfly_syntax::printer::quoted_string;

use crate::catalog::expression_text;
use crate::catalog::show_create::{NameQuotes, identifier};
use crate::engines::Engine;
use crate::names::word_if;

/// The versioned comment around the clause: of the first version that knows it.
pub(crate) fn comment(partitioning: &Partitioning, engine: Engine) -> String {
    let of_columns = is_of_columns(&partitioning.function);
    let version = if of_columns { 50500 } else { 50100 };
    format!("/*!{version} {} */", text(partitioning, engine))
}

/// RANGE COLUMNS, LIST COLUMNS
fn is_of_columns(function: &PartitionFunction) -> bool {
    matches!(function.of, PartitionedBy::Columns(_))
        && !matches!(function.kind, PartitionKind::Key { .. })
}

fn text(partitioning: &Partitioning, engine: Engine) -> String {
    let of_columns = is_of_columns(&partitioning.function);
    let definitions = partitioning.definitions.iter();
    let definitions = definitions
        .map(|definition| definition_text(definition, of_columns, engine))
        .join(",\n ");
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
        text += &format!("\n({definitions})");
    }
    text
}

fn function_text(function: &PartitionFunction) -> String {
    let linear = word_if(function.linear, "LINEAR ");
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
            let word = word_if(is_of_columns(function), " COLUMNS");
            format!("{word}({})", columns.iter().map(name).join(","))
        }
    };
    format!("{linear}{kind}{of}")
}

fn definition_text(definition: &PartitionDefinition, of_columns: bool, engine: Engine) -> String {
    let mut text = format!("PARTITION {}", name(&definition.name));
    match &definition.values {
        Some(PartitionValues::LessThan(bounds)) => {
            let bound = |bound: &Option<Expr>| match bound {
                Some(bound) => value(bound),
                None => "MAXVALUE".to_owned(),
            };
            let mut bounds = bounds.iter().map(bound).join(",");
            if bounds != "MAXVALUE" || of_columns {
                bounds = format!("({bounds})");
            }
            text += &format!(" VALUES LESS THAN {bounds}");
        }
        Some(PartitionValues::In(values)) => {
            let values = values.iter().map(|values| match values.as_slice() {
                [only] => value(only),
                several => format!("({})", several.iter().map(value).join(",")),
            });
            let mut values: Vec<String> = values.collect();
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
    let subpartitions = definition.subpartitions.iter();
    let subpartitions = subpartitions.map(|(subpartition, options)| {
        let options = [definition.options.as_slice(), options].concat();
        let options = options_text(&options, engine);
        format!("SUBPARTITION {}{options}", name(subpartition))
    });
    text + &format!("\n ({})", subpartitions.format(",\n  "))
}

fn value(expression: &Expr) -> String {
    match expression {
        Expr::Value(Literal::Null) => "NULL".to_owned(),
        Expr::Value(Literal::SingleQuotedString(text)) => quoted_string(text),
        _ => expression_text::text(expression),
    }
}

/// The options in MySQL's order; of repeated ones the last.
fn options_text(options: &[TableOption], engine: Engine) -> String {
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
            let quoted = is_text.then(|| quoted_string(&option.value));
            text += &format!(" {name} = {}", quoted.as_ref().unwrap_or(&option.value));
        }
    }
    text + &format!(" ENGINE = {engine}")
}

/// A name, quoted if it needs quotes or is a keyword.
fn name(ident: &Ident) -> String {
    let quotes = if is_keyword(&ident.value) {
        NameQuotes::Backticks
    } else {
        NameQuotes::WhereNeeded { double: false }
    };
    identifier(&ident.value, quotes)
}
