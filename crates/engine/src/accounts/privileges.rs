//! Static privileges of MySQL's grammar, and dynamic privileges, which are names only (the manual, "Privileges
//! Provided by MySQL").

use std::marker::PhantomData;

use itertools::Itertools;
use mayfly_syntax::ast::Privilege::{self, *};

/// Bit set of privileges of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitSet<Kind> {
    bits: u64,
    kind: PhantomData<Kind>,
}

impl<Kind: Copy> Default for BitSet<Kind> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<Kind: Copy> BitSet<Kind> {
    /// No privilege.
    pub(crate) const NONE: Self = Self::from_bits(0);

    const fn from_bits(bits: u64) -> Self {
        let kind = PhantomData;
        Self { bits, kind }
    }

    /// Whether it contains all of another set.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.bits & other.bits == other.bits
    }

    /// Whether it intersects another set.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.bits & other.bits != 0
    }

    /// Whether it is empty.
    pub(crate) const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The union with another set.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self::from_bits(self.bits | other.bits)
    }

    /// Adds another set.
    pub(crate) const fn add(&mut self, other: Self) {
        self.bits |= other.bits;
    }

    /// Removes another set.
    pub(crate) const fn remove(&mut self, other: Self) {
        self.bits &= !other.bits;
    }

    /// The difference from another set.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self::from_bits(self.bits & !other.bits)
    }

    /// The intersection with another set.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self::from_bits(self.bits & other.bits)
    }
}

