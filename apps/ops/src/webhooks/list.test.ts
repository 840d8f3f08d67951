import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'
import { webhooksHarness } from '../testing/webhooksHarness.ts'

const harness = await webhooksHarness(t)
const id = (number: number) => `00000000-0000-4000-8000-00000000000${number}`

type Row = readonly [number, string, string, string, number, string | null, string | null]
/** Number, endpoint, event, status, attempts, last error, next attempt. */
const rows: readonly Row[] = [
  [1, '1', 'payment.created', 'succeeded', 1, null, null],
  [2, '1', 'payment.failed', 'failed', 4, 'timeout', null],
  [3, '1', 'payment.succeeded', 'pending', 0, null, '2026-01-01T00:01:00Z'],
  [4, '1', 'payment.succeeded', 'pending', 2, 'unexpected_status', '2026-01-01T00:02:00Z'],
  [5, '2', 'payment.succeeded', 'pending', 1, 'gone', null],
  [6, '10', 'sandbox:\u001b[31mred', 'pending', 0, null, '2026-01-01T00:01:00Z'],
]
for (const [number, node, event, status, attempts, last_error, next_attempt_at] of rows) {
  const isPending = status === 'pending'
  const [table, time] = isPending ? ['deliveries', 'next_attempt_at'] : ['finished_deliveries', 'ended_at']
  await harness.pool.query(
    `insert into webhooks.${table} (id, node, event, mode, provider, body, source_stream, source_revision,
      source_event_id, correlation_id, causation_id, attempts, attempts_made, last_error, last_http_status,
      last_attempt_at, ${time}, created_at, is_test)
    values ($1, $2, $3, 'canonical', 'sandbox', '{}', 's', 0, $1, 'c', 'c', $4, '[]', $5, $6, now(), $7, $8, $9)`,
    [
      id(number),
      node,
      event,
      attempts,
      last_error,
      last_error === 'unexpected_status' ? 503 : null,
      isPending && next_attempt_at !== null ? next_attempt_at : new Date(),
      `2026-01-01T00:00:0${number}Z`,
      number === 3,
    ],
  )
}
await harness.pool.query(
  `insert into webhooks.nodes (name, is_configured, disabled_at)
  values ('1', true, null), ('2', true, '2026-01-01T00:00:30Z'), ('10', false, null)`,
)

t.test('webhooks list shows the endpoints, and the deliveries from the newest on', async (t) => {
  const { stdout, code } = await harness.run(['list'])
  t.equal(code, 0)
  const lines = stdout.trimEnd().split('\n')
  t.same(
    lines.map((line) => line.trim().split(/ {2,}/)),
    [
      ['Endpoint', 'State', 'Pending', 'Failed', 'Oldest pending'],
      lines[1]?.trim().split(/ {2,}/),
      ['1', 'enabled', '2', '1', '2026-01-01T00:00:03.000Z'],
      ['2', 'paused since 2026-01-01T00:00:30.000Z', '1', '0', '2026-01-01T00:00:05.000Z'],
      ['10', 'not configured', '1', '0', '2026-01-01T00:00:06.000Z'],
      [''],
      ['Id', 'Endpoint', 'Event', 'Status', 'Attempts', 'Last error', 'Next attempt', 'Created'],
      lines[7]?.trim().split(/ {2,}/),
      [id(6), '10', 'sandbox:?[31mred', 'pending', '0', '2026-01-01T00:00:06.000Z'],
      [id(5), '2', 'payment.succeeded', 'held', '1', 'gone', '2026-01-01T00:00:05.000Z'],
      [
        id(4),
        '1',
        'payment.succeeded',
        'pending',
        '2',
        'unexpected_status 503',
        '2026-01-01T00:02:00.000Z',
        '2026-01-01T00:00:04.000Z',
      ],
      [id(3), '1', 'payment.succeeded (test)', 'pending', '0', '2026-01-01T00:01:00.000Z', '2026-01-01T00:00:03.000Z'],
      [id(2), '1', 'payment.failed', 'failed', '4', 'timeout', '2026-01-01T00:00:02.000Z'],
      [id(1), '1', 'payment.created', 'succeeded', '1', '2026-01-01T00:00:01.000Z'],
    ],
  )
})

t.test('webhooks list has options for endpoint, status and number', async (t) => {
  for (const [options, expected] of [
    ['--status held', [5]],
    ['--node 1', [4, 3, 2, 1]],
    ['--node 1 --status pending --limit 1', [4]],
    ['--node 1 --status held', []],
  ] as const) {
    const { nodes, deliveries } = JSON.parse((await harness.run(['list', ...options.split(' '), '--json'])).stdout)
    t.same(
      deliveries.map((delivery: { id: string }) => delivery.id),
      expected.map(id),
      options,
    )
    t.equal(nodes.length, options.includes('--node') ? 1 : 3, options)
  }
})

t.test('webhooks list --json has every field of a delivery', async (t) => {
  const { nodes, deliveries } = JSON.parse(
    (await harness.run(['list', '--node', '1', '--limit', '1', '--json'])).stdout,
  )
  t.same(deliveries, [
    {
      id: id(4),
      node: '1',
      event: 'payment.succeeded',
      status: 'pending',
      attempts: 2,
      is_test: false,
      last_http_status: 503,
      last_error: 'unexpected_status',
      next_attempt_at: '2026-01-01T00:02:00.000Z',
      created_at: '2026-01-01T00:00:04.000Z',
    },
  ])
  t.same(nodes, [
    {
      node: '1',
      is_configured: true,
      disabled_at: null,
      pending: 2,
      failed: 1,
      oldest_pending_at: '2026-01-01T00:00:03.000Z',
    },
  ])
})

t.test('webhooks list handles an unknown endpoint and invalid options', async (t) => {
  t.match(await harness.run(['list', '--node', '7']), {
    code: 0,
    stdout: 'No such endpoint has been configured yet.\n\nNo such deliveries.\n',
  })
  t.match(await harness.run(['list', '--status', 'lost']), { code: 2, stderr: '--status must be one of pending, held' })
  t.match(await harness.run(['list', '--limit', '10001']), { code: 2, stderr: '--limit must be at most 10000' })
})

t.test('webhooks list on a database without tables suggests migrate', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  for (const args of [['list'], ['enable', '1']])
    t.match(await runOps(['webhooks', ...args], { DATABASE_URL: databaseUrl, DATA_DIR: t.testdir() }), {
      code: 1,
      stderr:
        /^the tables of this database do not match this version: run `npm run -s ops -- migrate` first \(relation /,
    })
})
