//! Finds an element of an HTML page by a CSS selector, and its text or an attribute.
//!
//! The page is read once, without a tree, up to the end of the element.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use lol_html::errors::RewritingError;
use lol_html::html_content::{Element, TextChunk, TextType};
use lol_html::{ElementContentHandlers, HtmlRewriter, MemorySettings, Selector, Settings};

use crate::decode::unescaped_html;
use crate::response::Lack;

/// Memory for the open elements of a page, bytes: some thousands in each other. More would also take long: each end tag
/// looks through them.
const OPEN_ELEMENTS: usize = 256 << 10;

/// Larger pages are not read, bytes: one takes as long as a turn of the loop may.
const MOST_PAGE: usize = 8 << 20;

/// A compiled selector, and what is read of the first element that it finds.
#[derive(Debug)]
pub(crate) struct Css {
    selector: Selector,
    /// As it is written.
    pub(crate) text: String,
    /// `None`: the text.
    attribute: Option<String>,
}

/// What has been read of the element.
#[derive(Debug, Default)]
struct Reading {
    has_begun: bool,
    value: Option<String>,
    text: String,
    /// Where the current piece of text began.
    piece: usize,
}

impl Css {
    /// The error says what is wrong with the selector or the name.
    pub(crate) fn new(text: String, attribute: Option<String>) -> Result<Self, String> {
        let selector = text.parse::<Selector>().map_err(|error| format!("not a CSS selector: {error}"))?;
        Ok(Self { selector, text, attribute })
    }

    /// The value in a page.
    pub(crate) fn find(&self, page: &[u8]) -> Result<String, Lack> {
        if page.len() > MOST_PAGE {
            return Err(Lack::Wrong("the page has more than 8 MiB".into()));
        }
        let reading = Rc::new(RefCell::new(Reading::default()));
        let handlers = ElementContentHandlers::default().element({
            let reading = Rc::clone(&reading);
            move |element: &mut Element<'_, '_>| self.begin(&reading, element)
        });
        let handlers = match self.attribute {
            Some(_) => handlers,
            None => handlers.text({
                let reading = Rc::clone(&reading);
                move |chunk: &mut TextChunk<'_>| {
                    reading.borrow_mut().add(chunk);
                    Ok(())
                }
            }),
        };
        let memory = MemorySettings::new().with_max_allowed_memory_usage(OPEN_ELEMENTS);
        let memory = memory.with_preallocated_parsing_buffer_size(0);
        // Not strict: markup of which a browser makes something else is read as it is written.
        let settings = Settings::new().with_strict(false).with_memory_settings(memory);
        let settings = settings.append_element_content_handler((Cow::Borrowed(&self.selector), handlers));
        let mut reader = HtmlRewriter::new(settings, |_: &[u8]| {});
        let result = reader.write(page).and_then(|()| reader.end());
        match result {
            // A handler stops the reader at the end of the element.
            Ok(()) | Err(RewritingError::ContentHandlerError(_)) => {}
            Err(error) => return Err(Lack::Wrong(format!("its elements are too deep in each other: {error}"))),
        }
        let mut reading = reading.borrow_mut();
        match &self.attribute {
            _ if !reading.has_begun => Err(Lack::Missing),
            Some(name) => reading.value.take().ok_or_else(|| Lack::Wrong(format!("the element has no {name}"))),
            None => Ok(reading.text.trim().to_owned()),
        }
    }

    /// At the start tag of an element that the selector finds.
    fn begin(&self, reading: &Rc<RefCell<Reading>>, element: &mut Element<'_, '_>) -> Result<(), Stop> {
        let mut state = reading.borrow_mut();
        if state.has_begun {
            return Ok(());
        }
        state.has_begun = true;
        if let Some(name) = &self.attribute {
            state.value = element.get_attribute(name).map(|value| unescaped_html(&value));
            return Err(stop());
        }
        let Some(handlers) = element.end_tag_handlers() else { return Err(stop()) };
        let reading = Rc::clone(reading);
        handlers.push(Box::new(move |_| {
            reading.borrow_mut().end_piece(false);
            Err(stop())
        }));
        Ok(())
    }
}