impl<Kind: Copy> FromIterator<Self> for BitSet<Kind> {
    fn from_iter<I: IntoIterator<Item = Self>>(sets: I) -> Self {
        sets.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A set of static privileges.
pub(crate) type PrivilegeSet = BitSet<Privilege>;

impl PrivilegeSet {
    /// ALL on `*.*`, without GRANT OPTION.
    pub(crate) const GLOBAL: Self = Self::from_bits((1 << GrantOption as u8) - 1);
    /// ALL on `db.*`.
    pub(crate) const DATABASE: Self = Self::TABLE
        .with(Self::of(&[CreateTemporaryTables, LockTables, Execute]))
        .with(Self::of(&[CreateRoutine, AlterRoutine, Event]));
    /// ALL on a table.
    pub(crate) const TABLE: Self = Self::of(&[
        Select, Insert, Update, Delete, Create, Drop, References, Index, Alter, CreateView,
        ShowView, Trigger,
    ]);
    /// Privileges that can be granted on columns.
    pub(crate) const COLUMN: Self = Self::of(&[Select, Insert, Update, References]);
    /// GRANT OPTION
    pub(crate) const GRANT_OPTION: Self = Self::of(&[GrantOption]);

    /// The set of these privileges.
    pub(crate) const fn of(privileges: &[Privilege]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < privileges.len() {
            if !matches!(privileges[at], Usage) {
                set.bits |= 1 << privileges[at] as u8;
            }
            at += 1;
        }
        set
    }

    /// Its members, in MySQL's order.
    pub(crate) fn members(self) -> impl Iterator<Item = &'static StaticPrivilege> {
        let members = STATIC.iter();
        members.filter(move |row| self.has(Self::of(&[row.privilege])))
    }

    /// The names of its members, as errors list them.
    pub(crate) fn names(self) -> String {
        let short = |row: &StaticPrivilege| match row.privilege {
            GrantOption => "GRANT",
            _ => row.name,
        };
        self.members().map(short).join(", ")
    }
}

/// SUPER alone.
pub(crate) const SUPER: PrivilegeSet = PrivilegeSet::of(&[Super]);

/// PROCESS: all sessions are visible.
pub(crate) const PROCESS: PrivilegeSet = PrivilegeSet::of(&[Process]);

/// The properties of a static privilege.
#[derive(Debug)]
pub(crate) struct StaticPrivilege {
    pub(crate) privilege: Privilege,
    /// Its name in GRANT.
    pub(crate) name: &'static str,
    /// The column of `mysql.user`.
    pub(crate) column: &'static str,
    /// Its comment in SHOW PRIVILEGES.
    pub(crate) context: &'static str,
    pub(crate) comment: &'static str,
}

macro_rules! privileges {
    ($($privilege:ident $name:literal $column:literal $context:literal $comment:literal;)*) => {
        /// Every static privilege, in the order in which SHOW GRANTS lists them.
        pub(crate) const STATIC: &[StaticPrivilege] = &[$(StaticPrivilege {
            privilege: $privilege,
            name: $name,
            column: $column,
            context: $context,
            comment: $comment,
        }),*];
    };
}

privileges! {
    Select "SELECT" "Select_priv" "Tables" "To retrieve rows from table";
    Insert "INSERT" "Insert_priv" "Tables" "To insert data into tables";
    Update "UPDATE" "Update_priv" "Tables" "To update existing rows";
    Delete "DELETE" "Delete_priv" "Tables" "To delete existing rows";
    Create "CREATE" "Create_priv" "Databases,Tables,Indexes" "To create new databases and tables";
    Drop "DROP" "Drop_priv" "Databases,Tables" "To drop databases, tables, and views";
    Reload "RELOAD" "Reload_priv" "Server Admin" "To reload or refresh tables, logs and privileges";
    Shutdown "SHUTDOWN" "Shutdown_priv" "Server Admin" "To shut down the server";
    Process "PROCESS" "Process_priv" "Server Admin" "To view the plain text of currently executing queries";
    File "FILE" "File_priv" "File access on server" "To read and write files on the server";
    References "REFERENCES" "References_priv" "Databases,Tables" "To have references on tables";
    Index "INDEX" "Index_priv" "Tables" "To create or drop indexes";
    Alter "ALTER" "Alter_priv" "Tables" "To alter the table";
    ShowDatabases "SHOW DATABASES" "Show_db_priv" "Server Admin" "To see all databases with SHOW DATABASES";
    Super "SUPER" "Super_priv" "Server Admin" "To use KILL thread, SET GLOBAL, CHANGE REPLICATION SOURCE, etc.";
    CreateTemporaryTables "CREATE TEMPORARY TABLES" "Create_tmp_table_priv" "Databases" "To use CREATE TEMPORARY TABLE";
    LockTables "LOCK TABLES" "Lock_tables_priv" "Databases" "To use LOCK TABLES (together with SELECT privilege)";
    Execute "EXECUTE" "Execute_priv" "Functions,Procedures" "To execute stored routines";
    ReplicationSlave "REPLICATION SLAVE" "Repl_slave_priv" "Server Admin" "To read binary log events from the master";
    ReplicationClient "REPLICATION CLIENT" "Repl_client_priv" "Server Admin" "To ask where the slave or master servers are";
    CreateView "CREATE VIEW" "Create_view_priv" "Tables" "To create new views";
    ShowView "SHOW VIEW" "Show_view_priv" "Tables" "To see views with SHOW CREATE VIEW";
    CreateRoutine "CREATE ROUTINE" "Create_routine_priv" "Databases" "To use CREATE FUNCTION/PROCEDURE";
    AlterRoutine "ALTER ROUTINE" "Alter_routine_priv" "Functions,Procedures" "To alter or drop stored functions/procedures";
    CreateUser "CREATE USER" "Create_user_priv" "Server Admin" "To create new users";
    Event "EVENT" "Event_priv" "Server Admin" "To create, alter, drop and execute events";
    Trigger "TRIGGER" "Trigger_priv" "Tables" "To use triggers";
    CreateTablespace "CREATE TABLESPACE" "Create_tablespace_priv" "Server Admin" "To create/alter/drop tablespaces";
    CreateRole "CREATE ROLE" "Create_role_priv" "Server Admin" "To create new roles";
    DropRole "DROP ROLE" "Drop_role_priv" "Server Admin" "To drop roles";
    GrantOption "GRANT OPTION" "Grant_priv" "Databases,Tables,Functions,Procedures" "To give to other users those privileges you possess";
}

/// Every dynamic privilege, in the order in which SHOW GRANTS lists them.
pub(crate) const DYNAMIC: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

/// The kind of dynamic privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dynamic;

/// A set of dynamic privileges: a bit for each of [`DYNAMIC`].
pub(crate) type DynamicSet = BitSet<Dynamic>;

impl DynamicSet {
    /// All of them.
    pub(crate) const ALL: Self = Self::from_bits((1 << DYNAMIC.len()) - 1);

    /// The set of one privilege, case-insensitively; `None` for an unknown name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut names = DYNAMIC.iter();
        let at = names.position(|known| known.eq_ignore_ascii_case(name))?;
        Some(Self::from_bits(1 << at))
    }

    /// The names of its members.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let numbered = DYNAMIC.iter().enumerate();
        numbered.filter_map(move |(at, name)| (self.bits >> at & 1 == 1).then_some(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree_with_the_sets() {
        for (at, row) in STATIC.iter().enumerate() {
            assert_eq!(row.privilege as usize, at, "{}", row.name);
        }
        assert_eq!(STATIC.len(), GrantOption as usize + 1);
        assert_eq!(PrivilegeSet::GLOBAL.members().count(), STATIC.len() - 1);
        assert!(!PrivilegeSet::GLOBAL.has(PrivilegeSet::GRANT_OPTION));
        assert_eq!(PrivilegeSet::of(&[Usage]), PrivilegeSet::NONE);
        assert!(DYNAMIC.is_sorted());
        assert_eq!(DynamicSet::ALL.names().count(), DYNAMIC.len());
        let backup = DynamicSet::of("backup_admin").unwrap();
        assert_eq!(backup.names().collect::<Vec<_>>(), ["BACKUP_ADMIN"]);
        assert_eq!(DynamicSet::of("nothing"), None);
    }
}
