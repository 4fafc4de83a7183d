//! The work queue of a descent.

use std::collections::VecDeque;

/// Variables whose place should be reconsidered, each at most once, first in first out.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: VecDeque<u32>,
    is_waiting: Vec<bool>,
}

impl Queue {
    pub fn new(d: usize) -> Self {
        Self { waiting: VecDeque::with_capacity(d), is_waiting: vec![false; d] }
    }

    /// Add a variable unless it is waiting already.
    pub fn push(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.is_waiting[variable as usize], true) {
            self.waiting.push_back(variable);
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let variable = self.waiting.pop_front()?;
        self.is_waiting[variable as usize] = false;
        Some(variable)
    }

    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_waits_once_and_may_come_again() {
        let mut queue = Queue::new(3);
        for variable in [2, 0, 2, 1, 0] {
            queue.push(variable);
        }
        assert_eq!([queue.pop(), queue.pop()], [Some(2), Some(0)]);
        queue.push(2);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(2), None]);
        queue.push(1);
        queue.clear();
        queue.push(1);
        assert_eq!([queue.pop(), queue.pop()], [Some(1), None]);
    }
}
