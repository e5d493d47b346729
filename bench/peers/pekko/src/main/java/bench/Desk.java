package bench;

import com.google.protobuf.BytesValue;
import com.google.protobuf.UInt64Value;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.Props;

/** Counts what it is told and says how many that were; or answers with what it was asked, a large body left out. */
final class Desk extends AbstractActor {
    private final boolean answers;
    private long handled;

    private Desk(boolean answers) {
        this.answers = answers;
    }

    static Props props(String workload) {
        boolean answers = !workload.startsWith("remote-tell/");
        return Props.create(Desk.class, () -> new Desk(answers));
    }

    @Override
    public Receive createReceive() {
        return receiveBuilder()
                .match(BytesValue.class, this::take)
                .match(UInt64Value.class, question -> getSender().tell(UInt64Value.of(handled), getSelf()))
                .build();
    }

    private void take(BytesValue parcel) {
        if (!answers) {
            handled++;
        } else {
            boolean small = parcel.getValue().size() <= RemoteCaller.SMALL;
            getSender().tell(small ? parcel : BytesValue.getDefaultInstance(), getSelf());
        }
    }
}
