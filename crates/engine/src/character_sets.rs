//! Character sets and collations by name, for SET, DDL and information_schema.

use mayfly_types::charset::{Charset, CharsetRow};
use mayfly_types::collation::{COLLATIONS, Collation};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

/// The character set with a case-insensitive name; `utf8` is utf8mb3.
pub(crate) fn by_name(name: &str) -> Option<&'static CharsetRow> {
    Charset::by_name(name).map(Charset::row)
}

/// The collation with a case-insensitive name; `utf8_…` is `utf8mb3_…`.
pub(crate) fn collation_by_name(name: &str) -> Option<&'static Collation> {
    CollationId::by_name(name).map(CollationId::collation)
}

/// The collation with this number.
pub(crate) fn collation_by_id(id: u16) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|row| row.id.0 == id)
}

/// Whether statements may be in a character set: its ASCII characters are single bytes.
pub(crate) fn may_be_the_clients(charset: Charset) -> bool {
    charset.min_length() == 1
}

/// The value of `character_set_results` for a collation: the collation's name, or the character set's for a default
/// collation.
pub(crate) fn results_name(collation: &Collation) -> &'static str {
    let set = collation.charset.row();
    if set.default_collation == collation.id {
        set.name
    } else {
        collation.name
    }
}

/// The collation of a value of `character_set_results`.
pub(crate) fn results_collation(name: &str) -> Option<CollationId> {
    match by_name(name) {
        Some(set) => Some(set.default_collation),
        None => CollationId::by_name(name),
    }
}

/// The definition of a collation.
pub(crate) fn row(collation: CollationId) -> &'static Collation {
    collation.collation()
}

/// The character set of a file in a statement: 1115 for an unknown name.
pub(crate) fn charset_of_file(name: &str) -> Result<Charset> {
    Charset::by_name(name).ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))
}
