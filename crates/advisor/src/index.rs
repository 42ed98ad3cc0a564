//! Indexes that give rows in an order, existing or recommended.

use mayfly_syntax::ast::Expr;

use crate::schema::{Index, Table};
use crate::sql_text::quoted;
use crate::statement::{Block, ColumnPlace, Value};

/// Greatest length of InnoDB's index records, and greatest number of columns of an index.
const KEY_BYTES_MAX: u64 = 3072;
const KEY_COLUMNS_MAX: usize = 16;
/// Greatest number of columns, and of bytes, of an index that is extended to a covering one.
const COVERING_COLUMNS_MAX: usize = 6;
const COVERING_BYTES_MAX: u64 = 1024;

/// A recommended index.
#[derive(Debug, Clone)]
pub(crate) struct IndexAdvice {
    /// `CREATE INDEX …`
    pub(crate) statement: String,
    /// Whether it is covering: it holds every column that the statement reads of the table.
    pub(crate) covering: bool,
    /// Whether there are conditions other than equalities: another index may find fewer rows.
    pub(crate) filtered: bool,
    /// Whether the statement reads only the first rows of the index, by a LIMIT.
    pub(crate) limited: bool,
    /// An index that it makes redundant.
    pub(crate) replaces: Option<String>,
    /// Estimated greatest size in bytes.
    pub(crate) bytes_max: Option<u64>,
}

/// Bytes of an index of `rows` rows, whose values have `values` bytes in `columns` columns: with record headers,
/// lengths, the primary key, and partly filled pages. Measured on InnoDB.
pub(crate) fn record_bytes(rows: u64, values: u64, columns: usize) -> u64 {
    let record = values + columns as u64 + 11;
    rows.saturating_mul(record) / 4 * 5
}

/// The columns of a table's index, followed by the primary key as in InnoDB. An expression or a prefix ends the order.
fn ordered_columns(table: &Table, index: &Index) -> Vec<usize> {
    let whole = |index: &Index| -> Vec<usize> {
        let parts = index
            .parts
            .iter()
            .map_while(|(column, prefix)| column.filter(|_| prefix.is_none()));
        parts.collect()
    };
    let mut columns = whole(index);
    if columns.len() == index.parts.len()
        && let Some(primary) = table.indexes.iter().find(|index| index.primary)
    {
        columns.extend(whole(primary));
    }
    columns
}

/// The positions of keys in a table, when all keys are columns of this one table; keys that conditions fix are left
/// out.
pub(crate) fn key_columns(block: &Block, keys: &[&Expr]) -> Option<(usize, Vec<usize>)> {
    let fixed = block.fixed_columns();
    let mut table = None;
    let mut columns = Vec::new();
    for key in keys {
        let place = block.place(key)?;
        if fixed.contains(&place) {
            continue;
        }
        if *table.get_or_insert(place.table) != place.table {
            return None;
        }
        if !columns.contains(&place.column) {
            columns.push(place.column);
        }
    }
    Some((table.unwrap_or(0), columns))
}

/// The index of a table that gives rows in the order of some columns, after the columns that conditions fix.
pub(crate) fn ordering_index<'t>(
    block: &Block,
    table: usize,
    columns: &[usize],
    source: &'t Table,
) -> Option<&'t Index> {
    let fixed: Vec<usize> = fixed_of(block, table);
    source
        .indexes
        .iter()
        .filter(|index| index.ordered)
        .find(|index| {
            let mut wanted = columns.iter();
            let mut next = wanted.next();
            for column in ordered_columns(source, index) {
                match next {
                    None => break,
                    Some(key) if *key == column => next = wanted.next(),
                    Some(_) if fixed.contains(&column) => {}
                    Some(_) => return false,
                }
            }
            next.is_none()
        })
}

fn fixed_of(block: &Block, table: usize) -> Vec<usize> {
    let fixed = block.fixed_columns().into_iter();
    fixed
        .filter(|place| place.table == table)
        .map(|place| place.column)
        .collect()
}

/// Whether conditions match at most one row of a table.
pub(crate) fn is_one_row(block: &Block, table: usize) -> bool {
    let Some(source) = block.tables.get(table).and_then(|table| table.base()) else {
        return false;
    };
    let fixed = fixed_of(block, table);
    source
        .indexes
        .iter()
        .filter(|index| index.unique)
        .any(|index| {
            let mut parts = index.parts.iter();
            !index.parts.is_empty()
                && parts.all(|(column, _)| column.is_some_and(|column| fixed.contains(&column)))
        })
}

