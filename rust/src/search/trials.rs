//! Trials: a few neighbouring variables are moved at random, and the descent from there is kept unless it is worse.

use super::kernel::Kernel;
use super::state::State;

/// Trials until variables in triangles are looked for again, for each variable, and the fewest.
const REFRESH: (f64, usize) = (0.125, 25);
/// The least improvement in twice the log-likelihood that a search waits for again. Rounding may look like one of less,
/// where a variable is nearly explained by others.
const NOTABLE: f64 = 1e-3;

/// Trials of a search, one after another.
#[derive(Debug, Default)]
pub(super) struct Trials {
    pub made: usize,
    /// How many improved the score.
    pub improvements: usize,
    /// How many had been made when the score last improved.
    pub improved_after: usize,
    suspects: Vec<u32>,
}

impl Trials {
    /// Make a trial.
    ///
    /// Two of three trials begin at a suspect. In version 0.1.0, on sparse graphs of 400 and 1000 variables, one in thirty
    /// of these improved the score, and one in a thousand of the others.
    pub fn make<K: Kernel>(&mut self, state: &mut State<K>, go_on: &impl Fn() -> bool) {
        let refresh = ((REFRESH.0 * state.dim() as f64) as usize).max(REFRESH.1);
        if self.made.is_multiple_of(refresh) {
            self.suspects = state.suspects();
        }
        self.made += 1;
        let (d, random) = (state.dim(), &mut state.chooser.random);
        let first = if random.below(3) > 0 && !self.suspects.is_empty() {
            self.suspects[random.below(self.suspects.len())]
        } else {
            random.below(d) as u32
        };
        state.perturb(first);
        state.descend(go_on);
        let (change, tolerance) = (state.change(), state.tolerance());
        // Keeping an equally good order is a way off a plateau. A descent cut short by the time limit is often worse.
        if change > tolerance {
            return state.undo();
        }
        state.keep();
        if change < -NOTABLE {
            self.improvements += 1;
            self.improved_after = self.made;
        }
    }
}

impl<K: Kernel> State<'_, '_, K> {
    /// Reverse an edge into a variable or move the variable, and move up to two of its neighbours.
    fn perturb(&mut self, first: u32) {
        let causes = self.causes(first).len();
        if causes > 0 && self.chooser.random.below(2) == 0 {
            let number = self.chooser.random.below(causes);
            let cause = self.causes(first)[number];
            self.put(first, self.places.of(cause));
        } else {
            self.move_near(first);
        }
        self.queue.push(first);
        for _ in 0..self.chooser.random.below(3) {
            let Some(other) = self.random_neighbour(first) else { return };
            self.move_near(other);
            self.queue.push(other);
        }
    }

    /// Move a variable to the place of a random neighbour.
    fn move_near(&mut self, variable: u32) {
        if let Some(other) = self.random_neighbour(variable) {
            self.put(variable, self.places.of(other));
        }
    }

    /// A random parent or child of a variable, if it has any.
    fn random_neighbour(&mut self, variable: u32) -> Option<u32> {
        let (parents, children) = (&self.fits[variable as usize].parents, self.links.children(variable));
        let count = parents.len() + children.len();
        let pick = (count > 0).then(|| self.chooser.random.below(count))?;
        parents.iter().chain(children).nth(pick).copied()
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
