//! What a client says of itself: any bytes are read or refused, and what is read is within them.

#![no_main]

#[path = "../../crates/wire/src/packet/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the server uses the rest")]
mod packet;
#[path = "../../crates/wire/src/login/response.rs"]
#[allow(dead_code, reason = "the server uses the rest")]
mod response;

use libfuzzer_sys::fuzz_target;
use response::Response;

fn check(response: Option<Response>, length: usize) {
    let Some(response) = response else {
        return;
    };
    let attributes = response.attributes.iter();
    let read = response.user.len()
        + response.proof.len()
        + response.database.map_or(0, |name| name.len())
        + attributes.map(|(name, value)| name.len() + value.len()).sum::<usize>();
    assert!(read <= length);
}

fuzz_target!(|input: (u32, &[u8])| {
    let (capabilities, bytes) = input;
    let _ = Response::tls_request(bytes);
    check(Response::of_greeting(bytes), bytes.len());
    check(Response::of_change_user(bytes, capabilities), bytes.len());
    // The same with capabilities that lead somewhere.
    let mut likely = capabilities.to_le_bytes().to_vec();
    likely[1] |= 2;
    likely.extend_from_slice(&[0; 28]);
    likely.extend_from_slice(bytes);
    check(Response::of_greeting(&likely), likely.len());
});
