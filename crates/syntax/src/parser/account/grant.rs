//! `GRANT` and `REVOKE`, of privileges and of roles.

use super::super::cursor::{Parser, Result};
use crate::ast::{
    AccountReference, AccountStatement, Grant, GrantLevel, ListedPrivilege, Privilege,
    PrivilegeName, Privileges, Revoke, Statement,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// What stands before `ON`, `TO` or `FROM`.
enum Granted {
    All,
    Items(Vec<Item>),
}

/// A privilege, or a role: which it is shows behind the list.
struct Item {
    privilege: PrivilegeName,
    host: Option<String>,
    columns: Vec<String>,
}

impl Item {
    /// The role that it names.
    fn into_role(self) -> Option<AccountReference> {
        match self.privilege {
            PrivilegeName::Dynamic(user) if self.columns.is_empty() => {
                Some(AccountReference::Named {
                    user,
                    host: self.host,
                })
            }
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// `GRANT`.
    pub(crate) fn grant(&mut self) -> Result<Statement> {
        self.expect(Kw::GRANT)?;
        let statement = match self.eat(Kw::PROXY) {
            true => self.proxy(Kw::TO)?,
            false => self.grant_body()?,
        };
        Ok(Statement::Account(Box::new(statement)))
    }

    fn grant_body(&mut self) -> Result<AccountStatement> {
        let granted = self.granted()?;
        if self.eat(Kw::ON) {
            let level = self.grant_level()?;
            let Some(privileges) = privileges(granted) else {
                return self.fail();
            };
            self.expect(Kw::TO)?;
            let accounts = self.comma_list(Self::account)?;
            return Ok(AccountStatement::Grant(Grant {
                privileges,
                level,
                accounts,
                grant_option: self.with_option(Kw::GRANT)?,
            }));
        }
        let Some(roles) = roles(granted) else {
            return self.fail();
        };
        self.expect(Kw::TO)?;
        let accounts = self.comma_list(Self::account)?;
        Ok(AccountStatement::GrantRoles {
            roles,
            accounts,
            admin: self.with_option(Kw::ADMIN)?,
        })
    }

    /// `REVOKE`.
    pub(crate) fn revoke(&mut self) -> Result<Statement> {
        self.expect(Kw::REVOKE)?;
        let if_exists = self.if_exists()?;
        let statement = match self.eat(Kw::PROXY) {
            true => self.proxy(Kw::FROM)?,
            false => self.revoke_body(if_exists)?,
        };
        Ok(Statement::Account(Box::new(statement)))
    }

    fn revoke_body(&mut self, if_exists: bool) -> Result<AccountStatement> {
        let granted = self.granted()?;
        if matches!(granted, Granted::All) && self.eat_kind(Kind::Comma) {
            self.expect_all(&[Kw::GRANT, Kw::OPTION, Kw::FROM])?;
            let accounts = self.comma_list(Self::account)?;
            return Ok(AccountStatement::RevokeAll {
                if_exists,
                accounts,
                ignore_unknown: self.ignore_unknown_user()?,
            });
        }
        if self.eat(Kw::ON) {
            let level = self.grant_level()?;
            let Some(privileges) = privileges(granted) else {
                return self.fail();
            };
            self.expect(Kw::FROM)?;
            let accounts = self.comma_list(Self::account)?;
            return Ok(AccountStatement::Revoke(Revoke {
                if_exists,
                privileges,
                level,
                accounts,
                ignore_unknown: self.ignore_unknown_user()?,
            }));
        }
        let Some(roles) = roles(granted) else {
            return self.fail();
        };
        self.expect(Kw::FROM)?;
        let accounts = self.comma_list(Self::account)?;
        Ok(AccountStatement::RevokeRoles {
            if_exists,
            roles,
            accounts,
            ignore_unknown: self.ignore_unknown_user()?,
        })
    }

    /// `ON account TO account, ... [WITH GRANT OPTION]` behind `PROXY`.
    fn proxy(&mut self, to: Kw) -> Result<AccountStatement> {
        self.expect(Kw::ON)?;
        self.account()?;
        self.expect(to)?;
        self.comma_list(Self::account)?;
        match to {
            Kw::TO => self.with_option(Kw::GRANT)?,
            _ => self.ignore_unknown_user()?,
        };
        Ok(AccountStatement::Proxy)
    }

    /// `WITH GRANT OPTION`, `WITH ADMIN OPTION`, if it stands here.
    fn with_option(&mut self, word: Kw) -> Result<bool> {
        let found = self.eat(Kw::WITH);
        if found {
            self.expect_all(&[word, Kw::OPTION])?;
        }
        Ok(found)
    }

    /// `IGNORE UNKNOWN USER`, if it stands here.
    fn ignore_unknown_user(&mut self) -> Result<bool> {
        let found = self.eat(Kw::IGNORE);
        if found {
            self.expect_all(&[Kw::UNKNOWN, Kw::USER])?;
        }
        Ok(found)
    }

    fn granted(&mut self) -> Result<Granted> {
        if self.eat(Kw::ALL) {
            self.eat(Kw::PRIVILEGES);
            return Ok(Granted::All);
        }
        self.comma_list(Self::granted_item).map(Granted::Items)
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
                let host = match self.at_kind(Kind::UserVariable) {
                    true => Some(self.user_variable_name()?),
                    false => None,
                };
                (PrivilegeName::Dynamic(name), host)
            }
        };
        let columns = match self.at_kind(Kind::LeftParen) && takes_columns(&privilege) {
            true => self.paren_list(Self::name)?,
            false => Vec::new(),
        };
        Ok(Item {
            privilege,
            host,
            columns,
        })
    }

    /// `*.*`, `*`, `db.*`, `t`, `db.t`, perhaps behind the kind of object.
    fn grant_level(&mut self) -> Result<GrantLevel> {
        let kind = self.eat_any(&[Kw::TABLE, Kw::FUNCTION, Kw::PROCEDURE]);
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
}

fn takes_columns(privilege: &PrivilegeName) -> bool {
    use Privilege::{Insert, References, Select, Update};
    match privilege {
        PrivilegeName::Static(known) => matches!(known, Select | Insert | Update | References),
        PrivilegeName::Dynamic(_) => true,
    }
}

fn privileges(granted: Granted) -> Option<Privileges> {
    let items = match granted {
        Granted::All => return Some(Privileges::All),
        Granted::Items(items) => items,
    };
    let listed = items.into_iter().map(|item| match item.host {
        Some(_) => None,
        None => Some(ListedPrivilege {
            privilege: item.privilege,
            columns: item.columns,
        }),
    });
    listed.collect::<Option<_>>().map(Privileges::List)
}

fn roles(granted: Granted) -> Option<Vec<AccountReference>> {
    match granted {
        Granted::All => None,
        Granted::Items(items) => items.into_iter().map(Item::into_role).collect(),
    }
}

/// The words of the privileges that the grammar knows; of those that begin alike the longer first.
const STATIC: &[(&[Kw], Privilege)] = &[
    (&[Kw::SELECT], Privilege::Select),
    (&[Kw::INSERT], Privilege::Insert),
    (&[Kw::UPDATE], Privilege::Update),
    (&[Kw::DELETE], Privilege::Delete),
    (&[Kw::REFERENCES], Privilege::References),
    (&[Kw::USAGE], Privilege::Usage),
    (&[Kw::INDEX], Privilege::Index),
    (&[Kw::ALTER, Kw::ROUTINE], Privilege::AlterRoutine),
    (&[Kw::ALTER], Privilege::Alter),
    (
        &[Kw::CREATE, Kw::TEMPORARY, Kw::TABLES],
        Privilege::CreateTemporaryTables,
    ),
    (&[Kw::CREATE, Kw::VIEW], Privilege::CreateView),
    (&[Kw::CREATE, Kw::ROUTINE], Privilege::CreateRoutine),
    (&[Kw::CREATE, Kw::USER], Privilege::CreateUser),
    (&[Kw::CREATE, Kw::TABLESPACE], Privilege::CreateTablespace),
    (&[Kw::CREATE, Kw::ROLE], Privilege::CreateRole),
    (&[Kw::CREATE], Privilege::Create),
    (&[Kw::DROP, Kw::ROLE], Privilege::DropRole),
    (&[Kw::DROP], Privilege::Drop),
    (&[Kw::EXECUTE], Privilege::Execute),
    (&[Kw::RELOAD], Privilege::Reload),
    (&[Kw::SHUTDOWN], Privilege::Shutdown),
    (&[Kw::PROCESS], Privilege::Process),
    (&[Kw::FILE], Privilege::File),
    (&[Kw::GRANT, Kw::OPTION], Privilege::GrantOption),
    (&[Kw::SHOW, Kw::DATABASES], Privilege::ShowDatabases),
    (&[Kw::SHOW, Kw::VIEW], Privilege::ShowView),
    (&[Kw::SUPER], Privilege::Super),
    (&[Kw::LOCK, Kw::TABLES], Privilege::LockTables),
    (&[Kw::REPLICATION, Kw::SLAVE], Privilege::ReplicationSlave),
    (&[Kw::REPLICATION, Kw::CLIENT], Privilege::ReplicationClient),
    (&[Kw::EVENT], Privilege::Event),
    (&[Kw::TRIGGER], Privilege::Trigger),
];
