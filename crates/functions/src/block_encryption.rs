//! `block_encryption_mode`: the block cipher mode of AES_ENCRYPT() and AES_DECRYPT(), and the key length.

/// Block cipher mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// `block_encryption_mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEncryption {
    pub(crate) key_bytes: usize,
    pub(crate) mode: Mode,
}

impl Default for BlockEncryption {
    fn default() -> Self {
        Self {
            key_bytes: 16,
            mode: Mode::Ecb,
        }
    }
}

impl BlockEncryption {
    /// The names of all modes, in MySQL's order.
    pub const NAMES: &'static [&'static str] = &[
        "aes-128-ecb",
        "aes-192-ecb",
        "aes-256-ecb",
        "aes-128-cbc",
        "aes-192-cbc",
        "aes-256-cbc",
        "aes-128-cfb1",
        "aes-192-cfb1",
        "aes-256-cfb1",
        "aes-128-cfb8",
        "aes-192-cfb8",
        "aes-256-cfb8",
        "aes-128-cfb128",
        "aes-192-cfb128",
        "aes-256-cfb128",
        "aes-128-ofb",
        "aes-192-ofb",
        "aes-256-ofb",
    ];

    /// The mode of an index into [`BlockEncryption::NAMES`].
    pub fn by_number(number: usize) -> Option<Self> {
        Self::by_name(Self::NAMES.get(number)?)
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let mut parts = name.split('-').skip(1);
        let key_bytes = parts.next()?.parse::<usize>().ok()? / 8;
        let mode = match parts.next()? {
            "ecb" => Mode::Ecb,
            "cbc" => Mode::Cbc,
            "cfb1" => Mode::Cfb1,
            "cfb8" => Mode::Cfb8,
            "cfb128" => Mode::Cfb128,
            "ofb" => Mode::Ofb,
            _ => return None,
        };
        Some(Self { key_bytes, mode })
    }
}
