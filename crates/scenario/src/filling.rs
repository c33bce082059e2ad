//! Values for texts with variables in expectations.

use crate::feeder::Feeder;
use crate::random::Random;
use crate::session::Session;
use crate::template::{Context, Missing, Template};

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
        self.sources.text.clear();
        self.push(template).expect("missing values were found before");
        self.sources.text
    }

    /// Whether two texts are equal. One that lacks a value is empty.
    pub(crate) fn equal(&mut self, left: &Template, right: &Template) -> bool {
        self.sources.text.clear();
        self.push_or_nothing(left);
        let end = self.sources.text.len();
        self.push_or_nothing(right);
        let (left, right) = self.sources.text.split_at(end);
        left == right
    }

    fn push_or_nothing(&mut self, template: &Template) {
        let start = self.sources.text.len();
        if self.push(template).is_err() {
            self.sources.text.truncate(start);
        }
    }

    fn push(&mut self, template: &Template) -> Result<(), Missing> {
        let Sources { feeders, random, text } = &mut self.sources;
        let clock = || unreachable!("fixed texts have no times");
        template.render(&mut Context { feeders, session: self.session, random, clock }, text)
    }
}
