//! Servers that send invalid packets, stay silent, or have another identity.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use mysql_common::constants::CapabilityFlags;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use mayfly_advisor::{Address, Client, Connection as _, Limits, Roots, Rows, Tls};

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const PASSWORD: &str = "open sesame";

/// A server's end of a connection, controlled by a test.
struct Peer<S> {
    stream: S,
    sequence: u8,
}

impl<S: Read + Write> Peer<S> {
    fn send(&mut self, packet: &[u8]) {
        let [a, b, c, _] = (packet.len() as u32).to_le_bytes();
        let bytes = [&[a, b, c, self.sequence], packet].concat();
        // A client that has given up has closed the connection.
        let _ = self.stream.write_all(&bytes);
        let _ = self.stream.flush();
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// The next packet; empty when the client has closed the connection.
    fn receive(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        if self.stream.read_exact(&mut header).is_err() {
            return Vec::new();
        }
        let [a, b, c, sequence] = header;
        self.sequence = sequence.wrapping_add(1);
        let mut packet = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        self.stream.read_exact(&mut packet).unwrap();
        packet
    }

    /// Sends a greeting, and receives the response.
    fn greet(&mut self, plugin: &str, more: CapabilityFlags) -> Vec<u8> {
        self.send(&greeting(plugin, more));
        self.receive()
    }

    /// Admits a client unconditionally, and receives its statement.
    fn let_in(&mut self) -> Vec<u8> {
        self.greet("mysql_native_password", CapabilityFlags::empty());
        self.send(OK);
        let command = self.receive();
        self.sequence = 1;
        command
    }
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];

fn greeting(plugin: &str, more: CapabilityFlags) -> Vec<u8> {
    let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | more;
    let [low, second, third, high] = capabilities.bits().to_le_bytes();
    let mut packet = b"\x0a8.4.3\0\x01\0\0\0".to_vec();
    packet.extend_from_slice(&NONCE[..8]);
    packet.extend_from_slice(&[0, low, second, 255, 2, 0, third, high, 21]);
    packet.extend_from_slice(&[0; 10]);
    packet.extend_from_slice(&NONCE[8..]);
    packet.push(0);
    packet.extend_from_slice(plugin.as_bytes());
    packet.push(0);
    packet
}

/// A server that serves one client.
fn server<T: Send + 'static>(
    serve: impl FnOnce(Peer<TcpStream>) -> T + Send + 'static,
) -> (Address, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address {
        host: Some("127.0.0.1".to_owned()),
        port: Some(listener.local_addr().unwrap().port()),
        user: "ann".to_owned(),
        password: Some(PASSWORD.to_owned()),
        ..Address::default()
    };
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        serve(Peer {
            stream,
            sequence: 0,
        })
    });
    (address, thread)
}

fn connect(address: &Address) -> Result<Client, String> {
    Client::connect(address, Limits::default())
}

fn error(address: &Address) -> String {
    connect(address).map(drop).unwrap_err()
}

/// The result of a statement that the server answers with these packets.
fn answer(limits: Limits, packets: Vec<Vec<u8>>) -> Result<Rows, String> {
    let (address, thread) = server(move |mut peer| {
        let command = peer.let_in();
        packets.iter().for_each(|packet| peer.send(packet));
        // Until the client closes the connection.
        while !peer.receive().is_empty() {}
        command
    });
    let mut client = Client::connect(&address, limits)?;
    let rows = client.query("SELECT 1");
    if rows.is_err() {
        let again = client.query("SELECT 2").map(|rows| rows.rows);
        assert!(again.is_err(), "the connection is not used any more");
    }
    drop(client);
    assert_eq!(thread.join().unwrap(), b"\x03SELECT 1");
    rows
}

fn definition(name: &str) -> Vec<u8> {
    let mut packet = b"\x03def\0\0\0".to_vec();
    packet.push(name.len() as u8);
    packet.extend_from_slice(name.as_bytes());
    packet
}

#[test]
fn rows_are_read() {
    let packets = vec![
        vec![2],
        definition("a"),
        definition("b"),
        EOF.to_vec(),
        b"\x01x\xfb".to_vec(),
        b"\x00\x02yz".to_vec(),
        EOF.to_vec(),
    ];
    let rows = answer(Limits::default(), packets).unwrap();
    assert_eq!(rows.names, ["a", "b"]);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(rows.rows, [[text("x"), None], [text(""), text("yz")]]);
    let nothing = answer(Limits::default(), vec![OK.to_vec()]).unwrap();
    assert!(nothing.rows.is_empty());
}

