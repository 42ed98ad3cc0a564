//! Parses account statements: `CREATE | ALTER | DROP | RENAME USER`, roles, `SET PASSWORD`; [`grant`] parses GRANT and
//! REVOKE.

mod grant;

use crate::ast::Value;

use super::cursor::{Parser, Result};
use crate::ast::{
    AccountDefinition, AccountLimit, AccountOptions, AccountReference, AccountStatement, AlterUser,
    CreateUser, Identification, IdentifiedBy, NewPassword, PasswordExpire, Require, RoleChoice,
    Statement,
};
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `CREATE | ALTER | DROP | RENAME USER`, `CREATE | DROP ROLE`, behind the verb.
    pub(crate) fn account_statement(&mut self, verb: Kw) -> Result<Statement> {
        let object = self.take().keyword;
        let statement = match (verb, object) {
            (Kw::CREATE, Kw::USER) => self.create_user()?,
            (Kw::ALTER, Kw::USER) => self.alter_user()?,
            (Kw::RENAME, Kw::USER) => AccountStatement::Rename(self.renames(Self::account)?),
            (Kw::CREATE, Kw::ROLE) => AccountStatement::CreateRole {
                if_not_exists: self.if_not_exists()?,
                roles: self.comma_list(Self::account)?,
            },
            (Kw::DROP, Kw::USER | Kw::ROLE) => AccountStatement::Drop {
                roles: object == Kw::ROLE,
                if_exists: self.if_exists()?,
                accounts: self.comma_list(Self::account)?,
            },
            _ => return self.fail_at_previous(),
        };
        Ok(Statement::Account(Box::new(statement)))
    }

    /// `'user'@'host'`, `user`, `CURRENT_USER()`.
    pub(crate) fn account(&mut self) -> Result<AccountReference> {
        if self.eat(Kw::CURRENT_USER) {
            if self.eat_kind(Kind::LeftParen) {
                self.expect_kind(Kind::RightParen)?;
            }
            return Ok(AccountReference::Current);
        }
        Ok(AccountReference::Named {
            user: self.name_or_string()?,
            host: self.account_host()?,
        })
    }

    /// `@'host'`, if it is next.
    fn account_host(&mut self) -> Result<Option<String>> {
        let has_host = self.at_kind(Kind::UserVariable);
        has_host.then(|| self.user_variable_name()).transpose()
    }

    fn create_user(&mut self) -> Result<AccountStatement> {
        let if_not_exists = self.if_not_exists()?;
        let accounts = self.comma_list(|parser| {
            Ok(AccountDefinition {
                account: parser.account()?,
                identified: parser.identification()?,
                replaces: None,
                retains: false,
                discards: false,
            })
        })?;
        let mut default_roles = Vec::new();
        if self.eat_phrase(&kw![DEFAULT ROLE])? {
            default_roles = self.comma_list(Self::account)?;
        }
        Ok(AccountStatement::CreateUser(CreateUser {
            if_not_exists,
            accounts,
            default_roles,
            options: self.account_options()?,
        }))
    }

    fn alter_user(&mut self) -> Result<AccountStatement> {
        let if_exists = self.if_exists()?;
        if self.at(Kw::USER) && self.ahead(1).kind == Kind::LeftParen {
            self.position += 2;
            self.expect_kind(Kind::RightParen)?;
            let identified = self.identification()?;
            if identified.is_none() {
                return self.fail();
            }
            let definition = self.altered(AccountReference::Current, identified)?;
            return Ok(AccountStatement::AlterUser(AlterUser {
                if_exists,
                accounts: vec![definition],
                options: AccountOptions::default(),
            }));
        }
        let first = self.account()?;
        if self.at_all(&kw![DEFAULT ROLE]) {
            self.position += 2;
            return Ok(AccountStatement::SetDefaultRole {
                roles: self.role_choice(false)?,
                accounts: vec![first],
                if_exists,
            });
        }
        let identified = self.identification()?;
        let mut accounts = vec![self.altered(first, identified)?];
        while self.eat_kind(Kind::Comma) {
            let account = self.account()?;
            let identified = self.identification()?;
            accounts.push(self.altered(account, identified)?);
        }
        Ok(AccountStatement::AlterUser(AlterUser {
            if_exists,
            accounts,
            options: self.account_options()?,
        }))
    }

    /// Parses the rest of ALTER USER behind `IDENTIFIED`.
    fn altered(
        &mut self,
        account: AccountReference,
        identified: Option<Identification>,
    ) -> Result<AccountDefinition> {
        let (mut replaces, mut retains, mut discards) = (None, false, false);
        if identified.is_some() {
            (replaces, retains) = self.replaced_password()?;
        } else {
            discards = self.eat_phrase(&kw![DISCARD OLD PASSWORD])?;
        }
        Ok(AccountDefinition {
            account,
            identified,
            replaces,
            retains,
            discards,
        })
    }

    /// `[REPLACE 'text'] [RETAIN CURRENT PASSWORD]`.
    fn replaced_password(&mut self) -> Result<(Option<String>, bool)> {
        let replaces = self.after(Kw::REPLACE, Self::string)?;
        let retains = self.eat_phrase(&kw![RETAIN CURRENT PASSWORD])?;
        Ok((replaces, retains))
    }

    /// `IDENTIFIED BY ...`, `IDENTIFIED WITH plugin [BY ... | AS ...]`.
    fn identification(&mut self) -> Result<Option<Identification>> {
        if !self.eat(Kw::IDENTIFIED) {
            return Ok(None);
        }
        if self.eat(Kw::BY) {
            let by = Some(IdentifiedBy::Password(self.new_password()?));
            return Ok(Some(Identification { plugin: None, by }));
        }
        self.expect(Kw::WITH)?;
        let plugin = Some(self.name_or_string()?);
        let by = match self.eat_any(&kw![BY AS]) {
            Some(Kw::BY) => Some(IdentifiedBy::Password(self.new_password()?)),
            Some(_) => Some(IdentifiedBy::Kept(self.text_or_hex()?)),
            None => None,
        };
        Ok(Some(Identification { plugin, by }))
    }

    /// `'text'`, `RANDOM PASSWORD`.
    fn new_password(&mut self) -> Result<NewPassword> {
        if self.eat_phrase(&kw![RANDOM PASSWORD])? {
            return Ok(NewPassword::Random);
        }
        self.string().map(NewPassword::Text)
    }

    /// `'text'`, `0x7465`, `x'7465'`: bytes.
    fn text_or_hex(&mut self) -> Result<Vec<u8>> {
        if !self.at_kind(Kind::Hex) {
            return self.string().map(String::into_bytes);
        }
        let token = self.take();
        match self.digits(token) {
            Value::HexStringLiteral(digits) if digits.len() % 2 == 1 => self.fail_at_previous(),
            literal => Ok(encodings::bytes_literal(&literal).unwrap_or_default()),
        }
    }

    /// `REQUIRE ... WITH ... PASSWORD ... ACCOUNT ... COMMENT ...`.
    fn account_options(&mut self) -> Result<AccountOptions> {
        let mut options = AccountOptions {
            require: self.after(Kw::REQUIRE, Self::require)?,
            ..AccountOptions::default()
        };
        if self.eat(Kw::WITH) {
            options.limits.push(self.account_limit()?);
            while self.at_any(&LIMITS.map(|(word, _)| word)) {
                options.limits.push(self.account_limit()?);
            }
        }
        let words = kw![ACCOUNT PASSWORD FAILED_LOGIN_ATTEMPTS PASSWORD_LOCK_TIME];
        while let Some(word) = self.eat_any(&words) {
            match word {
                Kw::ACCOUNT => {
                    let word = self.expect_any(&kw![LOCK UNLOCK])?;
                    options.locked = Some(word == Kw::LOCK);
                }
                Kw::PASSWORD => self.password_option(&mut options)?,
                Kw::FAILED_LOGIN_ATTEMPTS => options.failed_attempts = Some(self.unsigned()?),
                _ => options.lock_days = Some(self.unless(Kw::UNBOUNDED, Self::unsigned)?),
            }
        }
        options.comment = self.after(Kw::COMMENT, Self::string)?;
        if options.comment.is_none() {
            options.attribute = self.after(Kw::ATTRIBUTE, Self::string)?;
        }
        Ok(options)
    }

    fn require(&mut self) -> Result<Require> {
        match self.eat_any(&kw![NONE SSL X509]) {
            Some(Kw::NONE) => return Ok(Require::None),
            Some(Kw::SSL) => return Ok(Require::Ssl),
            Some(_) => return Ok(Require::X509),
            None => {}
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        loop {
            let field = match self.expect_any(&kw![SUBJECT ISSUER CIPHER])? {
                Kw::SUBJECT => &mut subject,
                Kw::ISSUER => &mut issuer,
                _ => &mut cipher,
            };
            *field = Some(self.string()?);
            self.eat(Kw::AND);
            if !self.at_any(&kw![SUBJECT ISSUER CIPHER]) {
                return Ok(Require::Certificate {
                    subject,
                    issuer,
                    cipher,
                });
            }
        }
    }

    fn account_limit(&mut self) -> Result<(AccountLimit, u64)> {
        let found = LIMITS.iter().find(|(word, _)| self.at(*word));
        let Some((_, limit)) = found else {
            return self.fail();
        };
        self.take();
        Ok((*limit, self.unsigned()?))
    }

    /// Parses an option behind `PASSWORD`.
    fn password_option(&mut self, options: &mut AccountOptions) -> Result<()> {
        match self.expect_any(&kw![EXPIRE HISTORY REUSE REQUIRE])? {
            Kw::EXPIRE => {
                options.expire = Some(match self.eat_any(&kw![DEFAULT NEVER INTERVAL]) {
                    None => PasswordExpire::Now,
                    Some(Kw::DEFAULT) => PasswordExpire::Default,
                    Some(Kw::NEVER) => PasswordExpire::Never,
                    Some(_) => PasswordExpire::Days(self.days()?),
                });
            }
            Kw::HISTORY => options.history = Some(self.unless(Kw::DEFAULT, Self::unsigned)?),
            Kw::REUSE => {
                self.expect(Kw::INTERVAL)?;
                options.reuse_interval = Some(self.unless(Kw::DEFAULT, Self::days)?);
            }
            _ => {
                self.expect(Kw::CURRENT)?;
                options.require_current = Some(match self.eat_any(&kw![DEFAULT OPTIONAL]) {
                    None => Some(true),
                    Some(Kw::DEFAULT) => None,
                    Some(_) => Some(false),
                });
            }
        }
        Ok(())
    }

    /// `n DAY`.
    fn days(&mut self) -> Result<u64> {
        let days = self.unsigned()?;
        self.expect(Kw::DAY)?;
        Ok(days)
    }

    /// `SET PASSWORD`, `SET ROLE` and `SET DEFAULT ROLE`, if it is one of them.
    pub(crate) fn set_account(&mut self) -> Result<Option<Statement>> {
        let next = self.ahead(1);
        let assigns = matches!(next.kind, Kind::Equal | Kind::Assign | Kind::Dot);
        let statement = match self.keyword() {
            Kw::PASSWORD => {
                self.take();
                let account = self.after(Kw::FOR, Self::account)?;
                let password = if self.eat_phrase(&kw![TO RANDOM])? {
                    NewPassword::Random
                } else {
                    self.expect_equal()?;
                    NewPassword::Text(self.string()?)
                };
                let (replaces, retains) = self.replaced_password()?;
                AccountStatement::SetPassword {
                    account,
                    password,
                    replaces,
                    retains,
                }
            }
            Kw::ROLE if !assigns => {
                self.take();
                AccountStatement::SetRole(self.role_choice(true)?)
            }
            Kw::DEFAULT if next.keyword == Kw::ROLE => {
                self.position += 2;
                let roles = self.role_choice(false)?;
                self.expect(Kw::TO)?;
                AccountStatement::SetDefaultRole {
                    roles,
                    accounts: self.comma_list(Self::account)?,
                    if_exists: false,
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Statement::Account(Box::new(statement))))
    }

    /// `NONE`, `ALL`, a list of roles; of SET ROLE also `DEFAULT` and `ALL EXCEPT`.
    fn role_choice(&mut self, of_session: bool) -> Result<RoleChoice> {
        if self.eat(Kw::NONE) {
            return Ok(RoleChoice::None);
        }
        if self.eat(Kw::ALL) {
            if of_session && self.eat(Kw::EXCEPT) {
                return self.comma_list(Self::account).map(RoleChoice::AllExcept);
            }
            return Ok(RoleChoice::All);
        }
        if of_session && self.eat(Kw::DEFAULT) {
            return Ok(RoleChoice::Default);
        }
        self.comma_list(Self::account).map(RoleChoice::List)
    }
}

const LIMITS: [(Kw, AccountLimit); 4] = [
    (Kw::MAX_QUERIES_PER_HOUR, AccountLimit::MaxQueriesPerHour),
    (Kw::MAX_UPDATES_PER_HOUR, AccountLimit::MaxUpdatesPerHour),
    (
        Kw::MAX_CONNECTIONS_PER_HOUR,
        AccountLimit::MaxConnectionsPerHour,
    ),
    (Kw::MAX_USER_CONNECTIONS, AccountLimit::MaxUserConnections),
];
