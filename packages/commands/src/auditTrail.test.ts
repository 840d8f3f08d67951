// What administrators do through the write API is in the audit trail, before its effect.
import { randomUUID } from 'node:crypto'
import { auditTrailStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, admin, adminId, freshKey, type Headers } from './testing/commandApiHarness.ts'
import { paymentChangesHarness } from './testing/paymentChangesHarness.ts'
import { recordedActions } from './testing/recordedActions.ts'

const { send, change, refund, open, paid, authorized, store, keys, app, fake } = await paymentChangesHarness(t)
const reason = { 'x-reason': 'Ticket%204711%3A%20zur%C3%BCck' }
const actor = `session:${adminId}`
const adminEmail = 'admin@example.com'

/** What an action adds to the audit trail. */
async function actionsOf(act: () => Promise<unknown>) {
  const before = (await recordedActions(store)).length
  await act()
  return (await recordedActions(store)).slice(before)
}

const dataOf = async (act: () => Promise<unknown>) => (await actionsOf(act)).map(({ data }) => data)
const read = (id: string, headers: Headers, query = '') =>
  app.inject({ url: `/admin/payments/${id}/events${query}`, headers: { ...headers } })

t.test('a refund is recorded before its effect, with actor, reason and target', async (t) => {
  const id = await paid()
  const actions = await actionsOf(() =>
    refund(id, { amount_cents: 500, note: 'for Ada' }, { ...admin, ...reason, ...freshKey() }),
  )
  const [auditedAction] = actions
  t.match(actions, { length: 1 })
  t.match(auditedAction, {
    stream: `auditTrail-${auditedAction?.data.action_id}`,
    data: {
      action: 'refund_payment',
      target: { kind: 'payment', id },
      actor,
      reason: 'Ticket 4711: zurück',
      details: { refund_id: /-/, amount_cents: 500, reason: 'other' },
    },
    metadata: { actor },
  })
  t.notMatch(JSON.stringify(auditedAction?.data), 'Ada')
  const log: string[] = []
  let correlation: string | undefined
  for await (const { type, data, metadata } of store.readLog({ prefixes: ['auditTrail-', 'payment-'] })) {
    if (type === 'AdministratorActed' || ('payment_id' in data && data.payment_id === id)) log.push(type)
    if (type === 'RefundRequested') correlation = metadata.correlationId
  }
  t.ok(log.lastIndexOf('AdministratorActed') < log.indexOf('RefundRequested'))
  t.equal(auditedAction?.metadata.correlationId, correlation, 'both name the request')
})

t.test('a request repeated with its Idempotency-Key adds no entry, and another request adds its own', async (t) => {
  const id = await paid()
  const headers = { ...admin, ...freshKey() }
  const twice = [{ amount_cents: 100 }, { amount_cents: 100 }]
  const actions = await dataOf(() => Promise.all(twice.map((body) => refund(id, body, headers))))
  t.match(actions, { length: 1, 0: { details: { amount_cents: 100 } } }, 'at the same time')
  t.same(await dataOf(async () => t.equal((await refund(id, { amount_cents: 100 }, headers)).status, 201)), [])
  const others: [object, Headers][] = [
    [{ amount_cents: 200 }, headers],
    [{ amount_cents: 100 }, { ...admin, ...freshKey() }],
    [{ amount_cents: 100 }, admin],
  ]
  for (const [body, sent] of others)
    t.match(await dataOf(() => refund(id, body, sent)), { length: 1, 0: { details: body } })
  const product_ids = [randomUUID()]
  const sync = () => send('POST', '/admin/sync/products', headers, { product_ids })
  t.match(await dataOf(() => sync().then(sync)), { length: 1, 0: { action: 'sync_products' } })
  const pending = await open()
  const refresh = () => change(pending, 'refresh', undefined, headers)
  t.match(await dataOf(() => refresh().then(refresh)), { length: 2 }, 'the key has no meaning here')
})

