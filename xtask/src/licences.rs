//! Every dependency's licence against the list that the project accepts.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell;

const ACCEPTED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "CC0-1.0",
    "BSL-1.0",
];

/// Fails with a line for each dependency whose licence is not accepted.
pub fn licences() -> Result<()> {
    let text = shell::read("cargo", &["metadata", "--format-version", "1", "--locked"])?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !accepted(package["license"].as_str().unwrap_or("")))
        .map(|package| format!("{} {}: licence {}", package["name"], package["version"], package["license"]))
        .collect();
    if !refused.is_empty() {
        bail!("{}", refused.join("\n"));
    }
    Ok(())
}

/// Whether one alternative of the SPDX expression consists of accepted licences. `/` is an old way to write OR.
fn accepted(expression: &str) -> bool {
    let flat = expression.replace(['(', ')'], " ").replace('/', " OR ");
    flat.split(" OR ")
        .any(|alternative| alternative.split(" AND ").all(|licence| ACCEPTED.contains(&licence.trim())))
}

#[cfg(test)]
mod tests {
    use super::accepted;

    #[test]
    fn expressions() {
        assert!(accepted("MIT OR Apache-2.0"));
        assert!(accepted("MIT/Apache-2.0"));
        assert!(accepted("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(accepted("GPL-3.0 OR MIT"));
        assert!(!accepted("GPL-3.0-only"));
        assert!(!accepted("MIT AND GPL-3.0-only"));
        assert!(!accepted(""));
    }
}
