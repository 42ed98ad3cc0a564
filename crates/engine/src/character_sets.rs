//! Character sets and collations by name, for SET, DDL and information_schema.

use mayfly_types::charset::{Charset, CharsetRow};
use mayfly_types::collation::{COLLATIONS, Collation};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

/// The character set of a name, in any case; `utf8` is utf8mb3.
pub(crate) fn by_name(name: &str) -> Option<&'static CharsetRow> {
    Charset::by_name(name).map(Charset::row)
}

/// The collation of a name, in any case; `utf8_…` is `utf8mb3_…`.
pub(crate) fn collation_by_name(name: &str) -> Option<&'static Collation> {
    CollationId::by_name(name).map(CollationId::collation)
}

/// The collation of a number.
pub(crate) fn collation_by_id(id: u16) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|row| row.id.0 == id)
}

/// Whether statements may come in a character set: its letters of SQL are single bytes.
pub(crate) fn may_be_the_clients(charset: Charset) -> bool {
    charset.min_length() == 1
}

/// What `character_set_results` is set to for a collation, as clients see it: its
/// own name, or the character set's when it is the one that is meant by that.
pub(crate) fn results_name(collation: &Collation) -> &'static str {
    let set = collation.charset.row();
    if set.default_collation == collation.id {
        set.name
    } else {
        collation.name
    }
}

/// The collation that `character_set_results` is set to.
pub(crate) fn results_collation(name: &str) -> Option<CollationId> {
    match by_name(name) {
        Some(set) => Some(set.default_collation),
        None => CollationId::by_name(name),
    }
}

/// The row of a collation.
pub(crate) fn row(collation: CollationId) -> &'static Collation {
    collation.collation()
}

/// The character set of a file that a statement names: 1115 when there is none of that name.
pub(crate) fn charset_of_file(name: &str) -> Result<Charset> {
    Charset::by_name(name).ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))
}
