//! Random numbers and schedules, which must stay what they are.

use serde_json::Value;
use tenbin_core::{rng, schedule};

pub fn generators(cases: &[Value]) {
    let words = |case: &Value| -> Vec<u64> {
        case["expect"].as_array().unwrap().iter().map(|x| x.as_str().unwrap().parse().unwrap()).collect()
    };
    let mut state = cases[0]["splitmix64_seed"].as_u64().unwrap();
    assert!(words(&cases[0]).into_iter().all(|right| rng::splitmix64(&mut state) == right));
    let mut rng = rng::Rng::new(cases[1]["xoshiro256pp_seed"].as_u64().unwrap());
    assert!(words(&cases[1]).into_iter().all(|right| rng.next_u64() == right));
    for case in &cases[2..] {
        let plain = &case["schedule"];
        let names: Vec<&str> =
            plain["conditions"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
        let mut rng = rng::Rng::new(plain["seed"].as_u64().unwrap());
        for right in case["expect"].as_array().unwrap() {
            let mut block = names.clone();
            rng.shuffle(&mut block);
            assert_eq!(serde_json::json!(block), *right);
        }
    }
}

pub fn schedules(cases: &[Value]) {
    for case in cases.iter().filter(|case| case["seed"].is_u64()) {
        let names: Vec<&str> =
            case["conditions"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
        let blocks = case["blocks"].as_u64().unwrap() as usize;
        let order = schedule::balanced(case["seed"].as_u64().unwrap(), names.len(), blocks);
        let named: Vec<Vec<&str>> =
            order.iter().map(|block| block.iter().map(|arm| names[*arm]).collect()).collect();
        assert_eq!(serde_json::json!(named), case["expect"], "{case}");
    }
    for case in cases.iter().filter(|case| case["williams"].is_u64()) {
        let square = schedule::williams(case["williams"].as_u64().unwrap() as usize);
        assert_eq!(serde_json::json!(square), case["expect"], "{case}");
    }
}
