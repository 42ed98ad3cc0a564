//! Bytes from a client, plain or compressed, however they arrive: payloads come out or an error, what
//! comes out is what was put in, and no more is kept than the limit says.

#![no_main]

// The module alone, so that a fuzzer needs no engine.
#[path = "../../crates/wire/src/packet/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the server uses the rest")]
mod packet;

use libfuzzer_sys::fuzz_target;
use packet::{Algorithm, Compression, PacketDecoder, PacketEncoder};

const MAX: usize = 1 << 16;

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (mode, step, bytes) = input;
    let step = usize::from(step).max(1);
    let compression = || match mode % 3 {
        0 => None,
        1 => Some(Compression::new(Algorithm::Zlib)),
        _ => Some(Compression::new(Algorithm::Zstd(1))),
    };
    let (mut compression, mut receiver) = (compression(), compression());
    let mut decoder = PacketDecoder::new(MAX);
    let mut payload = Vec::new();
    'all: for piece in bytes.chunks(step) {
        match &mut compression {
            None => decoder.feed(piece),
            Some(compression) => compression.feed(piece),
        }
        loop {
            match decoder.next(&mut payload) {
                Ok(true) => assert!(payload.len() <= MAX),
                Ok(false) => match expand(&mut compression, &mut decoder) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(_) => break 'all,
                },
                Err(_) => break 'all,
            }
        }
    }
    // What the server sends comes back, whatever it is.
    let mut encoder = PacketEncoder::default();
    encoder.packet(|out| out.extend_from_slice(&bytes));
    let mut sent = encoder.take();
    if let Some(sender) = &mut compression {
        sender.begin_command();
        let plain = std::mem::take(&mut sent);
        sender.encode(&plain, &mut sent).expect("in memory");
    }
    let mut decoder = PacketDecoder::new(bytes.len());
    for piece in sent.chunks(step) {
        match &mut receiver {
            None => decoder.feed(piece),
            Some(receiver) => receiver.feed(piece),
        }
    }
    while expand(&mut receiver, &mut decoder).expect("what was encoded") {}
    assert!(decoder.next(&mut payload).expect("in order"));
    assert!(payload == bytes && decoder.is_empty());
});

/// The next compressed packet, if there is one, to the decoder.
fn expand(
    compression: &mut Option<Compression>,
    decoder: &mut PacketDecoder,
) -> Result<bool, packet::PacketError> {
    match compression {
        Some(compression) => compression.decode_next(|plain| decoder.feed(plain)),
        None => Ok(false),
    }
}
