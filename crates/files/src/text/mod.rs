//! Files of text: their rows in blocks, for formats whose rows follow each other.

pub(crate) mod input;
pub(crate) mod queue;
