//! Addresses of servers in a text.

use mayfly_client::Address;

/// The address in a text, and its display name: `mysql://user:password@host:port/`, or `user:password@/path/of/socket`.
/// Without a password in it, MYSQL_PWD is used.
pub(crate) fn of_text(text: &str) -> Result<(Address, String), String> {
    let mut address = Address {
        user: "root".to_owned(),
        password: std::env::var("MYSQL_PWD").ok(),
        ..Address::default()
    };
    let rest = without_scheme(text);
    let (account, place) = match rest.rsplit_once('@') {
        Some((account, place)) => (Some(account), place),
        None => (None, rest),
    };
    if let Some(account) = account {
        let (user, password) = match account.split_once(':') {
            Some((user, password)) => (user, Some(password.to_owned())),
            None => (account, None),
        };
        address.user = user.to_owned();
        address.password = password.or(address.password);
    }
    if place.starts_with('/') {
        address.socket = Some(place.to_owned());
    } else if !read_place(place, &mut address) {
        return Err(format!(
            "`{place}` is no server: write mysql://user@host:3306/ or user@/path/of/socket"
        ));
    }
    let name = place.trim_end_matches('/').to_owned();
    Ok((address, name))
}

pub(crate) fn without_scheme(url: &str) -> &str {
    url.strip_prefix("mysql://")
        .or_else(|| url.strip_prefix("mariadb://"))
        .unwrap_or(url)
}

/// Parses `host:port/database`; returns whether it is valid.
pub(crate) fn read_place(place: &str, address: &mut Address) -> bool {
    let place = place.split(['/', '?']).next().unwrap_or_default();
    // An IPv6 address is in brackets.
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (place, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return false;
    }
    address.host = Some(host.to_owned());
    match port.map(str::parse) {
        None => true,
        Some(Ok(port)) => {
            address.port = Some(port);
            true
        }
        Some(Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_in_one_text() {
        let (address, name) = of_text("mysql://ann:p@ss@db:3307/").unwrap_or_default();
        assert_eq!(
            (
                address.user.as_str(),
                address.password.as_deref(),
                address.host.as_deref(),
                address.port
            ),
            ("ann", Some("p@ss"), Some("db"), Some(3307))
        );
        assert_eq!(name, "db:3307");
        let (address, _) = of_text("bob@/run/mysqld/mysqld.sock").unwrap_or_default();
        assert_eq!(
            (
                address.user.as_str(),
                address.socket.as_deref(),
                address.host
            ),
            ("bob", Some("/run/mysqld/mysqld.sock"), None)
        );
        for text in ["", "mysql://", "ann@", "db:port"] {
            assert!(of_text(text).is_err(), "{text}");
        }
    }
}
