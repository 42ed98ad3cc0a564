//! Accounts: `CREATE | ALTER | DROP | RENAME USER`, roles, `SET PASSWORD`. What GRANT and REVOKE add
//! is in [`grant`].

mod grant;

use super::cursor::{Parser, Result};
use crate::ast::{
    AccountDefinition, AccountLimit, AccountOptions, AccountReference, AccountStatement, AlterUser,
    CreateUser, Identification, IdentifiedBy, NewPassword, PasswordExpire, Require, RoleChoice,
    Statement,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `CREATE | ALTER | DROP | RENAME USER`, `CREATE | DROP ROLE`, behind the verb.
    pub(crate) fn account_statement(&mut self, verb: Kw) -> Result<Statement> {
        let object = self.take().keyword;
        let statement = match (verb, object) {
            (Kw::CREATE, Kw::USER) => self.create_user()?,
            (Kw::ALTER, Kw::USER) => self.alter_user()?,
            (Kw::RENAME, Kw::USER) => AccountStatement::Rename(self.comma_list(|parser| {
                let old = parser.account()?;
                parser.expect(Kw::TO)?;
                Ok((old, parser.account()?))
            })?),
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
            self.empty_parentheses()?;
            return Ok(AccountReference::Current);
        }
        let user = self.name_or_string()?;
        let host = match self.at_kind(Kind::UserVariable) {
            true => Some(self.user_variable_name()?),
            false => None,
        };
        Ok(AccountReference::Named { user, host })
    }

    /// `()`, if it stands here.
    fn empty_parentheses(&mut self) -> Result<bool> {
        let found = self.eat_kind(Kind::LeftParen);
        if found {
            self.expect_kind(Kind::RightParen)?;
        }
        Ok(found)
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
        if self.eat(Kw::DEFAULT) {
            self.expect(Kw::ROLE)?;
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
            self.take();
            self.empty_parentheses()?;
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
        if self.at_all(&[Kw::DEFAULT, Kw::ROLE]) {
            self.expect_all(&[Kw::DEFAULT, Kw::ROLE])?;
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

    /// What ALTER USER may say behind `IDENTIFIED`.
    fn altered(
        &mut self,
        account: AccountReference,
        identified: Option<Identification>,
    ) -> Result<AccountDefinition> {
        let (replaces, retains) = match identified.is_some() {
            true => self.replaced_password()?,
            false => (None, false),
        };
        let discards = identified.is_none() && self.eat(Kw::DISCARD);
        if discards {
            self.expect_all(&[Kw::OLD, Kw::PASSWORD])?;
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
        let replaces = match self.eat(Kw::REPLACE) {
            true => Some(self.string()?),
            false => None,
        };
        let retains = self.eat(Kw::RETAIN);
        if retains {
            self.expect_all(&[Kw::CURRENT, Kw::PASSWORD])?;
        }
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
        let by = match self.eat_any(&[Kw::BY, Kw::AS]) {
            Some(Kw::BY) => Some(IdentifiedBy::Password(self.new_password()?)),
            Some(_) => Some(IdentifiedBy::Kept(self.text_or_hex()?)),
            None => None,
        };
        Ok(Some(Identification { plugin, by }))
    }

    /// `'text'`, `RANDOM PASSWORD`.
    fn new_password(&mut self) -> Result<NewPassword> {
        if self.eat(Kw::RANDOM) {
            self.expect(Kw::PASSWORD)?;
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
        let text = self.text(token);
        let digits = text.get(2..).unwrap_or("").trim_end_matches('\'');
        let bytes = digits.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        match bytes.collect() {
            Some(bytes) if digits.len() % 2 == 0 => Ok(bytes),
            _ => self.fail_at_previous(),
        }
    }

    /// `REQUIRE ... WITH ... PASSWORD ... ACCOUNT ... COMMENT ...`.
    fn account_options(&mut self) -> Result<AccountOptions> {
        let mut options = AccountOptions::default();
        if self.eat(Kw::REQUIRE) {
            options.require = Some(self.require()?);
        }
        if self.eat(Kw::WITH) {
            options.limits.push(self.account_limit()?);
            while self.at_any(&LIMITS.map(|(word, _)| word)) {
                options.limits.push(self.account_limit()?);
            }
        }
        loop {
            match self.keyword() {
                Kw::ACCOUNT => {
                    self.take();
                    options.locked = match self.eat_any(&[Kw::LOCK, Kw::UNLOCK]) {
                        Some(word) => Some(word == Kw::LOCK),
                        None => return self.fail(),
                    };
                }
                Kw::PASSWORD => {
                    self.take();
                    self.password_option(&mut options)?;
                }
                Kw::FAILED_LOGIN_ATTEMPTS => {
                    self.take();
                    options.failed_attempts = Some(self.unsigned()?);
                }
                Kw::PASSWORD_LOCK_TIME => {
                    self.take();
                    options.lock_days = Some(match self.eat(Kw::UNBOUNDED) {
                        true => None,
                        false => Some(self.unsigned()?),
                    });
                }
                _ => break,
            }
        }
        match self.eat_any(&[Kw::COMMENT, Kw::ATTRIBUTE]) {
            Some(Kw::COMMENT) => options.comment = Some(self.string()?),
            Some(_) => options.attribute = Some(self.string()?),
            None => {}
        }
        Ok(options)
    }

    fn require(&mut self) -> Result<Require> {
        match self.eat_any(&[Kw::NONE, Kw::SSL, Kw::X509]) {
            Some(Kw::NONE) => return Ok(Require::None),
            Some(Kw::SSL) => return Ok(Require::Ssl),
            Some(_) => return Ok(Require::X509),
            None => {}
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        loop {
            let place = match self.eat_any(&[Kw::SUBJECT, Kw::ISSUER, Kw::CIPHER]) {
                Some(Kw::SUBJECT) => &mut subject,
                Some(Kw::ISSUER) => &mut issuer,
                Some(_) => &mut cipher,
                None => return self.fail(),
            };
            *place = Some(self.string()?);
            self.eat(Kw::AND);
            if !self.at_any(&[Kw::SUBJECT, Kw::ISSUER, Kw::CIPHER]) {
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

    /// What may follow `PASSWORD` among the options.
    fn password_option(&mut self, options: &mut AccountOptions) -> Result<()> {
        match self.eat_any(&[Kw::EXPIRE, Kw::HISTORY, Kw::REUSE, Kw::REQUIRE]) {
            Some(Kw::EXPIRE) => {
                let words = [Kw::DEFAULT, Kw::NEVER, Kw::INTERVAL];
                options.expire = Some(match self.eat_any(&words) {
                    None => PasswordExpire::Now,
                    Some(Kw::DEFAULT) => PasswordExpire::Default,
                    Some(Kw::NEVER) => PasswordExpire::Never,
                    Some(_) => {
                        let days = self.unsigned()?;
                        self.expect(Kw::DAY)?;
                        PasswordExpire::Days(days)
                    }
                });
            }
            Some(Kw::HISTORY) => {
                options.history = Some(match self.eat(Kw::DEFAULT) {
                    true => None,
                    false => Some(self.unsigned()?),
                });
            }
            Some(Kw::REUSE) => {
                self.expect(Kw::INTERVAL)?;
                options.reuse_interval = Some(match self.eat(Kw::DEFAULT) {
                    true => None,
                    false => {
                        let days = self.unsigned()?;
                        self.expect(Kw::DAY)?;
                        Some(days)
                    }
                });
            }
            Some(_) => {
                self.expect(Kw::CURRENT)?;
                options.require_current = Some(match self.eat_any(&[Kw::DEFAULT, Kw::OPTIONAL]) {
                    None => Some(true),
                    Some(Kw::DEFAULT) => None,
                    Some(_) => Some(false),
                });
            }
            None => return self.fail(),
        }
        Ok(())
    }

    /// `SET PASSWORD`, `SET ROLE` and `SET DEFAULT ROLE`, if it is one of them.
    pub(crate) fn set_account(&mut self) -> Result<Option<Statement>> {
        let next = self.ahead(1);
        let assigns = matches!(next.kind, Kind::Equal | Kind::Assign | Kind::Dot);
        let statement = match self.keyword() {
            Kw::PASSWORD => {
                self.take();
                let account = match self.eat(Kw::FOR) {
                    true => Some(self.account()?),
                    false => None,
                };
                let password = if self.eat(Kw::TO) {
                    self.expect(Kw::RANDOM)?;
                    NewPassword::Random
                } else if self.eat_equal() {
                    NewPassword::Text(self.string()?)
                } else {
                    return self.fail();
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
                self.expect_all(&[Kw::DEFAULT, Kw::ROLE])?;
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
        match self.eat_any(&[Kw::NONE, Kw::ALL]) {
            Some(Kw::NONE) => return Ok(RoleChoice::None),
            Some(_) if of_session && self.eat(Kw::EXCEPT) => {
                return self.comma_list(Self::account).map(RoleChoice::AllExcept);
            }
            Some(_) => return Ok(RoleChoice::All),
            None => {}
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
