//! The login: the server's greeting, TLS, and the proof of the password.

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use mayfly_types::printable;
use mysql_common::constants::CapabilityFlags;
use mysql_common::scramble::{scramble_native, scramble_sha256};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;

use super::address::{Address, host};
use super::error::Error;
use super::packets::Packets;
use super::reader::{Reader, malformed, server_error};
use super::tls;
use super::trust::Tls;

/// utf8mb4_general_ci, and utf8mb3_general_ci of servers before 5.5.3.
const UTF8MB4: u8 = 45;
const UTF8MB3: u8 = 33;
/// Greatest packet of the server, as announced to it.
const PACKET_MAX: u32 = 1 << 30;
/// Greatest number of authentication requests of the server.
const STEPS_MAX: usize = 8;

const OLD_PASSWORD: &str =
    "the account has a password of before 4.1, which anybody can compute from its proof";
const NATIVE: &str = "mysql_native_password";
const CACHING_SHA2: &str = "caching_sha2_password";

/// A server's public key, named by the user.
pub(super) struct ServerKey(OaepPublicEncryptingKey);

impl ServerKey {
    /// Reads PEM text.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let bad = |why: String| format!("the server's public key is no RSA key in PEM form: {why}");
        let der = SubjectPublicKeyInfoDer::from_pem_slice(text);
        let der = der.map_err(|error| bad(error.to_string()))?;
        let key = PublicEncryptingKey::from_der(&der);
        let key = key.map_err(|error| bad(error.to_string()))?;
        let key = OaepPublicEncryptingKey::new(key).map_err(|error| bad(error.to_string()))?;
        Ok(Self(key))
    }

    fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let mut encrypted = vec![0; self.0.ciphertext_size()];
        let encrypted = self
            .0
            .encrypt(&OAEP_SHA1_MGF1SHA1, plain, &mut encrypted, None);
        let encrypted = encrypted
            .map_err(|_| "the password is too long for the server's public key".to_owned())?;
        Ok(encrypted.to_vec())
    }
}

/// What a server says of itself.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its version.
    pub version: String,
    /// The number of the connection.
    pub connection: u32,
}

/// The greeting of a server.
struct Greeting {
    server: Server,
    capabilities: CapabilityFlags,
    nonce: Vec<u8>,
    plugin: String,
    character_set: u8,
}

impl Greeting {
    fn read(packet: &[u8]) -> Result<Self, Error> {
        if packet.first() == Some(&0xff) {
            return Err(server_error(packet));
        }
        let mut reader = Reader::new(packet);
        let protocol = reader.integer(1)?;
        if protocol != 10 {
            return Err(format!("the server speaks protocol {protocol}, and not 10").into());
        }
        let version = String::from_utf8_lossy(reader.until_zero()).into_owned();
        let connection = reader.integer(4)? as u32;
        let mut nonce = reader.take(8)?.to_vec();
        let _filler = reader.take(1)?;
        let low = reader.integer(2)?;
        let _collation_and_status = reader.take(3)?;
        let high = reader.integer(2)?;
        let length = reader.integer(1)? as usize;
        let _reserved = reader.take(10)?;
        let capabilities = CapabilityFlags::from_bits_truncate((high << 16 | low) as u32);
        let needed =
            CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION;
        if !capabilities.contains(needed) {
            return Err("the server is older than 4.1".to_owned().into());
        }
        nonce.extend_from_slice(reader.take(length.saturating_sub(8).max(13))?);
        nonce.truncate(NONCE);
        let plugin = if capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
            String::from_utf8_lossy(reader.until_zero()).into_owned()
        } else {
            NATIVE.to_owned()
        };
        // MariaDB's begins with 5.5.5- or its number, which is larger.
        let is_old = ["4.", "5.0.", "5.1.", "5.2.", "5.3."].iter();
        let is_old = { is_old }.any(|old| version.starts_with(old));
        Ok(Self {
            server: Server {
                version: printable(&version).into_owned(),
                connection,
            },
            capabilities,
            nonce,
            plugin,
            character_set: if is_old { UTF8MB3 } else { UTF8MB4 },
        })
    }
}

/// Length of a nonce.
const NONCE: usize = 20;

