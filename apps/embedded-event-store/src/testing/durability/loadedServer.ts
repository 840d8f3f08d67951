// A server as a process with writers and followers on it, and the means to hold its log against what they were told.
import { type EventStoreDBClient, FORWARDS, START, UnavailableError } from '@eventstore/db-client'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { type CrashingServer, createCrashingServer } from './crashingServer.ts'
import { followAll, followPrefix, followStream } from './followers.ts'
import { createJournal, type Journal } from './journal.ts'
import { createLogCheck, type LogCheck, type LoggedEvent } from './logCheck.ts'
import { queryOnce } from './privatePostgres.ts'
import { createRandom, type SeededRandom } from './seededRandom.ts'
import { type Crew, ownPrefix, raceStream, sharedStream, startWriters } from './writers.ts'

const followerTimeoutMs = 30_000
const readTimeoutMs = 30_000

export type LoadedServer = {
  readonly node: CrashingServer
  readonly journal: Journal
  readonly random: SeededRandom
  /** Reads what is new in the log and gives what is wrong with it, and with everything answered since the last call. */
  check(): Promise<string[]>
  /** Ends the load and asserts that the answers, the log, its table and the followers all tell the same story. */
  finish(): Promise<void>
}

/** @param options `nodeDatabaseUrl` is where the server finds the database, by way of a proxy perhaps */
export async function startLoadedServer(
  t: Test,
  options: {
    readonly seed: number
    readonly crew: Crew
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
  const load = startWriters(senders, options.crew, random.fork('writers'))
  t.teardown(() => {
    // Not waited for: a test that failed may have left a server that never comes up again.
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
      t.same(journal.surprises, [], `nobody got an impossible answer (seed ${seed})`)
      t.same(journal.open(), [], 'everything was answered in the end')
      t.same(log.faults(journal.attempts), [], `the whole log is right (seed ${seed})`)
      t.same(log.strangers(journal.attempts), [], `nothing is there that nobody wrote (seed ${seed})`)
      const stored = await queryOnce(databaseUrl, 'select event_id as id from event_store.events order by position')
      const ids = events.map(({ id }) => ({ id }))
      t.strictSame(stored, ids, 'what is read is what is stored')
      for (const { follower, isFor } of followers) {
        const expected = events.filter(isFor).map(({ id }) => id)
        const what = `the follower of ${follower.name}`
        await waitFor(() => follower.seen.length >= expected.length, { what, timeoutMs: followerTimeoutMs })
        await follower.stop()
        t.strictSame(follower.seen, expected, `${what} saw all of it once, in order (seed ${seed})`)
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

/** Whether it could be read: the first call after a kill may still go to the connection that is no more. */
async function readOn(check: LogCheck, client: EventStoreDBClient, to: bigint): Promise<boolean> {
  try {
    await readInto(check, client, to)
    return true
  } catch (error) {
    if (error instanceof UnavailableError) return false
    throw error
  }
}

/** Reads on from where the check is, to the end or to a position, because the end moves while the load goes on. */
export async function readInto(check: LogCheck, client: EventStoreDBClient, to?: bigint): Promise<LoggedEvent[]> {
  const read: LoggedEvent[] = []
  const { lastPosition } = check
  if (to !== undefined && to <= lastPosition) return read
  const fromPosition = lastPosition === 0n ? START : { commit: lastPosition, prepare: lastPosition }
  // No two events share a position, and the first one read is already known.
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
