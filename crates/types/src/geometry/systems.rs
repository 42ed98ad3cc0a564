//! Spatial reference systems: what an SRID says of coordinates (the manual, "Spatial Reference System Support").
//!
//! A value holds the longitude before the latitude, but texts, WKB and results have the order of the axes that the
//! system defines; most geographic ones have the latitude first. The systems are MySQL's own ones, as a table of SRIDs.

use std::sync::LazyLock;

use super::Geometry;

/// A spatial reference system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpatialReferenceSystem {
    /// SRID 0: an infinite plane without units, or a plane that a map projection makes.
    Plane,
    /// Positions on an ellipsoid, as longitude and latitude.
    Geographic {
        /// Whether the first axis is the latitude.
        latitude_first: bool,
        /// The unit of angles.
        unit: AngularUnit,
    },
}

/// A unit of angles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AngularUnit {
    /// 360 of them are a circle.
    Degree,
    /// 400 of them are a circle.
    Grad,
}

/// A coordinate that is outside of its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutOfRange {
    /// A longitude, and the greatest absolute value of one.
    Longitude(f64, f64),
    /// A latitude, and the greatest absolute value of one.
    Latitude(f64, f64),
}

/// The systems by ranges of SRIDs (the first and the last), in order.
static SYSTEMS: LazyLock<Vec<(u32, u32, SpatialReferenceSystem)>> = LazyLock::new(|| {
    let mut systems: Vec<_> = include_str!("systems.txt")
        .lines()
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(kind, ranges)| {
            let geographic = |latitude_first, unit| SpatialReferenceSystem::Geographic {
                latitude_first,
                unit,
            };
            let system = match kind {
                "latitude degree" => Some(geographic(true, AngularUnit::Degree)),
                "latitude grad" => Some(geographic(true, AngularUnit::Grad)),
                "longitude degree" => Some(geographic(false, AngularUnit::Degree)),
                "projected" => Some(SpatialReferenceSystem::Plane),
                _ => None,
            };
            ranges.split_ascii_whitespace().filter_map(move |range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                Some((first.parse().ok()?, last.parse().ok()?, system?))
            })
        })
        .collect();
    systems.sort_by_key(|(first, ..)| *first);
    systems
});

/// The system with an SRID, if there is one.
pub fn system(srid: u32) -> Option<SpatialReferenceSystem> {
    if srid == 0 {
        return Some(SpatialReferenceSystem::Plane);
    }
    let after = SYSTEMS.partition_point(|(first, ..)| *first <= srid);
    let (_, last, system) = SYSTEMS.get(after.checked_sub(1)?)?;
    (srid <= *last).then_some(*system)
}

impl SpatialReferenceSystem {
    /// Whether it is a geographic one.
    pub fn is_geographic(self) -> bool {
        matches!(self, Self::Geographic { .. })
    }

    /// Whether its first axis is the latitude, the second coordinate of values.
    pub fn is_latitude_first(self) -> bool {
        matches!(
            self,
            Self::Geographic {
                latitude_first: true,
                ..
            }
        )
    }

    /// Checks that longitudes and latitudes are in their ranges.
    pub fn check(self, geometry: &Geometry) -> Result<(), OutOfRange> {
        let mut result = Ok(());
        if self.is_geographic() {
            geometry.for_each_position(&mut |point| {
                if result.is_ok() {
                    let longitude = self.check_longitude(point.x);
                    result = longitude.and_then(|()| self.check_latitude(point.y));
                }
            });
        }
        result
    }

    /// Checks that a longitude is in its range.
    pub fn check_longitude(self, value: f64) -> Result<(), OutOfRange> {
        match self.half_circle() {
            Some(half) if !(value >= -half && value <= half) => {
                Err(OutOfRange::Longitude(value, half))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a latitude is in its range.
    pub fn check_latitude(self, value: f64) -> Result<(), OutOfRange> {
        let quarter = self.half_circle().map(|half| half / 2.0);
        match quarter {
            Some(quarter) if !(value >= -quarter && value <= quarter) => {
                Err(OutOfRange::Latitude(value, quarter))
            }
            _ => Ok(()),
        }
    }

    /// Half a circle in the system's unit; `None` for a plane.
    fn half_circle(self) -> Option<f64> {
        match self {
            Self::Plane => None,
            Self::Geographic { unit, .. } => Some(match unit {
                AngularUnit::Degree => 180.0,
                AngularUnit::Grad => 200.0,
            }),
        }
    }
}
