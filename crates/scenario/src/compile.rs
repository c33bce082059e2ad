//! From a definition to a scenario. It finds every error that is possible to find before the run.

use std::collections::HashSet;
use std::sync::Arc;

use plimsoll_grpc::Schema;
use plimsoll_http::EventFormat;

use crate::DefinitionError;
use crate::auth::Auth;
use crate::auth::token::TokenService;
use crate::certificates::Certificates;
use crate::choice::Choice;
use crate::condition::Condition;
use crate::definition::{self, Definition};
use crate::feeder::Feeder;
use crate::grpc::{GRPC, Grpc, schema};
use crate::headers::Line;
use crate::jwt::TokenKind;
use crate::llm::Objectives;
use crate::names::check_name;
use crate::repetition::{Extent, Repetition, beginnings, extents, innermost, repeated};
use crate::request::Blueprint;
use crate::scenario::{Flow, Scenario, Step, Stream, Turn, Worker};
use crate::scope::Scope;
use crate::target::{Forwarding, Target};
use crate::time::{Think, nanos};
use crate::verdict::{CookieRules, Rules};
use crate::websocket::{WebSocket, check_order};

/// The default headers of every request. A target or step can replace them. The last one needs `accept_encoding`.
const DEFAULT_HEADERS: [(&str, &str); 3] = [
    ("User-Agent", concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
];

impl Scenario {
    /// Compiles a definition in JSON for worker `index` of `of`; `seed` sets the random numbers.
    ///
    /// The error is the first one in the definition, with the path of its field.
    pub fn new(definition: &str, index: u32, of: u32, seed: u64) -> Result<Self, DefinitionError> {
        if index >= of {
            return Err(DefinitionError::new("", format!("there is no worker {index} of {of}, they count from 0")));
        }
        compile(definition::read(definition)?, Worker { index, of, seed })
    }
}

fn compile(definition: Definition, worker: Worker) -> Result<Scenario, DefinitionError> {
    if definition.flows.is_empty() {
        return Err(DefinitionError::new("flows", "there must be at least one"));
    }
    let kept = definition.targets.iter().filter_map(|target| target.certs.as_ref().map(|certs| certs.feeder.as_str()));
    let feeders = feeders(definition.feeders, worker.of, &kept.collect())?;
    let choice = Choice::new(definition.choice, &definition.flows, &feeders)?;
    let mut hosts = Vec::new();
    let mut targets = Vec::with_capacity(definition.targets.len());
    for (index, target) in definition.targets.iter().enumerate() {
        let wrong = |reason| DefinitionError::new(format!("targets[{index}].url"), reason);
        let mut compiled = Target::new(target, &mut hosts).map_err(wrong)?;
        if let Some(certs) = &target.certs {
            let wrong = |reason| DefinitionError::new(format!("targets[{index}].certs"), reason);
            compiled.certificates = Some(Certificates::new(certs, &feeders).map_err(wrong)?);
        }
        targets.push(compiled);
    }
    let lines: Vec<_> = definition.targets.into_iter().map(|target| target.headers).collect();
    let defaults =
        if definition.accept_encoding.unwrap_or(true) { &DEFAULT_HEADERS[..] } else { &DEFAULT_HEADERS[..2] };
    let schema = definition.schema.as_deref().map(schema).transpose()?;
    let schema = schema.as_ref();
    let token_services = token_services(&definition.auths, &targets)?;
    let tokens: Result<Vec<_>, _> = (definition.tokens.into_iter().zip(0..))
        .map(|(token, index): (_, u32)| TokenKind::new(token, &format!("tokens[{index}]")))
        .collect();
    let shared = Shared {
        schema,
        feeders: &feeders,
        targets: &targets,
        lines: &lines,
        defaults,
        auths: &definition.auths,
        tokens: &tokens?,
        cookies: definition.cookies,
    };
    let (mut flows, mut steps): (Vec<Flow>, Vec<Step>) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for (index, flow) in definition.flows.into_iter().enumerate() {
        let field = format!("flows[{index}]");
        if !names.insert(flow.name.clone()) {
            let reason = format!("there is already a flow {:?}", flow.name);
            return Err(DefinitionError::new(format!("{field}.name"), reason));
        }
        flows.push(shared.flow(flow, index as u32, &field, &mut steps)?);
    }
    let (targets, flows, steps) = (targets.into(), flows.into(), steps.into());
    Ok(Scenario { targets, feeders: feeders.into(), choice, flows, steps, token_services, worker })
}

fn token_services(
    auths: &[definition::Auth],
    targets: &[Target],
) -> Result<Box<[Option<TokenService>]>, DefinitionError> {
    let service = |(number, auth): (usize, &definition::Auth)| {
        let definition::Auth::Oauth2(form) = auth else { return Ok(None) };
        let field = format!("auths[{number}].oauth2");
        let Some(target) = targets.get(form.target) else {
            let reason = format!("there is no target {}; there are {}, from 0", form.target, targets.len());
            return Err(DefinitionError::new(format!("{field}.target"), reason));
        };
        TokenService::new(form, target.forwarding.as_ref(), &field).map(Some)
    };
    auths.iter().enumerate().map(service).collect()
}

/// `kept`: names of those whose rows users keep.
fn feeders(given: Vec<definition::Feeder>, of: u32, kept: &HashSet<&str>) -> Result<Vec<Feeder>, DefinitionError> {
    let mut feeders: Vec<Feeder> = Vec::with_capacity(given.len());
    for (index, feeder) in given.into_iter().enumerate() {
        let field = format!("feeders[{index}]");
        let mut feeder = Feeder::new(feeder, &field)?;
        if kept.contains(feeder.name.as_str()) {
            feeder.keep_rows();
        }
        feeder.check_workers(of, &field)?;
        if feeders.iter().any(|known| known.name == feeder.name) {
            let reason = format!("there is already a feeder {:?}", feeder.name);
            return Err(DefinitionError::new(format!("{field}.name"), reason));
        }
        feeders.push(feeder);
    }
    Ok(feeders)
}

/// Shared by all flows.
struct Shared<'a> {
    feeders: &'a [Feeder],
    targets: &'a [Target],
    /// Header lines of each target.
    lines: &'a [Vec<(String, String)>],
    defaults: &'a [(&'a str, &'a str)],
    auths: &'a [definition::Auth],
    schema: Option<&'a Schema>,
    tokens: &'a [TokenKind],
    cookies: bool,
}

