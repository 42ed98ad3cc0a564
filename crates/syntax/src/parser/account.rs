//! Statements on accounts, kept as text.

use super::cursor::{Parser, Result};
use crate::ast::{AccountStatement, AccountVerb, Statement};
use crate::keywords::Kw;

impl Parser<'_> {
    /// `CREATE | ALTER | DROP | RENAME USER`, `CREATE | DROP ROLE`, `GRANT`, `REVOKE`.
    pub(crate) fn account_statement(&mut self) -> Result<Statement> {
        let first = self.take().keyword;
        let verb = match (first, self.keyword()) {
            (Kw::GRANT, _) => AccountVerb::Grant,
            (Kw::REVOKE, _) => AccountVerb::Revoke,
            (Kw::CREATE, Kw::USER) => AccountVerb::CreateUser,
            (Kw::CREATE, Kw::ROLE) => AccountVerb::CreateRole,
            (Kw::ALTER, Kw::USER) => AccountVerb::AlterUser,
            (Kw::DROP, Kw::USER) => AccountVerb::DropUser,
            (Kw::DROP, Kw::ROLE) => AccountVerb::DropRole,
            (Kw::RENAME, Kw::USER) => AccountVerb::RenameUser,
            _ => return self.fail(),
        };
        if !matches!(verb, AccountVerb::Grant | AccountVerb::Revoke) {
            self.take();
        }
        if self.at_end() {
            return self.fail();
        }
        let rest = self.rest().to_owned();
        Ok(Statement::Account(AccountStatement { verb, rest }))
    }
}
