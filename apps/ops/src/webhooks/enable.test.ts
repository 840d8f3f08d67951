// `webhooks enable`, without a worker: delivering.full.test.ts of packages/administration has what it then sends.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { webhooksHarness } from '../testing/webhooksHarness.ts'

t.test('webhooks enable reports the waiting deliveries, also of an endpoint that is not configured', async (t) => {
  const { run, pool } = await webhooksHarness(t)
  const since = '2026-01-02T03:04:05.678Z'
  const disable = async (is_configured: boolean) => {
    const sql = `insert into webhooks.nodes (name, disabled_at, is_configured) values ('9', $1, $2)
      on conflict (name) do update set disabled_at = excluded.disabled_at, is_configured = excluded.is_configured`
    await pool.query(sql, [new Date(since), is_configured])
  }
  const enable = async () => (await run(['enable', '9'])).stdout
  await disable(true)
  t.equal(await enable(), `Endpoint 9 is enabled: no delivery has waited since ${since}.\n`)

  await pool.query(
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

  await pool.query('update webhooks.nodes set is_configured = true')
  t.same(await run(['enable', '9']), { code: 0, stdout: 'Endpoint 9 is not paused.\n', stderr: '' })
  t.same(JSON.parse((await run(['enable', '9', '--json'])).stdout), {
    node: '9',
    is_configured: true,
    disabled_at: null,
    held: 0,
  })
  t.same(await run(['enable', '7']), {
    code: 1,
    stdout: '',
    stderr: 'There is no endpoint 7. Known endpoints: 9.\n',
  })
})
