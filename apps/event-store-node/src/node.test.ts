// How the node ends, and how it goes on after an outage, as a real process. What it does when it is killed is in durability.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventStoreDBClient, FORWARDS, jsonEvent, NO_STREAM, START } from '@eventstore/db-client'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/postgres'
import { freePort, startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startNode } from './node.ts'
import { holdCommits } from './testing/heldCommits.ts'
import { connect } from './testing/nodeUnderTest.ts'

const log = createLog({ app: 'event-store-node', level: 'silent' })
const script = new URL('./main.ts', import.meta.url)

/** Appends until told to stop; gives the ids that were acknowledged. */
function startLoad(client: EventStoreDBClient, writers: number) {
  const acknowledged: string[] = []
  let running = true
  const done = Promise.all(
    Array.from({ length: writers }, async () => {
      while (running) {
        const id = randomUUID()
        const append = client.appendToStream(`load-${id}`, jsonEvent({ id, type: 'Loaded', data: {} }), {
          expectedRevision: NO_STREAM,
        })
        // An append during the outage may never be answered by the client; only answers count.
        await append.then(() => acknowledged.push(id)).catch(() => new Promise((resolve) => setTimeout(resolve, 20)))
      }
    }),
  )
  return {
    acknowledged,
    async stop() {
      running = false
      await done
    },
  }
}

async function readLog(client: EventStoreDBClient): Promise<{ ids: string[]; positions: bigint[] }> {
  const ids: string[] = []
  const positions: bigint[] = []
  for await (const { event } of client.readAll({ direction: FORWARDS, fromPosition: START })) {
    if (!event?.streamId.startsWith('load-')) continue
    ids.push(event.id)
    positions.push(event.position.commit)
  }
  return { ids, positions }
}

function increasing(positions: readonly bigint[]): boolean {
  return positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n))
}

t.test('SIGTERM ends the node at once and without a failure, with subscriptions and batch streams open', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const port = await freePort()
  const node = await startProcess(t, {
    script,
    env: { DATABASE_URL: databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' },
  })
  const client = connect(t, port)
  const subscription = client.subscribeToAll({ fromPosition: START })
  const ended = new Promise<Error>((resolve) => subscription.on('error', resolve))
  const load = startLoad(client, 8)
  await waitFor(() => load.acknowledged.length > 20, { what: 'a load under way' })
  const before = performance.now()
  await node.kill('SIGTERM')
  await load.stop()
  t.ok(performance.now() - before < 3_000)
  t.match(await ended, { type: 'unavailable' })
  t.equal((await node.exited).code, 0)
})

t.test('an append that waits for its commit when the node is stopped is still written and answered', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const fail = (error: unknown) => t.fail('the node gave up', { error })
  const node = await startNode({ host: '127.0.0.1', port: 0, databaseUrl, log, fail })
  const commits = await holdCommits(databaseUrl)
  const appending = connect(t, node.port).appendToStream('waiting', jsonEvent({ type: 'Waiting', data: {} }))
  await commits.untilOneWaits()
  const stopping = node.stop()
  await commits.letGo()
  t.ok((await appending).success)
  await stopping
})

t.test('when Postgres goes away appends and reads fail, and go on by themselves when it is back', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-outage-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const databasePort = await freePort()
  const postgres = await startEmbeddedPostgres({ directory, port: databasePort, log })
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'fatal' }
  const node = await startProcess(t, { script, env })
  const client = connect(t, port)
  const subscription = client.subscribeToAll({ fromPosition: START })
  const seen: string[] = []
  subscription.on('data', ({ event }) => event && seen.push(event.id))
  const load = startLoad(client, 16)
  await waitFor(() => load.acknowledged.length > 50, { what: 'a load under way' })
  await postgres.stop()
  await t.rejects(client.appendToStream('outage', jsonEvent({ type: 'Lost', data: {} })))
  await t.rejects(readLog(client))
  const duringOutage = load.acknowledged.length
  const restarted = await startEmbeddedPostgres({ directory, port: databasePort, log })
  t.teardown(() => restarted.stop())
  await waitFor(() => load.acknowledged.length > duringOutage + 50, { what: 'appends after the outage' })
  await load.stop()
  const { ids, positions } = await readLog(client)
  t.same(
    load.acknowledged.filter((id) => ids.filter((each) => each === id).length !== 1),
    [],
  )
  t.ok(increasing(positions))
  await waitFor(() => ids.every((id) => seen.includes(id)), { what: 'the subscription to have seen all of it' })
  await subscription.unsubscribe()
  await client.dispose()
  await node.stop()
})
