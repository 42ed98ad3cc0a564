//! Budgets: how many bytes may be used, and by whom.
//!
//! A [`Budget`] is a node in a tree. A byte charged to a node is charged to every ancestor, so a
//! node's `used` is at least the sum of its children's. There are two trees, one for memory and one
//! for temporary space; nothing converts between them.
//!
//! Charging is lock-free and meant to be coarse: a caller charges blocks (4 KiB and more), never
//! rows. A limit may be changed while bytes are in use (`SET GLOBAL temptable_max_ram`); one that is
//! lowered below `used` refuses new charges until enough was given back.
//!
//! A limit is never passed, but by the node that is charged itself: a table may need a little more than its own limit
//! to work at all. So that such *working sets* find memory when everything else has grown up to the limits above,
//! charges for growth leave them a quarter of those limits: such a charge may take the whole limit of its node, and
//! three quarters of each limit above. A table whose growth is refused overflows to temporary files; a working set that
//! is refused is an error. Temporary space has no working sets: its limits may be used up.
//!
//! A node without a limit of its own may be one of those that divide the room of the nodes above between
//! them ([`Budget::sharing_child`]): it grows while it holds no more than what is left free. One takes a half,
//! each of two takes a third, and whoever comes later finds room without being counted. The rule is
//! the dynamic threshold of shared buffers (Choudhury and Hahne, "Dynamic queue length thresholds for
//! shared-memory packet switches", 1998) with the factor 1.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use crate::error::BudgetKind;
use crate::error::{LimitError, Share};

struct Node {
    kind: BudgetKind,
    setting: &'static str,
    limit: AtomicU64,
    share: Option<Share>,
    /// Whether the limit, where it is [`UNLIMITED`], is the room that the node leaves free above.
    shares_room: bool,
    used: AtomicU64,
    peak: AtomicU64,
    parent: Option<Budget>,
}

/// Kind of a charge: growth leaves a part of the limits to working sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charge {
    /// Bytes that grow with the data.
    Growth,
    /// Bytes without which no statement makes progress.
    WorkingSet,
}

/// A node of the tree. Cloning gives another handle to the same node.
#[derive(Clone)]
pub struct Budget(Arc<Node>);

/// The limit of a budget that has none.
pub const UNLIMITED: u64 = u64::MAX;

impl Budget {
    /// The root of a tree. `setting`: the variable that sets `limit`.
    pub fn root(kind: BudgetKind, setting: &'static str, limit: u64) -> Self {
        Self::node(kind, setting, limit, None, false, None)
    }

    /// A root without a limit, for tests and tools.
    pub fn unlimited(kind: BudgetKind) -> Self {
        Self::root(kind, "none", UNLIMITED)
    }

    /// A node below this one.
    pub fn child(&self, setting: &'static str, limit: u64) -> Self {
        Self::node(self.0.kind, setting, limit, None, false, Some(self.clone()))
    }

    /// A node below this one, as [`Self::child`]; where `limit` is [`UNLIMITED`] it may grow while it holds no more
    /// than the nodes above have free.
    pub fn sharing_child(&self, setting: &'static str, limit: u64) -> Self {
        Self::node(self.0.kind, setting, limit, None, true, Some(self.clone()))
    }

    /// A node below this one whose limit is a part of this one's setting, with the owner of the part and advice other
    /// than raising the setting.
    pub fn part(&self, limit: u64, owner: &'static str, advice: &'static str) -> Self {
        let setting = self.0.setting;
        let share = Share {
            whole: self.value(),
            owner,
            advice,
        };
        Self::node(
            self.0.kind,
            setting,
            limit,
            Some(share),
            false,
            Some(self.clone()),
        )
    }

    fn node(
        kind: BudgetKind,
        setting: &'static str,
        limit: u64,
        share: Option<Share>,
        shares_room: bool,
        parent: Option<Self>,
    ) -> Self {
        Self(Arc::new(Node {
            kind,
            setting,
            limit: AtomicU64::new(limit),
            share,
            shares_room,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            parent,
        }))
    }

    /// What this budget counts.
    pub fn kind(&self) -> BudgetKind {
        self.0.kind
    }

