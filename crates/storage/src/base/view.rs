//! View of a tree by a transaction: the blocks of a snapshot, with the transaction's changes laid over them.

use std::ops::Range;
use std::sync::Arc;

use mayfly_types::{PhysicalType, Result};

use super::block::Block;
use super::block_key::Found;
use super::change_map::Change;
use super::gather::Pieces;
use super::overlay::TreeChanges;
use super::record_key::TreeId;
use super::snapshot::{Snapshot, Walk};
use crate::key_encoding::ByteRange;
use crate::temptable::MapSnapshot;

/// Approximate maximum number of changes in a segment, which are in memory while it is resolved.
const SEGMENT_CHANGES: usize = 1024;

/// A tree of one snapshot with the changes of one transaction.
#[derive(Debug, Clone)]
pub(super) struct TreeView {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) tree: TreeId,
    pub(super) types: Arc<[PhysicalType]>,
    layer: Option<Layer>,
}

/// Changes of a transaction, frozen when the view was made.
#[derive(Debug, Clone)]
struct Layer {
    tree: Arc<TreeChanges>,
    /// Snapshot of the changes that have overflowed to a table.
    snapshot: Option<Arc<MapSnapshot>>,
}

impl Layer {
    fn get(&self, key: &[u8]) -> Result<Option<Change>> {
        self.tree.changes.get_at(self.snapshot.as_deref(), key)
    }

    fn divide(&self, range: &ByteRange, reverse: bool) -> Result<Option<Vec<u8>>> {
        let snapshot = self.snapshot.as_deref();
        let changes = &self.tree.changes;
        changes.divide(snapshot, range, reverse, SEGMENT_CHANGES)
    }

    fn each(
        &self,
        range: &ByteRange,
        mut each: impl FnMut(&[u8], &Change) -> Result<()>,
    ) -> Result<()> {
        let (snapshot, changes) = (self.snapshot.as_deref(), &self.tree.changes);
        changes.each(snapshot, range, |key, change| {
            each(key, change).map(|()| true)
        })
    }
}

/// Location of a row.
#[derive(Debug, Clone)]
pub(super) enum RowLocation {
    /// In a block of the view's snapshot, at an index.
    Block(Block<'static>, usize),
    /// Among the transaction's changes, as bytes.
    Own(Arc<[u8]>),
}

impl RowLocation {
    /// Adds the row, which has this key, to `pieces`.
    pub(super) fn add_to(
        self,
        pieces: &mut Pieces,
        types: &Arc<[PhysicalType]>,
        key: &[u8],
    ) -> Result<()> {
        match self {
            Self::Own(bytes) => pieces.push_own(types, key, &bytes)?,
            Self::Block(block, row) => {
                let number = pieces.block_number(block);
                pieces.push(number, row, row + 1);
            }
        }
        Ok(())
    }
}

impl TreeView {
    pub(super) fn new(
        snapshot: &Arc<Snapshot>,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        changes: Option<Arc<TreeChanges>>,
    ) -> Self {
        let bulk_loaded = changes.as_ref().and_then(|tree| tree.bulk_loaded.as_ref());
        let snapshot = bulk_loaded.map_or(snapshot, |bulk_loaded| &bulk_loaded.snapshot);
        let snapshot = Arc::clone(snapshot);
        let changes = changes.filter(|tree| tree.cleared || !tree.changes.is_empty());
        let layer = changes.map(|tree| Layer {
            snapshot: tree.changes.snapshot().map(Arc::new),
            tree,
        });
        Self {
            snapshot,
            tree,
            types: Arc::clone(types),
            layer,
        }
    }

    /// Empty pieces for rows of this view.
    pub(super) fn pieces(&self) -> Pieces {
        Pieces::new(&self.snapshot)
    }

    fn is_cleared(&self) -> bool {
        self.layer.as_ref().is_some_and(|layer| layer.tree.cleared)
    }

    /// The block that holds a key if the key exists.
    fn base_block(&self, key: &[u8]) -> Result<Option<Block<'static>>> {
        if self.is_cleared() {
            return Ok(None);
        }
        let found = self.snapshot.held_block_of(self.tree, key)?;
        Ok(found.map(|found| self.snapshot.block(found)).transpose()?)
    }

