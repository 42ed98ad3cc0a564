//! Numbers of collations, and names for those that the engine itself uses.

/// A collation, by MySQL's number for it (`information_schema.COLLATIONS.ID`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `latin1_swedish_ci`
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    /// `utf8mb3_general_ci`
    pub const UTF8MB3_GENERAL_CI: Self = Self(33);
    /// `utf8mb4_general_ci`
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    /// `utf8mb4_bin`
    pub const UTF8MB4_BIN: Self = Self(46);
    /// `binary`: bytes, without a character set.
    pub const BINARY: Self = Self(63);
    /// `utf8mb4_0900_ai_ci`, the default.
    pub const UTF8MB4_0900_AI_CI: Self = Self(255);
    /// `utf8mb4_0900_as_cs`
    pub const UTF8MB4_0900_AS_CS: Self = Self(278);
    /// `utf8mb4_0900_bin`
    pub const UTF8MB4_0900_BIN: Self = Self(309);
    /// The order of JSON documents (see [`crate::json::compare()`]). It is no collation that a user
    /// could name: keys and comparisons of JSON values use it instead of one.
    pub const JSON: Self = Self(511);
}

impl Default for CollationId {
    fn default() -> Self {
        Self::UTF8MB4_0900_AI_CI
    }
}

/// How a collation treats text of the characters 0x20 to 0x7E: which of it may be compared and hashed without weights,
/// apart from trailing spaces of PAD SPACE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// Two such texts are equal exactly when their bytes are.
    CaseSensitive,
    /// Two such texts are equal exactly when they differ in letter case alone.
    CaseInsensitive,
    /// Letters are equal to others (I and ı, Y and I), or two of them form a contraction (`aa`): only weights tell
    /// which texts are equal.
    Weighed,
}
