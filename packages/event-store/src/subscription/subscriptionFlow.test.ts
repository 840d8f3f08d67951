// The order of events and checkpoints in a subscription, and who waits for whom, over the wire.

import { status } from '@grpc/grpc-js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { connectEventStore } from '../testing/eventStoreHarness.ts'
import { createFlood, grpcError, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { checkpointMessage, confirmationMessage, eventMessage } from '../testing/grpcMessages.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'

const stream = 'guestToken-1'
const prefix = 'guestToken-'
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ stream, number: n + 1 }))
const names = (count: number) => numbered(count).map(({ number }) => `${stream}@${number}`)
const at = (commit: bigint, prepare = commit) => ({ commit, prepare })

t.test('a checkpoint is never handed out before the events that came before it', async (t) => {
  const log = numbered(60)
  const server = await startFakeEventStore(t, {
    subscription(call) {
      call.write(confirmationMessage())
      for (const event of log) {
        call.write(eventMessage(event))
        if (event.number % 7 === 0) call.write(checkpointMessage(at(BigInt(event.number))))
      }
      call.write(checkpointMessage(at(100n)))
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server), prefix, () => new Promise(setImmediate))
  const run = sub.run(3)
  await waitFor(() => sub.stored.checkpoint?.commit === 100n, { what: 'the last checkpoint' })
  await run.stop()
  t.same(sub.seen, names(60))
  for (const { events, position } of sub.batches.filter(({ events }) => events.length > 0)) {
    const last = events.at(-1)?.position.commit ?? 0n
    t.ok(position.commit === last || (last === 60n && position.commit === 100n), `${position.commit} after ${last}`)
  }
})

t.test('a checkpoint that cannot be, or would take a position back, is passed over', async (t) => {
  // Some servers send prepare as 0, and 2^64-1 for both while nothing matched.
  for (const wrong of [at(5n, 0n), at(4n), at(5n), at(2n ** 64n - 1n)]) {
    const server = await startFakeEventStore(t, {
      log: numbered(6),
      subscription(call, nth, properly) {
        if (nth > 1) return properly()
        call.write(confirmationMessage())
        for (const event of numbered(5)) call.write(eventMessage(event))
        call.write(checkpointMessage(wrong))
        // Whatever was taken from the subscription before its end counts.
        call.emit('error', grpcError(status.UNAVAILABLE))
      },
    })
    const sub = subscriberHarness(connectEventStore(t, server), prefix)
    const run = sub.run(1)
    await waitFor(() => sub.seen.length >= 6, { what: 'all events' })
    await run.stop()
    t.same(server.subscribedAfter, ['start', '5/5'], `${wrong.commit}/${wrong.prepare}`)
    t.same(sub.seen, names(6))
  }
})

t.test('a handler that is slow holds back the server, and gets everything in the end', async (t) => {
  const total = 3_000
  const { subscription, sent, isBackpressured } = createFlood(stream, total)
  const server = await startFakeEventStore(t, { subscription })
  const released = Promise.withResolvers<void>()
  let held = 0
  const sub = subscriberHarness(connectEventStore(t, server), prefix, () => {
    held++
    return released.promise
  })
  const run = sub.run(100)
  await waitFor(() => held > 0 && isBackpressured(30), {
    what: 'a server that cannot send any more',
    timeoutMs: 20_000,
  })
  t.ok(sent() < total / 4, `${sent()} of ${total} were sent while nobody took them`)
  t.equal(held, 1)
  released.resolve()
  await waitFor(() => sub.seen.length === total, { what: 'all events', timeoutMs: 30_000 })
  await run.stop()
  t.same(sub.seen, names(total))
})
