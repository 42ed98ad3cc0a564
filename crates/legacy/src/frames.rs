//! Building blocks of the key cache and the buffer pool: an index of frames by file and number, and lists of frames in
//! the order of their last use.
//!
//! Frames are identified by numbers. Both structures are arrays beside the frames, so that a frame needs no
//! allocation.

/// Mark for no frame.
pub(crate) const NONE: u32 = u32::MAX;

/// Index of frames by their contents: a hash table whose chains go through an array.
#[derive(Debug)]
pub(crate) struct FrameIndex {
    /// The first frame of each chain. The length is a power of two.
    heads: Vec<u32>,
    next: Vec<u32>,
    keys: Vec<(u64, u64)>,
    len: usize,
}

/// Bytes of the index for each frame.
pub(crate) const INDEX_BYTES: usize = 8 + 4 + 16;
/// Initial number of chains.
const HEADS_MIN: usize = 64;

impl Default for FrameIndex {
    fn default() -> Self {
        Self {
            heads: vec![NONE; HEADS_MIN],
            next: Vec::new(),
            keys: Vec::new(),
            len: 0,
        }
    }
}

impl FrameIndex {
    #[inline]
    fn head(&self, (file, number): (u64, u64)) -> usize {
        let mixed = (number ^ file.rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.heads.len() - 1)
    }

    #[inline]
    pub(crate) fn find(&self, key: (u64, u64)) -> Option<u32> {
        let mut frame = self.heads[self.head(key)];
        while frame != NONE {
            if self.keys[frame as usize] == key {
                return Some(frame);
            }
            frame = self.next[frame as usize];
        }
        None
    }

    /// The key under which a frame was inserted.
    pub(crate) fn key(&self, frame: u32) -> (u64, u64) {
        self.keys[frame as usize]
    }

    pub(crate) fn insert(&mut self, key: (u64, u64), frame: u32) {
        let at = frame as usize;
        if at >= self.next.len() {
            self.next.resize(at + 1, NONE);
            self.keys.resize(at + 1, (0, 0));
        }
        self.keys[at] = key;
        self.len += 1;
        if self.len > self.heads.len() {
            self.grow();
        }
        self.link(frame);
    }

    fn link(&mut self, frame: u32) {
        let head = self.head(self.keys[frame as usize]);
        self.next[frame as usize] = self.heads[head];
        self.heads[head] = frame;
    }

    /// Doubles the number of chains.
    fn grow(&mut self) {
        let doubled = vec![NONE; self.heads.len() * 2];
        for mut frame in std::mem::replace(&mut self.heads, doubled) {
            while frame != NONE {
                let next = self.next[frame as usize];
                self.link(frame);
                frame = next;
            }
        }
    }

    pub(crate) fn remove(&mut self, frame: u32) {
        let next = self.next[frame as usize];
        let head = self.head(self.keys[frame as usize]);
        self.len -= 1;
        if self.heads[head] == frame {
            self.heads[head] = next;
            return;
        }
        let mut before = self.heads[head];
        while before != NONE {
            if self.next[before as usize] == frame {
                self.next[before as usize] = next;
                return;
            }
            before = self.next[before as usize];
        }
    }
}

/// Links of all lists: the neighbours of each frame in its list.
#[derive(Debug, Default)]
pub(crate) struct Links(Vec<(u32, u32)>);

impl Links {
    fn make(&mut self, frame: u32) {
        if frame as usize >= self.0.len() {
            self.0.resize(frame as usize + 1, (NONE, NONE));
        }
    }
}

/// Bytes of the links for each frame.
pub(crate) const LINK_BYTES: usize = 8;

/// List of frames, each of which is in one list at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameList {
    first: u32,
    last: u32,
    len: usize,
}

impl Default for FrameList {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            len: 0,
        }
    }
}

impl FrameList {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    pub(crate) fn push_last(&mut self, links: &mut Links, frame: u32) {
        links.make(frame);
        links.0[frame as usize] = (self.last, NONE);
        match self.last {
            NONE => self.first = frame,
            last => links.0[last as usize].1 = frame,
        }
        self.last = frame;
        self.len += 1;
    }

    pub(crate) fn push_first(&mut self, links: &mut Links, frame: u32) {
        if self.first == NONE {
            return self.push_last(links, frame);
        }
        links.make(frame);
        links.0[frame as usize] = (NONE, self.first);
        links.0[self.first as usize].0 = frame;
        self.first = frame;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, links: &mut Links, frame: u32) {
        let (before, after) = links.0[frame as usize];
        match before {
            NONE => self.first = after,
            before => links.0[before as usize].1 = after,
        }
        match after {
            NONE => self.last = before,
            after => links.0[after as usize].0 = before,
        }
        self.len -= 1;
    }

    /// The frames in list order.
    #[cfg(test)]
    pub(crate) fn iter<'a>(&self, links: &'a Links) -> impl Iterator<Item = u32> + use<'a> {
        let next = |frame: &u32| Some(links.0[*frame as usize].1).filter(|next| *next != NONE);
        std::iter::successors(self.first(), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_until_they_are_removed() {
        let mut index = FrameIndex::default();
        for frame in 0..400 {
            index.insert((u64::from(frame) % 3, u64::from(frame)), frame);
        }
        for frame in (0..400).step_by(2) {
            index.remove(frame);
        }
        for frame in 0..400_u32 {
            let found = index.find((u64::from(frame) % 3, u64::from(frame)));
            assert_eq!(found, (frame % 2 == 1).then_some(frame));
        }
    }

    #[test]
    fn a_list_keeps_its_order() {
        let (mut links, mut list) = (Links::default(), FrameList::default());
        for frame in [3, 1, 2] {
            list.push_last(&mut links, frame);
        }
        list.push_first(&mut links, 0);
        let order = |list: &FrameList, links: &Links| list.iter(links).collect::<Vec<_>>();
        assert_eq!(order(&list, &links), [0, 3, 1, 2]);
        list.remove(&mut links, 1);
        list.remove(&mut links, 0);
        list.push_last(&mut links, 0);
        assert_eq!(order(&list, &links), [3, 2, 0]);
        assert_eq!((list.len(), list.first()), (3, Some(3)));
        for frame in [2, 3, 0] {
            list.remove(&mut links, frame);
        }
        assert_eq!((list.len(), list.first()), (0, None));
    }
}