    /// The variable that sets the limit.
    pub fn setting(&self) -> &'static str {
        self.limiting().0.setting
    }

    /// The limit; [`UNLIMITED`] for none. For a node that shares the room above, it changes with the use by others.
    #[inline]
    pub fn limit(&self) -> u64 {
        match self.0.limit.load(Ordering::Relaxed) {
            UNLIMITED if self.0.shares_room => self.threshold(),
            limit => limit,
        }
    }

    /// The dynamic threshold: the node's own bytes and the free ones above, halved.
    fn threshold(&self) -> u64 {
        let left = self.above(Charge::Growth).map(Self::room);
        match left.min().unwrap_or(UNLIMITED) {
            UNLIMITED => UNLIMITED,
            free => self.used().saturating_add(free) / 2,
        }
    }

    /// The node whose setting limits this one: for a node that shares the room above, the tightest one there.
    fn limiting(&self) -> &Self {
        let shares = self.0.shares_room && self.0.limit.load(Ordering::Relaxed) == UNLIMITED;
        let above = shares.then(|| Self::least_room(self.above(Charge::Growth)));
        above.flatten().unwrap_or(self)
    }

    /// The value of the variable that sets the limit; the limit may be a part of it.
    pub fn value(&self) -> u64 {
        self.0
            .share
            .map_or_else(|| self.limit(), |share| share.whole)
    }

    /// Changes the limit; bytes in use stay in use.
    pub fn set_limit(&self, limit: u64) {
        self.0.limit.store(limit, Ordering::Relaxed);
    }

    /// Bytes in use by this node and all below it.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The greatest number of bytes in use so far.
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Resets the peak (FLUSH STATUS).
    pub fn reset_peak(&self) {
        self.0.peak.store(self.used(), Ordering::Relaxed);
    }

    /// This node and its ancestors, each with the ceiling of a charge at this node.
    fn ceilings(&self, charge: Charge) -> impl Iterator<Item = (&Self, u64)> {
        let own = match charge {
            Charge::Growth => self.limit(),
            Charge::WorkingSet => UNLIMITED,
        };
        std::iter::once((self, own)).chain(self.above(charge))
    }

    /// The ancestors, each with the ceiling of a charge at this node.
    fn above(&self, charge: Charge) -> impl Iterator<Item = (&Self, u64)> {
        let above = std::iter::successors(self.parent(), |node| node.parent());
        above.map(move |node| match (charge, node.limit()) {
            (_, UNLIMITED) => (node, UNLIMITED),
            (Charge::Growth, limit) if node.0.kind == BudgetKind::Memory => {
                (node, limit - limit / 4)
            }
            (_, limit) => (node, limit),
        })
    }

    /// Bytes that a node has left below a ceiling; [`UNLIMITED`] where it has none.
    fn room((node, ceiling): (&Self, u64)) -> u64 {
        match ceiling {
            UNLIMITED => UNLIMITED,
            _ => ceiling.saturating_sub(node.used()),
        }
    }

    /// The node with a ceiling that has the least room below it.
    fn least_room<'n>(ceilings: impl Iterator<Item = (&'n Self, u64)>) -> Option<&'n Self> {
        let limited = ceilings.filter(|(_, ceiling)| *ceiling != UNLIMITED);
        limited
            .min_by_key(|one| Self::room(*one))
            .map(|(node, _)| node)
    }

    /// How many bytes could be charged now. Another thread may take them first: use it to plan,
    /// not to decide.
    pub fn available(&self) -> u64 {
        let left = self.ceilings(Charge::Growth).map(Self::room);
        left.min().unwrap_or(UNLIMITED)
    }

    /// The lowest limit of this node and its ancestors.
    #[inline]
    pub fn effective_limit(&self) -> u64 {
        let limits = self.ceilings(Charge::Growth).map(|(node, _)| node.limit());
        limits.min().unwrap_or(UNLIMITED)
    }

    /// How much a table that is charged here should plan to use: its own limit, and at most a quarter of the limits
    /// above, which it seldom has alone.
    #[inline]
    pub fn share(&self) -> u64 {
        let above = self
            .0
            .parent
            .as_ref()
            .map_or(UNLIMITED, Self::effective_limit);
        let above = if above == UNLIMITED { above } else { above / 4 };
        self.limit().min(above)
    }

    /// The node, of this one and its ancestors, that would refuse `bytes` now.
    pub fn refusing(&self, bytes: u64) -> Option<&Self> {
        self.refusing_charge(bytes, Charge::Growth)
    }

    /// The node, of this one and its ancestors with a limit, that has the least room left for growth.
    pub fn tightest(&self) -> Option<&Self> {
        Self::least_room(self.ceilings(Charge::Growth))
    }

    /// [`Self::refusing`] for a working set.
    pub fn refusing_forced(&self, bytes: u64) -> Option<&Self> {
        self.refusing_charge(bytes, Charge::WorkingSet)
    }

    fn refusing_charge(&self, bytes: u64, charge: Charge) -> Option<&Self> {
        let mut ceilings = self.ceilings(charge);
        let refusing = ceilings.find(|(node, ceiling)| ceiling.saturating_sub(node.used()) < bytes);
        refusing.map(|(node, _)| node)
    }

    /// The node above this one.
    pub fn parent(&self) -> Option<&Self> {
        self.0.parent.as_ref()
    }

    /// Whether charges to this node also count for `other`.
    pub fn is_below(&self, other: &Self) -> bool {
        let mut next = Some(self);
        while let Some(budget) = next {
            if Arc::ptr_eq(&budget.0, &other.0) {
                return true;
            }
            next = budget.0.parent.as_ref();
        }
        false
    }

    /// An empty reservation.
    pub fn reservation(&self) -> Reservation {
        Reservation {
            budget: self.clone(),
            bytes: 0,
        }
    }

    /// Reserves `bytes`; the error names the limit that forbids it.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation, LimitError> {
        self.charge(bytes, Charge::Growth)?;
        Ok(Reservation {
            budget: self.clone(),
            bytes,
        })
    }

    /// Reserves `bytes` of a working set, without which no statement can make progress: it may pass this node's limit,
    /// and take all that is free of the limits above.
    pub fn reserve_forced(&self, bytes: u64) -> Result<Reservation, LimitError> {
        self.charge(bytes, Charge::WorkingSet)?;
        Ok(Reservation {
            budget: self.clone(),
            bytes,
        })
    }

    fn charge(&self, bytes: u64, charge: Charge) -> Result<(), LimitError> {
        for (node, ceiling) in self.ceilings(charge) {
            if let Err(error) = node.charge_node(bytes, ceiling) {
                for (charged, _) in self.ceilings(charge) {
                    if Arc::ptr_eq(&charged.0, &node.0) {
                        break;
                    }
                    charged.0.used.fetch_sub(bytes, Ordering::Relaxed);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn charge_node(&self, bytes: u64, ceiling: u64) -> Result<(), LimitError> {
        let node = &*self.0;
        let mut used = node.used.load(Ordering::Relaxed);
        loop {
            let after = used.checked_add(bytes).filter(|after| *after <= ceiling);
            let Some(after) = after else {
                let error = self.error(bytes);
                // A share is named as what this charge may take of it; of a setting, its value.
                let limit = error.share.map_or(error.limit, |_| ceiling);
                return Err(LimitError {
                    used,
                    limit,
                    ..error
                });
            };
            match node
                .used
                .compare_exchange_weak(used, after, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => {
                    node.peak.fetch_max(after, Ordering::Relaxed);
                    return Ok(());
                }
                Err(current) => used = current,
            }
        }
    }

    /// The error of a request of `requested` bytes.
    pub fn error(&self, requested: u64) -> LimitError {
        let limiting = self.limiting();
        let of_table = || Share {
            whole: limiting.value(),
            owner: "one table beside others",
            advice: "or make the statement read less",
        };
        LimitError {
            setting: limiting.0.setting,
            kind: self.kind(),
            limit: self.limit(),
            used: self.used(),
            requested,
            share: if Arc::ptr_eq(&limiting.0, &self.0) {
                self.0.share
            } else {
                Some(of_table())
            },
        }
    }

    fn give_back(&self, bytes: u64) {
        let mut next = Some(self);
        while let Some(budget) = next {
            let before = budget.0.used.fetch_sub(bytes, Ordering::Relaxed);
            debug_assert!(
                before >= bytes,
                "a budget gave back more than it was charged"
            );
            next = budget.0.parent.as_ref();
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("setting", &self.setting())
            .field("limit", &self.limit())
            .field("used", &self.used())
            .field("peak", &self.peak())
            .finish()
    }
}

/// Bytes that are charged to a budget until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    bytes: u64,
}

impl Reservation {
    /// Number of bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The budget that is charged.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Holds `bytes` more, or changes nothing.
    pub fn try_grow(&mut self, bytes: u64) -> Result<(), LimitError> {
        self.budget.charge(bytes, Charge::Growth)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds `bytes` more of a working set; see [`Budget::reserve_forced`].
    pub fn grow_forced(&mut self, bytes: u64) -> Result<(), LimitError> {
        self.budget.charge(bytes, Charge::WorkingSet)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds exactly `bytes`: grows (and may be refused) or shrinks.
    #[inline]
    pub fn try_resize(&mut self, bytes: u64) -> Result<(), LimitError> {
        if bytes > self.bytes {
            self.try_grow(bytes - self.bytes)
        } else {
            self.shrink(self.bytes - bytes);
            Ok(())
        }
    }

    /// Gives back `bytes`, at most what is held.
    #[inline]
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        // Every node up to the root is shared with others.
        if bytes > 0 {
            self.budget.give_back(bytes);
            self.bytes -= bytes;
        }
    }

    /// Gives back everything.
    #[inline]
    pub fn free(&mut self) {
        self.shrink(self.bytes);
    }
}

impl Drop for Reservation {
    #[inline]
    fn drop(&mut self) {
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ancestor_is_charged_and_given_back() {
        let global = Budget::root(BudgetKind::Memory, "temptable_max_ram", 100);
        let session = global.child("session", UNLIMITED);
        let table = session.child("tmp_table_size", 60);
        let mut held = table.reserve(50).unwrap();
        assert_eq!((global.used(), session.used(), table.used()), (50, 50, 50));
        assert_eq!(table.available(), 10);
        held.shrink(20);
        drop(held);
        assert_eq!((global.used(), session.used(), table.used()), (0, 0, 0));
        assert_eq!((global.peak(), table.peak()), (50, 50));
    }

    #[test]
    fn the_refusing_node_is_named_and_nothing_stays_charged() {
        let global = Budget::root(BudgetKind::Memory, "temptable_max_ram", 100);
        let table = global.child("tmp_table_size", 200);
        let error = table.reserve(150).unwrap_err();
        assert_eq!(error.setting, "temptable_max_ram");
        assert_eq!((error.limit, error.used, error.requested), (100, 0, 150));
        assert_eq!((global.used(), table.used()), (0, 0));
        assert!(
            error.to_string().contains("raise temptable_max_ram"),
            "{error}"
        );
        assert_eq!(table.reserve(250).unwrap_err().setting, "tmp_table_size");
        let refusing = |bytes| table.refusing(bytes).map(Budget::setting);
        assert_eq!(refusing(150), Some("temptable_max_ram"));
        assert_eq!(
            (refusing(250), refusing(75)),
            (Some("tmp_table_size"), None)
        );
        assert!(table.is_below(&global) && table.is_below(&table) && !global.is_below(&table));
        // Growth leaves a quarter of the shared limits.
        assert_eq!(
            table.tightest().map(Budget::setting),
            Some("temptable_max_ram")
        );
        table.set_limit(70);
        assert_eq!(
            table.tightest().map(Budget::setting),
            Some("tmp_table_size")
        );
        let free = Budget::unlimited(BudgetKind::Memory);
        assert!(free.tightest().is_none());
    }

    #[test]
    fn a_part_of_a_limit_says_of_what_and_whose_it_is() {
        let all = Budget::root(BudgetKind::Memory, "memory_limit", 1600);
        let others = all.part(1500, "statements and sessions", "or wait");
        let kept = others.part(200, "one session", "or free variables");
        let held = kept.reserve(150).unwrap();
        let error = kept.reserve(100).unwrap_err();
        assert_eq!((error.limit, error.value(), error.used), (200, 1600, 150));
        let text = "memory_limit = 1600 bytes of memory, of which one session may have 200; 150 in use, 100 more needed; \
                    raise memory_limit or free variables";
        assert_eq!(error.to_string(), text);
        // What grows below the part may have three quarters of it, and the error says so.
        let session = kept.child("none", UNLIMITED);
        let error = session.reserve(1).unwrap_err();
        assert_eq!((error.limit, error.used, error.requested), (150, 150, 1));
        // A working set finds memory when growth has taken all that it may.
        let statement = others.child("none", UNLIMITED);
        let rest = statement.reserve_forced(1350).unwrap();
        assert!(statement.reserve_forced(1).is_err());
        assert!(all.child("none", UNLIMITED).reserve_forced(100).is_ok());
        drop((held, rest));
        assert_eq!(all.used(), 0);
    }

    #[test]
    fn nodes_without_a_limit_divide_the_room_between_them() {
        // Growth has three quarters of it: 1200.
        let all = Budget::root(BudgetKind::Memory, "temptable_max_ram", 1600);
        let grow = |table: &Budget| {
            let mut held = table.reservation();
            while held.try_grow(1).is_ok() {}
            held
        };
        let statement = all.child("max_tmp_statement_memory_usage", UNLIMITED);
        let first = statement.sharing_child("tmp_table_size", UNLIMITED);
        let second = all.sharing_child("tmp_table_size", UNLIMITED);
        assert_eq!((first.limit(), second.limit()), (600, 600));
        let held = grow(&first);
        assert_eq!((held.bytes(), second.limit()), (600, 300));
        let error = first.reserve(1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "temptable_max_ram = 1600 bytes of memory, of which one table beside others may have 600; 600 in use, 1 more \
             needed; raise temptable_max_ram or make the statement read less"
        );
        assert_eq!(first.setting(), "temptable_max_ram");
        let other = grow(&second);
        assert_eq!((other.bytes(), first.available()), (300, 0));
        drop((held, other));
        // Two nodes that grow alternately get a third each.
        let (mut held, mut other) = (first.reservation(), second.reservation());
        while held.try_grow(1).is_ok() | other.try_grow(1).is_ok() {}
        assert_eq!((held.bytes(), other.bytes()), (400, 400));
        // A later node finds room, and a limit of its own holds as it is.
        let own = all.sharing_child("tmp_table_size", 390);
        assert_eq!((grow(&own).bytes(), own.setting()), (390, "tmp_table_size"));
        let many: Vec<Budget> = (0..62)
            .map(|_| all.sharing_child("tmp_table_size", UNLIMITED))
            .collect();
        let held: Vec<Reservation> = many.iter().map(grow).collect();
        assert!(held[0].bytes() == 200 && all.used() <= 1200);
        drop(held);
        let free = Budget::unlimited(BudgetKind::Memory).sharing_child("tmp_table_size", UNLIMITED);
        assert_eq!(
            (free.limit(), free.available(), free.setting()),
            (UNLIMITED, UNLIMITED, "tmp_table_size")
        );
    }

    #[test]
    fn a_lowered_limit_refuses_until_enough_was_given_back() {
        let budget = Budget::root(
            BudgetKind::TempSpace,
            "max_tmp_total_space_usage",
            UNLIMITED,
        );
        let held = budget.reserve(80).unwrap();
        budget.set_limit(50);
        assert!(budget.reserve(1).is_err());
        let forced = budget.reserve_forced(5).unwrap();
        assert_eq!(budget.used(), 85);
        drop((held, forced));
        assert!(budget.reserve(50).is_ok());
        assert!(budget.reserve(u64::MAX).is_err());
    }

    #[test]
    fn a_working_set_passes_its_own_limit_and_no_other() {
        let global = Budget::root(BudgetKind::Memory, "memory_limit", 100);
        let table = global.child("tmp_table_size", 20);
        let other = global.child("tmp_table_size", 200);
        let grown = other.reserve(75).unwrap();
        assert_eq!(other.reserve(1).unwrap_err().setting, "memory_limit");
        assert_eq!((other.available(), table.available()), (0, 0));
        assert_eq!(table.refusing(1).map(Budget::setting), Some("memory_limit"));
        assert!(table.refusing_forced(25).is_none());
        let mut forced = table.reserve_forced(25).unwrap();
        assert_eq!((global.used(), table.used(), global.peak()), (100, 25, 100));
        let error = forced.grow_forced(1).unwrap_err();
        assert_eq!(
            (error.setting, error.limit, error.used),
            ("memory_limit", 100, 100)
        );
        assert_eq!((global.used(), table.used()), (100, 25));
        drop((grown, forced));
        assert_eq!((global.used(), global.peak()), (0, 100));
        assert_eq!((table.share(), other.share()), (20, 25));
    }

    #[test]
    fn threads_never_pass_the_limit_together() {
        let budget = Budget::root(BudgetKind::Memory, "limit", 1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..2000_u64 {
                        let held = budget.reserve(n % 400);
                        assert!(budget.used() <= 1000);
                        drop(held);
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
        assert!(budget.peak() <= 1000);
    }
}
