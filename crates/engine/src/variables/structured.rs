//! Structured system variables: `instance.component`, the settings of a key cache (the manual, "Structured System
//! Variables"). A component's name alone means the default instance.

use mayfly_legacy::{KeyCacheOptions, KeyCaches};

use super::{registry, typed};

/// The name of a structured variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StructuredName {
    /// The key cache.
    pub(crate) instance: String,
    pub(crate) component: Component,
}

/// A setting of a key cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    BufferSize,
    BlockSize,
    DivisionLimit,
    AgeThreshold,
}

impl StructuredName {
    /// The parts of a structured variable's name; `None` for another name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (instance, component) = name.split_once('.')?;
        let component = [
            Component::BufferSize,
            Component::BlockSize,
            Component::DivisionLimit,
            Component::AgeThreshold,
        ]
        .into_iter()
        .find(|known| known.name().eq_ignore_ascii_case(component))?;
        Some(Self {
            instance: instance.to_lowercase(),
            component,
        })
    }

    /// Whether it is of the default key cache.
    pub(crate) fn is_of_default(&self) -> bool {
        self.instance == KeyCaches::DEFAULT
    }
}

/// The position of a variable by its name, and the structured name, if it is one.
pub(crate) fn position(name: &str) -> Option<(usize, Option<StructuredName>)> {
    match StructuredName::parse(name) {
        Some(structured) => Some((structured.component.variable().position(), Some(structured))),
        None => Some((registry::position(name)?, None)),
    }
}

impl Component {
    /// The variable of the default instance.
    pub(crate) fn variable(self) -> typed::Variable<u64> {
        match self {
            Self::BufferSize => typed::KEY_BUFFER_SIZE,
            Self::BlockSize => typed::KEY_CACHE_BLOCK_SIZE,
            Self::DivisionLimit => typed::KEY_CACHE_DIVISION_LIMIT,
            Self::AgeThreshold => typed::KEY_CACHE_AGE_THRESHOLD,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        registry::all()[self.variable().position()].name
    }

    /// Its value in the settings of a cache.
    pub(crate) fn of(self, options: &KeyCacheOptions) -> u64 {
        match self {
            Self::BufferSize => options.key_buffer_size,
            Self::BlockSize => u64::from(options.block_size),
            Self::DivisionLimit => u64::from(options.division_limit),
            Self::AgeThreshold => u64::from(options.age_threshold),
        }
    }

    /// Sets its value in the settings of a cache.
    pub(crate) fn set(self, options: &mut KeyCacheOptions, value: u64) {
        let small = u32::try_from(value).unwrap_or(u32::MAX);
        match self {
            Self::BufferSize => options.key_buffer_size = value,
            Self::BlockSize => options.block_size = small,
            Self::DivisionLimit => options.division_limit = small,
            Self::AgeThreshold => options.age_threshold = small,
        }
    }
}
