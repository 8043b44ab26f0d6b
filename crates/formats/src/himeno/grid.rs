//! The grids that have names.

/// The benchmark's own count of operations for a point.
pub const FLOP_PER_POINT: f64 = 34.0;

/// Names and points along i, j and k in C's order. Fortran has them mirrored.
const NAMED: [(&str, [i64; 3]); 5] = [
    ("XS", [32, 32, 64]),
    ("S", [64, 64, 128]),
    ("M", [128, 128, 256]),
    ("L", [256, 256, 512]),
    ("XL", [512, 512, 1024]),
];

/// The grid of these extents, as printed: `mimax` may be one more than the points, `imax` one less.
pub fn named(extents: [i64; 3]) -> Option<(&'static str, [i64; 3])> {
    let is = |points: [i64; 3]| points.iter().zip(extents).all(|(n, extent)| (n - extent).abs() <= 1);
    let mirrored = |[i, j, k]: [i64; 3]| [k, j, i];
    NAMED.into_iter().find(|(_, points)| is(*points) || is(mirrored(*points)))
}

/// The points of the grid of that name.
pub fn of_name(name: &str) -> Option<[i64; 3]> {
    NAMED.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, points)| points)
}

/// Operations of one iteration when `border` layers of points are left out along each axis; the benchmark's
/// definition is 2.
pub fn operations(points: [i64; 3], border: i64) -> f64 {
    points.iter().map(|n| (n - border) as f64).product::<f64>() * FLOP_PER_POINT
}