t.test('capture, cancellation and refresh of the payment of another owner are recorded', async (t) => {
  const id = await authorized()
  t.match(await dataOf(() => change(id, 'capture', { amount_cents: 1_000 })), [
    {
      action: 'capture_payment',
      target: { kind: 'payment', id },
      actor,
      reason: null,
      details: { amount_cents: 1_000 },
    },
  ])
  const pending = await open()
  for (const action of ['refresh', 'cancel'])
    t.match(await dataOf(() => change(pending, action, undefined, { ...admin, ...reason })), [
      { action: `${action}_payment`, target: { kind: 'payment', id: pending }, actor, reason: 'Ticket 4711: zurück' },
    ])
})

t.test('what owners do with their own payments is not recorded', async (t) => {
  for (const owner of [ada, admin]) {
    const id = await open({}, owner)
    for (const action of ['refresh', 'cancel'])
      t.same(await dataOf(async () => t.equal((await change(id, action, undefined, owner)).status, 200)), [])
  }
})

t.test('each page of recorded events that an administrator reads is recorded, but no unknown payment', async (t) => {
  const id = await open()
  for (const from_revision of [0, 1])
    t.match(await dataOf(() => read(id.toUpperCase(), { ...admin, ...reason }, `?from_revision=${from_revision}`)), [
      { action: 'show_payment', target: { kind: 'payment', id }, actor, reason: /4711/, details: { from_revision } },
    ])
  t.same(await dataOf(async () => t.equal((await read(randomUUID(), admin)).statusCode, 404)), [])
})

t.test('a product sync is recorded, but not its dry run', async (t) => {
  const sync = (dryRun: boolean) => () =>
    send('POST', '/admin/sync/products', { ...admin, ...reason }, { product_ids: [randomUUID()], dryRun })
  t.same(await dataOf(sync(true)), [])
  t.match(await dataOf(sync(false)), [
    { action: 'sync_products', target: null, actor, reason: /4711/, details: { products: 1, force: false } },
  ])
})

t.test('the e-mail of the administrator is sealed in the log, and goes with their keys', async (t) => {
  const id = await paid()
  const [acted] = await actionsOf(() => refund(id, { amount_cents: 500 }))
  if (acted === undefined) throw new Error('It is recorded')
  t.match(acted.data, { actor, actor_email: adminEmail })
  const { events } = await store.readRawPage(auditTrailStream(acted.data.action_id), 0n, 10)
  t.match(
    events.map(({ type }) => type),
    ['AdministratorActed', 'AdministratorActionEnded'],
  )
  for (const { data, metadata } of events) t.notMatch(`${Buffer.from(data)}${Buffer.from(metadata)}`, adminEmail)
  t.same(await keys.find({ email: adminEmail }), acted.sealed.personal, 'it is also found by e-mail')
  await store.destroyKeys(acted.sealed.personal ?? [])
  const [erased] = (await recordedActions(store)).filter(({ data }) => data.action_id === acted.data.action_id)
  t.match(erased?.data, { actor, actor_email: null })
})

t.test('the end of an action is recorded: done, refused, or nothing after an unclear error', async (t) => {
  const ends = async (act: () => Promise<unknown>) => {
    const outcomes: string[] = []
    for (const { action_id } of await dataOf(act)) {
      const [, end] = await store.readStream(auditTrailStream(action_id))
      outcomes.push(end?.type === 'AdministratorActionEnded' ? end.data.outcome : 'unknown')
    }
    return outcomes
  }
  const id = await paid()
  t.same(await ends(() => refund(id, { amount_cents: 500 })), ['done'])
  t.same(await ends(() => refund(id, { amount_cents: 9_999 })), ['refused'])
  t.same(await ends(() => read(id, admin)), ['done'])
  fake.failures.set('refund', [{ kind: 'unavailable' }])
  t.same(await ends(() => refund(id, { amount_cents: 100 })), ['unknown'], 'after 504')
})

t.test('with a malformed reason nothing is done and nothing recorded', async (t) => {
  const id = await authorized()
  const calls = fake.calls.length
  const recorded = await dataOf(async () => {
    for (const text of ['100 %', '%FF', 'x'.repeat(501)])
      for (const action of ['capture', 'refunds', 'cancel', 'refresh'])
        t.match(await change(id, action, {}, { ...admin, 'x-reason': text }), {
          status: 400,
          error: { code: 'invalid_request', details: { fields: [{ field: 'x-reason' }] } },
        })
  })
  t.same(recorded, [])
  t.equal(fake.calls.length, calls, 'the provider was not called')
})
