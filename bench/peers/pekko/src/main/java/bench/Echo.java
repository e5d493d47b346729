package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Replies with the sum of what it was asked. */
final class Echo {
    record Add(long value, ActorRef<Sum> replyTo) {}

    record Sum(long value) {}

    private long sum;

    static Behavior<Add> create() {
        return Behaviors.setup(context -> Behaviors.receiveMessage(new Echo()::add));
    }

    private Behavior<Add> add(Add message) {
        sum += message.value();
        message.replyTo().tell(new Sum(sum));
        return Behaviors.same();
    }
}
