//! Connections to stores: which store a URL names, and where its settings come from.
//!
//! Settings are those of the environment, under the names that the stores' own tools use; the options of a call count more.
//! None of them is a credential: those stand in no statement, which logs would show.

use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Error, Result, StoreOptions, url_scheme};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::errors::failed;
use super::profile;
use crate::guard::damaged;

/// A connection to a bucket, a container or a server. Cloning shares it.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) store: Arc<dyn ObjectStore>,
    /// None of HTTP, which has no lists.
    pub(super) lists: Option<Lists>,
}

/// The lists of a store.
#[derive(Clone)]
pub(super) struct Lists(pub(super) Arc<dyn PaginatedListStore>);

impl std::fmt::Debug for Lists {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lists")
    }
}

/// What a connection depends on: connections with equal ones are one.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Target {
    scheme: &'static str,
    /// The bucket, container or server, and of HTTP the query.
    place: String,
    options: StoreOptions,
    /// Variables of the environment that settings come from.
    environment: Vec<(String, String)>,
}

/// A URL of an object: its store, and its key there.
pub(super) struct Address {
    pub(super) target: Target,
    /// Before a key it makes the URL of the object.
    pub(super) root: String,
    pub(super) key: String,
}

impl Address {
    /// Divides a URL.
    pub(super) fn parse(url: &str, options: &StoreOptions) -> Result<Self> {
        let scheme = url_scheme(url).ok_or_else(|| damaged(url, "it is no URL of an object"))?;
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let is_http = matches!(scheme, "http" | "https");
        let (rest, query) = match rest.split_once('?').filter(|_| is_http) {
            Some((rest, query)) => (rest, format!("?{query}")),
            None => (rest, String::new()),
        };
        let (place, key) = rest.split_once('/').unwrap_or((rest, ""));
        if place.is_empty() {
            return Err(damaged(url, "it names no bucket or server"));
        }
        let prefix = match scheme {
            "s3" | "s3a" => "AWS_",
            "gs" | "gcs" => "GOOGLE_",
            "http" | "https" => "HTTP_CLIENT_",
            _ => "AZURE_",
        };
        let mut environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with(prefix))
            .collect();
        let has_key = environment
            .iter()
            .any(|(name, _)| name == "AWS_ACCESS_KEY_ID");
        if prefix == "AWS_" && !has_key && !options.anonymous {
            for (name, value) in profile::settings() {
                if environment.iter().all(|known| known.0 != name) {
                    environment.push((name, value));
                }
            }
        }
        environment.sort_unstable();
        Ok(Self {
            root: format!("{}{place}/", &url[..url.len() - url_rest(url).len()]),
            key: key.to_owned(),
            target: Target {
                scheme,
                place: format!("{place}{query}"),
                options: options.clone(),
                environment,
            },
        })
    }

    /// The key as stores have it.
    pub(super) fn path(&self, url: &str) -> Result<Path> {
        let path = match self.target.scheme {
            "http" | "https" => Path::from_url_path(&self.key),
            _ => Path::parse(&self.key),
        };
        path.map_err(|error| damaged(url, error))
    }
}

/// What follows the scheme.
fn url_rest(url: &str) -> &str {
    url.split_once("://").map_or("", |(_, rest)| rest)
}

impl Target {
    /// Connects to the store of a URL.
    pub(super) fn connect(&self, url: &str) -> Result<Connection> {
        let error = |error: object_store::Error| failed(url, &error);
        match self.scheme {
            "s3" | "s3a" => self.s3(url),
            "gs" | "gcs" => self.google().map_err(error),
            "http" | "https" => self.http().map_err(error),
            _ => self.azure(url).map_err(error),
        }
    }

    /// The settings of the environment that a store knows.
    fn known<K: std::str::FromStr>(&self) -> impl Iterator<Item = (K, &str)> {
        self.environment.iter().filter_map(|(name, value)| {
            let key = name.to_ascii_lowercase().parse().ok()?;
            Some((key, value.as_str()))
        })
    }

    fn s3(&self, url: &str) -> Result<Connection> {
        let mut builder = AmazonS3Builder::new()
            .with_client_options(client())
            .with_retry(retries());
        for (key, value) in self.known() {
            builder = builder.with_config(key, value);
        }
        let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
        let mut given = self.environment.iter();
        let mut endpoint = given
            .find(|(name, _)| endpoints.contains(&&**name))
            .map(|(_, value)| value);
        if let Some(option) = &self.options.endpoint {
            builder = builder.with_endpoint(option);
            endpoint = Some(option);
        }
        // Whoever names a server without TLS means it.
        if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
            builder = builder.with_allow_http(true);
        }
        if let Some(region) = &self.options.region {
            builder = builder.with_region(region);
        }
        if self.options.anonymous {
            builder = builder.with_skip_signature(true);
        }
        let store = builder.with_bucket_name(&self.place).build();
        let store = store.map_err(|error| failed(url, &error))?;
        Ok(listed(store))
    }

    fn google(&self) -> object_store::Result<Connection> {
        let mut builder = GoogleCloudStorageBuilder::new()
            .with_client_options(client())
            .with_retry(retries());
        for (key, value) in self.known() {
            builder = builder.with_config(key, value);
        }
        let builder = builder.with_bucket_name(&self.place);
        Ok(listed(
            builder
                .with_skip_signature(self.options.anonymous)
                .build()?,
        ))
    }

    fn azure(&self, url: &str) -> object_store::Result<Connection> {
        let mut builder = MicrosoftAzureBuilder::new()
            .with_client_options(client())
            .with_retry(retries());
        for (key, value) in self.known() {
            builder = builder.with_config(key, value);
        }
        if self.options.anonymous {
            builder = builder.with_skip_signature(true);
        }
        Ok(listed(builder.with_url(url).build()?))
    }

    fn http(&self) -> object_store::Result<Connection> {
        let (place, query) = match self.place.split_once('?') {
            Some((place, query)) => (place, format!("?{query}")),
            None => (self.place.as_str(), String::new()),
        };
        let store = HttpBuilder::new()
            .with_client_options(client().with_allow_http(self.scheme == "http"))
            .with_retry(retries())
            .with_url(format!("{}://{place}/{query}", self.scheme))
            .build()?;
        Ok(Connection {
            store: Arc::new(store),
            lists: None,
        })
    }
}

fn listed<S: ObjectStore + PaginatedListStore>(store: S) -> Connection {
    let store = Arc::new(store);
    Connection {
        lists: Some(Lists(Arc::clone(&store) as _)),
        store,
    }
}

/// Time without a byte after which a request has failed. A request as a whole may take as long as its reader needs.
const SILENCE: Duration = Duration::from_secs(30);

fn client() -> ClientOptions {
    ClientOptions::new()
        .with_timeout_disabled()
        .with_read_timeout(SILENCE)
}

/// Requests that a server could not answer are sent again, for less time than a user waits.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 4,
        retry_timeout: Duration::from_secs(60),
    }
}

/// 1235: what a store cannot do.
pub(super) fn unsupported(what: &str) -> Error {
    mayfly_engine::codes::ER_NOT_SUPPORTED_YET.with(&[&what])
}
