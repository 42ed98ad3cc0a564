//! Stored programs. CREATE is not supported: DROP finds functions of the embedding program alone.

use mayfly_syntax::ast::{DropStoredProgram, Privilege, StoredProgramKind};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::accounts::privileges::PrivilegeSet;
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// DROP PROCEDURE, FUNCTION, TRIGGER and EVENT: a note with IF EXISTS, an error without.
pub(super) fn drop(context: &StatementContext<'_>, statement: &DropStoredProgram) -> Result<()> {
    let name = &statement.name;
    let missing = if statement.kind == StoredProgramKind::Function
        && name.database.is_none()
        && context.current_database().is_none()
    {
        // Without a database the name is that of a loadable function.
        codes::ER_SP_DOES_NOT_EXIST.with(&[&"FUNCTION (UDF)", &name.name])
    } else {
        let (database, name) = qualified(context, name)?;
        require_privilege(context, statement.kind, &database, &name)?;
        if statement.kind == StoredProgramKind::Function
            && context.catalog().drop_function(context, &database, &name)?
        {
            return Ok(());
        }
        let routine = |kind: &str| {
            codes::ER_SP_DOES_NOT_EXIST.with(&[&kind, &format_args!("{database}.{name}")])
        };
        match (statement.kind, statement.if_exists) {
            (StoredProgramKind::Procedure, _) => routine("PROCEDURE"),
            (StoredProgramKind::Function, _) => routine("FUNCTION"),
            (StoredProgramKind::Trigger, _) => codes::ER_TRG_DOES_NOT_EXIST.error(),
            (StoredProgramKind::Event, true) => {
                codes::ER_SP_DOES_NOT_EXIST.with(&[&"Event", &name])
            }
            (StoredProgramKind::Event, false) => codes::ER_EVENT_DOES_NOT_EXIST.with(&[&name]),
        }
    };
    context.note_if(statement.if_exists, missing)
}

/// The privilege check that MySQL does before it looks for the program. A trigger's privilege is on its table, and
/// there is none.
fn require_privilege(
    context: &StatementContext<'_>,
    kind: StoredProgramKind,
    database: &str,
    name: &str,
) -> Result<()> {
    if context.privileges().is_unrestricted() {
        return Ok(());
    }
    let rights = context.rights();
    match kind {
        StoredProgramKind::Procedure | StoredProgramKind::Function => {
            rights.require_on_routine(database, name, Privilege::AlterRoutine)
        }
        StoredProgramKind::Event => {
            rights.require_in_database(database, PrivilegeSet::of(&[Privilege::Event]))
        }
        StoredProgramKind::Trigger => Ok(()),
    }
}
