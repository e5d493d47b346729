package bench;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Request and reply: {@code ActorContext.ask} one by one, {@code AskPattern.ask} from outside. */
final class Ask {
    private static final int CROWD = 1_000;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private Ask() {}

    /** What the asking actor hears: how many to ask, then a reply, or null for one that failed. */
    private sealed interface Heard {}

    private record Begin(long count) implements Heard {}

    private record Reply(Echo.Sum sum) implements Heard {}

    static Pass oneByOne() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Echo.Add> echo = host.spawn(Echo.create());
        ActorRef<Heard> asker = host.spawn(Behaviors.setup(context -> new Asker(context, echo, latch).behavior()));
        return count -> {
            latch.arm(1);
            asker.tell(new Begin(count));
            return latch.await();
        };
    }

    private static final class Asker {
        private final ActorContext<Heard> context;
        private final ActorRef<Echo.Add> echo;
        private final Latch latch;
        private long left;
        private long before;

        Asker(ActorContext<Heard> context, ActorRef<Echo.Add> echo, Latch latch) {
            this.context = context;
            this.echo = echo;
            this.latch = latch;
        }

        Behavior<Heard> behavior() {
            return Behaviors.receiveMessage(message -> {
                if (message instanceof Reply reply) {
                    replied(reply.sum());
                } else if (message instanceof Begin begin) {
                    left = begin.count();
                    ask();
                }
                return Behaviors.same();
            });
        }

        private void replied(Echo.Sum sum) {
            left--;
            if (left > 0) {
                ask();
            } else {
                latch.arrive(sum.value() - before);
                before = sum.value();
            }
        }

        private void ask() {
            context.ask(
                    Echo.Sum.class,
                    echo,
                    PATIENCE,
                    (ActorRef<Echo.Sum> replyTo) -> new Echo.Add(1, replyTo),
                    (sum, problem) -> new Reply(sum));
        }
    }

    /** Clients are chains of completion stages, the nearest there is to tasks that await. */
    static Pass crowd(int clients) {
        Host host = new Host();
        Latch latch = new Latch();
        List<ActorRef<Echo.Add>> crowd =
                IntStream.range(0, CROWD).mapToObj(index -> host.spawn(Echo.create())).toList();
        return count -> {
            latch.arm(clients);
            for (int client = 0; client < clients; client++) {
                new Client(host, latch, crowd, client, count / clients).go();
            }
            return latch.await() + count % clients;
        };
    }

    private static final class Client {
        private final Host host;
        private final Latch latch;
        private final List<ActorRef<Echo.Add>> crowd;
        private final SplittableRandom random;
        private final long count;
        private long replies;

        Client(Host host, Latch latch, List<ActorRef<Echo.Add>> crowd, long seed, long count) {
            this.host = host;
            this.latch = latch;
            this.crowd = crowd;
            this.random = new SplittableRandom(seed);
            this.count = count;
        }

        void go() {
            while (replies < count) {
                CompletableFuture<Echo.Sum> sum = AskPattern.<Echo.Add, Echo.Sum>ask(
                                crowd.get(random.nextInt(CROWD)),
                                replyTo -> new Echo.Add(1, replyTo),
                                PATIENCE,
                                host.system.scheduler())
                        .toCompletableFuture();
                if (!sum.isDone()) {
                    // On the system's own threads; without an executor it would be the common pool.
                    sum.thenAcceptAsync(
                            reply -> {
                                replies++;
                                go();
                            },
                            host.system.executionContext());
                    return;
                }
                sum.join();
                replies++;
            }
            latch.arrive(replies);
        }
    }
}
