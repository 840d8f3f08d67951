// The server as a process: how it stops, and how it recovers from an outage. Kills are tested in testing/durability.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { binaryEvent, type EventStoreDBClient, FORWARDS, jsonEvent, NO_STREAM, START } from '@eventstore/db-client'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freePort, startProcess } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { startEmbeddedEventStore } from './embeddedEventStore.ts'
import { blockCommits } from './testing/blockedCommits.ts'
import { startPrivatePostgres } from './testing/durability/privatePostgres.ts'
import { responseInTime } from './testing/durability/sending.ts'
import { connectAlone } from './testing/rawBytes.ts'
import { readRequest } from './testing/rawReads.ts'
import { connect } from './testing/serverHarness.ts'

const log = createLog({ app: 'embedded-event-store', level: 'silent' })
const script = new URL('./main.ts', import.meta.url)

/** Appends until it is stopped; collects the acknowledged ids. */
function startLoad(t: Test, client: EventStoreDBClient, writers: number) {
  const acknowledged: string[] = []
  let running = true
  t.teardown(() => {
    running = false
  })
  const done = Promise.all(
    Array.from({ length: writers }, async () => {
      while (running) {
        const id = randomUUID()
        const append = client.appendToStream(`load-${id}`, jsonEvent({ id, type: 'Loaded', data: {} }), {
          expectedRevision: NO_STREAM,
        })
        // The client may never settle an append of the outage, so it has a timeout. Only responses count.
        await responseInTime(append)
          .then(() => acknowledged.push(id))
          .catch(() => new Promise((resolve) => setTimeout(resolve, 20)))
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

/** A server in this process, which stops with the test at the latest. */
async function startNodeToStop(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const fail = (error: unknown) => t.fail('the server gave up', { error })
  const node = await startEmbeddedEventStore({ host: '127.0.0.1', port: 0, databaseUrl, log, fail })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= node.stop()
    return stopped
  }
  t.teardown(stop)
  return { databaseUrl, port: node.port, stop }
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

t.test('SIGTERM ends the server at once with exit code 0 while subscriptions and batch streams are open', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const port = await freePort()
  const node = await startProcess(t, {
    script,
    env: { DATABASE_URL: databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' },
  })
  const client = connect(t, port)
  const subscription = client.subscribeToAll({ fromPosition: START })
  const ended = new Promise<Error>((resolve) => subscription.on('error', resolve))
  const load = startLoad(t, client, 8)
  await waitFor(() => load.acknowledged.length > 20, { what: 'a load under way' })
  const before = performance.now()
  await node.kill('SIGTERM')
  t.ok(performance.now() - before < 3_000)
  await load.stop()
  t.match(await ended, { type: 'unavailable' })
  t.equal((await node.exited).code, 0)
})

t.test('a stopping server finishes an append that waits for its commit', async (t) => {
  const node = await startNodeToStop(t)
  const commits = await blockCommits(t, node.databaseUrl)
  const appending = connect(t, node.port).appendToStream('waiting', jsonEvent({ type: 'Waiting', data: {} }))
  await commits.untilOneWaits()
  const stopping = node.stop()
  await commits.letGo()
  t.ok((await appending).success)
  await stopping
})

t.test('a client that does not read does not prevent the server from stopping', async (t) => {
  const node = await startNodeToStop(t)
  const client = connect(t, node.port)
  // More than the client reads ahead and the server has ready to send, which is 16 messages each.
  for (let append = 0; append < 12; append += 1) {
    const large = Array.from({ length: 5 }, () => binaryEvent({ type: 'Large', data: Buffer.alloc(200_000) }))
    await client.appendToStream('large', large)
  }
  const call = connectAlone(t, node.port).read(readRequest({ stream: 'large', from: 'start' }))
  t.teardown(() => call.cancel())
  call.on('error', () => undefined)
  await once(call, 'data')
  call.pause()
  let isStopped = false
  const stopping = node.stop().then(() => {
    isStopped = true
  })
  await waitFor(() => isStopped, { what: 'the server to stop', timeoutMs: 15_000 })
  await stopping
})

t.test('appends and reads fail during a Postgres outage and recover afterwards', async (t) => {
  const postgres = await startPrivatePostgres(t)
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'fatal' }
  const node = await startProcess(t, { script, env })
  const client = connect(t, port)
  const subscription = client.subscribeToAll({ fromPosition: START })
  const seen: string[] = []
  subscription.on('data', ({ event }) => event && seen.push(event.id))
  const load = startLoad(t, client, 16)
  await waitFor(() => load.acknowledged.length > 50, { what: 'a load under way' })
  await postgres.stop()
  await t.rejects(client.appendToStream('outage', jsonEvent({ type: 'Lost', data: {} })))
  await t.rejects(readLog(client))
  const duringOutage = load.acknowledged.length
  await postgres.restart()
  await waitFor(() => load.acknowledged.length > duringOutage + 50, { what: 'appends after the outage' })
  await load.stop()
  const { ids, positions } = await readLog(client)
  t.same(
    load.acknowledged.filter((id) => ids.filter((each) => each === id).length !== 1),
    [],
  )
  t.ok(increasing(positions))
  await waitFor(() => ids.every((id) => seen.includes(id)), { what: 'all events in the subscription' })
  await subscription.unsubscribe()
  await client.dispose()
  await node.stop()
})
