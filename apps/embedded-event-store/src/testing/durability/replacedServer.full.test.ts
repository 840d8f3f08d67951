// A single writer: a second server is rejected, and a suspended server that was replaced cannot write.

import { setTimeout as sleep } from 'node:timers/promises'
import { ANY, jsonEvent } from '@eventstore/db-client'
import { freePort, startProcess } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { connect } from '../serverHarness.ts'
import { createJournal } from './journal.ts'
import { readInto } from './loadedServer.ts'
import { createLogCheck } from './logCheck.ts'
import { queryOnce } from './privatePostgres.ts'
import { createRandom, seed } from './seededRandom.ts'
import { startWriters } from './writers.ts'

const script = new URL('../../main.ts', import.meta.url)
const appendEveryMs = 50

async function environment(databaseUrl: string) {
  return { DATABASE_URL: databaseUrl, PORT: String(await freePort()), LOG_LEVEL: 'silent' }
}

t.test('a second server on the same database fails to start with one line, and the first continues', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const env = await environment(databaseUrl)
  await startProcess(t, { script, env })
  const second = await environment(databaseUrl)
  const rejection = await startProcess(t, { script, env: second }).catch((error: Error) => error)
  t.match(rejection, {
    message:
      /ended \(1\) before it was ready: embedded-event-store: [^\n]*Another embedded-event-store is already running[^\n]*\n$/,
  })
  const appended = await connect(t, Number(env.PORT)).appendToStream(
    'still-here',
    jsonEvent({ type: 'Written', data: {} }),
  )
  t.ok(appended.success)
})

t.test('a server whose epoch is outdated writes nothing and exits with an error', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const env = await environment(databaseUrl)
  const node = await startProcess(t, { script, env })
  const client = connect(t, Number(env.PORT))
  await client.appendToStream('fenced', jsonEvent({ type: 'Before', data: {} }))
  await queryOnce(databaseUrl, 'update event_store.writer set epoch = epoch + 1')
  await t.rejects(client.appendToStream('fenced', jsonEvent({ type: 'After', data: {} })))
  t.equal((await node.exited).code, 1)
  const stored = await queryOnce(databaseUrl, `select type from event_store.events where stream = 'fenced'`)
  t.same(stored, [{ type: 'Before' }])
})

t.test('a suspended server that was replaced cannot write after it resumes, and exits', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const [firstEnv, secondEnv] = [await environment(databaseUrl), await environment(databaseUrl)]
  const first = await startProcess(t, { script, env: firstEnv })
  const journal = createJournal()
  const firstClient = connect(t, Number(firstEnv.PORT))
  let client = firstClient
  const up = Promise.resolve()
  const sender = {
    get client() {
      return client
    },
    // Batches go to the first server only, so that its socket has some of them when it resumes.
    get unaryOnly() {
      return client !== firstClient
    },
    journal,
    untilUp: () => up,
  }
  const load = startWriters([sender], { owners: 8, sharers: 3, racers: 3 }, createRandom(seed))
  // Not awaited, because after a failed test no server may be left to respond.
  t.teardown(() => void load.stop().catch(() => undefined))
  await waitFor(() => journal.acknowledged > 100, { what: 'a load under way' })

  process.kill(first.pid, 'SIGSTOP')
  t.teardown(() => first.kill('SIGKILL'))
  const inFlight = journal.open().length
  await queryOnce(
    databaseUrl,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and application_name like 'embedded-event-store%'`,
  )
  await startProcess(t, { script, env: secondEnv })
  client = connect(t, Number(secondEnv.PORT))
  await waitFor(() => journal.acknowledged > 400, { what: 'the second server to be the writer' })

  process.kill(first.pid, 'SIGCONT')
  let ended = false
  const end = first.exited.then(({ code }) => {
    ended = true
    return code
  })
  const responses = new Set<string>()
  while (!ended) {
    // Appends to the resumed server until it has exited.
    const event = jsonEvent({ type: 'TooLate', data: {} })
    const appending = firstClient.appendToStream('too-late', event, {
      expectedRevision: ANY,
      credentials: { username: 'anybody', password: 'any' },
    })
    const response = appending.then(
      () => 'written',
      () => 'rejected',
    )
    responses.add(await Promise.race([response, end.then(() => 'ended')]))
    // The load on the second server may stop once the resumed one has responded.
    if (responses.size > 0) await load.stop()
    await sleep(appendEveryMs)
  }
  t.equal(await end, 1, 'exit code')
  t.notOk(responses.has('written'), 'it acknowledged no append')
  t.ok(responses.has('rejected'))

  const check = createLogCheck()
  await readInto(check, client)
  t.ok(inFlight > 0)
  t.same(journal.surprises, [])
  t.same(check.faults(journal.attempts), [], `nothing is lost or duplicated (seed ${seed})`)
  t.same(check.unexpected(journal.attempts), [], `the log has no event of the replaced server (seed ${seed})`)
})
