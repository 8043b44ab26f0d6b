//! What plotters' own SVG backend cannot do: tooltips, groups with classes, colours by role instead of by value,
//! tenths of a pixel. A small backend of our own, so that one code path still draws every figure.
//!
//! Colours travel through plotters as [`Role`]s packed into the red byte, and become literal colours or CSS
//! variables when the SVG is written: renderers without CSS variables draw everything black otherwise.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::rc::Rc;

use plotters::style::RGBAColor;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};

/// Units of plotters' whole-numbered coordinates in a pixel.
pub const UNITS: i32 = 10;

/// Fonts by preference; the last one always exists.
pub const FONTS: &str = "system-ui, 'Noto Sans', 'Noto Sans CJK JP', 'Hiragino Sans', sans-serif";

/// Where an SVG is going to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A file of its own for a light page: literal colours on paper.
    Light,
    /// A file of its own for a dark page.
    Dark,
    /// Inside the HTML report: CSS variables, so that it follows the page.
    Inline,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Titles and values.
    Text,
    /// Axis labels.
    Muted,
    /// Grid lines.
    Grid,
    /// The page.
    Paper,
    /// Ceilings.
    Ceiling,
    /// The zone in which differences do not matter.
    Zone,
    /// The data of an arm, by its index.
    Arm(usize),
}

/// Arms have so many colours before they repeat. Colour-blind safe in this order.
pub const ARM_COLOURS: usize = 6;

const LIGHT: [&str; 6] = ["#1f2328", "#656d76", "#e6e8eb", "#ffffff", "#9a6700", "#eceef1"];
const DARK: [&str; 6] = ["#e6edf3", "#8b949e", "#21262d", "#0d1117", "#d29922", "#1b222b"];
const VARIABLES: [&str; 6] = ["--text", "--muted", "--grid", "--paper", "--ceiling", "--zone"];
const LIGHT_ARMS: [&str; ARM_COLOURS] = ["#0072b2", "#d55e00", "#009e73", "#a05195", "#5b5f66", "#b8860b"];
const DARK_ARMS: [&str; ARM_COLOURS] = ["#58a6ff", "#ff9e64", "#3fb950", "#d2a8ff", "#aab4c0", "#e3c341"];

impl Role {
    fn index(self) -> usize {
        match self {
            Role::Text => 0,
            Role::Muted => 1,
            Role::Grid => 2,
            Role::Paper => 3,
            Role::Ceiling => 4,
            Role::Zone => 5,
            Role::Arm(arm) => 6 + arm % ARM_COLOURS,
        }
    }

    /// The colour under which this role travels through plotters.
    pub fn colour(self, alpha: f64) -> RGBAColor {
        RGBAColor(self.index() as u8, 0, 0, alpha)
    }
}

fn css(index: usize, flavour: Flavour) -> String {
    let (base, arms) = match flavour {
        Flavour::Light => (&LIGHT, &LIGHT_ARMS),
        Flavour::Dark => (&DARK, &DARK_ARMS),
        Flavour::Inline => {
            return match index.checked_sub(6) {
                Some(arm) => format!("var(--arm{})", arm % ARM_COLOURS),
                None => format!("var({})", VARIABLES[index]),
            };
        }
    };
    match index.checked_sub(6) {
        Some(arm) => arms[arm % ARM_COLOURS].to_owned(),
        None => base[index].to_owned(),
    }
}

/// The CSS variables of the inline flavour, for a light or a dark page.
pub fn variables(flavour: Flavour) -> String {
    let names = (0..6).map(|index| (VARIABLES[index].to_owned(), index));
    let arms = (0..ARM_COLOURS).map(|arm| (format!("--arm{arm}"), 6 + arm));
    names.chain(arms).fold(String::new(), |mut out, (name, index)| {
        let _ = write!(out, "{name}:{};", css(index, flavour));
        out
    })
}

/// `text` inside XML or HTML, in an attribute or between tags. What XML has no character for becomes U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The SVG being written; shared by the backend and the one who draws, since plotters owns the backend.
pub struct Page {
    body: String,
    flavour: Flavour,
    size: (u32, u32),
    tooltip: Option<String>,
}

/// A handle on the page beside plotters.
#[derive(Clone)]
pub struct Pen(Rc<RefCell<Page>>);

/// The backend that plotters draws with.
pub struct Ink(Rc<RefCell<Page>>);

/// A page of `size` pixels.
pub fn page(size: (u32, u32), flavour: Flavour) -> (Pen, Ink) {
    let page = Page { body: String::new(), flavour, size, tooltip: None };
    let shared = Rc::new(RefCell::new(page));
    (Pen(shared.clone()), Ink(shared))
}

impl Pen {
    /// The next shape shows `text` under the pointer.
    pub fn tooltip(&self, text: String) {
        self.0.borrow_mut().tooltip = Some(text);
    }

    /// Opens a group that belongs to an arm, so that a page can dim it.
    pub fn open_arm(&self, arm: usize) {
        let _ = write!(self.0.borrow_mut().body, "<g class=\"arm\" data-arm=\"{arm}\">");
    }

    /// Closes the group.
    pub fn close(&self) {
        self.0.borrow_mut().body.push_str("</g>");
    }

