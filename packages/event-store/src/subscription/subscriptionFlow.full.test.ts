// The order of events and checkpoints in a subscription, and its backpressure.

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

t.test('a checkpoint is never delivered before the events that precede it', async (t) => {
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

t.test('impossible checkpoints and those before the last event are ignored', async (t) => {
  // Some servers send prepare as 0, and 2^64-1 for both while nothing matched.
  for (const wrong of [at(5n, 0n), at(4n), at(5n), at(2n ** 64n - 1n)]) {
    const server = await startFakeEventStore(t, {
      log: numbered(6),
      subscription(call, nth, respondNormally) {
        if (nth > 1) return respondNormally()
        call.write(confirmationMessage())
        for (const event of numbered(5)) call.write(eventMessage(event))
        call.write(checkpointMessage(wrong))
        // Events that were taken before the interruption count.
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

t.test('a slow handler applies backpressure to the server and gets all events', async (t) => {
  const total = 3_000
  const { subscription, sent, isBackpressured } = createFlood(stream, total)
  const server = await startFakeEventStore(t, { subscription })
  const released = Promise.withResolvers<void>()
  let handling = 0
  const sub = subscriberHarness(connectEventStore(t, server), prefix, () => {
    handling++
    return released.promise
  })
  const run = sub.run(100)
  await waitFor(() => handling > 0 && isBackpressured(30), {
    what: 'backpressure at the server',
    timeoutMs: 20_000,
  })
  t.ok(sent() < total / 4, `${sent()} of ${total} events were sent before any was handled`)
  t.equal(handling, 1)
  released.resolve()
  await waitFor(() => sub.seen.length === total, { what: 'all events', timeoutMs: 30_000 })
  await run.stop()
  t.same(sub.seen, names(total))
})