type Stop = Box<dyn std::error::Error + Send + Sync>;

#[cold]
fn stop() -> Stop {
    "the value was found".into()
}

impl Reading {
    fn add(&mut self, chunk: &TextChunk<'_>) {
        self.text.push_str(chunk.as_str());
        if chunk.last_in_text_node() {
            self.end_piece(matches!(chunk.text_type(), TextType::Data | TextType::RCData));
        }
    }

    /// `has_entities`: unlike those of a script.
    fn end_piece(&mut self, has_entities: bool) {
        if has_entities {
            let decoded = unescaped_html(&self.text[self.piece..]);
            self.text.truncate(self.piece);
            self.text.push_str(&decoded);
        }
        self.piece = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::Css;
    use crate::response::Lack;

    fn find(selector: &str, attribute: Option<&str>, page: &str) -> Result<String, Lack> {
        Css::new(selector.into(), attribute.map(Into::into)).unwrap().find(page.as_bytes())
    }

    #[test]
    fn the_first_element_gives_its_text_or_an_attribute() {
        let form = r#"<!doctype html><form><input name=q value=1><INPUT type="hidden" NAME='csrf' value="a&amp;b&#x21;">
            <p class="note big"> one &lt;two&gt; <b>three</b><!-- no --></p><p>4</p></form>
            <script id="state">{"a": "&amp;<b>"}</script><textarea>t&amp;<b></textarea><br><p>open <i>end"#;
        for (selector, attribute, expected) in [
            ("input[name=csrf]", Some("value"), "a&b!"),
            ("form > input:nth-of-type(2)", Some("type"), "hidden"),
            ("p.note.big", None, "one <two> three"),
            ("form p:not(.note)", None, "4"),
            ("b, i", None, "three"),
            ("#state", None, "{\"a\": \"&amp;<b>\"}"),
            ("textarea", None, "t&<b>"),
            ("br", None, ""),
            ("i", None, "end"),
        ] {
            assert_eq!(find(selector, attribute, form).as_deref(), Ok(expected), "{selector}");
        }
        assert_eq!(find("table", None, form), Err(Lack::Missing));
        assert_eq!(find("b", Some("id"), form), Err(Lack::Wrong("the element has no id".into())));
        assert_eq!(find("b", None, ""), Err(Lack::Missing));
        let long = format!("<p>{}&amp;{}</p>", "x".repeat(1023), "y".repeat(5000));
        assert_eq!(find("p", None, &long).unwrap().len(), 1023 + 1 + 5000);
        assert_eq!(Css::new("p".into(), None).unwrap().find(b"<p>a\xff").as_deref(), Ok("a\u{fffd}"));
    }

    #[test]
    fn a_selector_that_is_none_is_refused() {
        for selector in ["", "[", "a + b", "li:last-child", "div:has(a)", "a::text"] {
            let error = Css::new(selector.into(), None).unwrap_err();
            assert!(error.starts_with("not a CSS selector: "), "{error}");
        }
    }

    #[test]
    fn a_page_of_tags_in_each_other_ends_with_an_error() {
        let deep = "<div>".repeat(200_000);
        let unmatched = format!("{}{}", "<div>".repeat(500), "<p></x>".repeat(500));
        for page in [deep.clone(), deep + &"<p>".repeat(100_000), "<b><a>".repeat(100_000)] {
            let error = find("div p", None, &page).unwrap_err();
            assert!(matches!(&error, Lack::Wrong(why) if why.starts_with("its elements are too deep")), "{error:?}");
        }
        assert_eq!(find("a", None, &unmatched), Err(Lack::Missing));
        let long = format!("<p>a</p>{}", " ".repeat(8 << 20));
        assert_eq!(find("p", None, &long), Err(Lack::Wrong("the page has more than 8 MiB".into())));
    }
}
