//! COM_CHANGE_USER: changes the account of a connection.

use mayfly_engine::{Command, codes};

use super::Connection;
use crate::channel::Failure;
use crate::login::{Response, session_options};
use crate::prove::prove;

impl Connection {
    /// Changes the account; false when the client is refused, which ends its connection.
    pub(super) fn change_user(&mut self, content: &[u8]) -> Result<bool, Failure> {
        self.session.count_command(Command::ChangeUser);
        match self.log_in_anew(content) {
            Err(Failure::Wrong(error) | Failure::Refused(error)) => {
                self.error(&error);
                Ok(false)
            }
            changed => changed.map(|()| true),
        }
    }

    fn log_in_anew(&mut self, content: &[u8]) -> Result<(), Failure> {
        let malformed = codes::ER_MALFORMED_PACKET.error();
        let response = Response::of_change_user(content, self.capabilities.bits());
        let response = response.ok_or_else(|| Failure::Wrong(malformed.clone()))?;
        let login = prove(
            self.channel.get(),
            &self.service,
            &response,
            &self.login.host,
            None,
            (self.login.is_private, self.login.encryption.clone()),
            malformed,
        )?;
        let options = session_options(&response, &self.login.host, self.capabilities);
        self.session.log_in_as(&login, options)?;
        self.statements.clear();
        self.session_began()?;
        self.ok();
        Ok(())
    }
}