impl Shared<'_> {
    /// Appends the flow's steps to `steps`.
    fn flow(
        &self,
        flow: definition::Flow,
        number: u32,
        field: &str,
        steps: &mut Vec<Step>,
    ) -> Result<Flow, DefinitionError> {
        if flow.steps.is_empty() {
            return Err(DefinitionError::new(format!("{field}.steps"), "a flow needs at least one step"));
        }
        check_order(&flow.steps, field)?;
        let variables = variables(&flow.steps, field)?;
        let first = steps.len();
        let extents = extents(&flow.steps, field)?;
        let beginnings = beginnings(&flow.steps, &extents, |name| number_of(name, &variables));
        let turns = turns(&flow.steps);
        let repeated: Vec<_> = (0..flow.steps.len()).map(|index| repeated(&flow.steps, &extents, index)).collect();
        let mut extracted = 0;
        for (index, step) in flow.steps.into_iter().enumerate() {
            let numbers = numbers(&step, &variables);
            // Variables have numbers in the order of the steps, so those of earlier steps come first.
            let known = numbers.iter().map(|number| *number as usize + 1).fold(extracted, usize::max);
            let place = Place {
                flow: number,
                turn: turns[index],
                start: first,
                extracted,
                known,
                variables: &variables,
                repeated: &repeated[index],
                innermost: innermost(&extents, index),
                ends: extents
                    .iter()
                    .position(|extent| extent.last == index)
                    .map(|number| (number as u32, extents[number])),
            };
            steps.push(self.step(step, &numbers, place, &format!("{field}.steps[{index}]"))?);
            extracted = known;
        }
        let mut feeders: Vec<u32> = steps[first..].iter().flat_map(Step::feeders).collect();
        feeders.sort_unstable();
        feeders.dedup();
        let (steps, feeders, variables) = (first..steps.len(), feeders.into(), variables.into());
        Ok(Flow { name: flow.name, steps, feeders, variables, beginnings: beginnings.into() })
    }

    fn step(
        &self,
        mut step: definition::Step,
        numbers: &[u32],
        place: Place<'_>,
        field: &str,
    ) -> Result<Step, DefinitionError> {
        let Some(target) = self.targets.get(step.target) else {
            let reason = format!("there is no target {}; there are {}, from 0", step.target, self.targets.len());
            return Err(DefinitionError::new(format!("{field}.target"), reason));
        };
        if step.stream.is_some() {
            check_stream(&step, field)?;
        }
        let stream = stream_of(&step, field)?;
        let websocket = WebSocket::new(&step, field)?;
        if target.http2 && matches!(websocket, Some(WebSocket::Connect(_))) {
            let reason = "a WebSocket needs HTTP/1.1, but its target has http2";
            return Err(DefinitionError::new(format!("{field}.websocket"), reason));
        }
        let grpc = Grpc::new(&mut step, self.schema, field)?;
        let mut lines = self.lines(step.target, &step.headers, accept(stream), field);
        let (mut method, mut path) = (step.method, step.path);
        if let Some(websocket) = &websocket {
            lines = websocket.lines(lines, field)?;
            method.get_or_insert_with(|| "GET".into());
            path.get_or_insert_with(|| "/".into());
        }
        if let Some(grpc) = &grpc {
            lines = grpc.lines(lines, limit(step.timeout, field, "timeout")?, field)?;
            (method, path) = (Some("POST".into()), Some(grpc.path()));
        }
        let forwarding = target.forwarding.as_ref().filter(|_| websocket.is_none());
        lines.extend(forwarding.and_then(|forwarding| credentials(forwarding, &lines, step.target)));
        let missing = |name: &str| DefinitionError::new(field, format!("missing field `{name}`"));
        let (method, path) = (method.ok_or_else(|| missing("method"))?, path.ok_or_else(|| missing("path"))?);
        let blueprint = Blueprint::new(method, &path, &lines, step.body, place.scope(self), field)?;
        let blueprint = match forwarding {
            None => blueprint,
            Some(forwarding) => blueprint.forwarded(&forwarding.root),
        };
        let blueprint = match &grpc {
            None => blueprint,
            Some(grpc) => {
                blueprint.into_call(grpc).map_err(|error| DefinitionError::new(format!("{field}.body.json"), error))?
            }
        };
        let auth = step.auth.map(|number| Auth::new(self.auths, number, place.scope(self))).transpose()?;
        let directory = blueprint.directory().map(Into::into);
        let cookies = self.cookies.then(|| CookieRules { sender: Arc::clone(&target.site), directory });
        let keeps_directory = self.cookies && blueprint.directory().is_none();
        let rules = Rules::new(step.expect, step.extract, numbers, place.scope(self), cookies, field)?;
        let condition = place.condition(step.if_, self, field)?;
        let repetition = place.repetition(step.repeat, self, field)?;
        let is_judged = repetition.as_ref().is_some_and(|repetition| repetition.is_judged());
        let method_of_row = match (&websocket, &grpc) {
            (Some(socket), _) => socket.method(),
            (_, Some(_)) => GRPC,
            _ => blueprint.method(),
        };
        Ok(Step {
            name: step.name,
            method: method_of_row.to_owned(),
            target: step.target,
            timeout: limit(step.timeout, field, "timeout")?,
            idle_timeout: limit(step.idle_timeout, field, "idle_timeout")?,
            stream,
            websocket,
            needs_head: grpc.is_some() || rules.needs_head(),
            needs_body: rules.needs_body() || grpc.as_ref().is_some_and(|grpc| !grpc.has_streamed_replies()),
            grpc,
            is_constant: blueprint.is_constant(),
            keeps_directory,
            blueprint,
            auth: auth.map(Box::new),
            rules: (is_judged || !rules.is_plain()).then(|| Box::new(rules)),
            think: Think::new(step.think, &format!("{field}.think"))?,
            turn: place.turn,
            condition,
            repetition,
            flow: place.flow,
        })
    }

    /// The header lines: the defaults, with this Accept, then the target's, then the step's. A later line replaces an
    /// earlier one of that name.
    fn lines(&self, target: usize, own: &[(String, String)], accept: &str, field: &str) -> Vec<Line> {
        let gives =
            |lines: &[(String, String)], name: &str| lines.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let of_target = &self.lines[target];
        let line = |field, name: &str, value: &str| Line { field, name: name.into(), value: value.into() };
        let mut lines = Vec::new();
        for (name, value) in self.defaults {
            if !gives(of_target, name) && !gives(own, name) {
                let value = if *name == "Accept" { accept } else { value };
                lines.push(line(String::new(), name, value));
            }
        }
        for (index, (name, value)) in of_target.iter().enumerate() {
            if !gives(own, name) {
                lines.push(line(format!("targets[{target}].headers[{index}]"), name, value));
            }
        }
        for (index, (name, value)) in own.iter().enumerate() {
            lines.push(line(format!("{field}.headers[{index}]"), name, value));
        }
        lines
    }
}

