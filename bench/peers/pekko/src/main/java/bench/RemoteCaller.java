package bench;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.pattern.Patterns;

/** The measuring side of the workloads between two processes. */
final class RemoteCaller {
    static final List<String> WORKLOADS = List.of(
            "remote-tell/one", "remote-tell/many", "remote-ask/64", "remote-ask/one",
            "remote-mixed/alone", "remote-mixed", "remote-bulk");

    /** As the one field of a message this is 100 bytes long. */
    static final int SMALL = 98;
    static final ByteString SMALL_BODY = ByteString.copyFromUtf8("volary-".repeat(SMALL / 7));

    private static final ByteString LARGE_BODY = ByteString.copyFrom(new byte[1 << 20]);
    private static final int LARGE_BESIDE = 4;
    private static final int LARGE_ALONE = 8;
    private static final int BURST = 8_192;
    private static final int FEWEST = 30;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String workload;
    private final ActorRef large;
    private final List<ActorRef> desks = new ArrayList<>();
    private final List<ActorRef> senders = new ArrayList<>();
    private final Latch latch = new Latch();
    private long told;
    private List<long[]> latencies = new ArrayList<>();

    RemoteCaller(String workload, String invitation) {
        this.workload = workload;
        RemoteNode here = new RemoteNode("here");
        int port = Integer.parseInt(invitation);
        int pairs = workload.equals("remote-tell/many") ? RemoteNode.PAIRS : 1;
        for (int index = 0; index < pairs; index++) {
            ActorRef desk = here.resolve(port, "desk-" + index);
            desks.add(desk);
            senders.add(here.system.actorOf(Sender.props(desk, Math.max(BURST / pairs, FEWEST), latch)));
        }
        large = here.resolve(port, "large");
    }

    void pass(long count) {
        latencies = new ArrayList<>();
        switch (workload) {
            case "remote-tell/one", "remote-tell/many" -> tell(count);
            case "remote-ask/64" -> ask(64, count, desks.get(0), SMALL_BODY);
            case "remote-bulk" -> ask(LARGE_ALONE, count, large, LARGE_BODY);
            case "remote-mixed" -> besideLarge(count);
            default -> ask(1, count, desks.get(0), SMALL_BODY);
        }
    }

    private void tell(long count) {
        long share = count / senders.size();
        told += share;
        latch.arm(senders.size());
        senders.forEach(sender -> sender.tell(new Sender.Start(share, told), ActorRef.noSender()));
        latch.await();
    }

    private void ask(int askers, long count, ActorRef far, ByteString body) {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int index = 0; index < askers; index++) {
            long[] kept = new long[Math.toIntExact(count / askers)];
            latencies.add(kept);
            all.add(askOn(far, body, kept, 0).toCompletableFuture());
        }
        all.forEach(CompletableFuture::join);
    }

    private CompletionStage<Void> askOn(ActorRef far, ByteString body, long[] kept, int index) {
        if (index == kept.length) {
            return CompletableFuture.completedFuture(null);
        }
        long start = System.nanoTime();
        return Patterns.ask(far, BytesValue.of(body), PATIENCE).thenCompose(answer -> {
            kept[index] = System.nanoTime() - start;
            return askOn(far, body, kept, index + 1);
        });
    }

    private void besideLarge(long count) {
        AtomicBoolean over = new AtomicBoolean();
        List<CompletableFuture<Void>> beside = new ArrayList<>();
        for (int index = 0; index < LARGE_BESIDE; index++) {
            beside.add(askUntil(over).toCompletableFuture());
        }
        ask(1, count, desks.get(0), SMALL_BODY);
        over.set(true);
        beside.forEach(CompletableFuture::join);
    }

    private CompletionStage<Void> askUntil(AtomicBoolean over) {
        return Patterns.ask(large, BytesValue.of(LARGE_BODY), PATIENCE)
                .thenCompose(answer -> over.get() ? CompletableFuture.completedFuture(null) : askUntil(over));
    }

    /** Microseconds, or nothing if nobody asked. */
    String percentile(double fraction) {
        long[] all = latencies.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        if (all.length == 0) {
            return "null";
        }
        return Double.toString(all[Math.min((int) (fraction * all.length), all.length - 1)] / 1e3);
    }
}
