//! What bounds each arm's throughput, and which arms lie above it.

use super::{ArmCeiling, Level};
use crate::caveat::{Caveat, CaveatKind};
use crate::ceiling::{self, Ceiling, Ip, NoCeiling, Transport};
use crate::env::FactValue;
use crate::experiment::Experiment;
use crate::metric;
use crate::run::Run;

/// The ceiling of each arm's throughput, from the facts of both hosts.
pub(super) fn ceilings(
    experiment: &Experiment,
    levels: &[Level],
    caveats: &mut Vec<Caveat>,
) -> Vec<ArmCeiling> {
    let mut found: Vec<ArmCeiling> = Vec::new();
    let throughput = levels.iter().filter(|level| level.metric.name == metric::THROUGHPUT.name);
    for level in throughput {
        let Some(run) = level.values.first().and_then(|value| run_of(experiment, value.run)) else {
            continue;
        };
        let ceiling = match ceiling_of(run) {
            None => continue,
            Some(Ok(ceiling)) => ceiling,
            Some(Err(why)) => {
                caveats.push(Caveat::new(CaveatKind::NoCeiling, why.to_string()));
                continue;
            }
        };
        let share = level.median / ceiling.limit;
        // What was read is exact to half a per cent; assumptions deserve two.
        let tolerance = if ceiling.all_read { 1.005 } else { 1.02 };
        if share > tolerance {
            let text = format!(
                "throughput of {} is {:.1} % of its ceiling: burst credit, a wrong input, or no hard limit",
                level.arm,
                share * 100.0
            );
            caveats.push(Caveat::new(CaveatKind::AboveCeiling, text));
        }
        found.push(ArmCeiling {
            arm: level.arm.clone(),
            metric: level.metric.name.clone().into_owned(),
            ceiling,
            share: Some(share),
        });
    }
    found
}

/// What bounds the throughput of a run under the settings in force: the link of the sending host, or of the receiving
/// one if that is slower. `None` where the
/// path is not known.
pub(crate) fn ceiling_of(run: &Run) -> Option<Result<Ceiling, NoCeiling>> {
    let text = |key: &str| match run.facts.get(key)?.value.as_ref()? {
        FactValue::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let reverse =
        matches!(run.facts.get("reverse").and_then(|fact| fact.value.as_ref()), Some(FactValue::Bool(true)));
    let sender = if reverse { "to" } else { "from" };
    let side = |side: &str| {
        let env = run.hosts.get(text(&format!("path.{side}.host"))?)?;
        Some((env, text(&format!("path.{side}.interface"))?))
    };
    let (env, interface) = side(sender)?;
    let ip = match text(&format!("path.{sender}.address"))?.contains(':') {
        true => Ip::V6,
        false => Ip::V4,
    };
    let timestamps = match run.facts.get("tcp.timestamps").and_then(|fact| fact.value.as_ref()) {
        Some(FactValue::Bool(on)) => Some(*on),
        _ => None,
    };
    let transport = Transport::Tcp { timestamps };
    let sent = ceiling::for_environment(env, interface, ip, transport);
    let receiver = if reverse { "from" } else { "to" };
    let received =
        side(receiver).map(|(env, interface)| ceiling::for_receiver(env, interface, ip, transport));
    Some(match (sent, received) {
        (Ok(sent), Some(Ok(received))) if sent.limit <= received.limit => Ok(sent),
        (_, Some(Ok(mut received))) => {
            received
                .steps
                .push("of the receiving side, whose link bounds more than the sending side's".to_owned());
            Ok(received)
        }
        (sent, _) => sent,
    })
}

fn run_of(experiment: &Experiment, id: i64) -> Option<&Run> {
    experiment.records.iter().find(|record| record.id == id)?.run.as_ref()
}