/// Logs in.
pub(super) fn log_in(
    packets: &mut Packets,
    address: &Address,
    key: Option<&ServerKey>,
) -> Result<Server, Error> {
    let greeting = Greeting::read(&packets.read()?)?;
    let mut wanted = CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH;
    wanted.set(
        CapabilityFlags::CLIENT_MULTI_STATEMENTS | CapabilityFlags::CLIENT_MULTI_RESULTS,
        address.several_results,
    );
    wanted.set(CapabilityFlags::CLIENT_LOCAL_FILES, address.local_files);
    let database = address.database.as_deref().unwrap_or_default();
    wanted.set(
        CapabilityFlags::CLIENT_CONNECT_WITH_DB,
        !database.is_empty(),
    );
    let mut capabilities = wanted & greeting.capabilities;
    if let Tls::Verified { roots, identity } = &address.tls
        && !packets.channel().is_unix()
    {
        if !greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(
                "the server has no TLS; --ssl-mode DISABLED connects without, and everybody between can read along"
                    .to_owned()
                    .into(),
            );
        }
        capabilities |= CapabilityFlags::CLIENT_SSL;
        packets.write(&head(capabilities, greeting.character_set))?;
        let host = host(address);
        packets.change_channel(|plain| tls::encrypt(plain, host, roots, *identity))?;
    }
    let password = address.password.as_deref().unwrap_or_default();
    let mut login = Login {
        packets,
        key,
        password,
        nonce: greeting.nonce,
        plugin: greeting.plugin,
    };
    // Another plugin than these is used only if the server asks for it again.
    if login.plugin != CACHING_SHA2 {
        NATIVE.clone_into(&mut login.plugin);
    }
    let proof = login.proof()?;
    let mut response = head(capabilities, greeting.character_set);
    response.extend(address.user.bytes().filter(|byte| *byte != 0));
    response.push(0);
    response.push(u8::try_from(proof.len()).map_err(|_| malformed())?);
    response.extend_from_slice(&proof);
    if capabilities.contains(CapabilityFlags::CLIENT_CONNECT_WITH_DB) {
        response.extend(database.bytes().filter(|byte| *byte != 0));
        response.push(0);
    }
    if capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
        response.extend_from_slice(login.plugin.as_bytes());
        response.push(0);
    }
    login.packets.write(&response)?;
    for _ in 0..STEPS_MAX {
        if login.step()? {
            return Ok(greeting.server);
        }
    }
    Err(malformed().into())
}

/// The common beginning of the request for TLS and the response.
fn head(capabilities: CapabilityFlags, character_set: u8) -> Vec<u8> {
    let mut head = Vec::with_capacity(64);
    head.extend_from_slice(&capabilities.bits().to_le_bytes());
    head.extend_from_slice(&PACKET_MAX.to_le_bytes());
    head.push(character_set);
    head.extend_from_slice(&[0; 23]);
    head
}

/// A login in progress.
struct Login<'a> {
    packets: &'a mut Packets,
    key: Option<&'a ServerKey>,
    password: &'a str,
    nonce: Vec<u8>,
    plugin: String,
}

impl Login<'_> {
    /// Proof that the client knows the password, without revealing it.
    fn proof(&self) -> Result<Vec<u8>, String> {
        let (nonce, password) = (self.nonce.as_slice(), self.password.as_bytes());
        match self.plugin.as_str() {
            NATIVE => Ok(scramble_native(nonce, password).map_or_else(Vec::new, Vec::from)),
            CACHING_SHA2 => Ok(scramble_sha256(nonce, password).map_or_else(Vec::new, Vec::from)),
            other => Err(format!(
                "the account has the plugin {}: {NATIVE} and {CACHING_SHA2} are known here",
                printable(other)
            )),
        }
    }

    /// Answers a request of the server; returns whether the client is admitted.
    fn step(&mut self) -> Result<bool, Error> {
        let packet = self.packets.read()?;
        match packet.as_slice() {
            [0x00, ..] => Ok(true),
            [0xff, ..] => Err(server_error(&packet)),
            [0xfe] => Err(OLD_PASSWORD.to_owned().into()),
            [0xfe, request @ ..] => {
                let mut reader = Reader::new(request);
                self.plugin = String::from_utf8_lossy(reader.until_zero()).into_owned();
                self.nonce = reader.rest().to_vec();
                self.nonce.truncate(NONCE);
                let proof = self.proof()?;
                self.packets.write(&proof)?;
                Ok(false)
            }
            // The server has the password cached, and admits the client next.
            [0x01, 0x03] if self.plugin == CACHING_SHA2 => Ok(false),
            [0x01, 0x04] if self.plugin == CACHING_SHA2 => {
                self.tell()?;
                Ok(false)
            }
            _ => Err(malformed().into()),
        }
    }

    /// Sends the password itself, which the server has not cached.
    fn tell(&mut self) -> Result<(), String> {
        let mut password = self.password.as_bytes().to_vec();
        password.push(0);
        if self.packets.channel().is_private() {
            return self.packets.write(&password);
        }
        let Some(key) = self.key else {
            return Err(
                "the server wants the password itself, and the connection is not encrypted: go through TLS (--ssl-ca FILE) \
                 or a Unix socket, or name the server's public key (--server-public-key-path FILE)"
                    .to_owned(),
            );
        };
        if self.nonce.len() != NONCE {
            return Err(malformed());
        }
        for (byte, mask) in password.iter_mut().zip(self.nonce.iter().cycle()) {
            *byte ^= mask;
        }
        let encrypted = key.encrypt(&password)?;
        self.packets.write(&encrypted)
    }
}
