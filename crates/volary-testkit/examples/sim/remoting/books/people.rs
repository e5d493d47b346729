//! Those who can be watched: mortals, whom clerks hire, and guests, whom hosts invite. Each watch ends once, behind the last
//! word, and not without a reason.

use volary_remote::Right;

use super::Books;

/// Somebody who lives in one life of a node, and may be watched from others.
#[derive(Default)]
pub(super) struct Person {
    /// Where they were started; none yet, or never.
    pub(super) life: Option<usize>,
    pub(super) ended: bool,
    /// If they were started at the wish of another node.
    pub(super) invited: Option<super::operations::Invited>,
}

/// Somebody watches somebody.
#[derive(Default)]
pub(super) struct Watched {
    pub(super) ended: bool,
    pub(super) given_up: bool,
}

impl Books {
    /// The number of somebody new.
    pub(in super::super) fn somebody(&mut self) -> u64 {
        self.people.push(Person::default());
        self.people.len() as u64
    }

    pub(super) fn person(&mut self, who: u64) -> &mut Person {
        &mut self.people[who as usize - 1]
    }

    pub(in super::super) fn starts(&mut self, who: u64, life: usize) {
        if let Some(before) = self.person(who).life.replace(life) {
            self.wrong(format!("{who} starts in life {life}, and has in life {before}"));
        }
    }

    pub(in super::super) fn ends_now(&mut self, who: u64) {
        self.person(who).ended = true;
    }

    /// Whether somebody is no more, by themselves or with their node.
    pub(super) fn is_gone(&self, who: u64) -> bool {
        let person = &self.people[who as usize - 1];
        person.ended || person.life.is_some_and(|life| !self.lives[life].is_up())
    }

    pub(in super::super) fn watches(&mut self, life: usize, name: &str, who: u64) {
        self.watches.insert((life, name.to_owned(), who), Watched::default());
    }

    pub(in super::super) fn gives_up(&mut self, life: usize, name: &str, who: u64) {
        if let Some(watched) = self.watches.get_mut(&(life, name.to_owned(), who)) {
            watched.given_up = true;
        }
    }

    /// Whether somebody is a guest, of whom their host hears by other ways as well.
    pub(super) fn is_invited(&self, who: u64) -> bool {
        self.people[who as usize - 1].invited.is_some()
    }

    /// Whether the node of a life has no right to watch somebody, where they live.
    pub(in super::super) fn watches_in_vain(&self, life: usize, who: u64) -> bool {
        let home = self.people[who as usize - 1].life.map(|home| &self.lives[home]);
        home.is_some_and(|home| !home.rights[self.lives[life].node].allows(Right::Watch))
    }

    /// The end of somebody is heard: once, by who watches, and because they or their node are gone, or were given up. Who
    /// has no right to watch hears of the node only.
    pub(in super::super) fn gone(&mut self, life: usize, name: &str, who: u64) {
        match self.watches.get_mut(&(life, name.to_owned(), who)) {
            Some(watched) if !watched.ended && !watched.given_up => watched.ended = true,
            _ => self.wrong(format!("{name} hears of the end of {who} again, or without watching")),
        }
        let home = self.people[who as usize - 1].life;
        let was_lost = home.is_some_and(|home| self.lives[life].letters.counts().lost[self.lives[home].node] > 0);
        let is_down = home.is_some_and(|home| !self.lives[home].is_up());
        if self.watches_in_vain(life, who) && !is_down && !was_lost {
            self.wrong(format!("{name} hears of the end of {who} without a right to"));
        }
        if !self.is_gone(who) && !was_lost {
            self.wrong(format!(
                "{name} hears of the end of {who}, who lives, and whose node was not lost"
            ));
        }
    }

    /// A word of somebody comes.
    pub(in super::super) fn speaks(&mut self, life: usize, name: &str, who: u64) {
        let watched = self.watches.get(&(life, name.to_owned(), who));
        if watched.is_some_and(|watched| watched.ended) {
            self.wrong(format!("{who} speaks to {name} after their end"));
        }
    }
}
