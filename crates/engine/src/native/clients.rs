//! Whose connections a user takes: its own, or those of a few users together.

use std::collections::HashMap;

use crate::engine::{ClientId, Engine};

/// The clients of users.
#[derive(Debug)]
pub(super) struct Clients {
    /// Users of one client, at least 1.
    most: usize,
    /// Users of each client; empty if each has its own.
    members: HashMap<ClientId, usize>,
    /// The clients with fewer users than `most`; the next user joins the last one.
    open: Vec<ClientId>,
}

impl Clients {
    pub(super) fn new(most: usize) -> Clients {
        Clients { most: most.max(1), members: HashMap::new(), open: Vec::new() }
    }

    /// The client of a new user.
    pub(super) fn join(&mut self, engine: &mut Engine) -> ClientId {
        if self.most == 1 {
            return engine.client();
        }
        let client = self.open.last().copied().unwrap_or_else(|| {
            let client = engine.client();
            self.open.push(client);
            client
        });
        let members = self.members.entry(client).or_default();
        *members += 1;
        if *members == self.most {
            self.open.pop();
        }
        client
    }

    /// A user of this client ends. The last one closes its connections.
    pub(super) fn leave(&mut self, engine: &mut Engine, client: ClientId) {
        let Some(members) = self.members.get_mut(&client) else {
            engine.close(client);
            return;
        };
        if *members == self.most {
            self.open.push(client);
        }
        *members -= 1;
        if *members == 0 {
            self.members.remove(&client);
            self.open.retain(|&open| open != client);
            engine.close(client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clients;
    use crate::engine::{Engine, Limits};

    #[test]
    fn users_fill_a_client_before_the_next_one_and_take_the_places_of_those_that_have_left() {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let mut clients = Clients::new(2);
        let [first, second, third] = [(); 3].map(|()| clients.join(&mut engine));
        assert!(first == second && second != third);
        clients.leave(&mut engine, first);
        let fourth = clients.join(&mut engine);
        assert!(fourth == first || fourth == third);
        for client in [second, third, fourth] {
            clients.leave(&mut engine, client);
        }
        assert!(clients.members.is_empty() && clients.open.is_empty());
    }

    #[test]
    fn alone_each_user_has_its_own_client() {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let mut clients = Clients::new(1);
        assert!(clients.join(&mut engine) != clients.join(&mut engine));
    }
}
