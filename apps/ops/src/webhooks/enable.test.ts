// A node that said that it is gone, and is enabled again.
import { randomUUID } from 'node:crypto'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const patient = { timeoutMs: 30_000 }

t.test('what was held is sent once the node is enabled, and is seen meanwhile', async (t) => {
  const rig = await webhooksHarness(t)
  let isGone = true
  const endpoint = await startFakeEndpoint(t, (response) => {
    response.statusCode = isGone ? 410 : 200
    response.end('ok')
  })
  await rig.startWorker(endpointVariables('1', endpoint.url))
  await rig.pay(1)
  const listed = async () => JSON.parse((await rig.run(['list', '--json'])).stdout)
  const disabled = async () => {
    const { rows } = await rig.pool.query('select from webhooks.nodes where disabled_at is not null')
    return rows.length === 1
  }
  await waitFor(disabled, { what: 'the end of the node', ...patient })
  await rig.pay(2)
  await waitFor(async () => (await rig.rows('1')).length === 3, { what: 'the deliveries that are held', ...patient })
  t.match(await listed(), {
    nodes: [{ node: '1', is_configured: true, disabled_at: /^20/, pending: 3, failed: 0 }],
    deliveries: [{ status: 'held' }, { status: 'held' }, { status: 'held', attempts: 1, last_http_status: 410 }],
  })
  const [held] = (await listed()).deliveries
  t.match(await rig.run(['redeliver', held.id]), {
    code: 0,
    stdout: '1 delivery will be sent again, 1 of them once their node is enabled (webhooks enable).\n',
  })
  t.equal(endpoint.received.length, 1, 'nothing is sent meanwhile')

  isGone = false
  t.match(await rig.run(['enable', '1']), {
    code: 0,
    stdout: /^Node 1 is enabled: 3 deliveries that were held since 20\S+Z go out now\.\n$/,
  })
  const sent = async () => (await rig.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(sent, { what: 'what was held', ...patient })
  t.equal(endpoint.received.length, 4)
  t.same(new Set(endpoint.received.map(({ id }) => id)), new Set((await rig.rows('1')).map(({ id }) => id)))

  t.same(await rig.run(['enable', '1']), { code: 0, stdout: 'Node 1 is not disabled.\n', stderr: '' })
  t.same(JSON.parse((await rig.run(['enable', '1', '--json'])).stdout), {
    node: '1',
    is_configured: true,
    disabled_at: null,
    held: 0,
  })
  t.same(await rig.run(['enable', '7']), { code: 1, stdout: '', stderr: 'There is no node 7. There are 1.\n' })
})

t.test('it says what goes out, and that nothing does while the node is not configured', async (t) => {
  const rig = await webhooksHarness(t)
  const since = '2026-01-02T03:04:05.678Z'
  const disable = async (is_configured: boolean) => {
    const sql = `insert into webhooks.nodes (name, disabled_at, is_configured) values ('9', $1, $2)
      on conflict (name) do update set disabled_at = excluded.disabled_at, is_configured = excluded.is_configured`
    await rig.pool.query(sql, [new Date(since), is_configured])
  }
  const enable = async () => (await rig.run(['enable', '9'])).stdout
  await disable(true)
  t.equal(await enable(), `Node 9 is enabled: nothing was held since ${since}.\n`)

  await rig.pool.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
      source_event_id, correlation_id, causation_id, status, sweep_at, created_at)
     values ($1, '9', 'payment.created', 'canonical', 'sandbox', '{}', 'payment-1', 0, $1, 'c', 'c', 'pending', $2, $2)`,
    [randomUUID(), new Date(since)],
  )
  await disable(true)
  t.equal(await enable(), `Node 9 is enabled: 1 delivery that was held since ${since} goes out now.\n`)
  await disable(false)
  const waits = `1 delivery that was held since ${since} goes out once it is`
  t.equal(await enable(), `Node 9 is enabled, but it is not configured: ${waits}.\n`)
  t.equal(await enable(), 'Node 9 is not disabled, but not configured either.\n')
})
