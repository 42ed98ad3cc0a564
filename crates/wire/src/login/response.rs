//! A client's login payload: the response to the greeting, or COM_CHANGE_USER.

use mysql_common::constants::CapabilityFlags;

use crate::packet::PayloadReader;

/// A parsed response to the greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Response {
    /// The client's capabilities.
    pub(crate) capabilities: u32,
    /// The number of the collation that the client requests.
    pub(crate) collation: u16,
    /// The account's name.
    pub(crate) user: Vec<u8>,
    /// The proof of the password.
    pub(crate) proof: Vec<u8>,
    /// The initial database.
    pub(crate) database: Option<Vec<u8>>,
    /// The name of the plugin that made the proof.
    pub(crate) plugin: Vec<u8>,
    /// Connection attributes: names and values.
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// The level of `zstd` that the client requests.
    pub(crate) zstd_level: u8,
}

/// Greatest number of bytes of connection attributes: `performance_schema` has the same limit.
const ATTRIBUTES_MAX: usize = 64 << 10;

/// `mysql_native_password`: the plugin of a client that names none.
const UNNAMED_PLUGIN: &[u8] = b"mysql_native_password";

impl Response {
    /// Whether the client has all of the given capabilities.
    pub(crate) fn has(&self, capability: CapabilityFlags) -> bool {
        self.capabilities & capability.bits() == capability.bits()
    }

    /// The client's capabilities in a request for TLS, which precedes the rest of the response;
    /// `None` if the payload is not such a request.
    pub(crate) fn tls_request(payload: &[u8]) -> Option<u32> {
        let capabilities = PayloadReader::new(payload).u32()?;
        let asks = capabilities & CapabilityFlags::CLIENT_SSL.bits() != 0;
        (asks && payload.len() <= 32).then_some(capabilities)
    }

    /// Reads the response to the greeting; `None` when it is malformed, or of a protocol before
    /// 4.1.
    pub(crate) fn of_greeting(payload: &[u8]) -> Option<Self> {
        let mut reader = PayloadReader::new(payload);
        let capabilities = reader.u32()?;
        let mut response = Self {
            capabilities,
            ..Self::default()
        };
        if !response.has(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return None;
        }
        reader.u32()?;
        response.collation = u16::from(reader.u8()?);
        reader.bytes(23)?;
        response.user = reader.bytes_before_zero()?.to_vec();
        response.proof = if response.has(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            reader.length_encoded_bytes()?.to_vec()
        } else if response.has(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            let length = usize::from(reader.u8()?);
            reader.bytes(length)?.to_vec()
        } else {
            reader.bytes_before_zero()?.to_vec()
        };
        if response.has(CapabilityFlags::CLIENT_CONNECT_WITH_DB) {
            let database = text(&mut reader)?;
            response.database = (!database.is_empty()).then_some(database);
        }
        response.rest(&mut reader, capabilities)?;
        Some(response)
    }

    /// Reads COM_CHANGE_USER behind its command byte.
    pub(crate) fn of_change_user(payload: &[u8], capabilities: u32) -> Option<Self> {
        let mut reader = PayloadReader::new(payload);
        let user = reader.bytes_before_zero()?.to_vec();
        let length = usize::from(reader.u8()?);
        let proof = reader.bytes(length)?.to_vec();
        let database = text(&mut reader)?;
        let mut response = Self {
            capabilities,
            user,
            proof,
            database: (!database.is_empty()).then_some(database),
            plugin: UNNAMED_PLUGIN.to_vec(),
            ..Self::default()
        };
        if let Some(collation) = reader.u16() {
            response.collation = collation;
            response.rest(&mut reader, capabilities)?;
        }
        Some(response)
    }

    /// Reads the plugin, the attributes and the fields behind them.
    fn rest(&mut self, reader: &mut PayloadReader<'_>, capabilities: u32) -> Option<()> {
        let has = |flag: CapabilityFlags| capabilities & flag.bits() != 0;
        self.plugin = if has(CapabilityFlags::CLIENT_PLUGIN_AUTH) && !reader.is_empty() {
            text(reader)?
        } else {
            UNNAMED_PLUGIN.to_vec()
        };
        if has(CapabilityFlags::CLIENT_CONNECT_ATTRS) && !reader.is_empty() {
            let attributes = reader.length_encoded_bytes()?;
            if attributes.len() <= ATTRIBUTES_MAX {
                let mut attributes = PayloadReader::new(attributes);
                while !attributes.is_empty() {
                    let name = attributes.length_encoded_bytes()?.to_vec();
                    let value = attributes.length_encoded_bytes()?.to_vec();
                    self.attributes.push((name, value));
                }
            }
        }
        self.zstd_level = reader.u8().unwrap_or(3);
        Some(())
    }
}

/// Bytes before a zero or, as some clients omit the last zero, all of the rest.
fn text(reader: &mut PayloadReader<'_>) -> Option<Vec<u8>> {
    if let Some(bytes) = reader.bytes_before_zero() {
        return Some(bytes.to_vec());
    }
    let rest = reader.rest();
    reader.bytes(rest.len()).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_common::packets::{AuthPlugin, HandshakeResponse};
    use mysql_common::proto::MySerialize;

    fn payload() -> Vec<u8> {
        let attributes = [("_client_name".to_owned(), "test".to_owned())];
        let packet = HandshakeResponse::new(
            Some(b"01234567890123456789".as_slice()),
            (8, 4, 0),
            Some(b"ann".as_slice()),
            Some(b"shop".as_slice()),
            Some(AuthPlugin::MysqlNativePassword),
            CapabilityFlags::CLIENT_PROTOCOL_41
                | CapabilityFlags::CLIENT_SECURE_CONNECTION
                | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA,
            Some(attributes.into_iter().collect()),
            1 << 24,
        );
        let mut payload = Vec::new();
        packet.serialize(&mut payload);
        payload
    }

    #[test]
    fn the_answer_of_a_client_is_read() {
        let response = Response::of_greeting(&payload()).expect("well formed");
        assert_eq!(response.user, b"ann");
        assert_eq!(response.database.as_deref(), Some(b"shop".as_slice()));
        assert_eq!(response.proof, b"01234567890123456789");
        assert_eq!(response.plugin, b"mysql_native_password");
        let attributes = [(b"_client_name".to_vec(), b"test".to_vec())];
        assert_eq!(response.attributes, attributes);
    }

    #[test]
    fn what_is_cut_off_is_refused_or_read_without_its_end() {
        let whole = payload();
        for length in 0..whole.len() {
            if let Some(read) = Response::of_greeting(&whole[..length]) {
                assert_eq!(read.user, b"ann");
            }
        }
        assert_eq!(Response::of_greeting(&whole[..40]), None);
    }

    #[test]
    fn a_change_of_user_is_read() {
        let capabilities = CapabilityFlags::CLIENT_PLUGIN_AUTH.bits();
        let payload = b"bob\0\x02xyshop\0\xff\0caching_sha2_password\0";
        let response = Response::of_change_user(payload, capabilities).expect("well formed");
        assert_eq!(response.user, b"bob");
        assert_eq!(response.proof, b"xy");
        assert_eq!(response.collation, 255);
        assert_eq!(response.plugin, b"caching_sha2_password");
        let short = Response::of_change_user(b"bob\0\0\0", capabilities).expect("an old client");
        assert_eq!((short.database, short.collation), (None, 0));
    }
}
