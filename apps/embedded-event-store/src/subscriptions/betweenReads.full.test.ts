// Races between a subscription's reads and other events, with controlled timing.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { Log } from '../read/log.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { absentHead, viewOf } from '../storage/streamHead.ts'
import { subscribeAll } from './subscribeAll.ts'
import { subscribeStream } from './subscribeStream.ts'
import { createTail } from './tail.ts'

const unexpectedRead = () => Promise.reject(new Error('unexpected read'))
const emptyLog: Log = {
  allForwards: unexpectedRead,
  allBackwards: unexpectedRead,
  streamForwards: unexpectedRead,
  streamBackwards: unexpectedRead,
  view: async (stream) => viewOf(stream, () => absentHead),
  messages: (events) => events.map(({ eventId }) => Buffer.from(eventId)),
}
const form = { resolveLinks: false, idFormat: 'string', from: 'start' } as const

const eventAt = (position: bigint): StoredEvent => ({
  position,
  stream: 's',
  revision: position - 2n,
  eventId: `event ${position}`,
  type: 'T',
  isJson: true,
  createdTicks: 0n,
  metadata: Buffer.alloc(0),
  data: Buffer.alloc(0),
})

/** A client that disconnects at the first event. */
function leavingClient() {
  const left = new AbortController()
  const events: string[] = []
  const send = (message: Buffer) => {
    if (!message.includes('event ')) return undefined
    events.push(message.toString())
    left.abort()
    return undefined
  }
  return { events, outlet: { signal: left.signal, send } }
}

t.test('a subscription gets an event that is recorded while it reads the end of the stream', async (t) => {
  const tail = createTail(1n)
  const log: Log = {
    ...emptyLog,
    async view(stream) {
      const view = await emptyLog.view(stream)
      tail.publish([eventAt(2n)], 2n)
      return view
    },
  }
  const { events, outlet } = leavingClient()
  await subscribeStream(log, tail, outlet, { ...form, kind: 'subscribe_stream', stream: 's' })
  t.same(events, ['event 2'])
})

// An unhandled rejection would fail this test.
t.test('a failed read-ahead is not an unhandled rejection after the client has disconnected', async (t) => {
  let reads = 0
  const log: Log = {
    ...emptyLog,
    async allForwards(from) {
      reads += 1
      if (from > 2n) throw new Error('the database is away')
      return { events: [eventAt(2n)], end: false }
    },
  }
  const { events, outlet } = leavingClient()
  await subscribeAll(log, createTail(9n), outlet, { ...form, kind: 'subscribe_all', filter: undefined })
  await nextTurn()
  t.same([reads, events], [2, ['event 2']])
})
