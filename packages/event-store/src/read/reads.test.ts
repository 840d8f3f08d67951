// Reads from a fake server that are interrupted, rejected, hanging or slow.
import { status } from '@grpc/grpc-js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { connectEventStore } from '../testing/eventStoreHarness.ts'
import { grpcError, type ReadCall, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { eventMessage, type ScriptedEvent } from '../testing/grpcMessages.ts'

const stream = 'guestToken-1'
const log = Array.from({ length: 40 }, (_, number) => ({ stream, number }))
const revisions = log.map(({ number }) => BigInt(number))

function send(call: ReadCall, events: readonly ScriptedEvent[]) {
  for (const event of events) call.write(eventMessage(event))
}

t.test('an interrupted stream read is repeated from the start, without duplicates', async (t) => {
  const cuts: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    silence: () => {},
  }
  for (const [name, cut] of Object.entries(cuts)) {
    await t.test(`an interrupted stream read is repeated: ${name}`, async (t) => {
      let reads = 0
      const server = await startFakeEventStore(t, {
        log,
        read(call, nth, respondNormally) {
          reads = nth
          if (nth > 2) return respondNormally()
          send(call, log.slice(0, 20))
          cut(call)
        },
      })
      const store = connectEventStore(t, server, { readTimeoutMs: 500 })
      const events = await store.readStream(stream)
      t.same(
        events.map(({ revision }) => revision),
        revisions,
      )
      t.equal(reads, 3)
      await waitFor(() => server.openCalls() === 0, { what: 'every read to end' })
    })
  }
})

t.test('a stream read that is always interrupted fails, and returns no partial result', async (t) => {
  const server = await startFakeEventStore(t, {
    read(call) {
      send(call, log.slice(0, 20))
      call.emit('error', grpcError(status.UNAVAILABLE))
    },
  })
  const store = connectEventStore(t, server, { readRetryTimeoutMs: 200 })
  await t.rejects(store.readStream(stream), { code: 'event_store_unavailable' })
})

t.test('a stream read has no overall time limit as long as events arrive', async (t) => {
  const server = await startFakeEventStore(t, {
    read(call) {
      let sent = 0
      const drip = setInterval(() => {
        send(call, log.slice(sent, sent + 1))
        if (++sent < log.length) return
        clearInterval(drip)
        call.end()
      }, 25)
    },
  })
  const store = connectEventStore(t, server, { readTimeoutMs: 800, readRetryTimeoutMs: 0 })
  t.equal((await store.readStream(stream)).length, log.length)
})

t.test('a read of a deleted stream fails without a retry', async (t) => {
  let reads = 0
  const server = await startFakeEventStore(t, {
    read(call) {
      reads++
      const trailers = { exception: 'stream-deleted', 'stream-name': stream }
      call.emit('error', grpcError(status.FAILED_PRECONDITION, trailers))
    },
  })
  await t.rejects(connectEventStore(t, server).readStream(stream), { cause: { code: status.FAILED_PRECONDITION } })
  t.equal(reads, 1)
})
