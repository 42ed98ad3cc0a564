//! Accounts, roles and privileges.

use std::fmt;

use super::TableName;

/// A statement on accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountStatement {
    /// `CREATE USER`.
    CreateUser(CreateUser),
    /// `ALTER USER` of properties.
    AlterUser(AlterUser),
    /// `DROP USER [IF EXISTS]`, `DROP ROLE [IF EXISTS]`.
    Drop {
        /// `ROLE`.
        roles: bool,
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountReference>,
    },
    /// `RENAME USER a TO b, ...`.
    Rename(Vec<(AccountReference, AccountReference)>),
    /// `CREATE ROLE [IF NOT EXISTS]`.
    CreateRole {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The roles.
        roles: Vec<AccountReference>,
    },
    /// `GRANT ... ON ... TO ...`.
    Grant(Grant),
    /// `REVOKE ... ON ... FROM ...`.
    Revoke(Revoke),
    /// `GRANT role, ... TO account, ... [WITH ADMIN OPTION]`.
    GrantRoles {
        /// The roles.
        roles: Vec<AccountReference>,
        /// The accounts that get the roles.
        accounts: Vec<AccountReference>,
        /// `WITH ADMIN OPTION`.
        admin: bool,
    },
    /// `REVOKE [IF EXISTS] role, ... FROM account, ... [IGNORE UNKNOWN USER]`.
    RevokeRoles {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The roles.
        roles: Vec<AccountReference>,
        /// The accounts that lose the roles.
        accounts: Vec<AccountReference>,
        /// `IGNORE UNKNOWN USER`.
        ignore_unknown: bool,
    },
    /// `REVOKE [IF EXISTS] ALL [PRIVILEGES], GRANT OPTION FROM account, ...`.
    RevokeAll {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountReference>,
        /// `IGNORE UNKNOWN USER`.
        ignore_unknown: bool,
    },
    /// `GRANT PROXY ON ...`, `REVOKE PROXY ON ...`.
    Proxy,
    /// `SET PASSWORD [FOR account] {= 'text' | TO RANDOM}`.
    SetPassword {
        /// `FOR`.
        account: Option<AccountReference>,
        /// The new password.
        password: NewPassword,
        /// `REPLACE 'text'`.
        replaces: Option<String>,
        /// `RETAIN CURRENT PASSWORD`.
        retains: bool,
    },
    /// `SET ROLE`.
    SetRole(RoleChoice),
    /// `SET DEFAULT ROLE ... TO account, ...`, `ALTER USER account DEFAULT ROLE ...`.
    SetDefaultRole {
        /// The roles.
        roles: RoleChoice,
        /// The accounts.
        accounts: Vec<AccountReference>,
        /// `ALTER USER IF EXISTS`.
        if_exists: bool,
    },
}

/// An account as a statement names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountReference {
    /// `CURRENT_USER`, also `USER()` where the grammar allows it.
    Current,
    /// `'user'@'host'`.
    Named {
        /// The name; empty for the anonymous one.
        user: String,
        /// The host; `%` when none is written.
        host: Option<String>,
    },
}

/// `CREATE USER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateUser {
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The accounts.
    pub accounts: Vec<AccountDefinition>,
    /// `DEFAULT ROLE`.
    pub default_roles: Vec<AccountReference>,
    /// Options of all the accounts.
    pub options: AccountOptions,
}

/// `ALTER USER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterUser {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The accounts.
    pub accounts: Vec<AccountDefinition>,
    /// Options of all the accounts.
    pub options: AccountOptions,
}

/// An account and its authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountDefinition {
    /// The account.
    pub account: AccountReference,
    /// `IDENTIFIED`.
    pub identified: Option<Identification>,
    /// `REPLACE 'text'`.
    pub replaces: Option<String>,
    /// `RETAIN CURRENT PASSWORD`.
    pub retains: bool,
    /// `DISCARD OLD PASSWORD`.
    pub discards: bool,
}

/// `IDENTIFIED [WITH plugin] [BY ... | AS ...]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identification {
    /// `WITH`.
    pub plugin: Option<String>,
    /// What follows it.
    pub by: Option<IdentifiedBy>,
}

/// Authentication of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentifiedBy {
    /// `BY 'text'`, `BY RANDOM PASSWORD`.
    Password(NewPassword),
    /// `AS 'stored by the plugin'`: bytes.
    Kept(Vec<u8>),
}

/// A new password.
#[derive(Clone, PartialEq, Eq)]
pub enum NewPassword {
    /// As written.
    Text(String),
    /// `RANDOM`.
    Random,
}

impl fmt::Debug for NewPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "<secret>",
            Self::Random => "RANDOM",
        })
    }
}

