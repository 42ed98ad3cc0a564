//! What a session may see of what there is: only what it has some right to.

use std::sync::Arc;

use mayfly_syntax::ast::Privilege;

use super::{Session, SessionShared};
use crate::accounts::privileges::PrivilegeSet;
use crate::catalog::BaseTable;
use crate::catalog::view::ViewDefinition;

impl Session {
    /// The base tables that are shown.
    pub(crate) fn visible_tables(&self) -> Vec<Arc<BaseTable>> {
        let mut tables = self.database.catalog.all_tables();
        if !self.is_unrestricted() {
            let rights = self.rights();
            tables.retain(|table| {
                let definition = &table.definition;
                rights.sees_table(&definition.database, &definition.name)
            });
        }
        tables
    }

    /// The views that are shown.
    pub(crate) fn visible_views(&self) -> Vec<Arc<ViewDefinition>> {
        let mut views = self.database.catalog.all_views();
        if !self.is_unrestricted() {
            let rights = self.rights();
            views.retain(|view| rights.sees_table(view.database(), view.name()));
        }
        views
    }

    /// Whether all sessions are shown.
    pub(crate) fn sees_all_sessions(&self) -> bool {
        const PROCESS: PrivilegeSet = PrivilegeSet::of(&[Privilege::Process]);
        self.rights().global().has(PROCESS)
    }

    /// The sessions that are shown: all to who has PROCESS, else those of the same account.
    pub(crate) fn visible_sessions(&self) -> Vec<Arc<SessionShared>> {
        let mut sessions = self.database.living_sessions();
        if !self.sees_all_sessions() {
            let own = &self.identity().account;
            sessions.retain(|other| other.identity().account == *own);
        }
        sessions
    }
}
