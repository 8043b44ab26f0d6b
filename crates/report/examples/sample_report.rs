//! Writes reports of made-up experiments to a folder, for looking at: `sample_report FOLDER`.

use tenbin_core::analysis;

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("name the folder to write to"));
    };
    let (mtu, pair) = (fixture::experiment(), fixture::curves::experiment(&["old", "new"]));
    let four = fixture::curves::experiment(&["old", "new", "twin", "odd"]);
    let samples = [
        ("mtu", fixture::analysis(&mtu), mtu),
        ("curve", analysis::weigh(&pair), pair),
        ("four", analysis::weigh(&four), four),
    ];
    for (name, analysis, experiment) in &samples {
        let folder = format!("{folder}/{name}");
        std::fs::create_dir_all(&folder)?;
        for (name, content) in tenbin_report::files(experiment, analysis, &fixture::about()) {
            std::fs::write(format!("{folder}/{name}"), content)?;
        }
    }
    Ok(())
}