#[test]
fn the_password_is_proved_and_not_told() {
    for (plugin, length) in [("mysql_native_password", 20), ("caching_sha2_password", 32)] {
        let (address, thread) = server(move |mut peer| {
            let response = peer.greet(plugin, CapabilityFlags::empty());
            peer.send(&[1, 3]);
            peer.send(OK);
            response
        });
        let connected = connect(&address).map(drop);
        assert_eq!(connected.is_ok(), plugin == "caching_sha2_password");
        let response = thread.join().unwrap();
        let begin = [&[0; 23][..], b"ann\0", &[length]].concat();
        assert_eq!(&response[9..9 + begin.len()], begin, "{plugin}");
    }
}

/// Asks for the password itself, and offers its own key.
fn greedy(mut peer: Peer<TcpStream>) -> Vec<u8> {
    peer.greet("caching_sha2_password", CapabilityFlags::empty());
    peer.send(&[1, 4]);
    peer.receive()
}

#[test]
fn a_server_gets_the_password_under_a_key_that_the_user_has_named_alone() {
    let (mut address, thread) = server(greedy);
    let refused = error(&address);
    assert!(refused.contains("--server-public-key-path"), "{refused}");
    assert_eq!(thread.join().unwrap(), b"");
    // An invalid key is an error before anything is sent.
    address.server_key =
        Some(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".to_vec());
    assert!(error(&address).contains("public key"));
    address.server_key = Some(b"nonsense".to_vec());
    assert!(error(&address).contains("public key"));

    let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
    let public: PublicKeyX509Der<'static> = key.public_key().as_der().unwrap();
    let (mut address, thread) = server(|mut peer| {
        peer.greet("caching_sha2_password", CapabilityFlags::empty());
        peer.send(&[1, 4]);
        let told = peer.receive();
        peer.send(OK);
        told
    });
    address.server_key = Some(pem("PUBLIC KEY", public.as_ref()).into_bytes());
    drop(connect(&address).unwrap());
    let key = OaepPrivateDecryptingKey::new(key).unwrap();
    let mut plain = vec![0; key.min_output_size()];
    let told = thread.join().unwrap();
    let plain = key.decrypt(&OAEP_SHA1_MGF1SHA1, &told, &mut plain, None);
    let masked = plain.unwrap().iter().zip(NONCE.iter().cycle());
    let password: Vec<u8> = masked.map(|(byte, mask)| byte ^ mask).collect();
    assert_eq!(password, [PASSWORD.as_bytes(), &[0]].concat());
}

fn pem(label: &str, der: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in der.chunks(3) {
        let bits = piece
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - piece.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > piece.len() {
                '='
            } else {
                char::from(letter)
            });
        }
        if text.len() % 65 == 64 {
            text.push('\n');
        }
    }
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

#[test]
fn other_plugins_and_other_protocols_are_errors() {
    for request in [
        &b"\xfemysql_clear_password\0"[..],
        b"\xfemysql_old_password\0abcdefgh\0",
        b"\xfe\x1b[2Jplugin\0",
        b"\xfe",
        b"\x01\x04",
        b"\x07",
        b"",
    ] {
        let (address, thread) = server(move |mut peer| {
            peer.greet("mysql_native_password", CapabilityFlags::empty());
            peer.send(request);
            peer.receive()
        });
        let refused = error(&address);
        assert!(!refused.contains('\x1b'), "{refused}");
        assert_eq!(thread.join().unwrap(), b"", "{request:?}");
    }
    for greeting in [
        &b"\x09old"[..],
        b"\x0a8.4",
        b"",
        b"\xff\x6a\x04Host is blocked",
    ] {
        let (address, thread) = server(move |mut peer| peer.send(greeting));
        let refused = error(&address);
        assert_eq!(
            refused.contains("ERROR 1130"),
            greeting.len() > 10,
            "{refused}"
        );
        thread.join().unwrap();
    }
}

#[test]
fn what_a_server_announces_takes_no_memory() {
    let huge = [&[0xfe][..], &u64::MAX.to_le_bytes()].concat();
    let many = [&[0xfe][..], &4097_u64.to_le_bytes()].concat();
    for count in [huge, many, vec![0xfc], vec![0xfd, 0, 0, 0]] {
        assert!(answer(Limits::default(), vec![count]).is_err());
    }
    // A value that is longer than its packet.
    let long = [&[0xfe][..], &u64::MAX.to_le_bytes(), b"x"].concat();
    let packets = vec![vec![1], definition("a"), EOF.to_vec(), long];
    assert!(answer(Limits::default(), packets).is_err());
    let local = answer(Limits::default(), vec![b"\xfb/etc/passwd".to_vec()]);
    assert!(local.unwrap_err().contains("file"));
}

