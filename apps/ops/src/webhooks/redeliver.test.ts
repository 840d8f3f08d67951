// `webhooks redeliver` of ids, without a worker: delivering.full.test.ts of packages/administration has what it then sends.
import { randomUUID } from 'node:crypto'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import t from 'tap'
import { webhooksHarness } from '../testing/webhooksHarness.ts'

const { run, rows, fail, store } = await webhooksHarness(t)
await fail('1', 1)
const [failed] = await rows('1')
if (failed === undefined) throw new Error('There is no delivery')
const { id, body } = failed

t.test('webhooks redeliver keeps id and body, starts a new retry schedule, and is recorded', async (t) => {
  t.match(await run(['redeliver', id, '--dry-run']), { code: 0, stdout: '1 delivery would be sent again.\n' })
  t.same(await rows('1'), [failed], 'a dry run changes nothing')
  t.match(await run(['redeliver', id]), { code: 0, stdout: '1 delivery will be sent again.\n' })
  t.match(await rows('1'), [{ id, body, status: 'pending', attempts: 4, series_start: 4 }])
  t.match(
    (await recordedActions(store)).map(({ data }) => data),
    [{ action: 'redeliver_webhook', target: { kind: 'webhook_delivery', id } }],
  )
  const again = await run(['redeliver', id.toUpperCase(), id, '--json'])
  t.same(JSON.parse(again.stdout), { complete: true, dry_run: false, redelivered: 1, held: 0, unknown: [] })
  t.equal((await rows('1')).length, 1)
})

t.test('webhooks redeliver names unknown ids and sends the others', async (t) => {
  const unknown = randomUUID()
  t.same(await run(['redeliver', unknown, id, 'no-id']), {
    code: 1,
    stdout: '1 delivery will be sent again.\n',
    stderr: `Unknown ids: ${unknown}, no-id\n`,
  })
})

t.test('webhooks redeliver with invalid arguments fails before it starts', async (t) => {
  for (const [args, message] of [
    [[], 'ID is missing'],
    [['--node', '1'], '--failed is missing: without ids, only failed deliveries are sent again'],
    [['--failed'], '--node is missing'],
    [['--since', '1h'], '--node is missing'],
    [[randomUUID(), '--node', '1', '--failed'], 'Give either ids or --node and --failed'],
    [['--node', '1', '--failed', '--since', 'soon'], '--since must be a time'],
  ] as const)
    t.match(await run(['redeliver', ...args]), { code: 2, stdout: '', stderr: message }, args.join(' '))
})
