//! Writes the report of a made-up experiment to a folder, for looking at: `sample_report [FOLDER]`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let experiment = fixture::experiment();
    let analysis = fixture::analysis(&experiment);
    print!("{}", tenbin_report::text::summary(&experiment, &analysis, 80));
    let record = &experiment.records[0];
    if let Some(run) = &record.run {
        print!("\n{}", tenbin_report::text::run(run, 80));
    }
    Ok(())
}
