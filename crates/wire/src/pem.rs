//! Keys and certificates as PEM files.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use pem::{EncodeConfig, LineEnding, Pem};

/// DER as PEM with a label.
pub(crate) fn encode(label: &str, der: &[u8]) -> String {
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(label, der), config)
}

/// Writes a new file that only its owner may read.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), String> {
    write(path, text, 0o600)
}

/// Writes a file for clients, which only its owner may write, whatever the umask.
pub(crate) fn write_public(path: &Path, text: &str) -> Result<(), String> {
    // Left by an interrupted attempt.
    let _ = std::fs::remove_file(path);
    write(path, text, 0o640)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed)
}
