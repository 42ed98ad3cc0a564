//! Locks without poisoning: the guarded data is consistent before anything that may panic, so that a panic of one
//! holder need not make others fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Locks a mutex.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading.
#[inline]
pub fn read_lock<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing.
#[inline]
pub fn write_lock<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// A mutex over state that few of its owners ever use: as long as it is unused, readers need not lock it. An
/// uncontended lock and its release cost a statement that reads one row a hundredth of its time.
#[derive(Debug, Default)]
pub struct UsedMutex<T> {
    is_used: AtomicBool,
    value: Mutex<T>,
}

impl<T> UsedMutex<T> {
    /// A mutex over an unused value.
    pub const fn new(value: T) -> Self {
        Self {
            is_used: AtomicBool::new(false),
            value: Mutex::new(value),
        }
    }

    /// Locks the value for use.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let guard = lock(&self.value);
        self.is_used.store(true, Ordering::Release);
        guard
    }

    /// Locks the value, if it may be in use.
    #[inline]
    pub fn used(&self) -> Option<MutexGuard<'_, T>> {
        let is_used = self.is_used.load(Ordering::Acquire);
        is_used.then(|| lock(&self.value))
    }

    /// Ends the use of the value, which is as it was at first.
    #[inline]
    pub fn end_use(&self, guard: MutexGuard<'_, T>) {
        self.is_used.store(false, Ordering::Release);
        drop(guard);
    }
}

impl<T: Default> UsedMutex<T> {
    /// Takes the value out, which is unused then.
    #[inline]
    pub fn take(&self) -> T {
        self.used().map_or_else(T::default, |mut guard| {
            let value = std::mem::take(&mut *guard);
            self.end_use(guard);
            value
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_locked_while_it_is_in_use_only() {
        let list = UsedMutex::new(Vec::new());
        assert!(list.used().is_none());
        list.lock().push(1);
        assert_eq!(list.used().map(|list| list.clone()), Some(vec![1]));
        assert_eq!(list.take(), [1]);
        assert!(list.used().is_none());
        assert_eq!(list.take(), []);
        list.end_use(list.lock());
        assert!(list.used().is_none());
    }
}
