//! One byte string for each group, in one growing buffer: replaced in place when the new one is no
//! longer, else appended; rewritten when more than half of it is garbage.

/// Byte strings of groups `0 .. n`, each of which may be absent.
#[derive(Debug, Default)]
pub(crate) struct BytesStore {
    /// Offset and length; an absent string has length `ABSENT`.
    places: Vec<(usize, u32)>,
    buffer: Vec<u8>,
    garbage: usize,
}

const ABSENT: u32 = u32::MAX;

impl BytesStore {
    pub(crate) fn resize(&mut self, group_count: usize) {
        self.places
            .resize(group_count.max(self.places.len()), (0, ABSENT));
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn get(&self, group: usize) -> Option<&[u8]> {
        let (offset, length) = *self.places.get(group)?;
        (length != ABSENT).then(|| &self.buffer[offset..offset + length as usize])
    }

    pub(crate) fn set(&mut self, group: usize, value: &[u8]) {
        // A value of 4 GiB or more cannot arise: strings are limited by max_allowed_packet.
        let length = u32::try_from(value.len()).unwrap_or(ABSENT - 1);
        let value = &value[..length as usize];
        let (offset, old) = self.places[group];
        if old != ABSENT && length <= old {
            self.buffer[offset..offset + value.len()].copy_from_slice(value);
            self.garbage += (old - length) as usize;
            self.places[group].1 = length;
            return;
        }
        if old != ABSENT {
            self.garbage += old as usize;
        }
        self.places[group] = (self.buffer.len(), length);
        self.buffer.extend_from_slice(value);
        if self.garbage > self.buffer.len() / 2 && self.garbage > 4096 {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut buffer = Vec::with_capacity(self.buffer.len() - self.garbage);
        for (offset, length) in &mut self.places {
            if *length != ABSENT {
                let start = buffer.len();
                buffer.extend_from_slice(&self.buffer[*offset..*offset + *length as usize]);
                *offset = start;
            }
        }
        self.buffer = buffer;
        self.garbage = 0;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.capacity() + self.places.capacity() * size_of::<(usize, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_compacts() {
        let mut store = BytesStore::default();
        store.resize(3);
        for round in 0..2000_usize {
            store.set(round % 2, &vec![b'x'; 10 + round % 7]);
        }
        assert_eq!(store.get(0).map(<[u8]>::len), Some(10 + 1998 % 7));
        assert_eq!(store.get(1).map(<[u8]>::len), Some(10 + 1999 % 7));
        assert_eq!(store.get(2), None);
        assert!(store.buffer.len() < 20_000);
    }
}
