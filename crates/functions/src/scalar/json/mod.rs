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
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &array_change::ARRAY_APPEND,
    &array_change::ARRAY_INSERT,
    &construct::JsonArray,
    &construct::JsonObjectOf,
    &contains::JsonContains,
    &contains::JsonContainsPath,
    &depth::JsonDepth,
    &extract::JsonExtract,
    &keys::JsonKeys,
    &length::JsonLength,
    &member_of::MemberOf,
    &merge::MERGE_PATCH,
    &merge::MERGE_PRESERVE,
    &overlaps::JsonOverlaps,
    &pretty::JsonPretty,
    &quote::JsonQuote,
    &remove::JsonRemove,
    &schema_valid::VALID,
    &schema_valid::REPORT,
    &search::JsonSearch,
    &set::SET,
    &set::INSERT,
    &set::REPLACE,
    &storage_size::JsonStorageSize,
    &storage_size::JsonStorageFree,
    &type_name::JsonType,
    &unquote::JsonUnquote,
    &valid::JsonValid,
    &value::JsonValue,
];