    /// The SVG. `label` says for those who cannot see it what it shows.
    pub fn finish(&self, label: &str) -> String {
        let page = self.0.borrow();
        let (width, height) = page.size;
        // Inline, the page's CSS sizes it and HTML knows the namespace; a file says both itself.
        let own = match page.flavour {
            Flavour::Inline => String::new(),
            Flavour::Light | Flavour::Dark => {
                format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"")
            }
        };
        format!(
            "<svg{own} viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{}\" font-family=\"{FONTS}\">{}</svg>\n",
            escape(label),
            page.body
        )
    }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl Ink {
    /// Writes one shape: `tag` with `attributes`, its tooltip inside.
    fn shape(&self, tag: &str, attributes: &str) -> Drawn {
        let mut page = self.0.borrow_mut();
        let tooltip = page.tooltip.take();
        let _ = match tooltip {
            Some(text) => write!(page.body, "<{tag}{attributes}><title>{}</title></{tag}>", escape(&text)),
            None => write!(page.body, "<{tag}{attributes}/>"),
        };
        Ok(())
    }

    fn paint(&self, name: &str, colour: BackendColor) -> String {
        let paint = css(usize::from(colour.rgb.0).min(5 + ARM_COLOURS), self.0.borrow().flavour);
        match colour.alpha {
            alpha if alpha >= 1.0 => format!(" {name}=\"{paint}\""),
            alpha => format!(" {name}=\"{paint}\" {name}-opacity=\"{alpha:.2}\""),
        }
    }

    fn style<S: BackendStyle>(&self, style: &S, fill: bool) -> String {
        match fill {
            true => self.paint("fill", style.color()),
            false => {
                let width = px(style.stroke_width().min(1 << 20) as i32);
                format!(" fill=\"none\"{} stroke-width=\"{width}\"", self.paint("stroke", style.color()))
            }
        }
    }

    fn points(points: impl IntoIterator<Item = BackendCoord>) -> String {
        let mut out = String::new();
        for (x, y) in points {
            let gap = if out.is_empty() { "" } else { " " };
            let _ = write!(out, "{gap}{},{}", px(x), px(y));
        }
        out
    }
}

/// Units as pixels, without needless decimals.
fn px(units: i32) -> String {
    match units % UNITS {
        0 => (units / UNITS).to_string(),
        _ => format!("{:.1}", f64::from(units) / f64::from(UNITS)),
    }
}

/// About how wide `text` will be, in parts of the font size. Renderers differ: leave room, never rely on it.
pub fn ems(text: &str) -> f64 {
    // Wide characters of East Asian scripts begin here.
    text.chars().map(|c| if c >= '\u{1100}' { 1.0 } else { 0.57 }).sum()
}

impl DrawingBackend for Ink {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.0.borrow().size;
        (width * UNITS as u32, height * UNITS as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + UNITS, point.1 + UNITS), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let ((x1, y1), (x2, y2)) = (from, to);
        let ends = format!(" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", px(x1), px(y1), px(x2), px(y2));
        self.shape("line", &format!("{ends}{}", self.style(style, false)))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let (x, y) = (upper_left.0.min(bottom_right.0), upper_left.1.min(bottom_right.1));
        let (w, h) = ((bottom_right.0 - upper_left.0).abs(), (bottom_right.1 - upper_left.1).abs());
        let place = format!(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(w), px(h));
        self.shape("rect", &format!("{place}{}", self.style(style, fill)))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let points = Ink::points(path);
        let round = " stroke-linejoin=\"round\" stroke-linecap=\"round\"";
        self.shape("polyline", &format!(" points=\"{points}\"{}{round}", self.style(style, false)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let radius = px(radius.min(1 << 20) as i32);
        let place = format!(" cx=\"{}\" cy=\"{}\" r=\"{radius}\"", px(center.0), px(center.1));
        self.shape("circle", &format!("{place}{}", self.style(style, fill)))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let points = Ink::points(vert);
        self.shape("polygon", &format!(" points=\"{points}\"{}", self.style(style, true)))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, pos: BackendCoord) -> Drawn {
        if style.color().alpha == 0.0 || text.is_empty() {
            return Ok(());
        }
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        // Baselines by arithmetic: dominant-baseline differs between renderers.
        let size = style.size();
        let drop = match style.anchor().v_pos {
            VPos::Top => 0.8,
            VPos::Center => 0.35,
            VPos::Bottom => -0.25,
        };
        let (x, y) = (px(pos.0), px(pos.1 + (size * drop).round() as i32));
        let weight = match style.style() {
            FontStyle::Bold => " font-weight=\"600\"",
            _ => "",
        };
        let fill = self.paint("fill", style.color());
        let size = px(size.round() as i32);
        let mut page = self.0.borrow_mut();
        let _ = write!(
            page.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{fill}>{}</text>",
            escape(text)
        );
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size();
        Ok(((ems(text) * size).round() as u32, size.round() as u32))
    }

    fn blit_bitmap(&mut self, _pos: BackendCoord, _size: (u32, u32), _source: &[u8]) -> Drawn {
        // No figure holds a bitmap.
        Ok(())
    }
}
