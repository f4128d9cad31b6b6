//! How long the codecs take for one pod of 6 KB: `cargo bench --bench codec`.
//!
//! CPU time of the process, the best of several rounds: on shared machines wall time says little. `docs/decisions/0001-codec-form.md`
//! and the design's performance page have figures to compare with.

use std::hint::black_box;
use std::time::{Duration, Instant};

use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref};
use machinery::{protobuf, yaml};

type Pod = generated::core::v1::Pod;

const TEXT: &[u8] = include_bytes!("pod.json");
const ROUNDS: usize = 5;
/// Long against the tick of 4 ms in which some kernels count CPU time.
const ROUND: Duration = Duration::from_millis(250);

/// CPU time that the process has used, in microseconds; wall time where the kernel does not say.
fn now(start: Instant) -> f64 {
    let used = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanos = used.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64() * 1e6, |nanos| nanos / 1e3)
}

fn measure(name: &str, mut run: impl FnMut()) {
    let start = Instant::now();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let (began, before, mut count) = (Instant::now(), now(start), 0);
        while began.elapsed() < ROUND {
            (0..100).for_each(|_| run());
            count += 100;
        }
        best = best.min((now(start) - before) / f64::from(count));
    }
    println!("{name:24} {best:8.2} us {:8.0} MB/s", TEXT.len() as f64 / best);
}

fn decoded(issues: &mut Issues) -> Pod {
    let mut pod = Pod::default();
    json::decode(black_box(TEXT), Mut::of(&mut pod), issues).expect("the pod decodes");
    pod
}

fn main() {
    let pod = decoded(&mut Issues::collect());
    let mut out = Vec::new();
    measure("json encode", || {
        out.clear();
        json::encode(Ref::of(black_box(&pod)), &mut out);
    });
    assert_eq!(out, TEXT, "the pod comes back as it was");
    measure("json decode", || drop(black_box(decoded(&mut Issues::ignore()))));
    measure("json decode strictly", || drop(black_box(decoded(&mut Issues::collect()))));
    measure("json syntax check", || assert!(json::is_valid(black_box(TEXT))));
    measure("json tree", || drop(black_box(json::parse(black_box(TEXT), &mut Issues::ignore()))));
    let mut raw = Vec::new();
    measure("protobuf encode", || {
        raw.clear();
        protobuf::encode(Ref::of(black_box(&pod)), &mut raw);
    });
    measure("protobuf decode", || {
        let mut pod = Pod::default();
        protobuf::decode(black_box(&raw), Mut::of(&mut pod)).expect("the pod decodes");
        drop(black_box(pod));
    });
    let mut transcoded = Vec::new();
    measure("protobuf to json", || {
        transcoded.clear();
        protobuf::to_json(Ref::of(&pod).def(), black_box(&raw), &mut transcoded).expect("the pod is JSON");
    });
    assert_eq!(transcoded, TEXT, "the pod comes back as it was");
    measure("yaml encode", || {
        out.clear();
        yaml::encode(Ref::of(black_box(&pod)), &mut out).expect("a pod is YAML");
    });
    let lines = out.clone();
    measure("yaml to json", || drop(black_box(yaml::to_json(black_box(&lines), &mut Issues::ignore()))));
}
