//! Writes the report of a made-up experiment to a folder, for looking at: `sample_report FOLDER`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("name the folder to write to"));
    };
    std::fs::create_dir_all(&folder)?;
    let experiment = fixture::experiment();
    let analysis = fixture::analysis(&experiment);
    for (name, content) in tenbin_report::files(&experiment, &analysis, &fixture::about()) {
        std::fs::write(format!("{folder}/{name}"), content)?;
    }
    Ok(())
}
