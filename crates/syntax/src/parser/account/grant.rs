//! `GRANT` and `REVOKE`, of privileges and of roles.

use super::super::cursor::{Parser, Result};
use crate::ast::{
    AccountReference, AccountStatement, Grant, GrantLevel, ListedPrivilege, Privilege,
    PrivilegeName, Privileges, Revoke, Statement,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// The list before `ON`, `TO` or `FROM`; `None` is `ALL`.
type Granted = Option<Vec<Item>>;

/// A privilege or a role: only the words behind the list tell which.
struct Item {
    privilege: PrivilegeName,
    host: Option<String>,
    columns: Vec<String>,
}

impl Item {
    /// The item as a role.
    fn into_role(self) -> Option<AccountReference> {
        let host = self.host;
        match self.privilege {
            PrivilegeName::Dynamic(user) if self.columns.is_empty() => {
                Some(AccountReference::Named { user, host })
            }
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// `GRANT`.
    pub(crate) fn grant(&mut self) -> Result<Statement> {
        self.expect(Kw::GRANT)?;
        let statement = if self.eat(Kw::PROXY) {
            self.proxy(Kw::TO)?
        } else {
            self.grant_body()?
        };
        Ok(Statement::Account(Box::new(statement)))
    }

    fn grant_body(&mut self) -> Result<AccountStatement> {
        let granted = self.granted()?;
        if self.eat(Kw::ON) {
            let level = self.grant_level()?;
            return Ok(AccountStatement::Grant(Grant {
                privileges: self.privileges(granted)?,
                level,
                accounts: self.accounts_behind(Kw::TO)?,
                grant_option: self.eat_phrase(&kw![WITH GRANT OPTION])?,
            }));
        }
        Ok(AccountStatement::GrantRoles {
            roles: self.roles(granted)?,
            accounts: self.accounts_behind(Kw::TO)?,
            admin: self.eat_phrase(&kw![WITH ADMIN OPTION])?,
        })
    }

    fn accounts_behind(&mut self, word: Kw) -> Result<Vec<AccountReference>> {
        self.expect(word)?;
        self.comma_list(Self::account)
    }

    /// `REVOKE`.
    pub(crate) fn revoke(&mut self) -> Result<Statement> {
        self.expect(Kw::REVOKE)?;
        let if_exists = self.if_exists()?;
        let statement = if self.eat(Kw::PROXY) {
            self.proxy(Kw::FROM)?
        } else {
            self.revoke_body(if_exists)?
        };
        Ok(Statement::Account(Box::new(statement)))
    }

    fn revoke_body(&mut self, if_exists: bool) -> Result<AccountStatement> {
        let granted = self.granted()?;
        if granted.is_none() && self.eat_kind(Kind::Comma) {
            self.expect_all(&kw![GRANT OPTION])?;
            return Ok(AccountStatement::RevokeAll {
                if_exists,
                accounts: self.accounts_behind(Kw::FROM)?,
                ignore_unknown: self.ignore_unknown_user()?,
            });
        }
        if self.eat(Kw::ON) {
            let level = self.grant_level()?;
            return Ok(AccountStatement::Revoke(Revoke {
                if_exists,
                privileges: self.privileges(granted)?,
                level,
                accounts: self.accounts_behind(Kw::FROM)?,
                ignore_unknown: self.ignore_unknown_user()?,
            }));
        }
        Ok(AccountStatement::RevokeRoles {
            if_exists,
            roles: self.roles(granted)?,
            accounts: self.accounts_behind(Kw::FROM)?,
            ignore_unknown: self.ignore_unknown_user()?,
        })
    }

    /// `ON account TO account, ... [WITH GRANT OPTION]` behind `PROXY`.
    fn proxy(&mut self, to: Kw) -> Result<AccountStatement> {
        self.expect(Kw::ON)?;
        self.account()?;
        self.accounts_behind(to)?;
        match to {
            Kw::TO => self.eat_phrase(&kw![WITH GRANT OPTION])?,
            _ => self.ignore_unknown_user()?,
        };
        Ok(AccountStatement::Proxy)
    }

    fn ignore_unknown_user(&mut self) -> Result<bool> {
        self.eat_phrase(&kw![IGNORE UNKNOWN USER])
    }

    fn granted(&mut self) -> Result<Granted> {
        if self.eat(Kw::ALL) {
            self.eat(Kw::PRIVILEGES);
            return Ok(None);
        }
        self.comma_list(Self::granted_item).map(Some)
    }

    fn granted_item(&mut self) -> Result<Item> {
        let known = STATIC.iter().find(|(words, _)| self.at_all(words));
        let (privilege, host) = match known {
            Some((words, privilege)) => {
                self.expect_all(words)?;
                (PrivilegeName::Static(*privilege), None)
            }
            None => {
                let name = self.name_or_string()?;
                (PrivilegeName::Dynamic(name), self.account_host()?)
            }
        };
        let mut columns = Vec::new();
        if takes_columns(&privilege) {
            columns = self.optional_paren_list(Self::name)?;
        }
        Ok(Item {
            privilege,
            host,
            columns,
        })
    }

    /// `*.*`, `*`, `db.*`, `t`, `db.t`, perhaps behind the kind of object.
    fn grant_level(&mut self) -> Result<GrantLevel> {
        let kind = self.eat_any(&kw![TABLE FUNCTION PROCEDURE]);
        if let Some(kind @ (Kw::FUNCTION | Kw::PROCEDURE)) = kind {
            return Ok(GrantLevel::Routine {
                function: kind == Kw::FUNCTION,
                name: self.table_name()?,
            });
        }
        if self.eat_kind(Kind::Star) {
            if !self.eat_kind(Kind::Dot) {
                return Ok(GrantLevel::Current);
            }
            self.expect_kind(Kind::Star)?;
            return Ok(GrantLevel::Global);
        }
        let is_database = self.ahead(1).kind == Kind::Dot && self.ahead(2).kind == Kind::Star;
        if is_database {
            let name = self.name()?;
            self.position += 2;
            return Ok(GrantLevel::Database(name));
        }
        self.table_name().map(GrantLevel::Table)
    }

    /// The list as privileges; only roles have a host.
    fn privileges(&self, granted: Granted) -> Result<Privileges> {
        let Some(items) = granted else {
            return Ok(Privileges::All);
        };
        if items.iter().any(|item| item.host.is_some()) {
            return self.fail();
        }
        let listed = items.into_iter().map(|item| ListedPrivilege {
            privilege: item.privilege,
            columns: item.columns,
        });
        Ok(Privileges::List(listed.collect()))
    }

    fn roles(&self, granted: Granted) -> Result<Vec<AccountReference>> {
        let roles = granted.and_then(|items| items.into_iter().map(Item::into_role).collect());
        roles.map_or_else(|| self.fail(), Ok)
    }
}

fn takes_columns(privilege: &PrivilegeName) -> bool {
    use Privilege::{Insert, References, Select, Update};
    match privilege {
        PrivilegeName::Static(known) => matches!(known, Select | Insert | Update | References),
        PrivilegeName::Dynamic(_) => true,
    }
}

/// The words of the static privileges; among those with a common beginning, the longer ones first.
const STATIC: &[(&[Kw], Privilege)] = &[
    (&kw![SELECT], Privilege::Select),
    (&kw![INSERT], Privilege::Insert),
    (&kw![UPDATE], Privilege::Update),
    (&kw![DELETE], Privilege::Delete),
    (&kw![REFERENCES], Privilege::References),
    (&kw![USAGE], Privilege::Usage),
    (&kw![INDEX], Privilege::Index),
    (&kw![ALTER ROUTINE], Privilege::AlterRoutine),
    (&kw![ALTER], Privilege::Alter),
    (
        &kw![CREATE TEMPORARY TABLES],
        Privilege::CreateTemporaryTables,
    ),
    (&kw![CREATE VIEW], Privilege::CreateView),
    (&kw![CREATE ROUTINE], Privilege::CreateRoutine),
    (&kw![CREATE USER], Privilege::CreateUser),
    (&kw![CREATE TABLESPACE], Privilege::CreateTablespace),
    (&kw![CREATE ROLE], Privilege::CreateRole),
    (&kw![CREATE], Privilege::Create),
    (&kw![DROP ROLE], Privilege::DropRole),
    (&kw![DROP], Privilege::Drop),
    (&kw![EXECUTE], Privilege::Execute),
    (&kw![RELOAD], Privilege::Reload),
    (&kw![SHUTDOWN], Privilege::Shutdown),
    (&kw![PROCESS], Privilege::Process),
    (&kw![FILE], Privilege::File),
    (&kw![GRANT OPTION], Privilege::GrantOption),
    (&kw![SHOW DATABASES], Privilege::ShowDatabases),
    (&kw![SHOW VIEW], Privilege::ShowView),
    (&kw![SUPER], Privilege::Super),
    (&kw![LOCK TABLES], Privilege::LockTables),
    (&kw![REPLICATION SLAVE], Privilege::ReplicationSlave),
    (&kw![REPLICATION CLIENT], Privilege::ReplicationClient),
    (&kw![EVENT], Privilege::Event),
    (&kw![TRIGGER], Privilege::Trigger),
];
