//! `read_only`, `super_read_only` and `offline_mode`: what an administrator takes from everybody else, as
//! before a failover.

use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::accounts::privileges::SUPER;
use crate::accounts::rights::Rights;
use crate::database::Database;
use crate::session::Session;
use crate::variables::Settings;

/// The variables as each statement asks for them.
#[derive(Debug)]
pub(crate) struct ServerModes {
    read_only: AtomicBool,
    super_read_only: AtomicBool,
    offline: AtomicBool,
}

impl ServerModes {
    /// Those of the engine's variables.
    pub(crate) fn of(globals: &Settings) -> Self {
        let modes = Self {
            read_only: AtomicBool::new(false),
            super_read_only: AtomicBool::new(false),
            offline: AtomicBool::new(false),
        };
        modes.set(globals);
        modes
    }

    /// The variables may have changed.
    pub(crate) fn set(&self, globals: &Settings) {
        let set = |mode: &AtomicBool, name| mode.store(globals.boolean(name), Ordering::Release);
        set(&self.read_only, "read_only");
        set(&self.super_read_only, "super_read_only");
        set(&self.offline, "offline_mode");
    }
}

/// Whether the modes leave somebody alone.
fn is_exempt(rights: &Rights) -> bool {
    rights.require(SUPER, &["CONNECTION_ADMIN"], "").is_ok()
}

impl Session {
    /// 1290 when nobody, or nobody but administrators, may change what lasts.
    pub(crate) fn refuse_read_only_server(&self) -> Result<()> {
        let modes = &self.database.modes;
        let option = if modes.super_read_only.load(Ordering::Acquire) {
            "--super-read-only"
        } else if modes.read_only.load(Ordering::Acquire) && !is_exempt(&self.rights()) {
            "--read-only"
        } else {
            return Ok(());
        };
        Err(codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&option]))
    }

    /// Why the client is sent away, if it is because the server is offline for all but administrators.
    pub fn shut_out(&self) -> Option<Error> {
        let offline = self.database.modes.offline.load(Ordering::Acquire);
        let is_out = offline && !is_exempt(&self.rights());
        is_out.then(|| codes::ER_SERVER_OFFLINE_MODE.error())
    }
}

impl Database {
    /// 3032 while the server is offline, but for administrators.
    pub(crate) fn refuse_offline(&self, rights: &Rights) -> Result<()> {
        match self.modes.offline.load(Ordering::Acquire) && !is_exempt(rights) {
            true => Err(codes::ER_SERVER_OFFLINE_MODE.error()),
            false => Ok(()),
        }
    }

    /// The server goes offline: the sessions of all but administrators end.
    pub(crate) fn send_away(&self) {
        for session in self.living_sessions() {
            let identity = session.identity();
            let Some(account) = &identity.account else {
                continue;
            };
            // Whoever may have the privilege by a role stays.
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