/// Options of CREATE USER and ALTER USER for all their accounts; `None` where not written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountOptions {
    /// `REQUIRE`.
    pub require: Option<Require>,
    /// `WITH MAX_...`.
    pub limits: Vec<(AccountLimit, u64)>,
    /// `PASSWORD EXPIRE`.
    pub expire: Option<PasswordExpire>,
    /// `PASSWORD HISTORY n`; `DEFAULT` is `Some(None)`.
    pub history: Option<Option<u64>>,
    /// `PASSWORD REUSE INTERVAL n DAY`.
    pub reuse_interval: Option<Option<u64>>,
    /// `PASSWORD REQUIRE CURRENT`: whether the current password is required; `DEFAULT` is
    /// `Some(None)`.
    pub require_current: Option<Option<bool>>,
    /// `FAILED_LOGIN_ATTEMPTS n`.
    pub failed_attempts: Option<u64>,
    /// `PASSWORD_LOCK_TIME n`; `UNBOUNDED` is `Some(None)`.
    pub lock_days: Option<Option<u64>>,
    /// `ACCOUNT LOCK`, `ACCOUNT UNLOCK`.
    pub locked: Option<bool>,
    /// `COMMENT 'text'`.
    pub comment: Option<String>,
    /// `ATTRIBUTE 'JSON'`.
    pub attribute: Option<String>,
}

/// `REQUIRE`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum Require {
    None,
    Ssl,
    X509,
    Certificate {
        subject: Option<String>,
        issuer: Option<String>,
        cipher: Option<String>,
    },
}

/// The limits of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum AccountLimit {
    MaxQueriesPerHour,
    MaxUpdatesPerHour,
    MaxConnectionsPerHour,
    MaxUserConnections,
}

/// `PASSWORD EXPIRE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordExpire {
    /// `PASSWORD EXPIRE` alone: expired from now on.
    Now,
    /// `DEFAULT`.
    Default,
    /// `NEVER`.
    Never,
    /// `INTERVAL n DAY`.
    Days(u64),
}

/// `GRANT ... ON`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The privileges.
    pub privileges: Privileges,
    /// Their level.
    pub level: GrantLevel,
    /// The accounts that get them.
    pub accounts: Vec<AccountReference>,
    /// `WITH GRANT OPTION`.
    pub grant_option: bool,
}

/// `REVOKE ... ON`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The privileges.
    pub privileges: Privileges,
    /// Their level.
    pub level: GrantLevel,
    /// The accounts that lose them.
    pub accounts: Vec<AccountReference>,
    /// `IGNORE UNKNOWN USER`.
    pub ignore_unknown: bool,
}

/// The privileges of GRANT and REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privileges {
    /// `ALL [PRIVILEGES]`.
    All,
    /// A list of privileges.
    List(Vec<ListedPrivilege>),
}

/// A privilege of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPrivilege {
    /// The privilege.
    pub privilege: PrivilegeName,
    /// The columns that it applies to; empty: all.
    pub columns: Vec<String>,
}

/// The name of a privilege.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeName {
    /// A static privilege, which MySQL's grammar knows.
    Static(Privilege),
    /// A dynamic privilege, as written.
    Dynamic(String),
}

/// The privileges that MySQL's grammar knows, in the order in which SHOW GRANTS lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
#[repr(u8)]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
    Reload,
    Shutdown,
    Process,
    File,
    References,
    Index,
    Alter,
    ShowDatabases,
    Super,
    CreateTemporaryTables,
    LockTables,
    Execute,
    ReplicationSlave,
    ReplicationClient,
    CreateView,
    ShowView,
    CreateRoutine,
    AlterRoutine,
    CreateUser,
    Event,
    Trigger,
    CreateTablespace,
    CreateRole,
    DropRole,
    GrantOption,
    /// `USAGE`: no privilege.
    Usage,
}

/// Level of a privilege: the objects that it applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantLevel {
    /// `*.*`.
    Global,
    /// `*`: the current database, or all when there is none.
    Current,
    /// `db.*`: a pattern.
    Database(String),
    /// `t`, `db.t`.
    Table(TableName),
    /// `FUNCTION f`, `PROCEDURE p`.
    Routine {
        /// `FUNCTION`.
        function: bool,
        /// Its name.
        name: TableName,
    },
}

/// The roles of `SET ROLE` and `SET DEFAULT ROLE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleChoice {
    /// `NONE`.
    None,
    /// `DEFAULT`.
    Default,
    /// `ALL`.
    All,
    /// `ALL EXCEPT`.
    AllExcept(Vec<AccountReference>),
    /// A list of roles.
    List(Vec<AccountReference>),
}
