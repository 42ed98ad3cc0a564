//! The page over a source without an engine, for work on the page: `cargo run -p mayfly-http --example fake [PORT]`.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use mayfly_http::{Options, Server, Token};

#[path = "../tests/fake/mod.rs"]
mod fake;

const TOKEN: &str = "a-token-for-tests-only";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut options = Options::new(address, Some(Token::new(TOKEN)?));
    options.metrics_digests = 5;
    let server = Server::start(Arc::new(fake::Fake::default()), options)?;
    let mut out = std::io::stdout();
    writeln!(out, "live page: {}/#token={TOKEN}", server.url())?;
    out.flush()?;
    loop {
        std::thread::park();
    }
}
