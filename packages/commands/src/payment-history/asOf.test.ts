// GET /admin/payments/{id} with as_of, and its recorded events: the payment and its method, folded from the events up to that time.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { existingPayment } from '@paylog/domain/payments/payment'
import { paymentResource } from '@paylog/domain/payments/resource'
import { randomStreams } from '@paylog/domain/payments/testing/paymentArbitraries'
import { at, eventsAfter, fold } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { adaId, admin, graceId } from '../testing/commandApiHarness.ts'
import { visa } from '../testing/fakeVault.ts'
import { paymentHistoryHarness } from '../testing/paymentHistoryHarness.ts'
import { paymentMethodFixture, type StoredPaymentMethod } from '../testing/paymentMethodFixture.ts'

const { app, payment, history, record, store } = await paymentHistoryHarness(t)

/** The response for a payment with these events and no saved method. */
function anyPayment(events: readonly PaymentEvent[]) {
  const state = existingPayment(fold(events))
  return { ...paymentResource(state, null), attention: state.attention.map(({ subject: _, ...entry }) => entry) }
}

const asOf = (ms: number) => `?as_of=${new Date(ms).toISOString()}`

t.test('as_of at and just before every event returns the fold of the events until then [10.2-as-of]', async (t) => {
  const payments = await Promise.all(randomStreams(5, 9).map(record))
  const outOfOrder = payments.filter(({ events }) =>
    events.some((each, n) => each.data.occurred_at < (events[n - 1]?.data.occurred_at ?? '')),
  )
  t.ok(outOfOrder.length > 1, 'some sequences have decreasing times')
  let responses = 0
  for (const { id, events } of payments) {
    const times = new Set(
      events.flatMap(({ data }) => [Date.parse(data.occurred_at) - 1, Date.parse(data.occurred_at)]),
    )
    for (const time of times) {
      const later = events.findIndex(({ data }) => Date.parse(data.occurred_at) > time)
      const past = events.slice(0, later < 0 ? events.length : later)
      const { status, data, headers } = await payment(id, asOf(time))
      responses++
      if (past.length === 0) {
        t.equal(status, 404, 'before the payment was created')
        t.equal((await history(id, undefined, asOf(time))).status, 404)
        continue
      }
      t.same([status, headers.etag, data], [200, `"${past.length - 1}"`, anyPayment(past)], `${id} ${time}`)
      const entries = (await history(id, undefined, asOf(time))).data
      t.same(
        entries.map(({ data }) => data),
        past.map(({ data }) => data),
      )
    }
    const now = await payment(id)
    t.same([now.headers.etag, now.data], [`"${events.length - 1}"`, anyPayment(events)])
    t.same((await payment(id, '?as_of=9999-12-31T23:59:59Z')).text, now.text, 'a future time')
    const { data } = await history(id)
    t.same(
      data.map(({ data }) => data),
      events.map(({ data }) => data),
    )
    t.same(
      data.map(({ status_after }) => status_after),
      events.map((_, n) => existingPayment(fold(events.slice(0, n + 1))).status),
    )
  }
  t.comment(`${responses} responses`)
  t.ok(responses > 40)
})

/** The time of the next event of a method. */
let methodSeconds = 0
const methods = paymentMethodFixture(store, () => at(methodSeconds))
const newMethod = (): StoredPaymentMethod => ({
  id: randomUUID(),
  provider_id: 'sandbox',
  provider_method_id: 'pm_1',
  provider_customer_id: 'cus_1',
})
function add(method: StoredPaymentMethod, seconds: number, user_id: string, alias: string): Promise<void> {
  methodSeconds = seconds
  return methods.add(method, { user_id, guest_email: null }, alias)
}
function rename(method: StoredPaymentMethod, seconds: number, alias: string): Promise<void> {
  methodSeconds = seconds
  return methods.rename(method, alias)
}
function remove(method: StoredPaymentMethod, seconds: number): Promise<void> {
  methodSeconds = seconds
  return methods.remove(method)
}

/** Ada's payment with this method, opened at 0 and settled at 11. */
async function paidWith(payment_method_id: string): Promise<string> {
  const payer = { id: adaId, type: 'user', email: 'ada@example.com' }
  const events = eventsAfter('succeeded').map(
    (event): PaymentEvent =>
      event.type === 'PaymentInitiated'
        ? { ...event, data: { ...event.data, payer, payment_method_id, is_guest_payment: false, guest_email: null } }
        : event,
  )
  return (await record(events)).id
}
const methodAt = async (id: string, seconds: number) => (await payment(id, `?as_of=${at(seconds)}`)).data.payment_method
const aliasAt = async (id: string, seconds: number) => (await methodAt(id, seconds))?.alias

t.test('as_of shows a saved method with its alias at that time', async (t) => {
  const method = newMethod()
  await add(method, -5, adaId, 'Mine')
  const id = await paidWith(method.id)
  await rename(method, 5, 'Work')
  await rename(method, 20, 'Old')
  t.same(await methodAt(id, 0), { id: method.id, ...visa, alias: 'Mine' })
  t.equal(await aliasAt(id, 4.999), 'Mine')
  t.equal(await aliasAt(id, 5), 'Work')
  t.equal(await aliasAt(id, 19), 'Work')
  t.equal(await aliasAt(id, 20), 'Old')
  t.match((await payment(id)).data, { status: 'succeeded', payment_method: { alias: 'Old' } })
  t.equal((await payment(id, `?as_of=${at(20)}`)).headers.etag, '"2"', 'the ETag is the revision of the payment')
})

