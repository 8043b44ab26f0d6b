//! Runs in short words, for tests of formats.

use tenbin_core::run::{Direction, Run};

/// Each series, state, event and kind of caveat as one line.
pub fn lines(run: &Run) -> Vec<String> {
    let mut told = Vec::new();
    for series in &run.series {
        let params: Vec<String> = series.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let reported: Vec<String> = series
            .reported
            .iter()
            .filter(|(key, _)| *key != "mean" || series.reported.len() > 1)
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        let values: Vec<String> =
            series.values().iter().map(|value| format!("{}", (value * 1e9).round() / 1e9)).collect();
        let name = &series.metric.name;
        told.push(
            format!("{name} {}: {}{}", params.join(" "), values.join(" "), reported.concat())
                .replace(" :", ":"),
        );
    }
    for state in &run.states {
        let entity = state.entity.as_ref().map(|entity| format!(" @{entity}")).unwrap_or_default();
        let status = state.status.as_deref().unwrap_or("-");
        told.push(format!(
            "state {}{entity} {status} [{}]",
            state.sensor,
            state.state.as_deref().unwrap_or("-")
        ));
    }
    for event in &run.events {
        let way = match event.direction {
            Some(Direction::Asserted) => "on",
            Some(Direction::Deasserted) => "off",
            None => "?",
        };
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
        let zone = event.zone.as_ref().map(|zone| format!(" {zone}")).unwrap_or_default();
        told.push(format!(
            "event {} {}{zone} [{}] [{}] {way}",
            event.record.unwrap_or(-1),
            word(&event.time),
            word(&event.sensor),
            word(&event.event)
        ));
    }
    let kinds = run.caveats.iter().map(|caveat| serde_json::to_string(&caveat.kind).unwrap_or_default());
    told.extend(kinds.map(|kind| format!("caveat {}", kind.trim_matches('"'))));
    told
}
