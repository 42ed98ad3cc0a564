//! Drivers, generators and fault injection for Mayfly's tests.
