//! What a player adds to requests whose steps have a [`Scheme`].

use super::{Player, no_value};
use crate::auth::digest::Challenge;
use crate::auth::{Auth, Scheme, sigv4};
use crate::session::Session;
use crate::template::{Context, Missing, Template};

impl Player {
    /// How the request of the session's step says who sends it.
    pub fn scheme(&self, session: &Session) -> Option<Scheme> {
        self.scenario.step(session.step()).scheme()
    }

    /// Writes what tells the token of the session's step from others to `into`: users with the same one share a token.
    /// The error says why the request cannot be sent, here and below.
    pub fn identity(&mut self, session: &Session, into: &mut String) -> Result<(), String> {
        into.clear();
        let (auth, mut context) = self.context(session);
        let Some(Auth::Token(_, form)) = auth else { return Ok(()) };
        let mut is_first = form.has_authorization();
        if !is_first {
            into.push('\n');
        }
        let mut render = || -> Result<(), Missing> {
            for template in form.identity() {
                template.render(&mut context, into)?;
                if std::mem::take(&mut is_first) {
                    into.push('\n');
                }
            }
            Ok(())
        };
        let rendered = render();
        rendered.map_err(|missing| self.missing(session, missing))
    }

    /// The form of the session's step for a token by a refresh token, without that.
    pub fn refresh_form(&mut self, session: &Session) -> Result<String, String> {
        let (auth, mut context) = self.context(session);
        let Some(Auth::Token(_, form)) = auth else { return Ok(String::new()) };
        let mut text = String::new();
        let rendered = Template::render(form.refresh(), &mut context, &mut text);
        rendered.map(|()| text).map_err(|missing| self.missing(session, missing))
    }

    /// The request for a token with this form, and the length of its head. `number`: of the service. `identity`: of the
    /// session that needs it.
    pub fn token_request(&self, number: usize, identity: &str, form: &str) -> Result<(Vec<u8>, usize), String> {
        let Some(service) = &self.scenario.token_services[number] else { return Err("it gives no tokens".into()) };
        service.request(&self.authorities[service.target], identity, form)
    }

    /// Signs the request of the session's step. Returns the new length of its head.
    pub fn sign(&mut self, session: &Session, request: &mut Vec<u8>, head: usize) -> Result<usize, String> {
        let (auth, mut context) = self.context(session);
        let Some(Auth::Signature(signature)) = auth else { return Ok(head) };
        let keys = signature.keys(&mut context);
        let keys = keys.map_err(|missing| self.missing(session, missing))?;
        let millis = (self.clock)();
        Ok(sigv4::sign(&keys, &mut self.day_key, millis, request, head))
    }

    /// Answers a challenge in the request of the session's step. Returns the new length of its head.
    pub fn answer(
        &mut self,
        session: &Session,
        challenge: &mut Challenge,
        request: &mut Vec<u8>,
        head: usize,
    ) -> Result<usize, String> {
        let (auth, mut context) = self.context(session);
        let Some(Auth::Digest(digest)) = auth else { return Ok(head) };
        let login = digest.login(&mut context);
        let login = login.map_err(|missing| self.missing(session, missing))?;
        let mut nonce = String::new();
        self.random.push_uuid(&mut nonce);
        Ok(challenge.answer(&login, &nonce, request, head))
    }

    fn context<'a>(&'a mut self, session: &'a Session) -> (Option<&'a Auth>, Context<'a>) {
        let Self { scenario, random, clock, .. } = self;
        let auth = scenario.step(session.step()).auth.as_deref();
        (auth, Context { feeders: &scenario.feeders, session, random, clock: *clock })
    }

    #[cold]
    fn missing(&self, session: &Session, Missing(number): Missing) -> String {
        let step = self.scenario.step(session.step());
        no_value(&self.scenario.flows[step.flow as usize].variables[number as usize])
    }
}