    /// The row of a key. `near` is a block that may hold it.
    pub(super) fn find(
        &self,
        key: &[u8],
        near: Option<Block<'static>>,
    ) -> Result<Option<RowLocation>> {
        if let Some(layer) = &self.layer
            && let Some(change) = layer.get(key)?
        {
            return Ok(change.map(RowLocation::Own));
        }
        if let Some(block) = near
            && let Ok(row) = block.search(key)?
        {
            return Ok(Some(RowLocation::Block(block, row)));
        }
        if self.is_cleared() {
            return Ok(None);
        }
        let found = self.snapshot.find(self.tree, key)?;
        Ok(found.map(|(block, row)| RowLocation::Block(block, row)))
    }

    /// Adds the rows of a range to `pieces`, in order.
    pub(super) fn collect(&self, range: &ByteRange, pieces: &mut Pieces) -> Result<usize> {
        let before = pieces.rows();
        if self.layer.is_none() {
            let near = match pieces.last_place() {
                Some((number, block, row)) => {
                    let start = block.rank_near(&range.start, row)?;
                    // Only a position inside the block proves that the key is nowhere else.
                    (start > 0 && start < block.rows()).then_some((number, block, start))
                }
                None => None,
            };
            let (number, block, start) = match near {
                Some(near) => near,
                None => {
                    let Some(block) = self.base_block(&range.start)? else {
                        return Ok(0);
                    };
                    let start = block.rank(&range.start)?;
                    (pieces.block_number(block), block, start)
                }
            };
            let end = match &range.end {
                Some(end) => block.rank_near(end, start)?,
                None => block.rows(),
            };
            if end < block.rows() {
                pieces.push(number, start, end);
                return Ok(pieces.rows() - before);
            }
        }
        let mut segments = self.segments(range.clone(), false);
        while let Some(segment) = segments.next()? {
            self.resolve(&segment, range, pieces)?;
        }
        Ok(pieces.rows() - before)
    }

    /// The key of the first row of a range.
    pub(super) fn first_key(&self, range: &ByteRange) -> Result<Option<Vec<u8>>> {
        let mut pieces = self.pieces();
        let mut segments = self.segments(range.clone(), false);
        while let Some(segment) = segments.next()? {
            self.resolve(&segment, range, &mut pieces)?;
            if pieces.rows() > 0 {
                pieces.seal()?;
                return Ok(Some(pieces.first_key()?));
            }
        }
        Ok(None)
    }

    /// Divides the range into segments of one block each.
    pub(super) fn segments(&self, range: ByteRange, reverse: bool) -> Segments {
        Segments {
            view: self.clone(),
            edge: None,
            rest: None,
            range,
            reverse,
            walk: None,
            pending: None,
            is_begun: false,
            is_done: false,
        }
    }

    /// Adds the rows of a segment to `pieces`, in ascending order.
    pub(super) fn resolve(
        &self,
        segment: &Segment,
        range: &ByteRange,
        pieces: &mut Pieces,
    ) -> Result<()> {
        let range = segment.bounds.as_ref().unwrap_or(range);
        let own = self.layer.as_ref().filter(|_| segment.bounds.is_some());
        let Some(found) = segment.block else {
            let Some(own) = own else {
                return Ok(());
            };
            return own.each(range, |key, change| {
                if let Some(row) = change {
                    pieces.push_own(&self.types, key, row)?;
                }
                Ok(())
            });
        };
        let block = self.snapshot.block(found)?;
        let mut row = 0;
        if !range.start.is_empty() {
            row = block.rank(&range.start)?;
        }
        let end = match &range.end {
            Some(end) => block.rank(end)?,
            None => block.rows(),
        };
        let number = pieces.add_block(block);
        if let Some(own) = own {
            own.each(range, |key, change| {
                let found = block.search(key)?;
                let (Ok(before) | Err(before)) = found;
                pieces.push(number, row, before.min(end));
                row = row.max(before + usize::from(found.is_ok()));
                if let Some(change) = change {
                    pieces.push_own(&self.types, key, change)?;
                }
                Ok(())
            })?;
        }
        pieces.push(number, row, end);
        Ok(())
    }
}

