//! The first line of a program, and which program it is.

/// `# OSU MPI-CUDA Latency Test v7.4`
#[derive(Clone, Debug, PartialEq)]
pub struct Title {
    /// As printed, without the version.
    pub text: String,
    /// `7.4`
    pub version: Option<String>,
    /// The program's name: `osu_latency`.
    pub program: String,
    /// Where the buffers lie, if not in the host's memory: `CUDA`.
    pub device: Option<String>,
    /// The language that the program is written in, if its title tells: `Python`.
    pub language: Option<&'static str>,
}

/// How titles begin, and the language of those programs. mpi4py's demonstrations name nobody.
const BEGINNINGS: &[(&str, Option<&str>)] =
    &[("OSU ", None), ("OMB Python ", Some("Python")), ("OMB-Py ", Some("Python")), ("MPI ", Some("Python"))];

/// The names of accelerators in titles; the longer one first.
const DEVICES: &[&str] = &["-CUDA MANAGED", "-CUDA", "-OPENACC", "-ROCM", "-MANAGED", "-CXL", "-SYCL"];

/// The title in `line`. What another process wrote before it is passed over.
pub fn read(line: &str) -> Option<Title> {
    let at = BEGINNINGS.iter().find_map(|(words, _)| line.find(&format!("# {words}"))).unwrap_or(0);
    let line = line.get(at..)?;
    let marked = line.starts_with('#');
    let text = line.trim_start_matches('#').trim();
    let (beginning, language) = *BEGINNINGS.iter().find(|(words, _)| text.starts_with(words))?;
    let (text, version) = text.rsplit_once(" Test").map(|(before, rest)| (format!("{before} Test"), rest))?;
    let version =
        version.trim().trim_start_matches("(Version ").trim_start_matches('v').trim_end_matches(')');
    let numbered =
        version.starts_with(|first: char| first.is_ascii_digit()) && !version.contains(char::is_whitespace);
    // Without a version it may be a sentence.
    if !(numbered || marked && version.is_empty()) {
        return None;
    }
    let device = DEVICES.iter().find(|device| text.contains(*device));
    let plain = device.map_or_else(|| text.clone(), |device| text.replacen(device, "", 1));
    let program = match program(&plain) {
        Some(program) => program,
        // Anybody's words may begin like this.
        None if beginning == "MPI " => return None,
        None => plain,
    };
    Some(Title {
        program,
        language,
        device: device.map(|device| device.trim_start_matches('-').to_owned()),
        version: numbered.then(|| version.to_owned()),
        text,
    })
}

/// The name of the program with this title.
fn program(title: &str) -> Option<String> {
    let name = title.trim_end_matches(" Test");
    let named = BEGINNINGS.iter().filter(|(words, _)| *words != "MPI ");
    let name = named.fold(name, |name, (words, _)| name.trim_start_matches(words)).to_lowercase();
    let name = name.trim_start_matches("one sided ").trim_start_matches("one-sided ");
    let name = name.trim_start_matches("open ");
    let (family, rest) = name.split_once(' ').unwrap_or((name, ""));
    let known = match family {
        "mpi" => message_passing(rest),
        "openshmem" => shared_memory(rest).map(|name| format!("oshm_{name}")),
        "upc" => match rest {
            "memput" | "memget" => Some(format!("upc_{rest}")),
            _ => collective(rest).map(|name| {
                format!("upc_all_{}", name.replace("gatherall", "gather_all").replace("bcast", "broadcast"))
            }),
        },
        "upc++" | "upcxx" => message_passing(rest).map(|name| format!("upcxx_{name}")),
        "nccl" | "rccl" | "xccl" => message_passing(rest).map(|name| format!("{family}_{name}")),
        _ => one_sided(family, rest).or_else(|| message_passing(name)),
    };
    known.map(|name| format!("osu_{name}"))
}

fn message_passing(name: &str) -> Option<String> {
    let mut name = name.to_owned();
    let mut take = |words: &str| {
        let found = name.contains(words);
        name = name.replace(words, "").trim().to_owned();
        found
    };
    let persistent = if take("persistent") { "_persistent" } else { "" };
    let immediate = if take("non-blocking ") { "i" } else { "" };
    let neighbours = if take("neighborhood ") { "neighbor_" } else { "" };
    take("personalized exchange ");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let pair = match name.as_str() {
        "latency" => "latency",
        "bandwidth" => "bw",
        "bi-directional bandwidth" | "bidirectional bandwidth" | "bi-bandwidth" => "bibw",
        "multiple bandwidth / message rate" => "mbw_mr",
        "multi latency" | "multi-pair latency" => "multi_lat",
        "multi-threaded latency" | "multi threaded latency" => "latency_mt",
        "multi-process latency" => "latency_mp",
        "init" => "init",
        "hello world" => "hello",
        "async copy (get)" => "async_copy_get",
        "async copy (put)" => "async_copy_put",
        // In the Java and Python programs.
        "reducescatter" => "reduce_scatter",
        _ if BARE.contains(&name.as_str()) => name.as_str(),
        _ => return Some(format!("{immediate}{neighbours}{}{persistent}", collective(&name)?)),
    };
    Some(format!("{pair}{persistent}"))
}

/// Collectives whose titles are nothing but their name.
const BARE: &[&str] = &[
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "scatterv",
];

