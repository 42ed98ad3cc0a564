//! Grouping of keys that come as [dictionary codes](mayfly_types::coded): the string of each code is looked up once a
//! batch, and a row costs one array access.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt16Array};
use arrow_select::take::take;
use mayfly_types::Result;
use mayfly_types::coded::{Coded, coded};

use super::{ASKED_ROWS_MIN, GroupIndex, Shortcut, plain};

/// Code that no row has had.
const UNSEEN: u32 = u32::MAX - 1;

impl GroupIndex {
    /// [`Self::find_or_insert`], but for keys some of which come as dictionary codes.
    pub(super) fn find_or_insert_by_codes(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<mayfly_memory::Result<usize>> {
        if let [key] = keys
            && let Some(key) = coded(key)
        {
            return self.find_or_insert_strings(key, ids);
        }
        let is_combined = matches!(self.shortcut, Shortcut::Untried(_) | Shortcut::Codes(_));
        if row_count < ASKED_ROWS_MIN {
            Ok(self.find_or_insert_hashed(&plain(keys), row_count, ids))
        } else if is_combined {
            self.find_or_insert_quickly(keys, row_count, ids)
        } else {
            self.find_or_insert_quickly(&plain(keys), row_count, ids)
        }
    }

    /// Groups of one column of strings: those of the codes that occur, in row order.
    fn find_or_insert_strings(
        &mut self,
        key: &Coded,
        ids: &mut Vec<u32>,
    ) -> Result<mayfly_memory::Result<usize>> {
        self.is_coded = true;
        let (codes, strings) = (key.keys(), key.values());
        // NULL has the entry behind the strings.
        let null = strings.len();
        let nulls = codes.nulls().filter(|nulls| nulls.null_count() > 0);
        let code_of = |row: usize, code: u16| match nulls {
            Some(nulls) if nulls.is_null(row) => null,
            _ => usize::from(code),
        };
        let mut groups = vec![UNSEEN; null + 1];
        let mut first_rows: Vec<u32> = Vec::new();
        let mut see = |code: usize, row: usize| {
            let group = &mut groups[code];
            if *group == UNSEEN {
                *group = first_rows.len() as u32;
                first_rows.push(row as u32);
            }
        };
        let rows = codes.values().iter().enumerate();
        match nulls {
            None => rows.for_each(|(row, code)| see(usize::from(*code), row)),
            Some(_) => rows.for_each(|(row, code)| see(code_of(row, *code), row)),
        }
        let wanted = first_rows.iter().map(|row| {
            let row = *row as usize;
            codes.is_valid(row).then(|| codes.value(row))
        });
        let wanted: UInt16Array = wanted.collect();
        let wanted = take(strings.as_ref(), &wanted, None).expect("codes are of strings");
        let mut found = Vec::new();
        let found_count = match self.find_or_insert_plain(&wanted, &mut found)? {
            Ok(count) => count,
            Err(error) => return Ok(Err(error)),
        };
        // First rows ascend: all rows before the first refused one belong to groups.
        let count = first_rows
            .get(found_count)
            .map_or(codes.len(), |row| *row as usize);
        for group in groups.iter_mut().filter(|group| **group != UNSEEN) {
            *group = found
                .get(*group as usize)
                .copied()
                .unwrap_or(Self::NO_GROUP);
        }
        ids.clear();
        let codes = codes.values()[..count].iter();
        match nulls {
            None => ids.extend(codes.map(|code| groups[usize::from(*code)])),
            Some(_) => {
                let codes = codes.enumerate();
                ids.extend(codes.map(|(row, code)| groups[code_of(row, *code)]));
            }
        }
        Ok(Ok(count))
    }

    /// Looks up distinct strings.
    fn find_or_insert_plain(
        &mut self,
        strings: &ArrayRef,
        ids: &mut Vec<u32>,
    ) -> Result<mayfly_memory::Result<usize>> {
        let strings = [Arc::clone(strings)];
        match std::mem::replace(&mut self.shortcut, Shortcut::None) {
            Shortcut::Values(known) => Ok(self.find_or_insert_known(&strings, known, ids)),
            shortcut => {
                self.shortcut = shortcut;
                Ok(self.find_or_insert_hashed(&strings, strings[0].len(), ids))
            }
        }
    }
}