impl TreeView {
    /// Adds some rows of a segment of the whole tree to `pieces`: the range that `choose` returns for the block's row
    /// count.
    pub(super) fn resolve_some(
        &self,
        segment: &Segment,
        choose: impl FnOnce(usize) -> Range<usize>,
        pieces: &mut Pieces,
    ) -> Result<()> {
        match segment.block {
            Some(found) if segment.bounds.is_none() => {
                let block = self.snapshot.block(found)?;
                let rows = choose(block.rows());
                let number = pieces.block_number(block);
                pieces.push(number, rows.start, rows.end);
            }
            _ => self.resolve(segment, &ByteRange::ALL, pieces)?,
        }
        Ok(())
    }
}

/// Segment of a range: the rows of a block, and changes between keys.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) block: Option<Found<'static>>,
    /// Key bounds of the segment; `None` when there are no changes.
    bounds: Option<ByteRange>,
}

impl Segment {
    /// Bytes of the block.
    pub(super) fn bytes(&self) -> usize {
        self.block.map_or(0, |found| found.block.len())
    }

    /// Estimate of the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.block
            .map_or(1, |found| Block::count(found.block).unwrap_or(1))
    }
}

/// Iterator over the segments of a range, in order or backwards.
pub(super) struct Segments {
    view: TreeView,
    range: ByteRange,
    reverse: bool,
    walk: Option<Walk>,
    /// The block whose far bound is not known yet.
    pending: Option<Found<'static>>,
    /// Near bound of the next segment, in walk order.
    edge: Option<Vec<u8>>,
    /// A block with the remaining keys around it.
    rest: Option<(Option<Found<'static>>, ByteRange)>,
    is_begun: bool,
    is_done: bool,
}

impl Segments {
    fn step(&mut self) -> Result<Option<Found<'static>>> {
        if self.view.is_cleared() {
            return Ok(None);
        }
        let walk = match &mut self.walk {
            Some(walk) => walk,
            None => {
                let end = self.range.end.as_deref();
                let view = &self.view;
                let walk = view
                    .snapshot
                    .walk(view.tree, &self.range.start, end, self.reverse)?;
                self.walk.insert(walk)
            }
        };
        walk.next()
    }

    /// The next segment.
    pub(super) fn next(&mut self) -> Result<Option<Segment>> {
        let Some(layer) = self.view.layer.clone() else {
            if self.is_done {
                return Ok(None);
            }
            let block = self.step()?;
            self.is_done = block.is_none();
            return Ok(block.map(|found| Segment {
                block: Some(found),
                bounds: None,
            }));
        };
        let next = match self.rest.take() {
            Some(rest) => Some(rest),
            None => self.next_block()?,
        };
        let Some((block, mut bounds)) = next else {
            return Ok(None);
        };
        if let Some(middle) = layer.divide(&bounds, self.reverse)? {
            let upper = ByteRange {
                start: middle.clone(),
                end: bounds.end.replace(middle),
            };
            let rest = if self.reverse {
                std::mem::replace(&mut bounds, upper)
            } else {
                upper
            };
            self.rest = Some((block, rest));
        }
        Ok(Some(Segment {
            block,
            bounds: Some(bounds),
        }))
    }

    /// The next block, if there is one, with the key range from it to the block after it.
    fn next_block(&mut self) -> Result<Option<(Option<Found<'static>>, ByteRange)>> {
        if self.is_done {
            return Ok(None);
        }
        if !self.is_begun {
            self.is_begun = true;
            self.pending = self.step()?;
        }
        let next = match self.pending {
            Some(_) => self.step()?,
            None => None,
        };
        let low = || self.range.start.clone();
        let (start, end) = match (next, self.reverse) {
            (Some(next), false) => {
                let high = next.separator()?.into_owned();
                let low = self.edge.replace(high.clone()).unwrap_or_else(low);
                (low, Some(high))
            }
            (None, false) => (self.edge.take().unwrap_or_else(low), self.range.end.clone()),
            (Some(_), true) => {
                let low = match self.pending {
                    Some(found) => found.separator()?.into_owned(),
                    None => Vec::new(),
                };
                let high = self.edge.replace(low.clone());
                (low, high.or_else(|| self.range.end.clone()))
            }
            (None, true) => (low(), self.edge.take().or_else(|| self.range.end.clone())),
        };
        let block = self.pending.take();
        self.pending = next;
        self.is_done = next.is_none();
        Ok(Some((block, ByteRange { start, end })))
    }
}
