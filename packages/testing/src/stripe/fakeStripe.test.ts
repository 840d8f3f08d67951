// The fake Stripe is as strict as Stripe where other tests depend on it: a wrong request is rejected, and a key counts.
import t from 'tap'
import { waitFor } from '../waitFor.ts'
import { type FakeStripe, startFakeStripe } from './fakeStripe.ts'

type Reply = {
  readonly status: number
  readonly replayed: boolean
  readonly body: { readonly id?: string; readonly status?: string; readonly error?: Readonly<Record<string, unknown>> }
}

async function send(
  fake: FakeStripe,
  path: string,
  form: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const response = await fetch(`${fake.origin}/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fake.secretKey}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: form,
  })
  const body: Reply['body'] = JSON.parse(await response.text())
  return { status: response.status, replayed: response.headers.get('idempotent-replayed') === 'true', body }
}

const intent = 'amount=2599&currency=eur&metadata[payment_id]=p1'
const create = (fake: FakeStripe, key?: string, form = intent) =>
  send(fake, 'payment_intents', form, key === undefined ? {} : { 'idempotency-key': key })

t.test('fake Stripe: an invalid request is rejected', async (t) => {
  const fake = await startFakeStripe(t)
  const { id } = fake.openIntent({ amount: 2599, currency: 'eur' })
  const authorized = fake.openIntent({ amount: 2599, currency: 'eur', capture_method: 'manual' })
  for (const each of [id, authorized.id]) fake.pay(each, 'succeeded')
  await send(fake, 'products', 'id=course-7&name=Course')
  const priced = 'product=course-7&currency=eur'
  for (const [path, form] of [
    ['payment_intents', 'currency=eur'],
    ['payment_intents', 'amount=25.99&currency=eur'],
    ['payment_intents', 'amount=49&currency=eur'],
    ['payment_intents', 'amount=2599&currency=isk'],
    ['payment_intents', 'amount=2599&currency=kwd'],
    ['payment_intents', `${intent}&paid=true`],
    ['payment_intents', `${intent}&description=`],
    ['payment_intents', `${intent}&amount=1`],
    ['payment_intents', `${intent}&customer=cus_missing`],
    ['payment_intents', '{"amount":2599}'],
    ['refunds', 'amount=1'],
    ['refunds', `payment_intent=${id}&amount=2600`],
    ['refunds', `payment_intent=${id}&reason=other`],
    ['refunds', `payment_intent=${authorized.id}`],
    [`payment_intents/${authorized.id}/capture`, 'amount_to_capture=2600'],
    ['products', 'id=course-7&name=Other'],
    ['products', 'name=x&colour=red'],
    ['prices', `${priced}&unit_amount=25.99`],
    ['prices', `${priced}&unit_amount=2599&recurring[interval]=decade`],
  ] as const)
    t.match(await send(fake, path, form), { status: 400, body: { error: { type: 'invalid_request_error' } } }, form)
  t.equal((await send(fake, 'payment_intents', intent, { authorization: 'Bearer sk_test_other' })).status, 401)
  t.equal((await send(fake, 'payment_intents', intent, { 'stripe-version': '2023-08-16' })).status, 400)
  t.equal(fake.intents().length, 2)
  t.same(fake.balanceOf(id), { received: 2599, refunded: 0, disputed: 0 })
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
  t.match(await send(fake, 'customers', 'name=x', { 'idempotency-key': 'k1' }), {
    body: { error: { type: 'idempotency_error' } },
  })
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
