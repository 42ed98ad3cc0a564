//! `read_only`, `super_read_only` and `offline_mode`: restrictions of all but administrators, as before a failover.

use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::accounts::privileges::SUPER;
use crate::accounts::rights::Rights;
use crate::database::Database;
use crate::error::refuse;
use crate::variables::Settings;
use crate::variables::typed;

/// The modes, readable by each statement without a lock.
#[derive(Debug)]
pub(crate) struct ServerModes {
    pub(crate) read_only: AtomicBool,
    pub(crate) super_read_only: AtomicBool,
    pub(crate) offline: AtomicBool,
}

impl ServerModes {
    /// The modes of the global variables.
    pub(crate) fn of(globals: &Settings) -> Self {
        let modes = Self {
            read_only: AtomicBool::new(false),
            super_read_only: AtomicBool::new(false),
            offline: AtomicBool::new(false),
        };
        modes.set(globals);
        modes
    }

    /// Updates the modes after a change of variables.
    pub(crate) fn set(&self, globals: &Settings) {
        let set =
            |mode: &AtomicBool, variable| mode.store(globals.get(variable), Ordering::Release);
        set(&self.read_only, typed::READ_ONLY);
        set(&self.super_read_only, typed::SUPER_READ_ONLY);
        set(&self.offline, typed::OFFLINE_MODE);
    }
}

/// Whether the modes do not apply to somebody.
pub(crate) fn is_exempt(rights: &Rights) -> bool {
    rights.require(SUPER, &["CONNECTION_ADMIN"], "").is_ok()
}

impl Database {
    /// 3032 while the server is offline, but for administrators.
    pub(crate) fn refuse_offline(&self, rights: &Rights) -> Result<()> {
        refuse(
            self.modes.offline.load(Ordering::Acquire) && !is_exempt(rights),
            || codes::ER_SERVER_OFFLINE_MODE.error(),
        )
    }

    /// Ends the sessions of all but administrators when the server goes offline.
    pub(crate) fn send_away(&self) {
        for session in self.living_sessions() {
            let identity = session.identity();
            let Some(account) = &identity.account else {
                continue;
            };
            // A user who may have the privilege by a role stays.
            let roles = self.accounts.get(account);
            let roles = roles.map(|account| self.accounts.roles_of(&account));
            let sources = self
                .accounts
                .with_roles(account, &roles.unwrap_or_default());
            let rights = Rights::of(&account.user, &identity.host, sources);
            if !is_exempt(&rights) {
                session.kill.close();
            }
        }
    }
}
