//! Trials: a few neighbouring variables are moved at random, and the descent from there is kept unless it is worse.

use super::state::State;
use crate::algebra::hash::Random;

/// Make trials; returns how many were made and how many improved the score.
///
/// Two of three trials begin at a suspect. On sparse graphs of 400 and 1000 variables, one in thirty of these improved
/// the score, and one in a thousand of the others.
pub(super) fn make_trials(
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
        perturb(state, first, random);
        state.descend(in_time);
        let change = state.change();
        // Keeping an equally good order is a way off a plateau. A descent cut short by the time limit is often worse.
        if change <= tolerance {
            improvements += usize::from(change < -tolerance);
            state.keep();
        } else {
            state.undo();
        }
    }
    (made, improvements)
}

/// Reverse an edge into a variable or move the variable, and move up to two of its neighbours.
///
/// In its new place a variable may need parents that are not among the candidates, because the paths between them cancel
/// out both in Θ and in the correlations.
fn perturb(state: &mut State, first: u32, random: &mut Random) {
    let causes = state.causes(first);
    if !causes.is_empty() && random.below(2) == 0 {
        let cause = causes[random.below(causes.len())];
        state.reverse(cause, first);
    } else {
        state.move_at_random(first, random);
    }
    state.add_all_missing_parents(first);
    for _ in 0..random.below(3) {
        let causes = state.causes(first);
        let near = if !causes.is_empty() && random.below(2) == 0 { causes } else { state.candidates(first) };
        if near.is_empty() {
            break;
        }
        let other = near[random.below(near.len())];
        state.move_at_random(other, random);
        state.add_all_missing_parents(other);
    }
}

impl State<'_, '_> {
    /// Move a variable to a random position among its candidates.
    fn move_at_random(&mut self, variable: u32, random: &mut Random) {
        let mut others = Vec::new();
        self.sort_candidates(variable, &mut others);
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
        self.sort_candidates(effect, &mut others);
        let (first, _) = self.bounds(effect, &others);
        if let Some(t) = others.iter().position(|&i| i == cause).filter(|&t| t >= first) {
            self.put(effect, &others, t);
        }
    }

    /// Variables in triangles and their neighbours, some more than once.
    ///
    /// Triangles are suspicious: a wrong order joins the causes of a common effect, which in a sparse true graph are
    /// rarely adjacent.
    fn suspects(&self) -> Vec<u32> {
        let d = self.dim() as u32;
        let mut in_triangle = vec![false; self.dim()];
        for effect in 0..d {
            let causes = self.causes(effect);
            for (k, &a) in causes.iter().enumerate() {
                for &b in &causes[..k] {
                    if self.causes(a).contains(&b) || self.causes(b).contains(&a) {
                        for i in [effect, a, b] {
                            in_triangle[i as usize] = true;
                        }
                    }
                }
            }
        }
        let mut suspects: Vec<u32> = (0..d).filter(|&i| in_triangle[i as usize]).collect();
        for effect in 0..d {
            for &cause in self.causes(effect) {
                suspects.extend(in_triangle[cause as usize].then_some(effect));
                suspects.extend(in_triangle[effect as usize].then_some(cause));
            }
        }
        suspects
    }
}
