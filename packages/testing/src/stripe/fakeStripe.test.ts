// The fake Stripe behaves like Stripe where other tests depend on it.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { matchList } from '../assertions.ts'
import { listen } from '../fakeServer.ts'
import { waitFor } from '../waitFor.ts'
import { type FakeStripe, startFakeStripe } from './fakeStripe.ts'

type Reply = {
  readonly status: number
  readonly replayed: boolean
  readonly body: { readonly id?: string; readonly status?: string; readonly error?: Readonly<Record<string, unknown>> }
}

type Sent = { readonly key?: string; readonly headers?: Readonly<Record<string, string>>; readonly method?: string }

async function send(fake: FakeStripe, path: string, form: string | undefined, sent: Sent = {}): Promise<Reply> {
  const response = await fetch(`${fake.origin}/v1/${path}`, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${fake.secretKey}`,
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(sent.key === undefined ? {} : { 'idempotency-key': sent.key }),
      ...sent.headers,
    },
    ...(form === undefined ? {} : { body: form }),
  })
  const body: Reply['body'] = JSON.parse(await response.text())
  return { status: response.status, replayed: response.headers.get('idempotent-replayed') === 'true', body }
}

const intent = 'amount=2599&currency=eur&metadata[payment_id]=p1'
const create = (fake: FakeStripe, key?: string, form = intent) =>
  send(fake, 'payment_intents', form, key === undefined ? {} : { key })

t.test('fake Stripe: an invalid intent request gets Stripe’s error', async (t) => {
  const fake = await startFakeStripe(t)
  const forms: readonly [string, string | undefined, string | undefined][] = [
    ['currency=eur', 'parameter_missing', 'amount'],
    ['amount=2599', 'parameter_missing', 'currency'],
    ['amount=25.99&currency=eur', 'parameter_invalid_integer', 'amount'],
    ['amount=0&currency=eur', 'parameter_invalid_integer', 'amount'],
    ['amount=49&currency=eur', 'amount_too_small', 'amount'],
    ['amount=100000000&currency=eur', 'amount_too_large', 'amount'],
    ['amount=2599&currency=euro', undefined, 'currency'],
    ['amount=2599&currency=isk', undefined, 'amount'],
    ['amount=2599&currency=kwd', undefined, 'amount'],
    ['amount=2599&currency=KWD', undefined, 'amount'],
    ['amount=49&currency=EUR', 'amount_too_small', 'amount'],
    [`${intent}&paid=true`, 'parameter_unknown', 'paid'],
    [`${intent}&automatic_payment_methods[on]=true`, 'parameter_missing', 'automatic_payment_methods[enabled]'],
    [`${intent}&automatic_payment_methods[enabled]=yes`, undefined, 'automatic_payment_methods[enabled]'],
    [`${intent}&automatic_payment_methods=true`, undefined, 'automatic_payment_methods'],
    [`${intent}&description=`, 'parameter_invalid_empty', 'description'],
    [`${intent}&amount=1`, undefined, 'amount'],
    [`${intent}&customer=cus_missing`, 'resource_missing', 'customer'],
    [`${intent}&payment_method=pm_missing`, 'resource_missing', 'payment_method'],
    [`${intent}&description`, undefined, undefined],
    [`${intent}&description=%zz`, undefined, undefined],
    ['{"amount":2599}', undefined, undefined],
  ]
  for (const [form, code, param] of forms) {
    const { status, body } = await create(fake, undefined, form)
    t.equal(status, 400, form)
    t.match({ ...body.error }, { type: 'invalid_request_error' })
    t.same([body.error?.code, body.error?.param], [code, param], form)
  }
  t.same(fake.intents(), [])
})

t.test('fake Stripe: a charge has the captured amount, also after processing or authorization', async (t) => {
  const fake = await startFakeStripe(t)
  const steps = ['succeeded', 'processing', 'requires_capture'] as const
  for (const first of steps) {
    const { id } = fake.openIntent({ amount: 2599, currency: 'eur', metadata: { payment_id: first } })
    const chargeOf = (outcome: (typeof steps)[number]) => fake.pay(id, outcome)[0]?.data.object
    const before = first === 'succeeded' ? undefined : chargeOf(first)
    if (before) t.match(before, { captured: false, amount_captured: 0 }, first)
    const paid = chargeOf('succeeded')
    t.match(paid, { object: 'charge', status: 'succeeded', captured: true, amount_captured: 2599 }, first)
    if (before) t.match(paid, { id: Reflect.get(before, 'id') }, 'the same charge')
  }
})

t.test('fake Stripe: wrong credentials, paths and content types are errors', async (t) => {
  const fake = await startFakeStripe(t)
  const by = (headers: Sent['headers']) => send(fake, 'payment_intents', intent, headers ? { headers } : {})
  t.equal((await by({ authorization: 'Bearer sk_test_other' })).status, 401)
  t.equal((await by({ authorization: fake.secretKey })).status, 401)
  t.equal((await by({ 'stripe-version': '2023-08-16' })).status, 400)
  t.equal((await by({ 'content-type': 'application/json' })).status, 400)
  t.equal((await by({ 'idempotency-key': 'k'.repeat(256) })).status, 400)
  t.equal((await send(fake, 'payment_intents/pi_missing', undefined)).status, 404)
  t.equal((await send(fake, 'nothing', undefined)).status, 404)
  t.same(fake.intents(), [])
})

t.test('fake Stripe: a key replays its outcome, for the same request only', async (t) => {
  const fake = await startFakeStripe(t)
  const [first, again] = [await create(fake, 'k1'), await create(fake, 'k1')]
  t.match(first, { status: 200, replayed: false })
  t.match(again, { ...first, replayed: true })
  t.match(
    await create(fake, 'k1', 'currency=eur&metadata[payment_id]=p1&amount=2599'),
    { replayed: true },
    'in any order',
  )
  t.match(await create(fake, 'k1', intent.replace('2599', '2600')), {
    status: 400,
    body: { error: { type: 'idempotency_error' } },
  })
  t.match(await send(fake, 'customers', 'name=x', { key: 'k1' }), { body: { error: { type: 'idempotency_error' } } })
  const declined = `${intent}&payment_method=pm_card_chargeDeclined`
  t.match(await create(fake, 'k2', declined), { status: 402, replayed: false, body: { error: { type: 'card_error' } } })
  t.match(await create(fake, 'k2', declined), {
    status: 402,
    replayed: true,
    body: { error: { code: 'card_declined' } },
  })
  t.match(await create(fake, 'k3', `${intent}&customer=cus_1`), { status: 400, replayed: false })
  t.match(await create(fake, 'k3', `${intent}&customer=cus_1`), { status: 400, replayed: true })
  t.equal(fake.intents().length, 1)
})

t.test('fake Stripe: a replayed outcome does not show later changes', async (t) => {
  const fake = await startFakeStripe(t)
  const { body } = await create(fake, 'k1')
  fake.pay(body.id ?? '', 'succeeded')
  t.match(await create(fake, 'k1'), { replayed: true, body: { status: 'requires_payment_method' } })
})

t.test('fake Stripe: a request that was rejected before execution is not stored under its key', async (t) => {
  const fake = await startFakeStripe(t)
  t.equal((await create(fake, 'k1', 'amount=x&currency=eur')).status, 400)
  t.match(await create(fake, 'k1'), { status: 200, replayed: false }, 'after an invalid form')
  fake.failNext({ status: 429, error: { type: 'invalid_request_error', message: 'Slow down' } })
  t.equal((await create(fake, 'k2')).status, 429)
  t.match(await create(fake, 'k2'), { status: 200, replayed: false }, 'after too many requests')
})

t.test('fake Stripe: an internal 500 is stored under its key, executed or not', async (t) => {
  const fake = await startFakeStripe(t)
  fake.failInside({ commits: true })
  t.match(await create(fake, 'k1'), { status: 500, replayed: false, body: { error: { type: 'api_error' } } })
  t.match(await create(fake, 'k1'), { status: 500, replayed: true })
  t.equal(fake.intents().length, 1)
  fake.failInside({ commits: false })
  t.equal((await create(fake, 'k2')).status, 500)
  t.equal(fake.intents().length, 1)
})

t.test('fake Stripe: a key expires after a day', async (t) => {
  let now = new Date('2026-01-01T12:00:00.000Z')
  const fake = await startFakeStripe(t, { now: () => now })
  const first = await create(fake, 'k1')
  now = new Date('2026-01-02T11:59:59.000Z')
  t.match(await create(fake, 'k1'), { replayed: true })
  now = new Date('2026-01-02T12:00:00.000Z')
  const later = await create(fake, 'k1')
  t.equal(later.replayed, false)
  t.not(later.body.id, first.body.id)
})

t.test('fake Stripe: a second call with the key of a running one gets 409', async (t) => {
  const fake = await startFakeStripe(t)
  fake.faults.next({ kind: 'slow', ms: 1_000 })
  const first = create(fake, 'k1')
  await waitFor(() => fake.calls.length === 1, { what: 'the first call' })
  t.match(await create(fake, 'k1'), { status: 409, body: { error: { code: 'idempotency_key_in_use' } } })
  t.match(await create(fake, 'k2'), { status: 200 }, 'another key is free')
  const { body } = await first
  t.match(await create(fake, 'k1'), { status: 200, replayed: true, body: { id: body.id } })
})

t.test('fake Stripe: the ledger records every charge, also the second one of a payment', async (t) => {
  const fake = await startFakeStripe(t, { allowDouble: true })
  const [one, other] = [await create(fake), await create(fake)]
  fake.pay(one.body.id ?? '', 'failed')
  t.same(fake.ledger.charges, [])
  fake.pay(one.body.id ?? '', 'succeeded')
  fake.pay(other.body.id ?? '', 'succeeded')
  matchList(t, fake.ledger.charges, [
    { payment_id: 'p1', intent_id: one.body.id, amount_cents: 2599, currency: 'eur' },
    { payment_id: 'p1', intent_id: other.body.id, amount_cents: 2599, currency: 'eur' },
  ])
  t.throws(() => fake.pay(one.body.id ?? '', 'failed'), /for good/)
  t.throws(() => fake.pay('pi_missing', 'failed'), /pi_missing/)
})

t.test('fake Stripe: an intent’s changes show in its state and events', async (t) => {
  let seconds = 1_767_268_800
  const fake = await startFakeStripe(t, { now: () => new Date(seconds++ * 1000) })
  const { id } = fake.openIntent({ amount: 2599, currency: 'eur' })
  const sent = (['requires_action', 'failed', 'processing', 'succeeded'] as const).map((outcome) =>
    fake.pay(id, outcome).map(({ type }) => type),
  )
  t.same(sent, [
    ['payment_intent.requires_action'],
    ['charge.failed', 'payment_intent.payment_failed'],
    ['charge.pending', 'payment_intent.processing'],
    ['charge.succeeded', 'payment_intent.succeeded'],
  ])
  t.match(fake.intent(id), { status: 'succeeded', amount_received: 2599, last_payment_error: null })
  matchList(t, fake.refund(id, 599), [
    { type: 'refund.created' },
    { data: { previous_attributes: { amount_refunded: 0 } } },
  ])
  matchList(t, fake.refund(id), [
    {},
    { data: { object: { refunded: true }, previous_attributes: { amount_refunded: 599 } } },
  ])
  const [opened] = fake.dispute(id)
  t.match(opened, { type: 'charge.dispute.created', data: { object: { status: 'needs_response' } } })
  const times = fake.events.map(({ created }) => created)
  t.same(
    times,
    times.toSorted((a, b) => a - b),
  )
  t.match(fake.events[1]?.data.object, { status: 'requires_action' }, 'an event has the state of its time')
})

t.test('fake Stripe: an intent can be confirmed by a call', async (t) => {
  const fake = await startFakeStripe(t)
  const opened = async () => (await create(fake, undefined, 'amount=2599&currency=eur')).body.id ?? ''
  const confirm = (id: string, method: string) =>
    send(fake, `payment_intents/${id}/confirm`, `payment_method=${method}`)
  t.match(await confirm(await opened(), 'pm_card_visa'), { status: 200, body: { status: 'succeeded' } })
  const id = await opened()
  t.match(await confirm(id, 'pm_card_chargeDeclined'), { status: 402, body: { error: { code: 'card_declined' } } })
  t.match(fake.intent(id), { status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } })
  t.match(await confirm(id, 'pm_card_visa'), { status: 200 }, 'after a decline with another card')
  t.match(await confirm(id, 'pm_card_visa'), { body: { error: { code: 'payment_intent_unexpected_state' } } })
})

t.test('fake Stripe: a server that is shut and reopened keeps its state', async (t) => {
  const fake = await startFakeStripe(t)
  const { body } = await create(fake)
  fake.shut()
  await t.rejects(create(fake), TypeError)
  await fake.open()
  t.equal((await send(fake, `payment_intents/${body.id}`, undefined)).status, 200)
})

async function receiver(t: Test) {
  const received: { readonly body: string; readonly signature: unknown }[] = []
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        received.push({ body, signature: request.headers['stripe-signature'] })
        response.writeHead(received.length === 2 ? 500 : 200).end()
      },
      () => response.destroy(),
    )
  })
  return { url: await listen(t, server), received }
}

t.test('fake Stripe: events are delivered in the given order and number', async (t) => {
  const fake = await startFakeStripe(t)
  const { url, received } = await receiver(t)
  const [a, b] = [fake.event('a', {}), fake.event('b', {}, { created: 7 })]
  t.same(await fake.deliver(url, [b, a], { times: 2 }), [200, 500, 200, 200])
  t.same(
    received.map(({ body }) => JSON.parse(body)),
    [b, a, b, a],
  )
  t.equal(b.created, 7)
  const { headers, body } = fake.signed(a, { secret: ['one', 'two'], at: new Date(5000) })
  t.match(headers['stripe-signature'], /^t=5,v1=[0-9a-f]{64},v1=[0-9a-f]{64},v0=/)
  t.not(body, JSON.stringify(a), 'not the default serialisation')
})
