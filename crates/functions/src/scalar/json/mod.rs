//! JSON functions (the manual, "JSON Functions"). Documents travel as normalised text: what only
//! reads them works on the text, what changes them on a tree.

pub(crate) mod arguments;
mod array_change;
mod construct;
mod contains;
mod depth;
mod extract;
mod keys;
mod length;
mod member_of;
mod merge;
mod overlaps;
mod pretty;
mod quote;
mod remove;
mod schema;
mod schema_valid;
mod search;
mod set;
mod storage_size;
mod type_name;
mod unquote;
mod valid;
mod value;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(
        &["json_array_append"],
        3..=usize::MAX,
        &array_change::ARRAY_APPEND,
    ),
    ScalarFunction::new(
        &["json_array_insert"],
        3..=usize::MAX,
        &array_change::ARRAY_INSERT,
    ),
    ScalarFunction::new(&["json_array"], 0..=usize::MAX, &construct::JsonArray),
    ScalarFunction::new(&["json_object"], 0..=usize::MAX, &construct::JsonObjectOf),
    ScalarFunction::new(&["json_contains"], 2..=3, &contains::JsonContains),
    ScalarFunction::new(
        &["json_contains_path"],
        3..=usize::MAX,
        &contains::JsonContainsPath,
    ),
    ScalarFunction::new(&["json_depth"], 1..=1, &depth::JsonDepth),
    ScalarFunction::new(&["json_extract"], 2..=usize::MAX, &extract::JsonExtract),
    ScalarFunction::new(&["json_keys"], 1..=2, &keys::JsonKeys),
    ScalarFunction::new(&["json_length"], 1..=2, &length::JsonLength),
    ScalarFunction::new(&["member of"], 2..=2, &member_of::MemberOf),
    ScalarFunction::new(&["json_merge_patch"], 2..=usize::MAX, &merge::MERGE_PATCH),
    ScalarFunction::new(
        &["json_merge_preserve", "json_merge"],
        2..=usize::MAX,
        &merge::MERGE_PRESERVE,
    ),
    ScalarFunction::new(&["json_overlaps"], 2..=2, &overlaps::JsonOverlaps),
    ScalarFunction::new(&["json_pretty"], 1..=1, &pretty::JsonPretty),
    ScalarFunction::new(&["json_quote"], 1..=1, &quote::JsonQuote),
    ScalarFunction::new(&["json_remove"], 2..=usize::MAX, &remove::JsonRemove),
    ScalarFunction::new(&["json_schema_valid"], 2..=2, &schema_valid::VALID),
    ScalarFunction::new(
        &["json_schema_validation_report"],
        2..=2,
        &schema_valid::REPORT,
    ),
    ScalarFunction::new(&["json_search"], 3..=usize::MAX, &search::JsonSearch),
    ScalarFunction::new(&["json_set"], 3..=usize::MAX, &set::SET),
    ScalarFunction::new(&["json_insert"], 3..=usize::MAX, &set::INSERT),
    ScalarFunction::new(&["json_replace"], 3..=usize::MAX, &set::REPLACE),
    ScalarFunction::new(
        &["json_storage_size"],
        1..=1,
        &storage_size::JsonStorageSize,
    ),
    ScalarFunction::new(
        &["json_storage_free"],
        1..=1,
        &storage_size::JsonStorageFree,
    ),
    ScalarFunction::new(&["json_type"], 1..=1, &type_name::JsonType),
    ScalarFunction::new(&["json_unquote"], 1..=1, &unquote::JsonUnquote),
    ScalarFunction::new(&["json_valid"], 1..=1, &valid::JsonValid),
    ScalarFunction::new(&["json_value"], 2..=7, &value::JsonValue),
];
