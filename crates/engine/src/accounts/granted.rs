//! Resolution of a GRANT's or REVOKE's privileges on their level: 1144, 1221 and 3619 for invalid combinations.

use mayfly_syntax::ast::{Grant, GrantLevel, ListedPrivilege, PrivilegeName, Privileges};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::grants::{Granted, Level};
use super::privileges::{DynamicSet, PrivilegeSet};

/// The privileges of a statement on a level, and the dynamic ones that are unknown.
pub(crate) fn resolve(privileges: &Privileges, level: &Level) -> Result<(Granted, Vec<String>)> {
    match privileges {
        Privileges::All => Ok((all(level), Vec::new())),
        Privileges::List(list) => listed(list, level),
    }
}

/// The privileges of ALL.
fn all(level: &Level) -> Granted {
    let (privileges, dynamic) = match level {
        Level::Global => (PrivilegeSet::GLOBAL, DynamicSet::ALL),
        Level::Database(_) => (PrivilegeSet::DATABASE, DynamicSet::NONE),
        Level::Table(..) => (PrivilegeSet::TABLE, DynamicSet::NONE),
    };
    let columns = Vec::new();
    Granted {
        privileges,
        dynamic,
        columns,
    }
}

fn listed(list: &[ListedPrivilege], level: &Level) -> Result<(Granted, Vec<String>)> {
    let mut granted = Granted::default();
    let mut unknown = Vec::new();
    let mut dynamic: Vec<String> = Vec::new();
    for item in list {
        match &item.privilege {
            PrivilegeName::Dynamic(name) => {
                dynamic.push(name.to_uppercase());
                match DynamicSet::of(name) {
                    Some(set) => granted.dynamic.add(set),
                    None => unknown.push(name.to_uppercase()),
                }
            }
            PrivilegeName::Static(privilege) => {
                let set = PrivilegeSet::of(&[*privilege]);
                if item.columns.is_empty() {
                    granted.privileges.add(set);
                }
                let columns = item.columns.iter().cloned();
                granted.columns.extend(columns.map(|column| (column, set)));
            }
        }
    }
    let beyond = |most: PrivilegeSet| {
        let most = most.with(PrivilegeSet::GRANT_OPTION);
        !granted.privileges.without(most).is_empty()
    };
    if !matches!(level, Level::Global) && !dynamic.is_empty() {
        return Err(codes::ER_ILLEGAL_PRIVILEGE_LEVEL.with(&[&dynamic.join(",")]));
    }
    match level {
        Level::Table(..) if beyond(PrivilegeSet::TABLE) => {
            Err(codes::ER_ILLEGAL_GRANT_FOR_TABLE.error())
        }
        Level::Global | Level::Database(_) if !granted.columns.is_empty() => {
            Err(codes::ER_ILLEGAL_GRANT_FOR_TABLE.error())
        }
        Level::Database(_) if beyond(PrivilegeSet::DATABASE) => {
            Err(codes::ER_WRONG_USAGE.with(&[&"DB GRANT", &"GLOBAL PRIVILEGES"]))
        }
        _ => Ok((granted, unknown)),
    }
}

/// The privileges of a stored GRANT, whose names are fully qualified.
pub(crate) fn stored(grant: &Grant) -> Option<(Granted, Level)> {
    let level = match &grant.level {
        GrantLevel::Global => Level::Global,
        GrantLevel::Database(pattern) => Level::Database(pattern.clone()),
        GrantLevel::Table(table) => Level::Table(table.database.clone()?, table.name.clone()),
        GrantLevel::Current | GrantLevel::Routine { .. } => return None,
    };
    // A dynamic privilege unknown to this version is skipped.
    let (granted, _) = resolve(&grant.privileges, &level).ok()?;
    Some((granted, level))
}
