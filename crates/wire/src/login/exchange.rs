//! Authentication exchange: the proof of a password.
//!
//! The account's plugin decides. When the client began with that plugin, its first proof is checked; otherwise it is
//! asked to begin anew with the right one. `caching_sha2_password` has a fast path for accounts that logged in lately,
//! and full authentication, in which the client sends the password itself: in clear where nobody can listen, else
//! encrypted with the server's RSA key.

use std::sync::Arc;

use mayfly_engine::{
    AuthenticationPlugin, CollationId, Database, Encryption, FastCheck, Login, SessionOptions,
};
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::AuthSwitchRequest;
use mysql_common::proto::MySerialize;

use super::{LoginKeys, Response, Scramble};

/// AuthMoreData: data of the plugin.
const MORE_DATA: u8 = 1;
/// The fast path succeeded.
const FAST_SUCCESS: u8 = 3;
/// The password must come.
const FULL_AUTHENTICATION: u8 = 4;
/// The client asks for the RSA key.
const PUBLIC_KEY_REQUEST: &[u8] = &[2];

/// Next step of the exchange.
#[derive(Debug)]
pub(crate) enum Step {
    /// Send this payload and pass the client's next one to [`Exchange::next`].
    Ask(Vec<u8>),
    /// The proof is right; send this payload before the OK.
    Accept(Option<Vec<u8>>),
    /// The proof is wrong. The flag: whether the client gave a password.
    Refuse(bool),
    /// The client's payload is malformed.
    Malformed,
}

#[derive(Debug, Clone, Copy)]
enum Expected {
    /// The proof of the account's plugin.
    Proof,
    /// The password, or a request for the key to encrypt it.
    Password,
    /// The password, hidden.
    HiddenPassword,
}

/// Options of a client's session. `capabilities`: those that both sides have.
pub(crate) fn session_options(
    response: &Response,
    host: &str,
    capabilities: CapabilityFlags,
) -> SessionOptions {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    SessionOptions {
        user: text(&response.user),
        host: host.to_owned(),
        database: response.database.as_deref().map(text),
        interactive: capabilities.contains(CapabilityFlags::CLIENT_INTERACTIVE),
        collation: CollationId::by_number(response.collation),
        found_rows: capabilities.contains(CapabilityFlags::CLIENT_FOUND_ROWS),
        ignore_space: capabilities.contains(CapabilityFlags::CLIENT_IGNORE_SPACE),
        attributes: response
            .attributes
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
        changes_expired_password: capabilities
            .contains(CapabilityFlags::CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS),
    }
}

/// One client's exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    login: Login,
    scramble: Scramble,
    keys: Arc<LoginKeys>,
    /// Whether nobody can listen: TLS or a Unix socket.
    is_private: bool,
    expected: Expected,
}

impl Exchange {
    /// Begins with the client's response to the greeting, or its COM_CHANGE_USER. `scramble`: the nonce of its proof;
    /// `None` asks it for another proof, since clients differ in which scramble they remember after the login. `host`:
    /// the client's host; the other parameters: how the connection is encrypted, and whether nobody can listen.
    pub(crate) fn begin(
        database: &Database,
        keys: Arc<LoginKeys>,
        response: &Response,
        host: &str,
        scramble: Option<Scramble>,
        (is_private, encryption): (bool, Option<Encryption>),
    ) -> std::io::Result<(Self, Step)> {
        let user = String::from_utf8_lossy(&response.user);
        let mut login = database.account_for(&user, host);
        login.set_encryption(encryption);
        let plugin = login.plugin().name();
        let is_usable = response.plugin == plugin.as_bytes();
        let known = scramble.filter(|_| is_usable);
        let mut exchange = Self {
            login,
            scramble: known.map_or_else(Scramble::new, Ok)?,
            keys,
            is_private,
            expected: Expected::Proof,
        };
        if known.is_some() {
            let step = exchange.next(&response.proof);
            return Ok((exchange, step));
        }
        let request =
            AuthSwitchRequest::new(plugin.as_bytes(), exchange.scramble.with_zero().to_vec());
        let mut payload = Vec::new();
        request.serialize(&mut payload);
        Ok((exchange, Step::Ask(payload)))
    }

    /// The login to the account that the client named.
    pub(crate) fn login(&self) -> &Login {
        &self.login
    }

    /// The login of [`Self::login`] after it is proved.
    pub(crate) fn into_login(self) -> Login {
        self.login
    }

    /// Continues with the client's next payload.
    pub(crate) fn next(&mut self, payload: &[u8]) -> Step {
        match (self.expected, self.login.plugin()) {
            (Expected::Proof, AuthenticationPlugin::MysqlNativePassword) => {
                if self.login.check_native(&self.scramble.0, payload) {
                    Step::Accept(None)
                } else {
                    Step::Refuse(!payload.is_empty())
                }
            }
            (Expected::Proof, AuthenticationPlugin::CachingSha2Password) => self.proof(payload),
            (Expected::Password, _) if payload == PUBLIC_KEY_REQUEST && !self.is_private => {
                match self.keys.public_key() {
                    Some(key) => {
                        self.expected = Expected::HiddenPassword;
                        Step::Ask([&[MORE_DATA], key].concat())
                    }
                    None => Step::Refuse(true),
                }
            }
            (Expected::Password, _) if self.is_private => match payload.split_last() {
                Some((0, password)) => self.password(password),
                _ => Step::Malformed,
            },
            // Without a request for the key: the client remembers it.
            (Expected::Password | Expected::HiddenPassword, _) => {
                match self.keys.password(payload, &self.scramble.0) {
                    Some(password) => self.password(&password),
                    None => Step::Refuse(true),
                }
            }
        }
    }

    fn proof(&mut self, payload: &[u8]) -> Step {
        // An empty password is sent as nothing, or as only its zero.
        let payload = if payload == [0] { &[] } else { payload };
        match self.login.check_fast(&self.scramble.0, payload) {
            FastCheck::Accepted if payload.is_empty() => Step::Accept(None),
            FastCheck::Accepted => Step::Accept(Some(vec![MORE_DATA, FAST_SUCCESS])),
            FastCheck::PasswordNeeded => {
                self.expected = Expected::Password;
                Step::Ask(vec![MORE_DATA, FULL_AUTHENTICATION])
            }
            FastCheck::Refused => Step::Refuse(!payload.is_empty()),
        }
    }

    fn password(&self, password: &[u8]) -> Step {
        if self.login.check_password(password) {
            Step::Accept(None)
        } else {
            Step::Refuse(true)
        }
    }
}
