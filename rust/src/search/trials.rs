//! Perturbations: a few neighbouring variables are thrown about, and the result is kept unless it is worse.

use super::state::State;
use crate::algebra::hash::Random;

/// Throw a few neighbours about, descend, and keep what is not worse; how many trials were made and how many were better.
///
/// Two of three trials begin with a suspect: there, on sparse graphs of 400 and 1000 variables, one in thirty was better;
/// elsewhere one in a thousand.
pub(super) fn perturb(
    state: &mut State,
    trials: usize,
    random: &mut Random,
    in_time: &impl Fn() -> bool,
) -> (usize, usize) {
    let (mut made, mut improvements) = (0, 0);
    let tolerance = state.tolerance();
    let suspects = state.suspects();
    while made < trials && in_time() {
        made += 1;
        let first = if random.below(3) > 0 && !suspects.is_empty() {
            suspects[random.below(suspects.len())]
        } else {
            random.below(state.dim()) as u32
        };
        throw(state, first, random);
        state.descend(in_time);
        let change = state.change();
        // An order as good as the last one is a way out of a plateau. Out of time, a descent may have been cut short.
        if change <= tolerance {
            improvements += usize::from(change < -tolerance);
            state.keep();
        } else {
            state.undo();
        }
    }
    (made, improvements)
}

/// Reverse an edge or move a variable, and with it up to two of its neighbours.
///
/// Where they come to lie they may need causes that are no candidates, because paths to them cancel out in Θ and in the
/// correlations alike.
fn throw(state: &mut State, first: u32, random: &mut Random) {
    let causes = state.causes(first);
    if !causes.is_empty() && random.below(2) == 0 {
        let cause = causes[random.below(causes.len())];
        state.reverse(cause, first);
    } else {
        state.jump(first, random);
    }
    state.look_back(first);
    for _ in 0..random.below(3) {
        let causes = state.causes(first);
        let near = if !causes.is_empty() && random.below(2) == 0 { causes } else { state.candidates(first) };
        if near.is_empty() {
            break;
        }
        let other = near[random.below(near.len())];
        state.jump(other, random);
        state.look_back(other);
    }
}

impl State<'_, '_> {
    /// Throw a variable somewhere among its candidates.
    fn jump(&mut self, variable: u32, random: &mut Random) {
        let mut others = Vec::new();
        self.neighbours(variable, &mut others);
        if others.is_empty() {
            return;
        }
        let (first, last) = self.bounds(variable, &others);
        let t = first + random.below(last - first + 1);
        self.put(variable, &others, t);
    }

    /// Put an effect right before one of its causes.
    fn reverse(&mut self, cause: u32, effect: u32) {
        let mut others = Vec::new();
        self.neighbours(effect, &mut others);
        let (first, _) = self.bounds(effect, &others);
        if let Some(t) = others.iter().position(|&i| i == cause).filter(|&t| t >= first) {
            self.put(effect, &others, t);
        }
    }

    /// Variables in triangles, and their neighbours, some more than once.
    ///
    /// A wrong order joins causes of a common effect that a sparse true graph leaves apart.
    fn suspects(&self) -> Vec<u32> {
        let mut in_triangle = vec![false; self.dim()];
        for (effect, parents) in self.parents.iter().enumerate() {
            for (k, &a) in parents.causes().iter().enumerate() {
                for &b in &parents.causes()[..k] {
                    if self.causes(a).contains(&b) || self.causes(b).contains(&a) {
                        in_triangle[effect] = true;
                        in_triangle[a as usize] = true;
                        in_triangle[b as usize] = true;
                    }
                }
            }
        }
        let mut suspects: Vec<u32> = (0..self.dim() as u32).filter(|&i| in_triangle[i as usize]).collect();
        for effect in 0..self.dim() as u32 {
            for &cause in self.causes(effect) {
                suspects.extend(in_triangle[cause as usize].then_some(effect));
                suspects.extend(in_triangle[effect as usize].then_some(cause));
            }
        }
        suspects
    }
}
