// `streams copy` as processes: exit codes, output, and the consumers on the new log.
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startProcess } from '@paylog/testing/processes'
import { startSystem } from '@paylog/testing/system'
import { testPool } from '@paylog/testing/testPool'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { fetch } from 'undici'
import { runOps, startOps } from '../testing/runOps.ts'

const copy = (args: readonly string[]) => runOps(['streams', 'copy', ...args])
/** Of events appended during a copy. */
const mostMeanwhile = 5_000

async function startStores(t: Test) {
  const [source, target] = await Promise.all([startEventStore(t), startEventStore(t)])
  return { source: { ...connected(t, source), databaseUrl: source.databaseUrl }, target: connected(t, target) }
}

function connected(t: Test, { connectionString }: { connectionString: string }) {
  const store = connectEventStore(t, { connectionString, keys: noDataKeys })
  return { url: connectionString, client: store.client }
}

type Client = ReturnType<typeof connected>['client']

const numbered = (number: number) => {
  return {
    id: crypto.randomUUID(),
    contentType: 'application/json',
    type: 'Numbered',
    data: { number },
    metadata: undefined,
  } as const
}

/** Each event in its own stream. */
const fill = (client: Client, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => client.appendToStream(`many-${index}`, numbered(index))))

/** Appends events one after the other until stopped or the test ends. */
function keepAppending(t: Test, client: Client) {
  let isOver = false
  const appending = (async () => {
    for (let made = 0; made < mostMeanwhile && !isOver; made += 1)
      await client.appendToStream('meanwhile-1', numbered(made))
  })()
  // `stop` reports the failure. Until then, it must not count as unhandled.
  appending.catch(() => undefined)
  const stop = async () => {
    isOver = true
    await appending
  }
  t.teardown(() => stop().catch(() => undefined))
  return { stop }
}

t.test('streams copy with invalid arguments exits 2 before it starts', async (t) => {
  const esdb = 'esdb://127.0.0.1:1'
  const wrong = [
    { args: [], expected: '--from is missing' },
    { args: ['--from', esdb], expected: '--to is missing' },
    { args: ['--from', 'http://a', '--to', esdb], expected: '--from must begin with esdb://' },
    { args: ['--from', esdb, '--to', esdb], expected: '--from and --to are the same' },
    {
      args: ['--from', 'esdb://localhost:1', '--to', 'esdb://u:p@127.0.0.1:1/?tls=false'],
      expected: '--from and --to are',
    },
    {
      args: ['--from', esdb, '--to', `${esdb}2`, '--checkpoints', 'mysql://a'],
      expected: '--checkpoints must begin with',
    },
  ]
  for (const { args, expected } of wrong)
    t.match(await copy(args), { code: 2, stdout: /^$/, stderr: new RegExp(`^${expected}[^\\n]*\\nUsage: `) })
})

t.test('streams copy names an unreachable or invalid URL in one line, without its password', async (t) => {
  const { source, target } = await startStores(t)
  const unused = '127.0.0.1:1'
  const cases = [
    {
      to: `esdb://u:secret@${unused}?tls=false`,
      expected: `the target cannot be reached: connect ECONNREFUSED ${unused}`,
    },
    {
      to: `esdb://u:secret@${unused}?colour=red`,
      code: 2,
      expected: '--to has an option that the client does not support: colour',
    },
    { checkpoints: `postgres://u:secret@${unused}/x`, expected: `--checkpoints: connect ECONNREFUSED ${unused}` },
  ]
  for (const { to = target.url, checkpoints, code: expectedCode = 1, expected } of cases) {
    const args = ['--from', source.url, '--to', to, ...(checkpoints ? ['--checkpoints', checkpoints] : [])]
    const { code, stdout, stderr } = await copy(args)
    t.match({ code, stdout, stderr }, { code: expectedCode, stdout: '', stderr: new RegExp(`^${expected}\n`) })
    t.notMatch(stderr, /secret/)
  }
})

t.test('streams copy prints its result as text and as JSON', async (t) => {
  const { source, target } = await startStores(t)
  await source.client.appendToStream('one-1', [numbered(0), numbered(1)])
  await source.client.appendToStream('two-1', numbered(0))
  const args = ['--from', source.url, '--to', target.url]
  const first = await copy(args)
  t.match(first, {
    code: 0,
    stdout:
      /^3 events, 3 copied and 0 already there, are the same in both logs\.\nEvents of system streams, not copied: \d+\./,
    stderr: /^Copying: 100 %, 3 events.*\nComparing: 100 %, 3 events.*\n$/,
  })
  const again = await copy([...args, '--json'])
  t.equal(again.code, 0)
  t.match(JSON.parse(again.stdout), { complete: true, events: 3, copied: 0, already_there: 3, recorded_since: 0 })
  await target.client.appendToStream('foreign-1', numbered(0))
  const rejected = await copy(args)
  t.match(rejected, { code: 1, stdout: '', stderr: /The target has foreign-1@0 .*, which is not in the source\n$/ })
})

