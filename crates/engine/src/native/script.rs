//! A scenario with its origins.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use plimsoll_scenario::{Player, Scenario, Step, Target, Verify};

use crate::clock::unix_seconds;
use crate::origin::{Origin, OriginError, OriginOptions, Trust};

/// A scenario for native users. Its origins are valid and its requests can be encoded.
#[derive(Clone, Debug)]
pub struct Script {
    scenario: Arc<Scenario>,
    /// In the order of the scenario's targets.
    origins: Vec<Arc<Origin>>,
}

/// An error in a scenario's targets: "field: reason", as in errors of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError(String);

impl Display for ScriptError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Loads the certificates of the targets. Makes no connection.
    pub fn new(scenario: Scenario) -> Result<Script, ScriptError> {
        let named = |(index, target): (usize, &Target)| {
            origin(target).map(Arc::new).map_err(|error| ScriptError(format!("targets[{index}]: {error}")))
        };
        let origins = scenario.targets().iter().enumerate().map(named).collect::<Result<Vec<_>, _>>()?;
        let script = Script { scenario: Arc::new(scenario), origins };
        script.try_player().map_err(|error| ScriptError(error.to_string()))?;
        Ok(script)
    }

    /// A player at its start.
    pub(super) fn player(&self) -> Player {
        self.try_player().expect("it could be done when the script was made, and nothing has changed")
    }

    fn try_player(&self) -> Result<Player, plimsoll_scenario::DefinitionError> {
        let authorities: Vec<&str> = self.origins.iter().map(|origin| origin.authority()).collect();
        Player::new(Arc::clone(&self.scenario), &authorities, unix_seconds)
    }

    /// Every step with its origin, in index order.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Step, &Arc<Origin>)> {
        self.scenario.steps().iter().map(|step| (step, &self.origins[step.target]))
    }
}

fn origin(target: &Target) -> Result<Origin, OriginError> {
    let trust = match &target.verify {
        Verify::System => Trust::System,
        Verify::Bundle(path) => Trust::Bundle(path.clone()),
        Verify::Nothing => Trust::Anything,
    };
    let (identity, proxy) = (target.certificate.clone(), target.proxy.clone());
    let options = OriginOptions { trust, identity, proxy, http2: target.http2, ..OriginOptions::default() };
    Origin::new(&target.url, &options)
}
