//! Matching of clients' hosts with accounts (the manual, "Access Control, Stage 1: Connection Verification" and
//! "Specifying Account Names"): by name or address, LIKE pattern, or network with mask or prefix length. Of the
//! matching accounts, the one with the most specific host is used.

use std::net::{IpAddr, Ipv4Addr};

/// Host of a client: its address, or none when it connected through a socket.
#[derive(Debug, Clone)]
pub(crate) struct ClientHost {
    address: Option<IpAddr>,
    name: String,
}

impl ClientHost {
    /// The host of an address or a name. A client of this machine is at `localhost`.
    pub(crate) fn new(host: &str) -> Self {
        let address: Option<IpAddr> = host.parse().ok();
        // An IPv6 socket gives IPv4 clients mapped addresses.
        let address = address.map(|address| address.to_canonical());
        let is_local = address.is_some_and(|address| address.is_loopback());
        let name = match (is_local, address) {
            (true, _) => "localhost".to_owned(),
            (false, Some(address)) => address.to_string(),
            (false, None) => host.to_lowercase(),
        };
        Self { address, name }
    }

    /// The host as USER() and errors show it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether an account's host matches this client.
    pub(crate) fn fits(&self, host: &str) -> bool {
        if matches!(host, "" | "%") {
            return true;
        }
        if let Some(network) = Network::parse(host) {
            return matches!(self.address, Some(IpAddr::V4(address)) if network.has(address));
        }
        if is_host_like(&self.name, host) {
            return true;
        }
        let address = self.address.map(|address| address.to_string());
        address.is_some_and(|address| is_host_like(&address, host))
    }
}

/// Specificity of a host: greater ones are tried first.
pub(crate) fn specificity(host: &str) -> (u8, usize) {
    if host.is_empty() {
        return (0, 0);
    }
    if let Some(network) = Network::parse(host) {
        return (2, network.mask.count_ones() as usize);
    }
    match first_wildcard(host) {
        Some(0) if host == "%" => (0, 1),
        Some(at) => (1, at),
        None => (3, 0),
    }
}

/// Number of characters before the first wildcard of a pattern; `None` without one.
pub(crate) fn first_wildcard(pattern: &str) -> Option<usize> {
    let mut escaped = false;
    pattern.bytes().position(|byte| {
        let is_wildcard = !escaped && matches!(byte, b'%' | b'_');
        escaped = !escaped && byte == b'\\';
        is_wildcard
    })
}

/// `192.168.1.0/255.255.255.0`, `192.168.1.0/24`
struct Network {
    address: u32,
    mask: u32,
}

impl Network {
    fn parse(host: &str) -> Option<Self> {
        let (address, mask) = host.split_once('/')?;
        let address: Ipv4Addr = address.parse().ok()?;
        let mask = match mask.parse::<u32>() {
            Ok(0) => 0,
            Ok(bits @ 1..=32) => u32::MAX << (32 - bits),
            Ok(_) => return None,
            Err(_) => u32::from(mask.parse::<Ipv4Addr>().ok()?),
        };
        Some(Self {
            address: u32::from(address),
            mask,
        })
    }

    fn has(&self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask == self.address & self.mask
    }
}

/// Whether a name matches a pattern with `%`, `_` and `\`, case-sensitively.
pub(crate) fn is_name_like(name: &str, pattern: &str) -> bool {
    is_like(name.as_bytes(), pattern.as_bytes(), |a, b| a == b)
}

/// Whether a host matches a pattern with `%`, `_` and `\`, ignoring the case of letters.
fn is_host_like(host: &str, pattern: &str) -> bool {
    is_like(host.as_bytes(), pattern.as_bytes(), |a, b| {
        a.eq_ignore_ascii_case(b)
    })
}

fn is_like(text: &[u8], pattern: &[u8], is_same: impl Fn(&u8, &u8) -> bool) -> bool {
    let (mut at, mut offset) = (0, 0);
    // Position of the last %, and the length of text that it matches.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        // Length of the pattern that the next byte of the text matches.
        let (is_match, length) = match &pattern[offset..] {
            [b'%', ..] => {
                retry = Some((offset, at));
                offset += 1;
                continue;
            }
            [b'_', ..] => (true, 1),
            [b'\\', byte, ..] => (is_same(byte, &text[at]), 2),
            [byte, ..] => (is_same(byte, &text[at]), 1),
            [] => (false, 0),
        };
        if is_match {
            (offset, at) = (offset + length, at + 1);
            continue;
        }
        let Some((percent, taken)) = retry else {
            return false;
        };
        retry = Some((percent, taken + 1));
        (offset, at) = (percent + 1, taken + 1);
    }
    pattern[offset..].iter().all(|byte| *byte == b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_fit() {
        let local = ClientHost::new("127.0.0.1");
        for host in [
            "localhost",
            "127.0.0.1",
            "127.0.0.%",
            "%",
            "",
            "127.0.0.0/8",
            "LOCALHOST",
        ] {
            assert!(local.fits(host), "{host}");
        }
        assert_eq!(local.name(), "localhost");
        assert_eq!(ClientHost::new("::1").name(), "localhost");
        let far = ClientHost::new("192.168.7.42");
        for host in [
            "192.168.7.42",
            "192.168.%",
            "192.168._.42",
            "192.168.7.0/255.255.255.0",
            "192.168.0.0/16",
            "192.168.7.42/32",
            "0.0.0.0/0",
        ] {
            assert!(far.fits(host), "{host}");
        }
        for host in [
            "localhost",
            "192.168.8.%",
            "192.168.8.0/24",
            "192.168.7.4",
            "2%",
        ] {
            assert!(!far.fits(host), "{host}");
        }
        assert_eq!(ClientHost::new("::ffff:10.0.0.1").name(), "10.0.0.1");
        let named = ClientHost::new("db1.Example.com");
        assert!(named.fits("%.example.com") && !named.fits("%.example.org"));
        assert!(!named.fits("10.0.0.0/8"));
    }

    #[test]
    fn the_more_specific_host_is_greater() {
        let order = [
            "db1.example.com",
            "10.1.2.3/32",
            "10.0.0.0/255.255.0.0",
            "10.0.0.0/8",
            "10.1.2.%",
            "10.%",
            "%.example.com",
            "%",
            "",
        ];
        assert!(order.is_sorted_by(|a, b| specificity(a) > specificity(b)));
    }

    #[test]
    fn patterns() {
        assert!(is_name_like("a_b", "a\\_b") && !is_name_like("axb", "a\\_b"));
        assert!(is_name_like("aXbXc", "a%X%c") && !is_name_like("aXbXc", "a%x%c"));
        assert!(is_name_like("", "%") && is_name_like("", "") && !is_name_like("a", ""));
        assert!(!is_name_like("abd", "a%c"));
        assert_eq!(first_wildcard("a\\_b%"), Some(4));
        assert_eq!(first_wildcard("ab"), None);
    }
}