t.test('a copy that is killed continues when it is run again', async (t) => {
  const { source, target } = await startStores(t)
  await fill(source.client, 300)
  const args = ['--from', source.url, '--to', target.url, '--json']
  const count = async () => {
    let events = 0
    for await (const { event } of target.client.readAll()) if (event?.streamId.startsWith('many-')) events += 1
    return events
  }
  const killed = startOps(t, ['streams', 'copy', ...args])
  await waitFor(async () => (await count()) > 20, { what: 'a copy under way' })
  killed.signal('SIGKILL')
  t.equal((await killed.ended).code, null, 'it was killed before its end')
  const there = await count()
  t.ok(there < 300, `${there} of 300 were there`)
  const { code, stdout } = await copy(args)
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { complete: true, events: 300, copied: 300 - there, already_there: there })
})

t.test('streams copy moves no checkpoint when the source recorded more meanwhile', async (t) => {
  const { source, target } = await startStores(t)
  await fill(source.client, 100)
  const pool = testPool(t, source.databaseUrl)
  await pool.query(
    `insert into webhooks.checkpoints
     select 'a', position, position, event_id, now() from event_store.events where stream = 'many-0'`,
  )
  const checkpoints = async () => (await pool.query('select * from webhooks.checkpoints order by name')).rows
  const before = await checkpoints()
  const appending = keepAppending(t, source.client)
  const args = ['--from', source.url, '--to', target.url, '--checkpoints', source.databaseUrl, '--json']
  const ended = await copy(args)
  await appending.stop()
  t.match(ended, { code: 1, stderr: /The source has recorded \d+ more events meanwhile\. / })
  const { complete, recorded_since: since, checkpoints: moved } = JSON.parse(ended.stdout)
  t.same({ complete, moved }, { complete: false, moved: undefined })
  t.ok(since > 0, `${since} events since`)
  t.same(await checkpoints(), before)
})

t.test('projector and worker continue on the new log from their moved checkpoints', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const nodes = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, WEBHOOK_1_EVENTS: 'payment.*' }
  const system = await startSystem(t, nodes)
  const { databaseUrl } = system
  const pool = testPool(t, databaseUrl)
  const pay = async () => {
    const response = await fetch(`${system.baseUrl}/payments/intents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        total_cents: 2200,
        currency: 'EUR',
        provider_id: 'sandbox',
        guest_data: { email: 'guest@example.com', name: 'Guest Example', phone: '+34600000000' },
      }),
    })
    if (!response.ok) throw new Error(`the payment was rejected: ${await response.text()}`)
  }
  const projected = async () => {
    const { rows } = await pool.query<{ count: bigint }>('select count(*) from read_models.payments')
    return Number(rows[0]?.count)
  }
  for (let count = 0; count < 3; count += 1) await pay()
  await waitFor(async () => (await projected()) === 3, { what: 'the first payments in the list' })
  await waitFor(() => new Set(endpoint.received.map(({ id }) => id)).size >= 3, { what: 'their webhooks' })
  const recorded = async () =>
    (await pool.query(`select from webhooks.all_deliveries where status = 'succeeded'`)).rowCount === 3
  await waitFor(recorded, { what: 'their delivery records' })
  await Promise.all([system.services.projector.kill(), system.services.worker.kill()])
  const receivedBefore = endpoint.received.length
  for (let count = 0; count < 2; count += 1) await pay()
  await system.services.api.kill()

  const target = connected(t, await startEventStore(t))
  // Shifts the positions relative to the old log.
  for (let count = 0; count < 7; count += 1) await target.client.appendToStream('$own', numbered(count))
  const args = ['--from', system.eventStoreUrl, '--to', target.url, '--checkpoints', databaseUrl, '--json']
  const { code, stdout, stderr } = await copy(args)
  t.equal(code, 0, stderr)
  const { checkpoints } = JSON.parse(stdout)
  // Those of other read models move while they are idle.
  const moved = new Set(checkpoints.map(({ table, name }: Record<string, string>) => `${table} ${name}`))
  for (const name of ['read_models.checkpoints payments@1', 'webhooks.checkpoints webhooks'])
    t.ok(moved.has(name), name)
  const source = connected(t, { connectionString: system.eventStoreUrl })
  for (const { from, to } of checkpoints) {
    t.not(from, to)
    const next = await nextPaymentEvent(source.client, from)
    t.ok(next)
    t.equal(await nextPaymentEvent(target.client, to), next, 'the next event is the same')
  }
  t.same(JSON.parse((await copy(args)).stdout).checkpoints, [], 'checkpoints are moved only once')

  const environment = {
    ...nodes,
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: target.url,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: system.sandboxSecret,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  }
  const start = (app: string) =>
    startProcess(t, { script: new URL(`../../../${app}/src/main.ts`, import.meta.url), env: environment })
  await Promise.all([start('projector'), start('worker')])
  await waitFor(async () => (await projected()) === 5, { what: 'the later payments in the list' })
  const perPayment = receivedBefore / 3
  await waitFor(() => endpoint.received.length >= perPayment * 5, { what: 'their webhooks' })
  t.equal(new Set(endpoint.received.map(({ id }) => id)).size, endpoint.received.length, 'each webhook was sent once')
})

/** The id of the first payment event after a position. */
async function nextPaymentEvent(client: Client, after: string): Promise<string | undefined> {
  for await (const { event } of client.readAll()) {
    if (event?.streamId.startsWith('payment-') && event.position && event.position.commit > BigInt(after))
      return event.id
  }
  return undefined
}
