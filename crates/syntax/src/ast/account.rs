//! Accounts, roles and privileges: recognised and kept as text, since nothing here checks them.

/// A statement on accounts, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatement {
    /// Which statement.
    pub verb: AccountVerb,
    /// Everything after the verb, as written.
    pub rest: String,
}

/// The statements on accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own statement names")]
pub enum AccountVerb {
    CreateUser,
    AlterUser,
    DropUser,
    RenameUser,
    CreateRole,
    DropRole,
    Grant,
    Revoke,
}