/// The line for a proxy that asks who sends a request.
fn credentials(forwarding: &Forwarding, lines: &[Line], target: usize) -> Option<Line> {
    let name = "Proxy-Authorization";
    let is_given = lines.iter().any(|line| line.name.eq_ignore_ascii_case(name));
    let value = forwarding.authorization.clone().filter(|_| !is_given)?;
    Some(Line { field: format!("targets[{target}].proxy"), name: name.into(), value })
}

/// The Accept header of a request without one.
fn accept(stream: Option<Stream>) -> &'static str {
    if stream.map(Stream::format) == Some(EventFormat::Sse) { "text/event-stream" } else { "*/*" }
}

fn stream_of(step: &definition::Step, field: &str) -> Result<Option<Stream>, DefinitionError> {
    if step.slo.is_some() && step.stream != Some(definition::Stream::Llm) {
        return Err(DefinitionError::new(format!("{field}.slo"), "objectives are those of a stream of the kind llm"));
    }
    Ok(Some(match step.stream {
        None => return Ok(None),
        Some(definition::Stream::Sse) => Stream::Events(EventFormat::Sse),
        Some(definition::Stream::Lines) => Stream::Events(EventFormat::Lines),
        Some(definition::Stream::Llm) => Stream::Text(step.slo.as_ref().map(|slo| objectives(slo, field)).transpose()?),
    }))
}

