//! Rows of the table of collations, and the sources of their weights.

use super::CollationId;
use super::uca::Uca;
use crate::charset::Charset;

/// Weights of the collation with this number of MySQL's; other collations may share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Simple(pub(crate) u8);

impl Simple {
    /// `…_general_ci` of Unicode.
    pub(super) const GENERAL_CI: Self = Self(45);
    /// `…_general_mysql500_ci`, in which ß is a letter of its own.
    pub(super) const GENERAL_MYSQL500_CI: Self = Self(223);
    /// `utf8mb3_tolower_ci`
    pub(super) const TOLOWER_CI: Self = Self(76);
}

/// Where a collation's weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The bytes themselves.
    Bytes,
    /// One weight a character.
    Simple(Simple),
    /// The Unicode Collation Algorithm.
    Uca(Uca),
    /// The order of JSON documents.
    Json,
}

/// One line of SHOW COLLATION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collation {
    /// Its number.
    pub id: CollationId,
    /// Its name.
    pub name: &'static str,
    /// The character set that it orders.
    pub charset: Charset,
    /// Whether columns of the character set get it when they name none.
    pub is_default: bool,
    /// PAD SPACE: trailing spaces do not count. NO PAD otherwise.
    pub pad_space: bool,
    /// What SHOW COLLATION shows as Sortlen.
    pub sort_length: u8,
    pub(crate) order: Order,
}
