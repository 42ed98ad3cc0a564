//! The settings for temporary tables, with their meaning.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::watch;
use crate::source::{Source, Table};

/// Unit of a value.
#[derive(Debug, Clone, Copy)]
enum Unit {
    /// Bytes; 0 is an ordinary value, the greatest value means no limit.
    Bytes,
    /// Bytes, where 0 and the greatest value mean no limit.
    BytesOrNone,
    Rows,
    Other,
}

use Unit::{Bytes, BytesOrNone, Other, Rows};

/// Groups of settings, as the page shows them.
const GROUPS: &[(&str, &[(&str, Unit)])] = &[
    (
        "Memory",
        &[
            ("tmp_table_size", Bytes),
            ("max_heap_table_size", Bytes),
            ("temptable_max_ram", Bytes),
            ("max_tmp_statement_memory_usage", BytesOrNone),
            ("max_tmp_user_memory_usage", BytesOrNone),
            ("connection_memory_limit", Bytes),
            ("global_connection_memory_limit", Bytes),
        ],
    ),
    (
        "Disk",
        &[
            ("tmp_disk_table_size", BytesOrNone),
            ("max_tmp_statement_space_usage", BytesOrNone),
            ("max_tmp_session_space_usage", BytesOrNone),
            ("max_tmp_user_space_usage", BytesOrNone),
            ("max_tmp_total_space_usage", BytesOrNone),
            ("tmpdir", Other),
            ("tmpdir_capacity", Other),
            ("innodb_temp_data_file_path", Other),
            ("tmp_files_compression", Other),
            ("encrypt_tmp_files", Other),
        ],
    ),
    (
        "Policy",
        &[
            ("tmp_overflow_policy", Other),
            ("internal_tmp_mem_storage_engine", Other),
            ("internal_tmp_disk_storage_engine", Other),
            ("big_tables", Other),
            ("optimizer_switch", Other),
        ],
    ),
    (
        "Sorts and joins",
        &[
            ("sort_buffer_size", Bytes),
            ("join_buffer_size", Bytes),
            ("read_buffer_size", Bytes),
            ("max_sort_length", Bytes),
            ("group_concat_max_len", Bytes),
            ("cte_max_recursion_depth", Rows),
        ],
    ),
];

const VALUES: &str =
    "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables";
const MEANINGS: &str =
    "SELECT VARIABLE_NAME, DOCUMENTATION FROM performance_schema.variables_metadata";

/// The greatest value of a size: no limit.
const GREATEST: &str = "18446744073709551615";

/// `GET /api/settings`
pub(crate) fn settings(source: &dyn Source) -> Value {
    let mut notes = Vec::new();
    let mut pairs = |statement: &str, column: &str| match watch(source, statement) {
        Ok(table) => by_name(&table, column),
        Err(error) => {
            notes.push(error.to_string());
            HashMap::new()
        }
    };
    let values = pairs(VALUES, "VARIABLE_VALUE");
    let meanings = pairs(MEANINGS, "DOCUMENTATION");
    let setting = |(name, unit): &(&str, Unit)| {
        let value = values.get(*name)?;
        let unit = match unit {
            BytesOrNone if value == "0" => "none",
            Bytes | BytesOrNone if value == GREATEST => "none",
            Bytes | BytesOrNone => "bytes",
            Rows => "rows",
            Other => "text",
        };
        Some(json!({ "name": name, "value": value, "unit": unit, "meaning": meanings.get(*name) }))
    };
    let groups = GROUPS.iter().map(|(title, names)| {
        let settings: Vec<Value> = names.iter().filter_map(setting).collect();
        json!({ "title": title, "settings": settings })
    });
    let groups: Vec<Value> = groups.collect();
    json!({ "groups": groups, "notes": notes })
}

fn by_name(table: &Table, column: &str) -> HashMap<String, String> {
    let pairs = table.rows().filter_map(|row| {
        let name = row.text("VARIABLE_NAME")?.to_ascii_lowercase();
        Some((name, row.text(column)?.to_owned()))
    });
    pairs.collect()
}