fn objectives(slo: &definition::Slo, field: &str) -> Result<Objectives, DefinitionError> {
    Objectives::new(slo.first_token, slo.time_per_token, slo.time, &format!("{field}.slo"))
}

/// Refuses rules that need the whole body. A stream may have no end, so its body is not kept.
fn check_stream(step: &definition::Step, field: &str) -> Result<(), DefinitionError> {
    let definition::Expect { contains, lacks, json, absent, .. } = &step.expect;
    let of_body = |from| !matches!(from, definition::From::Header | definition::From::Cookie);
    let wrong = [
        (!contains.is_empty()).then(|| format!("{field}.expect.contains")),
        (!lacks.is_empty()).then(|| format!("{field}.expect.lacks")),
        (!json.is_empty()).then(|| format!("{field}.expect.json")),
        (!absent.is_empty()).then(|| format!("{field}.expect.absent")),
        step.extract.iter().position(|each| of_body(each.from)).map(|index| format!("{field}.extract[{index}].what")),
    ];
    match wrong.into_iter().flatten().next() {
        None => Ok(()),
        Some(place) => Err(DefinitionError::new(place, "it reads the body, but the body of a stream is not kept")),
    }
}

/// A time limit of the step at `field`, ns.
fn limit(seconds: Option<f64>, field: &str, name: &str) -> Result<u64, DefinitionError> {
    seconds.map_or(Ok(0), |seconds| nanos(seconds, &format!("{field}.{name}")))
}

