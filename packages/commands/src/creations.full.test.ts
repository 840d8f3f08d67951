// The rules that all POST routes which create something share: Idempotency-Key, bodies, and the order of errors. A new route
// is a new row.
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { ada, admin, commandApiHarness, freshKey, type Headers, tooLong } from './testing/commandApiHarness.ts'

const log = await startEventStore(t)
const timing = { appendRetryTimeoutMs: 3_000, readRetryTimeoutMs: 3_000 }
const { send, recordsNothing } = await commandApiHarness(t, { log, timing })

const address = { address_type: 'billing', line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
const product = { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490 }
const { id: product_id } = (await send<{ id: string }>('POST', '/admin/products', admin, product)).data
const payment = { total_cents: 2599, currency: 'EUR' }
const simulated = {
  event: 'payment.succeeded',
  provider: 'stripe',
  payload: { id: 'pi_1', amount: 5, currency: 'eur' },
}

type Creation = {
  readonly path: string
  readonly as: Headers
  readonly body: object
  /** Bodies that differ from it, though they may mean the same. */
  readonly others: readonly object[]
  readonly invalid: object
  /** A field that takes any text; an unknown one where there is none. */
  readonly text: string
  /** Calls a provider: then an equal request at the same time may get 409. */
  readonly isSlow?: boolean
}

const creations: readonly Creation[] = [
  {
    ...{ path: '/addresses', as: ada, body: address, text: 'name', invalid: { ...address, city: null } },
    others: [
      { ...address, line2: null },
      { ...address, is_default: true },
      { ...address, country: 'de' },
    ],
  },
  {
    ...{ path: '/admin/products', as: admin, body: product, text: 'name', invalid: { ...product, name: '' } },
    others: [
      { ...product, description: null },
      { ...product, is_active: true },
      { ...product, currency: 'eur' },
    ],
  },
  {
    ...{
      path: '/admin/sync/products',
      as: admin,
      body: { product_ids: [product_id] },
      text: 'provider_id',
      isSlow: true,
    },
    others: [{ product_ids: [product_id], force: true }, { product_ids: [product_id, product_id] }],
    invalid: { product_ids: [] },
  },
  {
    ...{ path: '/payment-methods', as: ada, body: { payment_method_token: 'pm_card_visa' }, text: 'alias' },
    ...{ invalid: { payment_method_token: 1 }, isSlow: true },
    others: [{ payment_method_token: 'pm_card_amex' }, { payment_method_token: 'pm_card_visa', is_default: true }],
  },
  {
    ...{ path: '/payment-methods/setup-intent', as: ada, body: { provider_id: 'sandbox' }, text: 'provider_id' },
    ...{ others: [{}], invalid: { provider_id: 1 } },
  },
  {
    ...{ path: '/payments/intents', as: ada, body: payment, text: 'concept', isSlow: true },
    ...{
      others: [
        { ...payment, total_cents: 2600 },
        { ...payment, tax_cents: 0 },
      ],
      invalid: { ...payment, currency: 'euro' },
    },
  },
  {
    ...{ path: '/webhooks/test', as: ada, body: { event: 'payment.succeeded' }, text: 'note' },
    ...{ others: [{ event: 'payment.failed' }], invalid: { event: 1 } },
  },
  {
    ...{ path: '/webhooks/external/simulate', as: ada, body: simulated, text: 'note' },
    ...{ others: [{ ...simulated, event: 'payment.failed' }], invalid: { ...simulated, payload: 1 } },
  },
]

const card = '4242 4242 4242 4242'
const json = (body: unknown) => JSON.stringify(body)
const isDone = ({ status }: { readonly status: number }) => status >= 200 && status < 300
const inReverse = (body: object) => Object.fromEntries(Object.entries(body).toReversed())

for (const { path, as, body, others, invalid, text, isSlow = false } of creations) {
  const route = `POST ${path}`
  const post = (sent: unknown, headers: Headers = as) => send('POST', path, headers, sent)
  const keyed = () => ({ ...as, ...freshKey() })

  t.test(`${route}: a repeated request with the same key gets the first response`, async (t) => {
    const headers = keyed()
    const first = await post(body, headers)
    t.ok(isDone(first), first.text)
    t.equal(first.headers['idempotent-replayed'], undefined)
    for (const same of [body, inReverse(body)]) {
      const again = await recordsNothing(t, () => post(same, headers))
      t.same([again.status, again.text], [first.status, first.text])
      const { etag, 'x-event-position': position } = first.headers
      t.match(again.headers, { 'idempotent-replayed': 'true', etag, 'x-event-position': position })
    }
  })

  t.test(`${route}: another body with the same key is 422, after the validation of the body`, async (t) => {
    const headers = keyed()
    await post(body, headers)
    for (const other of others)
      t.match(await recordsNothing(t, () => post(other, headers)), {
        status: 422,
        error: { code: 'idempotency_key_reused' },
      })
    t.match(await recordsNothing(t, () => post(invalid, headers)), { status: 400 })
  })

  t.test(`${route}: the key of a rejected request can be used for the corrected one [10.1-key-unused]`, async (t) => {
    const headers = keyed()
    for (const wrong of [invalid, { ...body, [text]: card }])
      t.notOk(isDone(await recordsNothing(t, () => post(wrong, headers))))
    const corrected = await post(body, headers)
    t.ok(isDone(corrected), corrected.text)
    t.equal(corrected.headers['idempotent-replayed'], undefined)
  })

  t.test(`${route}: 16 identical requests at the same moment have one effect`, async (t) => {
    const headers = keyed()
    const all = await Promise.all(Array.from({ length: 16 }, () => post(body, headers)))
    const done = all.filter(isDone)
    for (const { error } of all) if (error) t.match([isSlow, error.code], [true, 'idempotency_key_in_flight'])
    t.equal(new Set(done.map(({ text }) => text)).size, 1)
    t.equal(new Set(done.map((each) => each.headers['x-event-position'])).size, 1)
    t.equal(done.filter((each) => each.headers['idempotent-replayed'] === undefined).length, 1)
  })

  t.test(`${route}: of different requests with one key at the same moment one has an effect`, async (t) => {
    const headers = keyed()
    const all = await Promise.all([body, ...others].map((each) => post(each, headers)))
    t.equal(all.filter(isDone).length, 1, all.map(({ text }) => text).join('\n'))
    for (const { error } of all) if (error) t.match(error.code, /^idempotency_key_(reused|in_flight)$/)
  })

  t.test(`${route}: a card number is rejected in any field, field name or number`, async (t) => {
    const found = [{ [text]: card }, { unknown: 4242424242424242 }, { unknown: { deep: [card] } }, { [card]: 1 }]
    for (const more of found) {
      const rejected = await recordsNothing(t, () => post({ ...body, ...more }))
      t.match(rejected, { status: 422, error: { code: 'card_number_rejected' } }, json(more))
      t.notMatch(rejected.text, /4242\D?4242/)
    }
  })

  t.test(`${route}: of several errors the first one in the order of the contract is reported`, async (t) => {
    const large = { [text]: tooLong.repeat(2_000) }
    const plain = { ...as, 'content-type': 'text/plain' }
    const nobody = { 'x-session-id': 'unknown' }
    const wrongCard = { ...invalid, note: card }
    for (const [name, request, code] of [
      ['an unknown session, too large', () => post(large, nobody), 'unauthenticated'],
      ['an unknown session, malformed', () => post('{', nobody), 'unauthenticated'],
      ['too large, of another type', () => post(tooLong.repeat(2_000), plain), 'body_too_large'],
      ['another type, malformed', () => post('{', plain), 'unsupported_media_type'],
      ['invalid, a card', () => post(wrongCard), 'invalid_request'],
      [
        'a bad key, a card',
        () => post({ ...body, [text]: card }, { ...as, 'idempotency-key': '' }),
        text === 'note' ? 'card_number_rejected' : 'invalid_request',
      ],
    ] as const)
      t.match(await recordsNothing(t, request), { error: { code } }, name)
  })
}

t.test(
  'writes are 503 while the event store is down, and succeed later with the same key',
  { timeout: 90_000 },
  async (t) => {
    const all = creations.map((creation) => ({ ...creation, headers: { ...creation.as, ...freshKey() } }))
    await log.kill()
    await Promise.all(
      all.map(async ({ path, body, headers }) => {
        const response = await send('POST', path, headers, body)
        t.match(response, { status: 503, error: { code: 'event_store_unavailable' } }, path)
      }),
    )
    await log.start()
    for (const { path, body, headers } of all) {
      const later = await send('POST', path, headers, body)
      t.ok(isDone(later), later.text)
      t.equal(later.headers['idempotent-replayed'], undefined, path)
    }
  },
)
