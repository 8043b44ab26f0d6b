//! The page of a comparison of runs that existed already.

use maud::{Markup, html};

use super::body::{Body, text_table};
use super::{shell, text, twelve_rules};
use crate::About;
use crate::compared::Comparison;
use crate::figure::Figure;
use crate::rules::Evidence;
use crate::topics;
use crate::words;

/// The page.
pub fn page(compared: &Comparison<'_>, about: &About, figures: &[Figure]) -> String {
    let body = Body {
        arms: compared.arms(),
        analysis: &compared.analysis,
        figures,
        parts: topics::parts(&compared.analysis),
        counts: compared.counts(),
        scope: compared.scope(),
    };
    let title = words::against(&body.arms);
    let content = html! {
        h1 { (title) }
        p.lead { "Runs that existed already, " (compared.design()) "." }
        (body.decision())
        (said(&compared.rest()))
        (body.ceilings())
        (body.know())
        (body.caveats())
        section {
            h2 { "What was compared" }
            (text_table(compared.sides_table()))
        }
        section {
            h2 { "Method" }
            @for paragraph in compared.method() { p { (paragraph) } }
        }
        @if !about.command.is_empty() {
            section {
                h2 { "Repeat it" }
                pre { code { (about.command) } }
            }
        }
        section {
            h2 { "Appendix" }
            (body.p_values())
            (twelve_rules(&Evidence::of_answers(compared.answers, &compared.analysis)))
        }
    };
    text(&shell(
        about,
        &title,
        "comparison",
        &content,
        &html! { (about.version) " · written " (about.created) },
    ))
}

/// What the figures do not show.
fn said(sentences: &[String]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            section {
                h2 { "In words" }
                ul.notes { @for sentence in sentences { li { (words::micro_inside(sentence)) } } }
            }
        }
    }
}
