// A server process with writers and followers, and checks of its log against their records.
import { type EventStoreDBClient, FORWARDS, START, UnavailableError } from '@eventstore/db-client'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { type CrashingServer, createCrashingServer } from './crashingServer.ts'
import { followAll, followPrefix, followStream } from './followers.ts'
import { createJournal, type Journal } from './journal.ts'
import { createLogCheck, type LogCheck, type LoggedEvent } from './logCheck.ts'
import { queryOnce } from './privatePostgres.ts'
import { createRandom, type SeededRandom } from './seededRandom.ts'
import { ownPrefix, raceStream, sharedStream, startWriters, type WriterCounts } from './writers.ts'

const followerTimeoutMs = 30_000
const readTimeoutMs = 30_000

export type LoadedServer = {
  readonly node: CrashingServer
  readonly journal: Journal
  readonly random: SeededRandom
  /** Reads new events and returns problems with them and with the outcomes since the last call. */
  check(): Promise<string[]>
  /** Stops the load and asserts that replies, log, table and followers are consistent. */
  finish(): Promise<void>
}

/** @param options `nodeDatabaseUrl` is the database URL of the server, which may be that of a proxy */
export async function startLoadedServer(
  t: Test,
  options: {
    readonly seed: number
    readonly writerCounts: WriterCounts
    readonly databaseUrl: string
    readonly nodeDatabaseUrl: string
  },
): Promise<LoadedServer> {
  const { seed, databaseUrl } = options
  const random = createRandom(seed)
  const journal = createJournal()
  const unexpectedEnd = (output: string) => journal.surprise(`the server ended by itself: ${output}`)
  const node = await createCrashingServer(t, { databaseUrl: options.nodeDatabaseUrl, unexpectedEnd })
  await node.start()
  const { untilUp } = node
  const reader = node.connect()
  const batching = { client: node.connect(), unaryOnly: false, journal, untilUp }
  const senders = [batching, { ...batching, client: node.connect(), unaryOnly: true }, batching]
  const followers = startFollowers({ client: reader, untilUp })
  const load = startWriters(senders, options.writerCounts, random.fork('writers'))
  t.teardown(() => {
    // Not awaited, because after a failed test the server may never be ready again.
    void load.stop().catch(() => undefined)
    for (const { follower } of followers) void follower.stop().catch(() => undefined)
  })
  const soFar = createLogCheck()

  return {
    node,
    journal,
    random,
    async check() {
      const settled = journal.takeSettled()
      const to = journal.highestPosition
      await waitFor(() => readOn(soFar, reader, to), { what: 'the log to be read', timeoutMs: readTimeoutMs })
      return [...soFar.faults(settled), ...journal.surprises]
    },
    async finish() {
      await load.stop()
      const log = createLogCheck()
      const events = await readInto(log, reader)
      t.same(journal.surprises, [], `no impossible response (seed ${seed})`)
      t.same(journal.open(), [], 'every attempt has a certain outcome')
      t.same(log.faults(journal.attempts), [], `the whole log is correct (seed ${seed})`)
      t.same(log.unexpected(journal.attempts), [], `the log has no event that was never sent (seed ${seed})`)
      const stored = await queryOnce(databaseUrl, 'select event_id as id from event_store.events order by position')
      const ids = events.map(({ id }) => ({ id }))
      t.strictSame(stored, ids, 'the read events are the stored events')
      for (const { follower, isFor } of followers) {
        const expected = events.filter(isFor).map(({ id }) => id)
        const what = `the follower of ${follower.name}`
        await waitFor(() => follower.seen.length >= expected.length, { what, timeoutMs: followerTimeoutMs })
        await follower.stop()
        t.strictSame(follower.seen, expected, `${what} saw each event once, in order (seed ${seed})`)
      }
      t.comment(`${events.length} events, ${journal.attempts.length} attempts, ${journal.acknowledged} acknowledged`)
    },
  }
}

function startFollowers(source: { readonly client: EventStoreDBClient; readonly untilUp: () => Promise<void> }) {
  const only = (name: string) => (event: LoggedEvent) => event.stream === name
  return [
    { follower: followAll(source), isFor: () => true },
    {
      follower: followPrefix(source, ownPrefix),
      isFor: (event: LoggedEvent) => event.stream.startsWith(ownPrefix),
    },
    { follower: followStream(source, sharedStream(0)), isFor: only(sharedStream(0)) },
    { follower: followStream(source, raceStream), isFor: only(raceStream) },
  ]
}

/** Whether the read succeeded; the first call after a kill may use the broken connection. */
async function readOn(check: LogCheck, client: EventStoreDBClient, to: bigint): Promise<boolean> {
  try {
    await readInto(check, client, to)
    return true
  } catch (error) {
    if (error instanceof UnavailableError) return false
    throw error
  }
}

/** Continues reading to the end, or to a position, because the end moves under load. */
export async function readInto(check: LogCheck, client: EventStoreDBClient, to?: bigint): Promise<LoggedEvent[]> {
  const read: LoggedEvent[] = []
  const { lastPosition } = check
  if (to !== undefined && to <= lastPosition) return read
  const fromPosition = lastPosition === 0n ? START : { commit: lastPosition, prepare: lastPosition }
  // The read includes its start position, whose event is known.
  const maxCount = to === undefined ? Number.MAX_SAFE_INTEGER : Number(to - lastPosition) + 1
  for await (const { event } of client.readAll({ direction: FORWARDS, fromPosition, maxCount })) {
    if (event === undefined || event.position.commit <= lastPosition) continue
    const { id, streamId: stream, revision, type } = event
    const logged = { id, stream, revision, position: event.position.commit, type, data: JSON.stringify(event.data) }
    check.add(logged)
    read.push(logged)
  }
  return read
}
