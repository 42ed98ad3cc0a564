//! Order-independent comparison of two results' rows, without keeping them.

/// Order-independent sum of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RowSum {
    pub(crate) rows: u64,
    sum: u64,
}

impl RowSum {
    /// Adds a row.
    pub(crate) fn add<V: AsRef<[u8]>>(&mut self, row: &[Option<V>]) {
        // FNV-1a over the values, each with its length in front.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut take = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for value in row {
            match value {
                None => take(&[0xFF]),
                Some(value) => {
                    let value = value.as_ref();
                    take(&(value.len() as u64).to_le_bytes());
                    take(value);
                }
            }
        }
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    /// Adds the rows of another result.
    pub(crate) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// The sum with only the number of rows, where any rows are right.
    pub(crate) fn only_count(self) -> Self {
        Self { sum: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_and_their_order_does_not() {
        let sum = |rows: &[[Option<&str>; 2]]| {
            let mut sum = RowSum::default();
            rows.iter().for_each(|row| sum.add(row));
            sum
        };
        let (a, b) = ([Some("a"), None], [Some("1"), Some("2")]);
        assert_eq!(sum(&[a, b]), sum(&[b, a]));
        assert_ne!(sum(&[a]), sum(&[a, a]));
        assert_ne!(
            sum(&[[Some("12"), Some("")]]),
            sum(&[[Some("1"), Some("2")]])
        );
        let mut both = sum(&[a]);
        both.merge(sum(&[b]));
        assert_eq!(both, sum(&[a, b]));
    }
}
