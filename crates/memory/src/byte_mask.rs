//! Search for a few bytes in a text, 64 bytes at a time: a mask has a bit for each (Langdale and Lemire, "Parsing Gigabytes of JSON
//! per Second", 2019, 3.1). 16 bytes are compared at a time where there is SSE2, else eight (Warren, "Hacker's Delight", 6-1).

/// Number of bytes that a mask has a bit for.
pub const MASK_BYTES: usize = 64;

/// A bit for each byte of a text that is one of `bytes`, the lowest for the first one.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "vector instructions")]
pub fn byte_mask(text: &[u8; MASK_BYTES], bytes: [u8; 3]) -> u64 {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { mask_of_vectors(text, bytes) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn mask_of_vectors(text: &[u8; MASK_BYTES], bytes: [u8; 3]) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    let [a, b, c] = bytes;
    let (a, b, c) = (
        _mm_set1_epi8(a.cast_signed()),
        _mm_set1_epi8(b.cast_signed()),
        _mm_set1_epi8(c.cast_signed()),
    );
    let (parts, _) = text.as_chunks::<16>();
    let mut mask = 0;
    for part in parts.iter().rev() {
        let part = u128::from_le_bytes(*part);
        let part = _mm_set_epi64x((part >> 64) as i64, part as i64);
        let found = _mm_or_si128(_mm_cmpeq_epi8(part, a), _mm_cmpeq_epi8(part, b));
        let found = _mm_or_si128(found, _mm_cmpeq_epi8(part, c));
        mask = mask << 16 | u64::from(_mm_movemask_epi8(found).cast_unsigned());
    }
    mask
}

/// A bit for each byte of a text that is one of `bytes`, the lowest for the first one.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn byte_mask(text: &[u8; MASK_BYTES], bytes: [u8; 3]) -> u64 {
    /// The lowest bit of each byte, and the seven lowest ones.
    const LOW: u64 = u64::MAX / 0xFF;
    const REST: u64 = LOW * 0x7F;
    // The high bit of each byte of a word that is 0.
    let zeros = |word: u64| !(((word & REST) + REST) | word | REST);
    let (words, _) = text.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, word| {
        let word = u64::from_le_bytes(*word);
        let found = bytes.iter().fold(0, |found, byte| {
            found | zeros(word ^ (LOW * u64::from(*byte)))
        });
        // The product moves bit 8 i + 7 to bit 56 + i.
        mask << 8 | (found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_its_bit() {
        let mut state = 5_u64;
        for _ in 0..2000 {
            let text = std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                // Bytes that differ from those searched in one bit, and high ones.
                [b',', b'\n', b'-', 0x0B, 0xAC, 0x8A, 0, (state >> 40) as u8]
                    [(state >> 61) as usize]
            });
            let expected = (0..MASK_BYTES).fold(0, |mask, at| {
                mask | u64::from(matches!(text[at], b',' | b'\n' | 0xAC)) << at
            });
            assert_eq!(byte_mask(&text, [b',', b'\n', 0xAC]), expected, "{text:?}");
        }
    }
}