/// What follows each step of a flow.
fn turns(steps: &[definition::Step]) -> Vec<Turn> {
    let turn = |(index, step): (usize, &definition::Step)| match steps.get(index + 1) {
        _ if step.repeat.is_some() => Turn::Asks,
        None => Turn::End,
        Some(next) if next.if_.is_some() => Turn::Asks,
        Some(_) => Turn::Next,
    };
    steps.iter().enumerate().map(turn).collect()
}

/// The position of a step in its flow.
#[derive(Clone, Copy)]
struct Place<'a> {
    flow: u32,
    turn: Turn,
    /// The first step of the flow.
    start: usize,
    /// Number of variables that earlier steps extract.
    extracted: usize,
    /// The same with those of this step.
    known: usize,
    /// Variables that are there before their step, in a repetition.
    repeated: &'a [String],
    /// The repetition that the step belongs to, if only to one.
    innermost: Option<(u32, Extent)>,
    /// The repetition that ends with the step.
    ends: Option<(u32, Extent)>,
    /// Names of the flow's variables.
    variables: &'a [String],
}

impl<'a> Place<'a> {
    fn scope(self, shared: &'a Shared<'_>) -> Scope<'a> {
        self.scope_after(self.extracted, shared)
    }

    /// `extracted`: number of variables.
    fn scope_after(self, extracted: usize, shared: &'a Shared<'_>) -> Scope<'a> {
        let (extracted, later) = self.variables.split_at(extracted);
        let (repeated, repetition) = (self.repeated, self.innermost.map(|(number, _)| number));
        Scope { feeders: shared.feeders, extracted, later, repeated, repetition, depth: 0, tokens: shared.tokens }
    }

    fn condition(
        self,
        text: Option<String>,
        shared: &Shared<'_>,
        field: &str,
    ) -> Result<Option<Box<Condition>>, DefinitionError> {
        let condition = text.map(|text| Condition::new(&text, self.scope(shared)));
        let condition = condition.transpose().map_err(|reason| DefinitionError::new(format!("{field}.if"), reason))?;
        Ok(condition.map(Box::new))
    }

    fn repetition(
        self,
        repeat: Option<definition::Repeat>,
        shared: &Shared<'_>,
        field: &str,
    ) -> Result<Option<Box<Repetition>>, DefinitionError> {
        let Some((repeat, ends)) = repeat.zip(self.ends) else { return Ok(None) };
        let scope = self.scope_after(self.known, shared);
        Repetition::new(repeat, ends, self.start, scope, field).map(Box::new).map(Some)
    }
}

/// The variables that the steps of a flow extract, in the order of first extraction. Several steps may extract the same
/// one.
fn variables(steps: &[definition::Step], field: &str) -> Result<Vec<String>, DefinitionError> {
    let mut names: Vec<String> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        for (place, extract) in step.extract.iter().enumerate() {
            let wrong =
                |reason: String| DefinitionError::new(format!("{field}.steps[{index}].extract[{place}].into"), reason);
            check_name(&extract.into).map_err(wrong)?;
            if step.extract[..place].iter().any(|other| other.into == extract.into) {
                return Err(wrong(format!("this step already extracts {}", extract.into)));
            }
            if !names.contains(&extract.into) {
                names.push(extract.into.clone());
            }
        }
    }
    Ok(names)
}

/// The numbers of the variables that a step extracts.
fn numbers(step: &definition::Step, variables: &[String]) -> Vec<u32> {
    step.extract.iter().map(|extract| number_of(&extract.into, variables)).collect()
}

fn number_of(name: &str, variables: &[String]) -> u32 {
    variables.iter().position(|known| known == name).expect("all are known") as u32
}