/// Recommends an index for reading a table by the columns that conditions fix, then in the order of `columns`.
pub(crate) fn advise(block: &Block, table: usize, columns: &[usize]) -> Option<IndexAdvice> {
    let source = block.tables.get(table)?.base()?;
    let mut parts = fixed_of(block, table);
    parts.sort_unstable();
    parts.dedup();
    parts.retain(|column| !columns.contains(column));
    parts.extend(columns);
    let declared = |column: &usize| Value::of(&source.columns.get(*column)?.ty).declared_bytes();
    let bytes: u64 = parts.iter().map(declared).sum::<Option<u64>>()?;
    if parts.is_empty() || parts.len() > KEY_COLUMNS_MAX || bytes > KEY_BYTES_MAX {
        return None;
    }
    let key_parts = parts.len();
    let covering = cover(block, table, source, &mut parts, bytes);
    let names: Vec<&str> = parts
        .iter()
        .map(|column| source.columns[*column].name.as_str())
        .collect();
    let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let width: Option<u64> = parts.iter().map(declared).sum();
    let superfluous = source.indexes.iter().find(|index| {
        let own: Vec<Option<usize>> = index.parts.iter().map(|(column, _)| *column).collect();
        let new: Vec<Option<usize>> = parts.iter().map(|column| Some(*column)).collect();
        !index.unique && index.ordered && own.len() <= key_parts && new.starts_with(&own)
    });
    Some(IndexAdvice {
        statement: format!(
            "CREATE INDEX {} ON {} ({})",
            quoted(&free_name(source, &names[..key_parts])),
            table_name(source),
            list.join(", ")
        ),
        covering,
        filtered: block.conditions.len() > fixed_of(block, table).len(),
        limited: block.has_limit
            && block.tables.len() == 1
            && block.group_by.is_empty()
            && !block.is_distinct()
            && !block.has_windows,
        replaces: superfluous.map(|index| index.name.clone()),
        bytes_max: source.rows.zip(width).map(|(rows, width)| {
            // A row of the index has at most the values of the table's row.
            let values = source.row_bytes.map_or(width, |bytes| bytes.min(width));
            record_bytes(rows, values, parts.len())
        }),
    })
}

/// Adds the other columns that the statement reads of the table, if they fit; returns whether they do.
fn cover(block: &Block, table: usize, source: &Table, parts: &mut Vec<usize>, bytes: u64) -> bool {
    if block.has_wildcard() {
        return false;
    }
    let order = block.order_by.iter().map(|key| &key.expr);
    let read = block.columns_of(
        block
            .items()
            .chain(&block.conditions)
            .chain(&block.group_by)
            .chain(order)
            .chain(&block.select.having),
    );
    let primary: Vec<usize> = source
        .indexes
        .iter()
        .filter(|index| index.primary)
        .flat_map(|index| index.parts.iter().filter_map(|(column, _)| *column))
        .collect();
    let more: Vec<usize> = read
        .into_iter()
        .filter(|place: &ColumnPlace| place.table == table)
        .map(|place| place.column)
        .filter(|column| !parts.contains(column) && !primary.contains(column))
        .collect();
    let width: Option<u64> = more
        .iter()
        .map(|column| Value::of(&source.columns[*column].ty).declared_bytes())
        .sum();
    let fits =
        width.is_some_and(|width| width <= COVERING_BYTES_MAX && bytes + width <= KEY_BYTES_MAX);
    if fits && more.len() <= COVERING_COLUMNS_MAX && parts.len() + more.len() <= KEY_COLUMNS_MAX {
        parts.extend(more);
        return true;
    }
    false
}

/// An unused index name of the table.
fn free_name(table: &Table, columns: &[&str]) -> String {
    let base: String = format!("by_{}", columns.join("_"))
        .chars()
        .take(58)
        .collect();
    let is_taken = |name: &str| {
        table
            .indexes
            .iter()
            .any(|index| index.name.eq_ignore_ascii_case(name))
    };
    let numbered = (2..100).map(|number| format!("{base}_{number}"));
    std::iter::once(base.clone())
        .chain(numbered)
        .find(|name| !is_taken(name))
        .unwrap_or(base)
}

/// A table's name with its database.
pub(crate) fn table_name(table: &Table) -> String {
    if table.database.is_empty() {
        quoted(&table.name)
    } else {
        format!("{}.{}", quoted(&table.database), quoted(&table.name))
    }
}
