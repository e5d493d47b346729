package bench;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.MailboxSelector;
import org.apache.pekko.actor.typed.Props;

/** Fire and forget: one to one, from outside, bounded, many to one, one to many. */
final class Tell {
    private static final int SENDERS = 8;
    private static final int RECEIVERS = 10_000;

    private Tell() {}

    static Pass oneToOne() {
        return oneToOne(Props.empty());
    }

    /** The mailbox in which a sender waits for room; {@code MailboxSelector.bounded} would lose messages. */
    static Pass bounded() {
        return oneToOne(MailboxSelector.fromConfig("waiting-mailbox"));
    }

    private static Pass oneToOne(Props props) {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Host.Run> sender = host.spawn(Host.job());
        ActorRef<Sink.Put> sink = host.spawn(Sink.create(latch), props);
        return count -> {
            latch.arm(1);
            sender.tell(new Host.Run(context -> tellAll(sink, count)));
            return latch.await();
        };
    }

    static Pass outside() {
        Latch latch = new Latch();
        ActorRef<Sink.Put> sink = new Host().spawn(Sink.create(latch));
        return count -> {
            latch.arm(1);
            new Thread(() -> tellAll(sink, count)).start();
            return latch.await();
        };
    }

    static Pass fanIn() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Sink.Put> sink = host.spawn(Sink.create(latch));
        List<ActorRef<Host.Run>> senders =
                IntStream.range(0, SENDERS).mapToObj(index -> host.spawn(Host.job())).toList();
        return count -> {
            latch.arm(SENDERS);
            senders.forEach(sender -> sender.tell(new Host.Run(context -> tellAll(sink, count / SENDERS))));
            return latch.await() + count % SENDERS;
        };
    }

    static Pass fanOut() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Host.Run> sender = host.spawn(Host.job());
        List<ActorRef<Sink.Put>> sinks =
                IntStream.range(0, RECEIVERS).mapToObj(index -> host.spawn(Sink.create(latch))).toList();
        return count -> {
            long rounds = Math.max(count / RECEIVERS, 1);
            latch.arm(RECEIVERS);
            sender.tell(new Host.Run(context -> {
                for (long round = 1; round <= rounds; round++) {
                    for (ActorRef<Sink.Put> sink : sinks) {
                        sink.tell(new Sink.Put(round == rounds ? Sink.LAST : round));
                    }
                }
            }));
            Expect.handled(rounds * RECEIVERS, latch.await());
            return count;
        };
    }

    private static void tellAll(ActorRef<Sink.Put> sink, long count) {
        for (long value = 1; value < count; value++) {
            sink.tell(new Sink.Put(value));
        }
        sink.tell(new Sink.Put(Sink.LAST));
    }
}
