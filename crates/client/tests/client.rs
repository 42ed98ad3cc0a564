//! Servers that send invalid packets, stay silent, or have another identity.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use mysql_common::constants::CapabilityFlags;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use mayfly_client::{
    Address, Client, Column, Error, Limits, Receiver, ResultEnd, Roots, Row, Rows, Tls,
};

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
    Client::connect(address, Limits::default()).map_err(|error| error.to_string())
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
    let mut client = Client::connect(&address, limits).map_err(|error| error.to_string())?;
    let rows = client.query("SELECT 1").map_err(|error| error.to_string());
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
    packet.extend_from_slice(&[0, 12, 45, 0, 40, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
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
        let refused = refused.to_string();
        assert!(refused.contains("0.1 seconds"), "{refused}");
        thread.join().unwrap();
    }
    let refused = answer(limits, Vec::new()).unwrap_err();
    assert!(refused.contains("0.1 seconds"), "{refused}");
}

/// Writes down what it receives, and gives a file.
#[derive(Default)]
struct Log(Vec<String>);

impl Receiver for Log {
    fn columns(&mut self, columns: Vec<Column>) -> Result<(), String> {
        let shown = columns.iter();
        let shown = shown.map(|it| format!("{} {} {}", it.name, it.field_type, it.length));
        self.0.push(shown.collect::<Vec<_>>().join(", "));
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.0.push(format!("{:?}", row.values()?));
        Ok(())
    }

