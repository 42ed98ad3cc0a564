//! The first packet, which the server sends.

use mayfly_engine::{AuthenticationPlugin, VERSION};
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::packets::HandshakePacket;
use mysql_common::proto::MySerialize;

use super::scramble::Scramble;

/// utf8mb4_0900_ai_ci: the default collation announced to clients.
const COLLATION: u8 = 255;

/// The server's capabilities, with or without TLS. A connection uses those that the client has,
/// too.
pub(crate) fn server_capabilities(has_tls: bool) -> CapabilityFlags {
    use CapabilityFlags as C;
    let all = C::CLIENT_LONG_PASSWORD
        | C::CLIENT_FOUND_ROWS
        | C::CLIENT_LONG_FLAG
        | C::CLIENT_CONNECT_WITH_DB
        | C::CLIENT_NO_SCHEMA
        | C::CLIENT_COMPRESS
        | C::CLIENT_ODBC
        | C::CLIENT_LOCAL_FILES
        | C::CLIENT_IGNORE_SPACE
        | C::CLIENT_PROTOCOL_41
        | C::CLIENT_INTERACTIVE
        | C::CLIENT_IGNORE_SIGPIPE
        | C::CLIENT_TRANSACTIONS
        | C::CLIENT_RESERVED
        | C::CLIENT_SECURE_CONNECTION
        | C::CLIENT_MULTI_STATEMENTS
        | C::CLIENT_MULTI_RESULTS
        | C::CLIENT_PS_MULTI_RESULTS
        | C::CLIENT_PLUGIN_AUTH
        | C::CLIENT_CONNECT_ATTRS
        | C::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | C::CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS
        | C::CLIENT_SESSION_TRACK
        | C::CLIENT_DEPRECATE_EOF
        | C::CLIENT_ZSTD_COMPRESSION_ALGORITHM
        | C::CLIENT_REMEMBER_OPTIONS;
    if has_tls { all | C::CLIENT_SSL } else { all }
}

/// The content of the first packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Greeting {
    /// The connection's number.
    pub(crate) id: u64,
    /// The nonce of the client's proof.
    pub(crate) scramble: Scramble,
    /// Whether the client may ask for TLS.
    pub(crate) has_tls: bool,
    /// Capabilities that settings disable.
    pub(crate) withheld: CapabilityFlags,
}

impl Greeting {
    /// The payload.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let bytes = self.scramble.with_zero();
        let mut first = [0; 8];
        first.copy_from_slice(&bytes[..8]);
        let packet = HandshakePacket::new(
            10,
            VERSION.as_bytes(),
            // Numbers above 32 bits show their lower half, as MySQL's do.
            self.id as u32,
            first,
            Some(&bytes[8..]),
            server_capabilities(self.has_tls) - self.withheld,
            COLLATION,
            StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            Some(AuthenticationPlugin::CachingSha2Password.name().as_bytes()),
        );
        let mut payload = Vec::with_capacity(96);
        packet.serialize(&mut payload);
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_read_it() {
        let greeting = Greeting {
            id: 7,
            scramble: Scramble(*b"abcdefghijklmnopqrst"),
            has_tls: true,
            withheld: CapabilityFlags::CLIENT_COMPRESS,
        };
        let payload = greeting.payload();
        let read: HandshakePacket<'_> = mysql_common::io::ParseBuf(&payload)
            .parse(())
            .expect("well formed");
        assert_eq!(read.connection_id(), 7);
        assert_eq!(read.nonce(), b"abcdefghijklmnopqrst");
        assert_eq!(read.server_version_ref(), VERSION.as_bytes());
        assert!(read.capabilities().contains(CapabilityFlags::CLIENT_SSL));
        assert!(
            !read
                .capabilities()
                .contains(CapabilityFlags::CLIENT_COMPRESS)
        );
        let plugin = read.auth_plugin_name_ref();
        assert_eq!(plugin, Some(b"caching_sha2_password".as_slice()));
    }
}
