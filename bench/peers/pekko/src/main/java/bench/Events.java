package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.eventstream.EventStream;

/** A hundred subscribers of the system's event stream. */
final class Events {
    private static final int SUBSCRIBERS = 100;

    private Events() {}

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        for (int index = 0; index < SUBSCRIBERS; index++) {
            ActorRef<Sink.Put> sink = host.spawn(Sink.create(latch));
            host.system.eventStream().tell(new EventStream.Subscribe<>(Sink.Put.class, sink));
        }
        ActorRef<Host.Run> publisher = host.spawn(Host.job());
        return count -> {
            long rounds = Math.max(count / SUBSCRIBERS, 1);
            latch.arm(SUBSCRIBERS);
            publisher.tell(new Host.Run(context -> {
                for (long round = 1; round <= rounds; round++) {
                    host.system.eventStream().tell(new EventStream.Publish<>(new Sink.Put(
                            round == rounds ? Sink.LAST : round)));
                }
            }));
            Expect.handled(rounds * SUBSCRIBERS, latch.await());
            return count;
        };
    }
}
