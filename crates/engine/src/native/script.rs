//! A scenario with its origins.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use plimsoll_scenario::{Player, Scenario, Step, Target, TokenService, Verify};

use super::certificates::OwnOrigins;
use crate::clock::unix_millis;
use crate::origin::{Origin, OriginError, OriginOptions, Trust};

/// A scenario for native users. Its origins are valid and its requests can be encoded.
#[derive(Clone, Debug)]
pub struct Script {
    scenario: Arc<Scenario>,
    /// In the order of the scenario's targets.
    origins: Vec<Arc<Origin>>,
    /// In the same order: the proxies that get whole URLs. Only WebSockets use the origins of their targets.
    forwarding: Vec<Option<Arc<Origin>>>,
    /// In the same order: the origins of users with certificates of their own.
    own: Vec<Option<Arc<OwnOrigins>>>,
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
        let (mut origins, mut forwarding, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (index, target) in scenario.targets().iter().enumerate() {
            let named = |error| ScriptError(format!("targets[{index}]: {error}"));
            let origin = origin(target).map_err(named)?;
            let with_certificate = |error| ScriptError(format!("targets[{index}].certs: {error}"));
            own.push(OwnOrigins::new(target, &origin).map_err(with_certificate)?.map(Arc::new));
            origins.push(Arc::new(origin));
            forwarding.push(forwarder(target).map_err(named)?.map(Arc::new));
        }
        let script = Script { scenario: Arc::new(scenario), origins, forwarding, own };
        script.try_player().map_err(|error| ScriptError(error.to_string()))?;
        Ok(script)
    }

    /// A player at its start.
    pub(super) fn player(&self) -> Player {
        self.try_player().expect("it could be done when the script was made, and nothing has changed")
    }

    fn try_player(&self) -> Result<Player, plimsoll_scenario::DefinitionError> {
        let authorities: Vec<&str> = self.origins.iter().map(|origin| origin.authority()).collect();
        Player::new(Arc::clone(&self.scenario), &authorities, unix_millis)
    }

    /// Every step with its origin, in index order.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Step, &Arc<Origin>)> {
        let origin_of = |step: &Step| {
            let forwarding = self.forwarding[step.target].as_ref().filter(|_| step.websocket.is_none());
            forwarding.unwrap_or(&self.origins[step.target])
        };
        self.scenario.steps().iter().map(move |step| (step, origin_of(step)))
    }

    /// The origins of the users of a step, if each has a certificate of its own. `origin`: the step's.
    pub(super) fn own_origins(&self, step: &Step, origin: &Arc<Origin>) -> Option<Arc<OwnOrigins>> {
        // A proxy that forwards requests sees no certificate.
        self.own[step.target].clone().filter(|_| Arc::ptr_eq(origin, &self.origins[step.target]))
    }

    /// The token services of the scenario with their origins; None for other ways to say who sends a request.
    pub(super) fn token_services(&self) -> impl Iterator<Item = Option<(&TokenService, &Arc<Origin>)>> {
        let origin_of =
            |service: &TokenService| self.forwarding[service.target].as_ref().unwrap_or(&self.origins[service.target]);
        let services = self.scenario.token_services().iter();
        services.map(move |service| service.as_ref().map(|service| (service, origin_of(service))))
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

/// The proxy of a target, if it forwards plain requests. `origin` has checked its URL.
fn forwarder(target: &Target) -> Result<Option<Origin>, OriginError> {
    let Some(proxy) = target.proxy.as_ref().filter(|_| target.is_forwarded()) else { return Ok(None) };
    Origin::new(proxy, &OriginOptions { forwards: Some(target.url.clone()), ..OriginOptions::default() }).map(Some)
}