t.test('as_of shows a removed method, but not one that belongs to another owner at that time', async (t) => {
  const method = newMethod()
  await add(method, -5, adaId, 'Mine')
  const id = await paidWith(method.id)
  await remove(method, 20)
  await add(method, 30, graceId, 'Secret')
  t.equal(await aliasAt(id, 20), 'Mine')
  t.equal(await aliasAt(id, 29), 'Mine')
  t.equal(await methodAt(id, 30), null)
  t.equal((await payment(id)).data.payment_method, null)
})

t.test('the method of a payment is null for a test method, an unknown one, and one that was saved later', async (t) => {
  for (const none of ['pm_card_visa', randomUUID()]) {
    const id = await paidWith(none)
    t.match((await payment(id)).data, { payment_method_id: none, payment_method: null })
    t.match((await payment(id, `?as_of=${at(0)}`)).data, { payment_method_id: none, payment_method: null })
  }
  const method = newMethod()
  await add(method, 5, adaId, 'Late')
  const id = await paidWith(method.id)
  t.equal(await methodAt(id, 4), null)
  t.equal(await aliasAt(id, 5), 'Late')
})

type RecordedEvent = {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: number
  readonly position: string
  readonly created: string
  readonly data: object
  readonly metadata: object
}
type Page = {
  readonly status: number
  readonly text: string
  readonly data: readonly RecordedEvent[]
  readonly meta: { readonly limit: number; readonly next_revision: number | null }
}

async function eventsOf(id: string, query = ''): Promise<Page> {
  const response = await app.inject({ url: `/admin/payments/${id}/events${query}`, headers: admin })
  return { status: response.statusCode, text: response.body, ...response.json() }
}

t.test(
  'the recorded events of a payment are those of its stream, unchanged and with their metadata [10.2-recorded-events]',
  async (t) => {
    const { id } = await record(eventsAfter('succeeded'))
    const { events: recorded } = await store.readRawPage(paymentStream(id), 0n, 100)
    const { status, data, meta } = await eventsOf(id.toUpperCase())
    t.equal(status, 200)
    t.same(meta, { limit: 100, next_revision: null })
    t.same(
      data,
      recorded.map(({ id: event, type, position, created, data: bytes }, revision, [first]) => ({
        id: event,
        type,
        stream: `payment-${id}`,
        revision,
        position: String(position.commit),
        created: created.toISOString(),
        data: JSON.parse(Buffer.from(bytes).toString()),
        metadata: {
          actor: 'provider:sandbox',
          $correlationId: 'c-1',
          $causationId: revision === 0 ? 'k-1' : first?.id,
          schema: 1,
        },
      })),
    )
  },
)

t.test('the recorded events have secrets as they are sealed, and what this program cannot decode', async (t) => {
  const { id } = await record(eventsAfter('pending'))
  const odd = { id: randomUUID(), type: 'PaymentVanished.v9', data: '{"b":1.10,\n"a":12345678901234567890}' }
  const { client } = store
  await client.appendToStream(paymentStream(id), {
    id: odd.id,
    contentType: 'application/octet-stream',
    type: odd.type,
    data: Buffer.from(odd.data),
    metadata: undefined,
  })
  const { status, text, data } = await eventsOf(id)
  t.equal(status, 200)
  t.match(text, /"secret":\{"keys":\[/)
  t.notMatch(text, 'client_secret')
  const { data: none, ...event } = data.at(-1) ?? { data: undefined }
  t.match(event, { id: odd.id, type: odd.type, data_base64: Buffer.from(odd.data).toString('base64') })
  t.equal(none, undefined)
  t.equal((await payment(id)).status, 500, 'the payment itself cannot be shown')
})

t.test(
  'the recorded events are paged by revision without gap or repetition, also while events are added',
  async (t) => {
    const { id } = await record(eventsAfter('succeeded'))
    const whole = (await eventsOf(id)).data
    t.ok(whole.length > 2)
    for (const limit of [1, 2, whole.length, 200]) {
      const found: RecordedEvent[] = []
      for (let from: number | null = 0, pages = 0; from !== null; pages++) {
        const page = await eventsOf(id, `?from_revision=${from}&limit=${limit}`)
        t.ok(page.data.length > 0 && page.data.length <= limit)
        t.ok(pages <= whole.length)
        found.push(...page.data)
        from = page.meta.next_revision
      }
      t.same(found, whole, `limit ${limit}`)
    }
    t.match(await eventsOf(id, `?from_revision=${whole.length}`), {
      status: 200,
      data: [],
      meta: { next_revision: null },
    })
  },
)

t.test('the recorded events of an unknown payment are 404, and of a wrong page 400', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  for (const unknown of [randomUUID(), 'no-id', `payment-${id}`])
    for (const query of ['', '?from_revision=3'])
      t.match(await eventsOf(unknown, query), { status: 404, error: { code: 'not_found' } }, unknown)
  for (const query of [
    '?limit=0',
    '?limit=201',
    '?from_revision=-1',
    '?from_revision=x',
    '?from_revision=1e30',
    '?from_revision=9223372036854775808',
    '?limit=1&limit=2',
  ])
    t.match(await eventsOf(id, query), { status: 400, error: { code: 'invalid_request' } }, query)
})
