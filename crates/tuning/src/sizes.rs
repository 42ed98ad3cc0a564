//! The sizes that are measured.

use mayfly_memory::io::DIRECT_ALIGNMENT;

/// Sizes from the article's smallest, then the variable's minimum, to its largest.
pub const SIZES: [u64; 13] = [
    8200,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    4 << 20,
    8 << 20,
    16 << 20,
    32 << 20,
];

/// Bytes of one read at a `read_buffer_size`: whole blocks of 4 KiB, as in MySQL, which rounds the variable down (8200
/// to 8192).
pub fn read_bytes(size: u64) -> usize {
    let size = usize::try_from(size).unwrap_or(usize::MAX / 2);
    (size / DIRECT_ALIGNMENT).max(1) * DIRECT_ALIGNMENT
}

/// A size in the notation of option files: `128K`.
pub fn size_text(size: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        if size >= 1 << shift && size.is_multiple_of(1 << shift) {
            return format!("{}{unit}", size >> shift);
        }
    }
    size.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_and_written_as_mysql_does() {
        let written = SIZES.map(size_text).join(" ");
        assert_eq!(
            written,
            "8200 16K 32K 64K 128K 256K 512K 1M 2M 4M 8M 16M 32M"
        );
        for (size, bytes) in [
            (8200, 8192),
            (130_000, 126_976),
            (1, 4096),
            (131_072, 131_072),
        ] {
            assert_eq!(read_bytes(size), bytes, "{size}");
        }
        assert!(SIZES.is_sorted());
    }
}
