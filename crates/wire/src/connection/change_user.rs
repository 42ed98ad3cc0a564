//! COM_CHANGE_USER: another account in the same connection.

use std::io;

use mayfly_engine::Command;

use super::Connection;
use crate::channel::Failure;
use crate::login::{Response, session_options};
use crate::prove::{Unproved, prove};

impl Connection {
    /// Changes the account; false when the client is refused, which ends its connection.
    pub(super) fn change_user(&mut self, content: &[u8]) -> io::Result<bool> {
        self.session.count_command(Command::Administration);
        let Some(response) = Response::of_change_user(content, self.capabilities.bits()) else {
            self.malformed();
            return Ok(false);
        };
        let proved = prove(
            self.channel.get(),
            &self.service,
            &response,
            &self.login.host,
            None,
            (self.login.is_private, self.login.encryption.clone()),
        );
        let login = match proved {
            Ok(login) => login,
            Err(Unproved::Failed(Failure::Gone(error))) => return Err(error),
            Err(Unproved::Failed(failure)) => {
                self.refuse(failure);
                return Ok(false);
            }
            Err(Unproved::Denied(error)) => {
                self.error(&error);
                return Ok(false);
            }
            Err(Unproved::Malformed) => {
                self.malformed();
                return Ok(false);
            }
        };
        let options = session_options(&response, &self.login.host, self.capabilities);
        if let Err(error) = self.session.log_in_as(&login, options) {
            self.error(&error);
            return Ok(false);
        }
        self.statements.clear();
        self.session_began()?;
        self.ok();
        Ok(true)
    }
}
