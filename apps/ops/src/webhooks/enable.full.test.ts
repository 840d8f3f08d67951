import { randomUUID } from 'node:crypto'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const longTimeout = { timeoutMs: 30_000 }

t.test('deliveries of a paused endpoint are listed, and sent once it is enabled', async (t) => {
  const harness = await webhooksHarness(t)
  let isGone = true
  const endpoint = await startFakeEndpoint(t, (response) => {
    response.statusCode = isGone ? 410 : 200
    response.end('ok')
  })
  await harness.startWorker(endpointVariables('1', endpoint.url))
  await harness.pay(1)
  const listed = async () => JSON.parse((await harness.run(['list', '--json'])).stdout)
  const disabled = async () => {
    const { rows } = await harness.pool.query('select from webhooks.nodes where disabled_at is not null')
    return rows.length === 1
  }
  await waitFor(disabled, { what: 'the endpoint to be paused', ...longTimeout })
  await harness.pay(2)
  await waitFor(async () => (await harness.rows('1')).length === 3, { what: 'the waiting deliveries', ...longTimeout })
  t.match(await listed(), {
    nodes: [{ node: '1', is_configured: true, disabled_at: /^20/, pending: 3, failed: 0 }],
    deliveries: [{ status: 'held' }, { status: 'held' }, { status: 'held', attempts: 1, last_http_status: 410 }],
  })
  const [held] = (await listed()).deliveries
  t.match(await harness.run(['redeliver', held.id]), {
    code: 0,
    stdout: '1 delivery will be sent again, 1 of them once their endpoint is enabled (webhooks enable).\n',
  })
  t.equal(endpoint.received.length, 1, 'nothing is sent while it is paused')

  isGone = false
  t.match(await harness.run(['enable', '1']), {
    code: 0,
    stdout: /^Endpoint 1 is enabled: 3 deliveries that have waited since 20\S+Z are sent now\.\n$/,
  })
  const sent = async () => (await harness.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(sent, { what: 'the waiting deliveries', ...longTimeout })
  t.equal(endpoint.received.length, 4)
  t.same(new Set(endpoint.received.map(({ id }) => id)), new Set((await harness.rows('1')).map(({ id }) => id)))

  t.same(await harness.run(['enable', '1']), { code: 0, stdout: 'Endpoint 1 is not paused.\n', stderr: '' })
  t.same(JSON.parse((await harness.run(['enable', '1', '--json'])).stdout), {
    node: '1',
    is_configured: true,
    disabled_at: null,
    held: 0,
  })
  t.same(await harness.run(['enable', '7']), {
    code: 1,
    stdout: '',
    stderr: 'There is no endpoint 7. Known endpoints: 1.\n',
  })
})

t.test('webhooks enable reports the waiting deliveries, also of an endpoint that is not configured', async (t) => {
  const harness = await webhooksHarness(t)
  const since = '2026-01-02T03:04:05.678Z'
  const disable = async (is_configured: boolean) => {
    const sql = `insert into webhooks.nodes (name, disabled_at, is_configured) values ('9', $1, $2)
      on conflict (name) do update set disabled_at = excluded.disabled_at, is_configured = excluded.is_configured`
    await harness.pool.query(sql, [new Date(since), is_configured])
  }
  const enable = async () => (await harness.run(['enable', '9'])).stdout
  await disable(true)
  t.equal(await enable(), `Endpoint 9 is enabled: no delivery has waited since ${since}.\n`)

  await harness.pool.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
      source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
     values ($1, '9', 'payment.created', 'canonical', 'sandbox', '{}', 'payment-1', 0, $1, 'c', 'c', $2, $2)`,
    [randomUUID(), new Date(since)],
  )
  await disable(true)
  t.equal(await enable(), `Endpoint 9 is enabled: 1 delivery that has waited since ${since} is sent now.\n`)
  await disable(false)
  const waits = `1 delivery that has waited since ${since} is sent once it is`
  t.equal(await enable(), `Endpoint 9 is enabled, but it is not configured: ${waits}.\n`)
  t.equal(await enable(), 'Endpoint 9 is not paused, but it is not configured.\n')
})
