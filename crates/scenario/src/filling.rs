//! Values for texts with variables in expectations.

use crate::feeder::Feeder;
use crate::random::Random;
use crate::session::Session;
use crate::template::{Context, Template};

/// The sources of values besides the user's session, and a buffer.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) feeders: &'a [Feeder],
    pub(crate) random: &'a mut Random,
    pub(crate) text: &'a mut String,
}

/// Fills texts for one user.
#[derive(Debug)]
pub(crate) struct Filling<'a> {
    pub(crate) session: &'a Session,
    pub(crate) sources: Sources<'a>,
}

impl Filling<'_> {
    /// The text with its values, all of which the session has.
    pub(crate) fn fill(&mut self, template: &Template) -> &str {
        let Sources { feeders, random, text } = &mut self.sources;
        text.clear();
        let clock = || unreachable!("fixed texts have no times");
        let filled = template.render(&mut Context { feeders, session: self.session, random, clock }, text);
        filled.expect("missing values were found before");
        text
    }
}
