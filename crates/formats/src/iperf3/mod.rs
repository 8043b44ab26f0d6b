//! iperf3's figures: its text, its JSON document, and the series they become.
//!
//! [`model`] holds what iperf3 says about a test, [`series`] turns it into series. Used by the importer, by the
//! engine that speaks iperf3's protocol and by the verb that prints like it, so that a figure has one meaning.

pub mod model;
pub mod series;
