//! Topological order of declarations and modules. A struct is placed after the structs that it contains. A class is placed after its base.

/// Sorts the indices `0..count` topologically. `needs` returns the dependencies of an index. Each index is placed after its dependencies.
/// Independent indices keep their order.
///
/// # Errors
/// If the dependencies have a cycle, returns the indices of the cycle. Each of these indices depends on the next index.
pub fn by_need(count: usize, needs: impl Fn(usize) -> Vec<usize>) -> Result<Vec<usize>, Vec<usize>> {
    let mut visit = Visit { needs, is_done: vec![false; count], path: Vec::new(), order: Vec::new() };
    for index in 0..count {
        visit.enter(index)?;
    }
    Ok(visit.order)
}

struct Visit<F> {
    needs: F,
    is_done: Vec<bool>,
    /// Indices whose dependencies are being visited.
    path: Vec<usize>,
    order: Vec<usize>,
}

impl<F: Fn(usize) -> Vec<usize>> Visit<F> {
    fn enter(&mut self, index: usize) -> Result<(), Vec<usize>> {
        if self.is_done[index] {
            return Ok(());
        }
        if let Some(start) = self.path.iter().position(|&open| open == index) {
            return Err(self.path[start..].to_vec());
        }
        self.path.push(index);
        for need in (self.needs)(index) {
            self.enter(need)?;
        }
        self.path.pop();
        self.is_done[index] = true;
        self.order.push(index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::by_need;

    fn check(needs: &[&[usize]], expected: Result<&[usize], &[usize]>) {
        let found = by_need(needs.len(), |index| needs[index].to_vec());
        assert_eq!(found.as_deref().map_err(Vec::as_slice), expected);
    }

    #[test]
    fn dependencies_come_first_and_the_rest_keeps_its_order() {
        check(&[&[], &[], &[]], Ok(&[0, 1, 2]));
        check(&[&[2], &[], &[1]], Ok(&[1, 2, 0]));
        check(&[&[1, 2], &[2], &[]], Ok(&[2, 1, 0]));
    }

    #[test]
    fn cycles_are_reported_without_their_entry_path() {
        check(&[&[0]], Err(&[0]));
        check(&[&[1], &[2], &[1]], Err(&[1, 2]));
    }
}
