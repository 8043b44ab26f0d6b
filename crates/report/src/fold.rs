//! Sentences that differ in numbers only, told once: numbers that differ become ranges.

/// A sentence, or several that are alike.
pub struct Folded(Vec<Piece>);

/// Words, what stands in parentheses, or a number that may grow into a range.
enum Piece {
    Words(String),
    Aside(String),
    Number(f64, String, f64, String),
}

impl Folded {
    /// One sentence.
    pub fn of(text: &str) -> Folded {
        Folded(pieces(text))
    }

    /// Whether another differs in numbers and asides only.
    pub fn is_like(&self, other: &Folded) -> bool {
        let same = |(a, b): (&Piece, &Piece)| match (a, b) {
            (Piece::Words(a), Piece::Words(b)) => a == b,
            (Piece::Aside(_), Piece::Aside(_)) | (Piece::Number(..), Piece::Number(..)) => true,
            _ => false,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// Takes the numbers of one that is alike into the ranges.
    pub fn widen(&mut self, other: &Folded) {
        self.0.iter_mut().zip(&other.0).for_each(|(range, piece)| range.widen(piece));
    }

    /// The sentence.
    pub fn text(&self) -> String {
        self.0.iter().map(Piece::text).collect()
    }
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Piece::Words(text) | Piece::Aside(text) => text.clone(),
            Piece::Number(_, low, _, high) if low == high => low.clone(),
            Piece::Number(_, low, _, high) => format!("{low}-{high}"),
        }
    }

    fn widen(&mut self, other: &Piece) {
        if let (Piece::Number(low, low_text, high, high_text), Piece::Number(from, from_text, to, to_text)) =
            (self, other)
        {
            if from < low {
                (*low, *low_text) = (*from, from_text.clone());
            }
            if to > high {
                (*high, *high_text) = (*to, to_text.clone());
            }
        }
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '(' => rest.find(')').map_or(rest.len(), |at| at + 1),
            c if c.is_ascii_digit() => {
                rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())
            }
            _ => rest.find(|c: char| c == '(' || c.is_ascii_digit()).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        found.push(match (first, piece.trim_end_matches('.').parse::<f64>()) {
            ('(', _) => Piece::Aside(piece.to_owned()),
            (c, Ok(value)) if c.is_ascii_digit() => {
                Piece::Number(value, piece.to_owned(), value, piece.to_owned())
            }
            _ => Piece::Words(piece.to_owned()),
        });
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        let check = |texts: &[&str], told: Option<&str>| {
            let mut all = Folded::of(texts[0]);
            let alike = texts.iter().all(|text| all.is_like(&Folded::of(text)));
            texts.iter().for_each(|text| all.widen(&Folded::of(text)));
            assert_eq!(alike.then(|| all.text()).as_deref(), told, "{texts:?}");
        };
        check(&["moved by +3.2 %", "moved by +1 %", "moved by +2 %"], Some("moved by +1-3.2 %"));
        check(&["at 9 Gbit/s (run 1)", "at 9 Gbit/s (run 2)"], Some("at 9 Gbit/s (run 1)"));
        check(&["moved by +3.2 %", "moved by -3.2 %"], None);
        check(&["9.4 Gbit/s", "940 Mbit/s"], None);
        check(&["(open ) 1. 2..3 \u{e9}("], Some("(open ) 1. 2..3 \u{e9}("));
        check(&[""], Some(""));
    }
}
