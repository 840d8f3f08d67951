// Every subscription gets each of its events once and in order, with concurrent writers and readers.
import {
  type AllStreamResolvedEvent,
  type EventStoreDBClient,
  eventTypeFilter,
  type Filter,
  jsonEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { connectAlone } from '../testing/rawBytes.ts'
import { openRead, readRequest } from '../testing/rawReads.ts'
import { connectRaw } from '../testing/rawStreams.ts'
import { connect, startServerHarness } from '../testing/serverHarness.ts'

const streams = 20
const waitMs = 60_000

async function write(client: EventStoreDBClient, appends: number): Promise<void> {
  for (let count = 0; count < appends; count += 1) {
    const events = Array.from({ length: 1 + (count % 5) }, (_, index) =>
      jsonEvent({ type: index % 2 === 0 ? 'Even' : 'Odd', data: { count, index } }),
    )
    await client.appendToStream(`${count % 3 === 0 ? 'few' : 'many'}-${count % streams}`, events)
  }
}

/** The positions of all events that match, in log order. */
async function logged(
  client: EventStoreDBClient,
  wanted: (each: AllStreamResolvedEvent) => boolean,
): Promise<bigint[]> {
  const positions: bigint[] = []
  for await (const each of client.readAll()) {
    if (each.event && wanted(each)) positions.push(each.event.position.commit)
  }
  return positions
}

/** Follows the log and yields to other work every few events; `seen` grows while the test runs. */
function follow(client: EventStoreDBClient, restEvery: number, filter?: Filter): { seen: bigint[] } {
  const seen: bigint[] = []
  const subscription = client.subscribeToAll({ fromPosition: START, ...(filter && { filter }) })
  const read = async () => {
    for await (const { event } of subscription) {
      if (event) seen.push(event.position.commit)
      if (seen.length % restEvery === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  read().catch(() => undefined)
  return { seen }
}

t.test('catching up and going live with concurrent writers has no gaps or duplicates', async (t) => {
  const { node, client } = await startServerHarness(t)
  await write(client, 180)
  const readers = [connect(t, node.port), connect(t, node.port), connect(t, node.port)] as const
  const writing = [connect(t, node.port), connect(t, node.port)].map((writer) => write(writer, 80))
  const few = streamNameFilter({ prefixes: ['few-'], maxSearchWindow: 5 })
  const odd = eventTypeFilter({ regex: '^O' })
  const followers = [
    { what: 'everything', ...follow(readers[0], 1_000), wanted: () => true },
    { what: 'everything, slowly', ...follow(readers[1], 1), wanted: () => true },
    { what: 'a few streams', ...follow(readers[0], 100, few), wanted: isOf('few-') },
    {
      what: 'a type, slowly',
      ...follow(readers[2], 1, odd),
      wanted: (each: AllStreamResolvedEvent) => each.event?.type === 'Odd',
    },
  ]
  await write(client, 50)
  // Starts while the log grows.
  followers.push({ what: 'a few streams, late', ...follow(readers[2], 7, few), wanted: isOf('few-') })
  await Promise.all(writing)
  for (const { what, seen, wanted } of followers) {
    const expected = await logged(client, wanted)
    await waitFor(() => seen.length >= expected.length, { what, timeoutMs: waitMs })
    t.same(seen, expected, what)
  }
})

function isOf(prefix: string): (each: AllStreamResolvedEvent) => boolean {
  return (each) => each.event?.streamId.startsWith(prefix) ?? false
}

t.test('more than a hundred subscriptions on a few connections get their events', async (t) => {
  const { node, client } = await startServerHarness(t)
  const connections = Array.from({ length: 4 }, () => connectAlone(t, node.port))
  const reads = connections.flatMap((connection) =>
    Array.from({ length: 30 }, (_, index) =>
      openRead(
        connection,
        index % 2 === 0
          ? readRequest({ from: 'end', count: null, filter: { by: 'stream', prefixes: ['wanted'] } })
          : readRequest({ stream: 'wanted', from: 'end', count: null }),
      ),
    ),
  )
  const live = () => reads.every((read) => read.messages.some((message) => message.hasCaughtUp()))
  await waitFor(live, { what: 'all subscriptions to be live', timeoutMs: waitMs })
  await write(client, 20)
  await client.appendToStream('wanted', jsonEvent({ type: 'T', data: {} }))
  const served = () => reads.every((read) => read.messages.some((message) => message.hasEvent()))
  await waitFor(served, { what: 'the event to reach all of them', timeoutMs: waitMs })
  for (const read of reads) read.cancel()
  t.ok(reads.every((read) => read.messages.filter((message) => message.hasEvent()).length === 1))
})

t.test('checkpoints of any filter match the sent events, during catch-up and live', async (t) => {
  const { node, client } = await startServerHarness(t)
  await write(client, 80)
  const all = await logged(client, () => true)
  const raw = connectRaw(t, node.port)
  const forms = [1, 2, 3, 7, 32, undefined].flatMap((window) =>
    [1, 3].map((interval) => ({ window, interval, from: all[(window ?? 1) * 3] ?? 0n })),
  )
  const reads = forms.map(({ window, interval, from }) =>
    openRead(
      raw,
      readRequest({
        from,
        count: null,
        filter: { by: 'stream', prefixes: ['few-'], interval, ...(window && { window }) },
      }),
    ),
  )
  const caughtUp = () => reads.every((read) => read.messages.some((message) => message.hasCaughtUp()))
  await waitFor(caughtUp, { what: 'all subscriptions to catch up', timeoutMs: waitMs })
  await write(client, 81)
  const matches = await logged(client, isOf('few-'))
  const log = await logged(client, () => true)
  const last = matches.at(-1)
  const done = () => reads.every((read) => read.messages.some((message) => positionOf(message).event === last))
  await waitFor(done, { what: 'the last match to arrive', timeoutMs: waitMs })
  for (const [index, read] of reads.entries()) {
    const { window = 32, interval, from } = forms[index] ?? { interval: 1, from: 0n }
    const name = `window ${window}, every ${interval}`
    // Going live begins a new interval, even if the last one was incomplete.
    const considered = 2 * window * interval + window
    t.same(faultsOf(read.messages.map(positionOf), { from, matches, log, considered }), [], name)
    read.cancel()
  }
})

type Seen = { readonly event?: bigint; readonly checkpoint?: bigint }

function positionOf(message: ReturnType<typeof openRead>['messages'][number]): Seen {
  const event = message.getEvent()
  if (event) return { event: BigInt(event.getCommitPosition()) }
  const checkpoint = message.getCheckpoint()
  return checkpoint ? { checkpoint: BigInt(checkpoint.getCommitPosition()) } : {}
}

/** Problems in a subscription's messages: resuming after any of its checkpoints must lose no event. */
function faultsOf(
  seen: readonly Seen[],
  about: {
    readonly from: bigint
    readonly matches: readonly bigint[]
    readonly log: readonly bigint[]
    readonly considered: number
  },
): string[] {
  const faults: string[] = []
  const due = about.matches.filter((position) => position > about.from)
  let sent = 0
  let checkpointed = about.from
  for (const { event, checkpoint } of seen) {
    if (event !== undefined && event !== due[sent]) faults.push(`event ${event} instead of ${due[sent]}`)
    if (event !== undefined) sent += 1
    if (checkpoint === undefined) continue
    if (checkpoint < checkpointed || (checkpoint === checkpointed && checkpointed !== about.from))
      faults.push(`${checkpoint} after ${checkpointed}`)
    const next = due[sent]
    if (next !== undefined && next <= checkpoint) faults.push(`checkpoint ${checkpoint} came before event ${next}`)
    const between = about.log.filter((position) => position > checkpointed && position <= checkpoint).length
    if (between > about.considered) faults.push(`${between} events between ${checkpointed} and ${checkpoint}`)
    checkpointed = checkpoint
  }
  // All events before the last match were considered before it was sent.
  const last = due.at(-1) ?? about.from
  const uncheckpointed = about.log.filter((position) => position > checkpointed && position < last).length
  if (uncheckpointed > about.considered)
    faults.push(`${uncheckpointed} events after ${checkpointed} without a checkpoint`)
  return faults
}
