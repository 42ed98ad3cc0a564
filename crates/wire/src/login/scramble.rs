//! The scramble, the nonce of a client's proof of its password.

/// The length of a scramble; it is sent with a zero behind it.
pub(crate) const LENGTH: usize = 20;

/// Random bytes other than 0 and `$`, since clients read them as text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scramble(pub(crate) [u8; LENGTH]);

impl Scramble {
    /// A new scramble, from the system's random numbers.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        for byte in &mut bytes {
            *byte &= 0x7F;
            if matches!(*byte, 0 | b'$') {
                *byte += 1;
            }
        }
        Ok(Self(bytes))
    }

    /// The bytes with the zero behind them.
    pub(crate) fn with_zero(&self) -> [u8; LENGTH + 1] {
        let mut bytes = [0; LENGTH + 1];
        bytes[..LENGTH].copy_from_slice(&self.0);
        bytes
    }
}
