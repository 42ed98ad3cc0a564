//! The command line as it is typed: `mysql`'s form of a password, which others must not read in the list of processes.
//!
//! `-pPASSWORD`, `--password=PASSWORD` and the password of a URL are taken out of the command line: the program starts
//! itself again without them, and with the password in its environment, which only the same user can read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The environment variable that holds the password of the command line.
const VARIABLE: &str = "MAYFLY_COMMAND_LINE_PASSWORD";
/// Schemes of URLs.
const SCHEMES: [&str; 2] = ["mysql://", "mariadb://"];

/// The command line without a password. `is_subcommand` says which words begin one; those have options of their own.
pub(crate) fn without_password(is_subcommand: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let (cleaned, password) = taken(&given, is_subcommand);
    if let Some(password) = password
        && let Ok(program) = std::env::current_exe()
        && let [name, rest @ ..] = cleaned.as_slice()
    {
        let mut again = Command::new(program);
        again.arg0(name).args(rest).env(VARIABLE, password);
        // It returns only if the program cannot be started; then nothing is different but the list of processes.
        let error = again.exec();
        eprintln!("mayfly: the password stays in the list of processes: {error}");
        return given;
    }
    cleaned
}

/// The password that the command line had.
pub(crate) fn password() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// A command of the system, which does not get the password.
pub(crate) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_remove(VARIABLE);
    shell
}

/// Whether an argument is the URL of a server.
pub(crate) fn is_url(argument: &str) -> bool {
    SCHEMES.iter().any(|scheme| argument.starts_with(scheme))
}

/// A command line without its password.
fn taken(
    given: &[OsString],
    is_subcommand: impl Fn(&OsStr) -> bool,
) -> (Vec<OsString>, Option<OsString>) {
    let mut password = None;
    let mut cleaned = Vec::with_capacity(given.len());
    let mut arguments = given.iter();
    cleaned.extend(arguments.next().cloned());
    while let Some(argument) = arguments.next() {
        if argument == "--" || is_subcommand(argument) {
            cleaned.push(argument.clone());
            cleaned.extend(arguments.by_ref().cloned());
            break;
        }
        let bytes = argument.as_bytes();
        let value = bytes.strip_prefix(b"--password=");
        let value = value.or_else(|| bytes.strip_prefix(b"-p").filter(|value| !value.is_empty()));
        if let Some(value) = value {
            password = Some(OsString::from_vec(value.to_vec()));
        } else if let Some((url, value)) = argument.to_str().and_then(of_url) {
            password = Some(value.into());
            cleaned.push(url.into());
        } else {
            cleaned.push(argument.clone());
        }
    }
    (cleaned, password)
}

/// A URL without its password, and the password.
fn of_url(url: &str) -> Option<(String, String)> {
    let scheme = SCHEMES.iter().find(|scheme| url.starts_with(**scheme))?;
    let rest = url.strip_prefix(scheme)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, behind) = rest.split_at(end);
    let (account, host) = authority.rsplit_once('@')?;
    let (user, password) = account.split_once(':')?;
    let url = format!("{scheme}{user}@{host}{behind}");
    Some((url, percent_decoded(password)))
}

/// A part of a URL with `%41` and the like as characters (RFC 3986, 2.1).
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = digits.filter(|_| *first == b'%');
        match byte.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out() {
        let is_subcommand = |word: &OsStr| word == "advise";
        for (line, cleaned, password) in [
            ("m -uann -psesame db", "m -uann db", Some("sesame")),
            ("m --password=a=b -e x", "m -e x", Some("a=b")),
            ("m --password=", "m", Some("")),
            ("m -p -hx", "m -p -hx", None),
            ("m --pager=less", "m --pager=less", None),
            (
                "m mysql://ann:p%40%3a@db:1/x?a=b",
                "m mysql://ann@db:1/x?a=b",
                Some("p@:"),
            ),
            ("m mysql://ann@db/a:b@c", "m mysql://ann@db/a:b@c", None),
            ("m advise -psesame", "m advise -psesame", None),
            ("m -- -psesame", "m -- -psesame", None),
        ] {
            let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            let taken = taken(&words(line), is_subcommand);
            assert_eq!(
                taken,
                (words(cleaned), password.map(OsString::from)),
                "{line}"
            );
        }
        assert_eq!(percent_decoded("a%2Fb%zz%4"), "a/b%zz%4");
    }
}
