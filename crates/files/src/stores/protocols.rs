//! The stores of a process, as the engine asks for them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use mayfly_engine::{
    ListedObject, NewObject, ObjectStores, Result, StoreAccess, StoredObject, codes,
};
use object_store::list::PaginatedListOptions;
use object_store::{Error as StoreError, GetOptions, ObjectStoreExt};
use parking_lot::Mutex;

use super::connect::{Address, Connection, Target, unsupported};
use super::errors::failed;
use super::new_object::Upload;
use super::runtime::wait;
use super::stored::Stored;

/// Most connections that are kept: each user of one has a clone.
const CONNECTIONS_MAX: usize = 64;

/// The connections of a process.
#[derive(Default)]
pub(crate) struct Stores {
    connections: Mutex<HashMap<Target, Connection>>,
}

impl fmt::Debug for Stores {
    /// Without the settings, which may be credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

impl Stores {
    fn connection(&self, url: &str, target: Target) -> Result<Connection> {
        let mut connections = self.connections.lock();
        if let Some(known) = connections.get(&target) {
            return Ok(known.clone());
        }
        let new = target.connect(url)?;
        if connections.len() >= CONNECTIONS_MAX {
            connections.clear();
        }
        connections.insert(target, new.clone());
        Ok(new)
    }
}

impl ObjectStores for Stores {
    fn open(&self, url: &str, access: &StoreAccess) -> Result<Option<Arc<dyn StoredObject>>> {
        let address = Address::parse(url, &access.options)?;
        let path = address.path(url)?;
        let Connection { store, lists } = self.connection(url, address.target)?;
        let (known, asked) = (Arc::clone(&store), path.clone());
        let found = wait(&access.interrupt, async move {
            match known.head(&asked).await {
                // A server that gives files, but not their heads alone: a signed URL allows one of both.
                Err(error) if lists.is_none() && !matches!(error, StoreError::NotFound { .. }) => {
                    let whole = known.get_opts(&asked, GetOptions::default()).await;
                    whole.map(|found| found.meta)
                }
                found => found,
            }
        })?;
        match found {
            Ok(meta) => Ok(Some(Arc::new(Stored::new(url, store, path, meta)))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(url, &error)),
        }
    }

    fn list(
        &self,
        url: &str,
        in_directory: bool,
        most: usize,
        access: &StoreAccess,
    ) -> Result<Vec<ListedObject>> {
        let Address { target, root, key } = Address::parse(url, &access.options)?;
        let Connection { store, lists } = self.connection(url, target)?;
        let Some(lists) = lists else {
            return Err(unsupported("a list of the files of an HTTP server"));
        };
        let mut found: Vec<ListedObject> = Vec::new();
        let mut page_token = None;
        loop {
            let (lists, key) = (lists.0.clone(), key.clone());
            let options = PaginatedListOptions {
                delimiter: in_directory.then(|| "/".into()),
                max_keys: (most < 1000).then_some(most.max(1)),
                page_token: page_token.take(),
                ..PaginatedListOptions::default()
            };
            let page = wait(&access.interrupt, async move {
                let prefix = Some(key.as_str()).filter(|key| !key.is_empty());
                lists.list_paginated(prefix, options).await
            })?;
            let page = page.map_err(|error| failed(url, &error))?;
            for meta in page.result.objects {
                let url = format!("{root}{}", meta.location);
                let path = meta.location.clone();
                let object = Stored::new(&url, Arc::clone(&store), path, meta);
                found.push((url, Arc::new(object)));
            }
            page_token = page.page_token;
            if page_token.is_none() || found.len() >= most {
                found.truncate(most);
                return Ok(found);
            }
        }
    }

    fn create(
        &self,
        url: &str,
        replaces: bool,
        access: &StoreAccess,
    ) -> Result<Box<dyn NewObject>> {
        let address = Address::parse(url, &access.options)?;
        let path = address.path(url)?;
        let Connection { store, lists } = self.connection(url, address.target)?;
        if lists.is_none() {
            return Err(unsupported("writing to an HTTP server"));
        }
        let new = Upload::new(url, store, path, replaces, access.clone());
        if !replaces && new.exists()? {
            return Err(codes::ER_FILE_EXISTS_ERROR.with(&[&url]));
        }
        Ok(Box::new(new))
    }

    fn delete(&self, urls: &[String], access: &StoreAccess) -> Result<()> {
        for url in urls {
            let address = Address::parse(url, &access.options)?;
            let path = address.path(url)?;
            let Connection { store, .. } = self.connection(url, address.target)?;
            let deleted = wait(&access.interrupt, async move {
                let one = futures_util::stream::once(async { Ok(path) }).boxed();
                store.delete_stream(one).try_collect::<Vec<_>>().await
            })?;
            match deleted {
                Ok(_) | Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(failed(url, &error)),
            }
        }
        Ok(())
    }
}
