//! Which requests have been answered. Numbers are 16 bits wide and begin anew: as in ping itself, a number is forgotten
//! once half the circle lies between.

/// A set of recent numbers.
#[derive(Debug, Default)]
pub struct Seen {
    words: Vec<u64>,
    latest: Option<u16>,
}

impl Seen {
    /// Whether `number` is in it.
    pub fn has(&self, number: u16) -> bool {
        self.words.get(usize::from(number >> 6)).is_some_and(|word| word >> (number & 63) & 1 == 1)
    }

    /// Adds `number`; true if it was there.
    pub fn add(&mut self, number: u16) -> bool {
        let ahead = self.latest.map_or(0, |latest| number.wrapping_sub(latest));
        if ahead < 1 << 15 {
            // What lies opposite of those passed is old.
            for passed in 0..ahead {
                self.forget(number.wrapping_sub(passed).wrapping_add(1 << 15));
            }
            self.latest = Some(number);
        }
        let there = self.has(number);
        let at = usize::from(number >> 6);
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (number & 63);
        there
    }

    fn forget(&mut self, number: u16) {
        if let Some(word) = self.words.get_mut(usize::from(number >> 6)) {
            *word &= !(1 << (number & 63));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_round() {
        let mut seen = Seen::default();
        for round in 0..3 {
            for number in 0..=u16::MAX {
                assert!(!seen.add(number), "{round} {number}");
            }
        }
        assert!(seen.add(u16::MAX) && seen.add(u16::MAX - 1000));
        // Late, but for the first time.
        let mut seen = Seen::default();
        assert_eq!(
            [1, 3, 2, 3, 70, 4].map(|number| seen.add(number)),
            [false, false, false, true, false, false]
        );
    }
}