    fn end(&mut self, end: &ResultEnd) -> Result<(), String> {
        self.0.push(format!(
            "{} {} {} {:?} {}",
            end.affected_rows, end.insert_id, end.warnings, end.info, end.is_last
        ));
        Ok(())
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read>> {
        match path {
            "rows.csv" => Ok(Box::new(io::Cursor::new(vec![b'x'; 100_000]))),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Runs a text on a server that answers with these packets, one step after each packet of the client; returns what the
/// client has passed on, its error, and what the server has received behind the statement.
fn conversation(
    text: &'static str,
    steps: Vec<Vec<Vec<u8>>>,
    local_files: bool,
) -> (Vec<String>, Result<(), Error>, Vec<Vec<u8>>) {
    let (mut address, thread) = server(move |mut peer| {
        assert_eq!(peer.let_in()[1..], *text.as_bytes());
        let mut received = Vec::new();
        for step in steps {
            step.iter().for_each(|packet| peer.send(packet));
            loop {
                let packet = peer.receive();
                let is_end = packet.len() <= 1;
                received.push(packet);
                if is_end {
                    break;
                }
            }
        }
        received
    });
    address.several_results = true;
    address.local_files = local_files;
    let mut client = Client::connect(&address, Limits::default()).unwrap();
    let mut log = Log::default();
    let ran = client.run(text.as_bytes(), &mut log);
    drop(client);
    (log.0, ran, thread.join().unwrap())
}

#[test]
fn several_results_are_passed_on() {
    let more = &[0xfe, 3, 0, 10, 0];
    let packets = vec![
        vec![1],
        definition("a"),
        EOF.to_vec(),
        b"\x01x".to_vec(),
        more.to_vec(),
        b"\x00\x02\x07\x0a\x00\x01\x00\x05a\x1bbcd".to_vec(),
        vec![1],
        definition("b"),
        EOF.to_vec(),
        b"\xff\x28\x04#42S22gone".to_vec(),
    ];
    let (log, ran, _) = conversation("CALL p()", vec![packets], false);
    let expected = [
        "a 253 40",
        "[Some([120])]",
        "0 0 3 \"\" false",
        "2 7 1 \"a\\u{1b}bcd\" false",
        "b 253 40",
    ];
    assert_eq!(log.len(), expected.len(), "{log:?}");
    assert_eq!(log[..3], expected[..3]);
    assert!(
        log[3].starts_with("2 7 1 \"a") && !log[3].contains('\x1b'),
        "{log:?}"
    );
    assert_eq!(log[4], expected[4]);
    let error = ran.unwrap_err();
    assert_eq!(
        (error.code(), error.state(), error.message()),
        (1064, "42S22", "gone")
    );
    assert!(!error.is_lost());
}

#[test]
fn a_server_gets_the_file_that_the_statement_names_and_no_other() {
    const LOAD: &str = "LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t";
    const ABSENT: &str = "LOAD DATA LOCAL INFILE 'absent' INTO TABLE t";
    let ask = |path: &str| vec![[b"\xfb", path.as_bytes()].concat()];
    let done = vec![OK.to_vec()];
    let (log, ran, received) = conversation(LOAD, vec![ask("rows.csv"), done.clone()], true);
    assert_eq!((log.len(), ran), (1, Ok(())));
    // The pieces of the file, an empty packet, and COM_QUIT.
    assert_eq!(received.iter().map(Vec::len).sum::<usize>(), 100_001);
    // A file that is not there is an error of this side, and the connection is usable.
    let (_, ran, received) = conversation(ABSENT, vec![ask("absent"), done], true);
    let error = ran.unwrap_err();
    assert!(
        matches!(&error, Error::File(why) if why.starts_with("absent: ")),
        "{error}"
    );
    assert_eq!(received, [Vec::<u8>::new(), vec![1]]);
    for (text, asked, local_files) in [
        (LOAD, "/etc/passwd", true),
        (LOAD, "./rows.csv", true),
        (LOAD, "rows.csv", false),
        (
            "SELECT 'LOAD DATA LOCAL INFILE ''rows.csv'''",
            "rows.csv",
            true,
        ),
        ("SELECT 1", "rows.csv", true),
    ] {
        let (_, ran, received) = conversation(text, vec![ask(asked)], local_files);
        let error = ran.unwrap_err();
        assert!(
            error.message().contains("does not get"),
            "{text} {asked}: {error}"
        );
        assert_eq!(received, [Vec::<u8>::new()], "{text} {asked}");
    }
    // It gets it once.
    let (_, ran, _) = conversation(LOAD, vec![ask("rows.csv"), ask("rows.csv")], true);
    assert!(ran.unwrap_err().is_lost());
}

#[test]
fn a_connection_is_ended_from_another_thread_and_its_end_is_noticed() {
    let (address, thread) = server(|mut peer| {
        peer.let_in();
        // No answer, until the client has gone.
        peer.receive()
    });
    let mut client = Client::connect(&address, Limits::default()).unwrap();
    assert!(!client.is_ended());
    let closer = client.closer().unwrap();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        closer.close();
    });
    assert!(client.query("SELECT SLEEP(1000)").unwrap_err().is_lost());
    assert!(client.is_ended());
    ending.join().unwrap();
    thread.join().unwrap();
    // The server closes an idle connection.
    let (address, thread) = server(|mut peer| {
        peer.greet("mysql_native_password", CapabilityFlags::empty());
        peer.send(OK);
    });
    let client = Client::connect(&address, Limits::default()).unwrap();
    thread.join().unwrap();
    while !client.is_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn definitions_and_results_are_bounded() {
    // A column's definition is small, whatever it announces.
    let long = [definition("a"), vec![b'x'; 1 << 15]].concat();
    assert!(answer(Limits::default(), vec![vec![1], long]).is_err());
    let short = b"\x03def\0\0\0\x01a\0\x05abc".to_vec();
    assert!(answer(Limits::default(), vec![vec![1], short]).is_err());
    // Results without end.
    let limits = Limits {
        time: Duration::from_millis(200),
        ..Limits::default()
    };
    let more = [0, 0, 0, 8, 0, 0, 0].to_vec();
    assert!(answer(limits, vec![more; 200]).is_err());
    let set = [
        vec![1],
        definition("a"),
        EOF.to_vec(),
        b"\xfe\0\0\x08\0".to_vec(),
    ];
    let twice = answer(Limits::default(), [&set[..], &set[..]].concat());
    assert!(twice.unwrap_err().contains("several results"));
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
