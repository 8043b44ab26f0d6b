//! Temperatures of `/sys/class/hwmon`.

use crate::sysroot::{ReadError, SysRoot};

pub(crate) const HWMON: &str = "/sys/class/hwmon";

/// A temperature sensor's reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Temperature {
    /// Degrees.
    pub celsius: f64,
    /// Where the chip declares an emergency, if it says so.
    pub critical: Option<f64>,
    /// The chip's and the sensor's own name: `coretemp Package id 0`.
    pub name: String,
    /// The file.
    pub source: String,
}

impl Temperature {
    /// Degrees below critical.
    pub fn headroom(&self) -> Option<f64> {
        self.critical.map(|critical| critical - self.celsius)
    }
}

/// The sensor nearest to its critical temperature; if none says what is critical, the hottest.
/// `None`: this machine has no readable temperature. Sensors that are only switched off are left out.
pub(crate) fn hottest(sys: &SysRoot) -> Result<Option<Temperature>, ReadError> {
    let all = temperatures(sys)?;
    let by_room = all.iter().filter_map(|t| Some((t.headroom()?, t))).min_by(|(a, _), (b, _)| a.total_cmp(b));
    let hottest = || all.iter().max_by(|a, b| a.celsius.total_cmp(&b.celsius));
    Ok(by_room.map(|(_, t)| t).or_else(hottest).cloned())
}

/// All temperatures. Fails where a sensor exists and may not be read.
fn temperatures(sys: &SysRoot) -> Result<Vec<Temperature>, ReadError> {
    let chips = match sys.list(HWMON) {
        Ok(chips) => chips,
        Err(ReadError::Absent { .. }) => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for chip in chips {
        let dir = format!("{HWMON}/{chip}");
        let chip_name = sys.read(&format!("{dir}/name")).unwrap_or(chip);
        let Ok(files) = sys.list(&dir) else { continue };
        for file in files {
            let Some(sensor) = file.strip_suffix("_input").filter(|name| name.starts_with("temp")) else {
                continue;
            };
            let source = format!("{dir}/{file}");
            let celsius = match sys.read(&source) {
                Ok(text) => milli(&text).ok_or_else(|| ReadError::nonsense(&source, &text))?,
                Err(e @ ReadError::Denied { .. }) => return Err(e),
                // An unpowered or unplugged sensor (an empty cage's optics) answers with an error.
                Err(_) => continue,
            };
            let critical = sys.read(&format!("{dir}/{sensor}_crit")).ok().and_then(|text| milli(&text));
            let label = sys.read(&format!("{dir}/{sensor}_label")).unwrap_or_else(|_| sensor.to_owned());
            found.push(Temperature {
                celsius,
                // Chips without the notion report 0 or absurd values.
                critical: critical.filter(|celsius| (40.0..=150.0).contains(celsius)),
                name: format!("{chip_name} {label}"),
                source,
            });
        }
    }
    Ok(found)
}

/// The present reading of one sensor's file.
pub(crate) fn read(sys: &SysRoot, source: &str) -> Option<f64> {
    milli(&sys.read(source).ok()?)
}

/// Thousandths of a degree.
fn milli(text: &str) -> Option<f64> {
    let celsius = text.trim().parse::<i64>().ok()? as f64 / 1000.0;
    (-100.0..=300.0).contains(&celsius).then_some(celsius)
}
