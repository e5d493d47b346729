//! All topics of a system, by their names.

use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::errors::{PublishError, TopicTypeError};
use super::handle::TopicInfo;
use super::interest::{Interest, TopicInterest};
use crate::actor::Message;
use crate::dispatch::contain;
use crate::events::channel::{AnyChannel, Channel, Member};
use crate::events::post::Post;
use crate::events::{Event, Queue, SubscriberInfo, Subscription, SubscriptionOptions};
use crate::reference::Recipient;
use crate::system::SystemCore;

#[derive(Default)]
pub(crate) struct TopicBook {
    /// Whoever subscribes or leaves holds it for writing, so that a topic vanishes with its last subscriber and never
    /// under one that has just come. No user code runs under it.
    topics: RwLock<Topics>,
}

#[derive(Default)]
struct Topics {
    by_name: BTreeMap<Arc<str>, Topic>,
    revision: u64,
}

struct Topic {
    channel: Arc<dyn AnyChannel>,
    /// The same channel, to be found again by its type.
    typed: Arc<dyn Any + Send + Sync>,
    message_type: &'static str,
}

impl Topic {
    fn new<M: Event>() -> Self {
        let channel = Arc::new(Channel::<M>::new());
        Topic {
            channel: channel.clone(),
            typed: channel,
            message_type: type_name::<M>(),
        }
    }

    fn typed<M: Event>(&self, name: &Arc<str>) -> Result<Arc<Channel<M>>, TopicTypeError> {
        self.typed.clone().downcast().map_err(|_| TopicTypeError {
            topic: name.clone(),
            carries: self.message_type,
            given: type_name::<M>(),
        })
    }
}

impl Topics {
    fn change(&mut self, topic: &Arc<str>, message_type: &'static str, interest: Interest) -> TopicInterest {
        self.revision += 1;
        TopicInterest {
            topic: topic.clone(),
            message_type,
            interest,
            revision: self.revision,
        }
    }

    /// Removes a topic that nobody is left of.
    fn forget_if_empty(&mut self, name: &str) -> Option<TopicInterest> {
        let (kept, topic) = self.by_name.get_key_value(name)?;
        if topic.channel.len() > 0 {
            return None;
        }
        let (kept, message_type) = (kept.clone(), topic.message_type);
        self.by_name.remove(name);
        Some(self.change(&kept, message_type, Interest::Ended))
    }
}

impl TopicBook {
    pub(super) fn publish<M: Event>(&self, name: &str, message: M) -> Result<usize, PublishError<M>> {
        let found = {
            let topics = self.topics.read();
            topics
                .by_name
                .get_key_value(name)
                .map(|(name, topic)| topic.typed::<M>(name))
        };
        match found {
            Some(Ok(channel)) => Ok(channel.publish(message)),
            Some(Err(error)) => Err(PublishError::OtherType(error, message)),
            None => {
                let _ = contain(|| drop(message));
                Ok(0)
            }
        }
    }

    /// Adds somebody to a topic, which begins with them if it was not there.
    fn join<M: Event, R>(
        &self,
        core: &SystemCore,
        name: &str,
        join: impl FnOnce(&Arc<str>, &Channel<M>) -> R,
    ) -> Result<R, TopicTypeError> {
        let (joined, begun) = {
            let topics = &mut *self.topics.write();
            let begins = !topics.by_name.contains_key(name);
            let name: Arc<str> = match topics.by_name.get_key_value(name) {
                Some((name, _)) => name.clone(),
                None => name.into(),
            };
            let topic = topics.by_name.entry(name.clone()).or_insert_with(Topic::new::<M>);
            let channel = topic.typed::<M>(&name)?;
            let joined = join(&name, &channel);
            let begun = begins.then(|| topics.change(&name, type_name::<M>(), Interest::Begun));
            (joined, begun)
        };
        if let Some(begun) = begun {
            core.events().publish(begun);
        }
        Ok(joined)
    }

    pub(super) fn subscribe<M: Event + Message>(
        &self,
        core: &Arc<SystemCore>,
        name: &str,
        actor: Recipient<M>,
        options: SubscriptionOptions<M>,
    ) -> Result<(), TopicTypeError> {
        let home = Arc::downgrade(core);
        let id = actor.id().raw();
        let lost = core.events().lost().clone();
        let post = self.join::<M, _>(core, name, |name, channel| {
            let here = name.clone();
            let post = Post::new(actor, Some(name.clone()), options, lost, move |id| {
                if let Some(core) = home.upgrade() {
                    core.topics().dismiss(&core, &here, id);
                }
            });
            (channel.add(post.clone()).is_some(), post)
        })?;
        if let (true, post) = post
            && !post.hold_on()
        {
            self.dismiss(core, name, id);
        }
        Ok(())
    }

    pub(super) fn listen<M: Event>(
        &self,
        core: &Arc<SystemCore>,
        name: &str,
        options: SubscriptionOptions<M>,
    ) -> Result<Subscription<M>, TopicTypeError> {
        let queue = Arc::new(Queue::new(options, core.events().lost().clone()));
        let member: Arc<dyn Member<M>> = queue.clone();
        let (name, place) = self.join::<M, _>(core, name, |name, channel| (name.clone(), channel.add(member)))?;
        let home = Arc::downgrade(core);
        Ok(Subscription::new(queue, move || {
            if let (Some(core), Some(place)) = (home.upgrade(), place) {
                core.topics().leave::<M>(&core, &name, place);
            }
        }))
    }

    fn leave<M: Event>(&self, core: &SystemCore, name: &Arc<str>, place: u64) {
        let (_gone, ended) = {
            let topics = &mut *self.topics.write();
            let channel = topics.by_name.get(name).and_then(|topic| topic.typed::<M>(name).ok());
            let gone = channel.and_then(|channel| channel.remove(place));
            (gone, topics.forget_if_empty(name))
        };
        if let Some(ended) = ended {
            core.events().publish(ended);
        }
    }

    /// Takes an actor off the list of a topic. False: it was not there.
    pub(super) fn dismiss(&self, core: &SystemCore, name: &str, actor: u64) -> bool {
        let (dismissed, ended) = {
            let topics = &mut *self.topics.write();
            let dismissed = topics
                .by_name
                .get(name)
                .and_then(|topic| topic.channel.dismiss_actor(actor));
            (dismissed, topics.forget_if_empty(name))
        };
        if let Some(ended) = ended {
            core.events().publish(ended);
        }
        dismissed.is_some()
    }

    pub(super) fn list(&self) -> Vec<TopicInfo> {
        let topics = self.topics.read();
        let info = |(name, topic): (&Arc<str>, &Topic)| TopicInfo {
            name: name.clone(),
            message_type: topic.message_type,
            subscribers: topic.channel.len(),
            published: topic.channel.published(),
        };
        topics.by_name.iter().map(info).collect()
    }

    pub(super) fn subscribers(&self, name: &str) -> Vec<SubscriberInfo> {
        let channel = self.topics.read().by_name.get(name).map(|topic| topic.channel.clone());
        channel.map_or_else(Vec::new, |channel| channel.subscribers())
    }
}
