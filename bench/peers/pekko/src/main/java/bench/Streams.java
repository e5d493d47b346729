package bench;

import java.util.stream.LongStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.typed.javadsl.ActorSink;

/** A stream into an actor that acknowledges each element, which is the back-pressure that Pekko Streams has for actors. */
final class Streams {
    private enum Ack {
        READY
    }

    private interface Message {}

    private record Begin(ActorRef<Ack> stream) implements Message {}

    private record Element(ActorRef<Ack> stream, long value) implements Message {}

    private record End() implements Message {}

    private record Broken(Throwable reason) implements Message {}

    private final Latch latch;
    private long sum;
    private long handled;

    private Streams(Latch latch) {
        this.latch = latch;
    }

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Message> inlet =
                host.spawn(Behaviors.setup(context -> Behaviors.receiveMessage(new Streams(latch)::receive)));
        return count -> {
            latch.arm(1);
            Source.fromIterator(() -> LongStream.rangeClosed(1, count)
                            .map(value -> value == count ? Sink.LAST : value)
                            .iterator())
                    .runWith(
                            ActorSink.actorRefWithBackpressure(
                                    inlet, Element::new, Begin::new, Ack.READY, new End(), Broken::new),
                            host.system);
            return latch.await();
        };
    }

    private Behavior<Message> receive(Message message) {
        if (message instanceof Element element) {
            put(element.value());
            element.stream().tell(Ack.READY);
        } else if (message instanceof Begin begin) {
            begin.stream().tell(Ack.READY);
        } else if (message instanceof Broken broken) {
            throw new IllegalStateException(broken.reason());
        }
        return Behaviors.same();
    }

    private void put(long value) {
        sum += value;
        handled++;
        if (value == Sink.LAST) {
            long count = handled;
            handled = 0;
            latch.arrive(count);
        }
    }
}
