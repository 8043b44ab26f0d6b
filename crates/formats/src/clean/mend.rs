//! One line without what terminals, mail and web pages put into it.

/// The line, if there is nothing to mend in it: printable ASCII without `&`, possibly quoted.
pub(super) fn plain(line: &[u8]) -> Option<&str> {
    // No branch within the loop: it becomes vector instructions.
    let odd = line.iter().fold(false, |odd, &byte| {
        odd | ((byte.wrapping_sub(0x20) >= 0x5f) & (byte != b'\t')) | (byte == b'&')
    });
    if odd { None } else { std::str::from_utf8(line).ok() }
}

/// The line without control codes, odd blanks and, where `entities` are no content, HTML entities.
pub(super) fn mend(line: &[u8], entities: bool, out: &mut String) {
    out.clear();
    for chunk in line.utf8_chunks() {
        characters(chunk.valid(), out);
        for &byte in chunk.invalid() {
            // Blanks that don't break, of Latin-1 and of the consoles of Windows in western Europe.
            out.push(if matches!(byte, 0xa0 | 0xff) { ' ' } else { char::REPLACEMENT_CHARACTER });
        }
    }
    if entities && out.contains('&') {
        *out = decoded(out);
    }
}

fn characters(text: &str, out: &mut String) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => rest = after_escape(rest.as_str()).chars(),
            '\u{9b}' => rest = after_sequence(rest.as_str()).chars(),
            '\u{8}' => drop(out.pop()),
            '\t' => out.push(c),
            '\u{a0}' | '\u{202f}' | '\u{2007}'..='\u{200a}' | '\u{2002}'..='\u{2005}' => out.push(' '),
            // Marks without width or with an effect on the direction of text.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
}

/// What follows an escape code of which the first character has been taken.
fn after_escape(text: &str) -> &str {
    let mut rest = text.chars();
    match rest.next() {
        Some('[') => after_sequence(rest.as_str()),
        // Titles and the like, up to a bell or a string terminator.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            let text = rest.as_str();
            match text.find(['\u{7}', '\u{9c}', '\u{1b}']) {
                Some(at) => {
                    let rest = text.get(at..).unwrap_or_default();
                    let rest = rest.strip_prefix("\u{1b}\\").unwrap_or(rest);
                    rest.strip_prefix(['\u{7}', '\u{9c}']).unwrap_or(rest)
                }
                None => "",
            }
        }
        // Character sets: one more letter.
        Some('(' | ')' | '*' | '+' | '#' | ' ' | '%') => {
            rest.next();
            rest.as_str()
        }
        Some('\u{1b}') => text,
        _ => rest.as_str(),
    }
}

/// What follows parameters and the letter that ends them.
fn after_sequence(text: &str) -> &str {
    let end = text.find(|c: char| !matches!(c, ' '..='?'));
    let rest = end.and_then(|at| text.get(at..)).unwrap_or_default();
    rest.strip_prefix(|c: char| matches!(c, '@'..='~')).unwrap_or(rest)
}

/// With HTML's entities as the characters they stand for.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match entity(from) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character that the entity at the start of `text` stands for, and what follows it.
fn entity(text: &str) -> Option<(char, &str)> {
    // The longest name here has six letters, the longest number seven digits and two marks: no need to look further,
    // which would take a line of many such signs the square of its length.
    let end = text.bytes().take(11).position(|byte| byte == b';')?;
    Some((character(text.get(1..end)?)?, text.get(end + 1..)?))
}

fn character(name: &str) -> Option<char> {
    let c = match name {
        "gt" => '>',
        "lt" => '<',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" => ' ',
        "micro" => 'µ',
        "plusmn" => '±',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    match c {
        '\u{a0}' | '\u{202f}' => Some(' '),
        c if c.is_control() && c != '\t' => None,
        c => Some(c),
    }
}

/// Marks by which web pages end lines and set text apart.
const TAGS: [&str; 12] =
    ["br", "p", "pre", "code", "tt", "div", "span", "font", "td", "tr", "li", "blockquote"];

/// Without what mail and pages put around a line: in an archive of mails quotes stand within tags.
pub(super) fn bare(text: &str) -> &str {
    let inside = untagged(unquoted(text));
    if inside.len() < text.len() { unquoted(inside) } else { inside }
}

/// Without tags of HTML at both ends: of a page that was saved as it is.
fn untagged(text: &str) -> &str {
    let mut text = text;
    while let Some((tag, rest)) = text.trim_start().strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && is_tag(tag)
    {
        text = rest;
    }
    while let Some((rest, tag)) = text.trim_end().strip_suffix('>').and_then(|rest| rest.rsplit_once('<'))
        && is_tag(tag)
    {
        text = rest;
    }
    text
}

/// `br`, `br /`, `/pre`, `div class="x"`
fn is_tag(inside: &str) -> bool {
    let name = inside.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
    TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
}

/// Without the `>` of quoted mail: each with the one blank behind it, so that columns stay.
fn unquoted(text: &str) -> &str {
    let mut text = text;
    let mut inner = text;
    while let Some(rest) = inner.strip_prefix('>') {
        // `>=2000` is a bound.
        if rest.starts_with('=') {
            break;
        }
        text = rest.strip_prefix(' ').unwrap_or(rest);
        inner = text.trim_start();
    }
    text
}
