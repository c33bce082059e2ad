//! The rules of this process, and their effect on a call.

use std::env;
use std::ffi::c_int;
use std::process;
use std::sync::OnceLock;

use crate::chance::Chance;
use crate::descriptor::Kind;
use crate::rules::{self, Call, Effect, Rule};
use crate::switch::Switch;

struct Plan {
    rules: Vec<Rule>,
    switch: Switch,
    chance: Chance,
}

/// The effect on this call; None: call the original. descriptor: -1 if the call has none.
pub(crate) fn effect(call: Call, descriptor: c_int) -> Option<Effect> {
    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
    let plan = PLAN.get_or_init(from_environment).as_ref()?;
    if !plan.switch.is_on() {
        return None;
    }
    for (place, rule) in plan.rules.iter().enumerate() {
        let concerned = rule.call == call && plan.chance.is(rule.share);
        if concerned && rule.kind.is_none_or(|kind| Kind::of(descriptor) == Some(kind)) {
            plan.switch.count(place);
            return Some(rule.effect);
        }
    }
    None
}

/// An invalid plan ends the process, because the test would test nothing.
fn from_environment() -> Option<Plan> {
    let text = env::var("PLIMSOLL_FAULTS").ok()?;
    let plan = rules::parse(&text).and_then(|rules| {
        let path = env::var("PLIMSOLL_FAULTS_SWITCH").map_err(|error| error.to_string())?;
        let switch = Switch::open(&path).map_err(|error| format!("{path}: {error}"))?;
        let seed: u64 = env::var("PLIMSOLL_FAULTS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        Ok(Plan { rules, switch, chance: Chance::new(seed ^ u64::from(process::id())) })
    });
    match plan {
        Ok(plan) => Some(plan),
        Err(_) => process::exit(97),
    }
}