fn collective(name: &str) -> Option<String> {
    let operation = name.strip_suffix(" latency")?;
    let operation = match operation {
        "all-to-all" => "alltoall",
        "all-to-allv" => "alltoallv",
        "all-to-allw" => "alltoallw",
        "broadcast" => "bcast",
        other => other,
    };
    (!operation.contains([' ', '/'])).then(|| operation.to_owned())
}

fn shared_memory(name: &str) -> Option<String> {
    Some(match name {
        "put" | "get" => name.to_owned(),
        "put_nbi" | "put_nb" => "put_nb".to_owned(),
        "get_nbi" | "get_nb" => "get_nb".to_owned(),
        "put message rate" => "put_mr".to_owned(),
        "put_nb message rate" => "put_mr_nb".to_owned(),
        "get_nb message rate" => "get_mr_nb".to_owned(),
        "atomic operation rate" => "atomics".to_owned(),
        "broadcast latency" => "broadcast".to_owned(),
        _ => collective(name)?,
    })
}

fn one_sided(call: &str, rest: &str) -> Option<String> {
    let call = match call.strip_prefix("mpi_")? {
        "accumulate" => "acc",
        "get_accumulate" => "get_acc",
        "fetch_and_op" => "fop",
        "compare_and_swap" => "cas",
        other @ ("put" | "get") => other,
        _ => return None,
    };
    let what = match rest {
        "latency" => "latency",
        "bandwidth" => "bw",
        "bi-directional bandwidth" => "bibw",
        "multi latency" => "multi_lat",
        "multiple bandwidth bandwidth" | "multiple bandwidth" => "mbw",
        _ => return None,
    };
    Some(format!("{call}_{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs() {
        let check = |line: &str, program: &str, version: &str| {
            let title = read(line).unwrap();
            assert_eq!(
                (title.program.as_str(), title.version.as_deref().unwrap_or("")),
                (program, version),
                "{line}"
            );
        };
        check("# OSU MPI Latency Test v5.7.1", "osu_latency", "5.7.1");
        check("OSU MPI Latency Test v5.7.1", "osu_latency", "5.7.1");
        check("# OSU MPI Bandwidth Test (Version 2.0)", "osu_bw", "2.0");
        check("# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.0", "osu_bibw", "7.0");
        check("# OSU MPI-CUDA MANAGED Latency Test v6.1", "osu_latency", "6.1");
        check("# OSU MPI Multiple Bandwidth / Message Rate Test v5.9", "osu_mbw_mr", "5.9");
        check("# OSU MPI Multi-threaded Latency Test v7.4", "osu_latency_mt", "7.4");
        check("# OSU MPI Latency Persistent Test v7.4", "osu_latency_persistent", "7.4");
        check("# OSU MPI Multi Latency Test v5.6", "osu_multi_lat", "5.6");
        check("# OSU MPI All-to-All Personalized Exchange Latency Test v5.6", "osu_alltoall", "5.6");
        check("# OSU MPI Non-blocking All-to-All Latency Test v5.6", "osu_ialltoall", "5.6");
        check("# OSU MPI Non-Blocking Broadcast Latency Test v5.6", "osu_ibcast", "5.6");
        check("# OSU MPI Neighborhood Allgatherv Latency Test v7.4", "osu_neighbor_allgatherv", "7.4");
        check(
            "# OSU MPI All-to-All Personalized Exchange Persistent Latency Test v7.4",
            "osu_alltoall_persistent",
            "7.4",
        );
        check("# OSU MPI-ROCM Reduce_scatter_block Latency Test v7.4", "osu_reduce_scatter_block", "7.4");
        check("# OSU One Sided MPI_Put latency Test v3.1.1", "osu_put_latency", "3.1.1");
        check("# OSU MPI_Get-CUDA Bandwidth Test v7.4", "osu_get_bw", "7.4");
        check("# OSU MPI_Compare_and_swap latency Test v7.4", "osu_cas_latency", "7.4");
        check("# OSU OpenSHMEM Put Message Rate Test v5.3", "osu_oshm_put_mr", "5.3");
        check("# OSU UPC Broadcast Latency Test v5.3", "osu_upc_all_broadcast", "5.3");
        check("# OSU NCCL-CUDA Allreduce Latency Test v7.2", "osu_nccl_allreduce", "7.2");
        check("# OSU MPI Init Test v7.4", "osu_init", "7.4");
        check("# OSU OpenSHMEM Atomic Operation Rate Test v7.4", "osu_oshm_atomics", "7.4");
        check("# OSU UPC++ Async Copy (Put) Test v7.4", "osu_upcxx_async_copy_put", "7.4");
        check("# OMB Python MPI Multi Latency Test", "osu_multi_lat", "");
        check("# OMB Python MPI Reduce_scatter Test", "osu_reduce_scatter", "");
        check("# OMB-Py MPI Bi-Directional Bandwidth Test", "osu_bibw", "");
        check("# OSU Open MPI Bi-Bandwidth Test v7.4", "osu_bibw", "7.4");
        check("# OSU ReduceScatter Test v7.4", "osu_reduce_scatter", "7.4");
        check("# MPI Bandwidth Test", "osu_bw", "");
        check("# OSU MPI Something New Test v9.0", "OSU MPI Something New Test", "9.0");
        for line in [
            "We ran the OSU MPI Latency Test",
            "OSU MPI Latency Test is good",
            "# MPI Something Test",
            "MPI Latency Test",
            "#define BENCHMARK \"OSU MPI%s Latency Test\"",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
