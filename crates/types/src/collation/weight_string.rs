//! Weights as WEIGHT_STRING() of MySQL shows them. Sort keys have another form, in which trailing spaces do not count.

use super::{Collation, CollationId, Order};
use crate::charset::{Charset, utf8};

impl CollationId {
    /// Appends the weights of a text, or of its first `characters`, to which spaces are added under PAD SPACE.
    pub fn append_weights(self, text: &[u8], characters: Option<usize>, out: &mut Vec<u8>) {
        let collation = self.collation();
        if self == Self::BINARY {
            let end = characters.map_or(text.len(), |most| most.min(text.len()));
            out.extend_from_slice(&text[..end]);
            return;
        }
        let Some(characters) = characters else {
            return collation.append_weights(text, 0, out);
        };
        let (mut end, mut missing) = (0, characters);
        while missing > 0
            && let Some((_, length)) = utf8::decode(&text[end..])
        {
            end += length;
            missing -= 1;
        }
        let spaces = if collation.pad_space { missing } else { 0 };
        collation.append_weights(&text[..end], spaces, out);
    }

    /// Length limit in result metadata for the weights of a text of `bytes` bytes.
    pub fn weights_length(self, bytes: u64) -> u64 {
        bytes.saturating_mul(match self.collation().order {
            Order::Uca(_) if !self.collation().pad_space => 16,
            Order::Uca(_) => 8,
            _ if self.charset().is_unicode() => 2,
            _ => 1,
        })
    }
}

impl Collation {
    /// Appends the weights of a text and of `spaces` spaces behind it.
    fn append_weights(&self, text: &[u8], spaces: usize, out: &mut Vec<u8>) {
        let spaces = || std::iter::repeat_n(u32::from(b' '), spaces);
        let points = || utf8::Points::new(text).chain(spaces());
        match self.order {
            Order::Bytes if !self.pad_space => out.extend_from_slice(text),
            Order::Uca(uca) => {
                let push = |out: &mut Vec<u8>, weight: u16| match self.charset {
                    Charset::Latin1 => out.push(weight as u8),
                    _ => out.extend_from_slice(&weight.to_be_bytes()),
                };
                for level in uca.levels() {
                    if level > 1 {
                        push(out, 0);
                    }
                    uca.level_weights(text, level)
                        .for_each(|weight| push(out, weight));
                    let space = uca.ascii().space().weight(level);
                    spaces().for_each(|_| push(out, space));
                }
            }
            _ if self.charset.is_unicode() && self.id.is_binary_order()
                || self.order == Order::Json =>
            {
                let width = if self.charset.has_supplement() { 3 } else { 2 };
                points().for_each(|point| out.extend_from_slice(&point.to_be_bytes()[4 - width..]));
            }
            Order::Simple(simple) if self.charset.is_unicode() => {
                let weights = simple.weights();
                points().for_each(|point| out.extend(weights.weight(point).to_be_bytes()));
            }
            // The weight of a character of one or two bytes has the same number of bytes; one of three bytes weighs its
            // bytes.
            Order::Simple(simple) => {
                let weights = simple.weights();
                let mut bytes = Vec::with_capacity(4);
                for point in points() {
                    bytes.clear();
                    self.charset.append(point, &mut bytes);
                    let weight = weights.weight(point).to_be_bytes();
                    match bytes.len() {
                        1 => out.push(weight[1]),
                        2 => out.extend_from_slice(&weight),
                        _ => out.extend_from_slice(&bytes),
                    }
                }
            }
            Order::Bytes | Order::Json => {
                out.extend_from_slice(&self.charset.encode_lossy(text));
                out.extend(spaces().map(|_| b' '));
            }
        }
    }
}
