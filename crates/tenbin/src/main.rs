//! tenbin.
fn main() {}