#[test]
fn rows_and_bytes_are_limited() {
    let begin = || vec![vec![1], definition("a"), EOF.to_vec()];
    let mut packets = begin();
    packets.extend((0..11).map(|_| b"\x01x".to_vec()));
    packets.push(EOF.to_vec());
    let limits = |rows, bytes| Limits {
        rows,
        bytes,
        ..Limits::default()
    };
    let rows = answer(limits(11, 10_000), packets.clone()).unwrap();
    assert_eq!(rows.rows.len(), 11);
    let refused = answer(limits(10, 10_000), packets.clone()).unwrap_err();
    assert!(refused.contains("10 rows"), "{refused}");
    let refused = answer(limits(11, 200), packets).unwrap_err();
    assert!(refused.contains("200 bytes"), "{refused}");
    let mut long = begin();
    long.push([&[0xfc, 0xe8, 0x03][..], &[b'x'; 1000]].concat());
    let refused = answer(limits(11, 500), long).unwrap_err();
    assert!(refused.contains("500 bytes"), "{refused}");
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let limits = Limits {
        time: Duration::from_millis(100),
        ..Limits::default()
    };
    // Nothing, a part of the greeting, and nothing after a statement.
    for sent in [None, Some(3)] {
        let (address, thread) = server(move |mut peer| {
            if let Some(bytes) = sent {
                let greeting = [40, 0, 0, 0, 10, b'8'];
                let _ = peer.stream.write_all(&greeting[..bytes]);
            }
            peer.receive()
        });
        let refused = Client::connect(&address, limits).map(drop).unwrap_err();
        assert!(refused.contains("0.1 seconds"), "{refused}");
        thread.join().unwrap();
    }
    let refused = answer(limits, Vec::new()).unwrap_err();
    assert!(refused.contains("0.1 seconds"), "{refused}");
}

/// A server with a certificate for these names; returns what it reads first under TLS.
fn tls_server(name: &str) -> (Address, JoinHandle<Vec<u8>>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let root = certificate.to_vec();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let (address, thread) = server(move |mut plain| {
        plain.send(&greeting(
            "caching_sha2_password",
            CapabilityFlags::CLIENT_SSL,
        ));
        // The request for TLS has no user name.
        assert_eq!(plain.receive().len(), 32);
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut peer = Peer {
            stream: StreamOwned::new(connection, plain.stream),
            sequence: plain.sequence,
        };
        let first = peer.receive();
        peer.send(&[1, 4]);
        let told = peer.receive();
        peer.send(OK);
        [first, told].concat()
    });
    (address, thread, root)
}

#[test]
fn a_certificate_is_verified_before_anything_is_sent() {
    // With that authority and that name, it receives the password itself.
    let (mut address, thread, root) = tls_server("127.0.0.1");
    let verified = |root: &[u8], identity| Tls::Verified {
        roots: Roots::from_der([root.to_vec()]),
        identity,
    };
    address.tls = verified(&root, true);
    drop(connect(&address).unwrap());
    let told = thread.join().unwrap();
    assert!(told.ends_with(&[PASSWORD.as_bytes(), &[0]].concat()));
    // For another name.
    for (identity, is_taken) in [(true, false), (false, true)] {
        let (mut address, thread, root) = tls_server("db.example");
        address.tls = verified(&root, identity);
        let connected = connect(&address).map(drop);
        assert_eq!(connected.is_ok(), is_taken, "{connected:?}");
        if let Err(refused) = connected {
            assert!(refused.contains("--ssl-mode VERIFY_CA"), "{refused}");
        }
        assert_eq!(thread.join().unwrap().is_empty(), !is_taken);
    }
    // From another authority, with either kind of verification.
    for identity in [true, false] {
        let (mut address, thread, _) = tls_server("127.0.0.1");
        let other = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        address.tls = verified(other.cert.der(), identity);
        let refused = error(&address);
        assert!(refused.contains("--ssl-ca"), "{refused}");
        assert_eq!(thread.join().unwrap(), b"");
    }
    // No data are sent to a server without TLS.
    let (mut address, thread) =
        server(|mut peer| peer.greet("caching_sha2_password", CapabilityFlags::empty()));
    address.tls = verified(&root, true);
    assert!(error(&address).contains("no TLS"));
    assert_eq!(thread.join().unwrap(), b"");
    assert!(Roots::from_pem(b"nothing").is_err());
}
