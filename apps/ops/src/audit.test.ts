// What operators do with commands is in the audit trail, before it is done.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import t from 'tap'
import { runOps } from './testing/runOps.ts'
import { webhooksHarness } from './testing/webhooksHarness.ts'

const { env, store, pool, pay } = await webhooksHarness(t)
const [paymentId = ''] = await pay(1)
await pool.query("insert into webhooks.nodes (name, is_configured, disabled_at) values ('1', true, now())")

const endpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://shop.example.com/' }
const all = { ...env, ...endpoint }
const withoutLog = { ...all, EVENTSTORE_URL: '' }
const actor = `operator:${userInfo().username}`

/** What a command adds to the audit trail. */
async function actionsOf(args: readonly string[], environment = all) {
  const before = (await recordedActions(store)).length
  const result = await runOps(args, environment)
  return { ...result, actions: (await recordedActions(store)).slice(before).map(({ data }) => data) }
}

t.test('commands that change, export or show something record it, with actor, reason and target', async (t) => {
  const out = `${t.testdir()}/log.ndjson`
  const payment = { kind: 'payment', id: paymentId }
  const stream = { kind: 'stream', id: `payment-${paymentId}` }
  const webhooks = { kind: 'webhook_endpoint', id: '1' }
  const actions: readonly [action: string, args: string[], auditedAction: object][] = [
    ['show_payment', ['payments', 'show', paymentId], { target: payment }],
    ['read_stream', ['streams', 'read', stream.id], { target: stream }],
    ['export_log', ['streams', 'export', '--category', 'payment', '--out', out], { details: { category: 'payment' } }],
    ['enable_webhook_endpoint', ['webhooks', 'enable', '1'], { target: webhooks }],
    ['redeliver_failed_webhooks', ['webhooks', 'redeliver', '--node', '1', '--failed'], { target: webhooks }],
    ['backfill_webhooks', ['webhooks', 'backfill', '--node', '1', '--from', '0'], { target: webhooks }],
    ['start_webhooks', ['webhooks', 'start', '--from', 'now'], { target: null, details: { from: 'now' } }],
    ['verify_projection', ['projections', 'verify', 'disputes'], { target: { kind: 'projection', id: 'disputes' } }],
    ['rebuild_projection', ['projections', 'rebuild', 'disputes'], { target: { kind: 'projection', id: 'disputes' } }],
    ['prune_projections', ['projections', 'prune'], { target: null, details: { projections: 'all' } }],
    ['import_products', ['products', 'import', '-'], { target: null }],
  ]
  for (const [action, args, auditedAction] of actions) {
    const { code, stderr, actions } = await actionsOf([...args, '--reason', ' Ticket 4711 '])
    t.equal(code, 0, `${action}: ${stderr}`)
    // Nothing has failed, so nothing is sent again.
    if (action === 'redeliver_failed_webhooks') t.same(actions, [])
    else t.match(actions, [{ action, actor, reason: 'Ticket 4711', ...auditedAction }], action)
  }
})

t.test('a dry run, an unknown payment, stream or endpoint, and a wrong reason are not recorded', async (t) => {
  for (const [args, code] of [
    [['projections', 'prune', '--dry-run'], 0],
    [['webhooks', 'backfill', '--node', '1', '--from', '0', '--dry-run'], 0],
    [['payments', 'show', randomUUID()], 1],
    [['streams', 'read', 'payment-none'], 1],
    [['webhooks', 'enable', '9'], 1],
    [['payments', 'show', paymentId, '--reason', 'two\nlines'], 2],
    [['payments', 'cancel', paymentId, '--audit-reason', 'x'.repeat(501)], 2],
  ] as const)
    t.match(await actionsOf(args), { code, actions: { length: 0 } }, args.join(' '))
})

t.test('without EVENTSTORE_URL a command that needs none warns that it is not recorded', async (t) => {
  const warning = 'Warning: EVENTSTORE_URL is not set, so the audit trail has no record of this.\n'
  t.match(await actionsOf(['webhooks', 'enable', '1'], withoutLog), {
    code: 0,
    stderr: warning,
    actions: { length: 0 },
  })
})
