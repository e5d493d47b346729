package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.pubsub.Topic;

/** One publisher, a topic, ten thousand subscribers. */
final class TopicFanOut {
    private static final int SUBSCRIBERS = 10_000;

    private TopicFanOut() {}

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Topic.Command<Sink.Put>> topic = host.spawn(Topic.create(Sink.Put.class, "news"));
        for (int index = 0; index < SUBSCRIBERS; index++) {
            topic.tell(Topic.subscribe(host.spawn(Sink.create(latch))));
        }
        ActorRef<Host.Run> publisher = host.spawn(Host.job());
        return count -> {
            long rounds = Math.max(count / SUBSCRIBERS, 1);
            latch.arm(SUBSCRIBERS);
            publisher.tell(new Host.Run(context -> {
                for (long round = 1; round <= rounds; round++) {
                    topic.tell(Topic.publish(new Sink.Put(round == rounds ? Sink.LAST : round)));
                }
            }));
            Expect.handled(rounds * SUBSCRIBERS, latch.await());
            return count;
        };
    }
}
