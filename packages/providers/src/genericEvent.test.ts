// Reading events of the generic shape.
import t from 'tap'
import { genericName, isGenericEvent, readGenericEvent } from './genericEvent.ts'

const failure = { failure_code: 'no_luck', failure_message: 'It did not work' }
const options = { chargeOf: (intentId: string) => `charge_of_${intentId}`, failure }
const event = (type: string, object: object = {}) => ({
  id: 'evt_1',
  type,
  provider: 'example',
  created: 1_788_256_800,
  data: { object: { id: 'obj_1', amount: 2599, currency: 'eur', status: 'open', customer: 'cus_1', ...object } },
})
const read = (type: string, object?: object) => readGenericEvent(event(type, object), options)

t.test('a generic payment event reports the intent, and a success also the charge [6.1-shape]', async (t) => {
  t.strictSame(read('payment_intent.succeeded'), {
    provider_event_id: 'evt_1',
    provider_type: 'payment_intent.succeeded',
    generic_type: 'payment_intent.succeeded',
    occurred_at: '2026-09-01T10:00:00.000Z',
    object_id: 'obj_1',
    amount_cents: 2599,
    currency: 'EUR',
    status: 'open',
    customer_id: 'cus_1',
    customer_email: null,
    referenced_payment_id: null,
    report: {
      about: 'status',
      status: 'succeeded',
      provider_time: '2026-09-01T10:00:00.000Z',
      provider_event_id: 'evt_1',
      provider_intent_id: 'obj_1',
      provider_payment_id: 'charge_of_obj_1',
      amount_cents: 2599,
      currency: 'EUR',
    },
    subscription: null,
  })
  const statuses = { requires_action: 'pending', processing: 'processing', canceled: 'canceled' }
  for (const [name, status] of Object.entries(statuses))
    t.match(read(`payment_intent.${name}`).report, {
      status,
      provider_payment_id: null,
      provider_intent_id: 'obj_1',
    })
  t.match(read('payment_intent.failed').report, { status: 'failed', provider_payment_id: null, ...failure })
})

t.test('a generic payment_intent.created event reports no status', async (t) => {
  t.strictSame(read('payment_intent.created').report, {
    about: 'object',
    provider_time: '2026-09-01T10:00:00.000Z',
    provider_event_id: 'evt_1',
    provider_intent_id: 'obj_1',
    provider_payment_id: null,
  })
})

t.test('exactly the types of interface section 6.1 are generic types [6.1-types]', async (t) => {
  const families = {
    payment_intent: ['created', 'succeeded', 'failed', 'canceled', 'processing', 'requires_action'],
    payment_method: ['attached', 'detached', 'updated'],
    subscription: ['created', 'updated', 'deleted', 'trial_will_end'],
    invoice: ['payment_succeeded', 'payment_failed'],
    customer: ['created', 'updated', 'deleted'],
  }
  for (const [family, names] of Object.entries(families))
    for (const name of names) {
      const { generic_type, report } = read(`${family}.${name}`)
      t.equal(generic_type, `${family}.${name}`)
      t.equal(report === null, family !== 'payment_intent', `${family}.${name}`)
    }
  for (const name of ['payment_intent.new', 'something.new', 'constructor', 'payment_intent', 'Customer.created'])
    t.match(read(name), { provider_type: name, generic_type: null, report: null, subscription: null }, name)
  t.equal(genericName('toString'), null)
})

t.test('generic subscription events name the subscription, other events do not', async (t) => {
  t.strictSame(read('subscription.updated').subscription, {
    subscription_id: 'obj_1',
    current_period_end: null,
    status_changed: false,
    is_first_invoice: false,
  })
  for (const type of ['invoice.payment_failed', 'customer.updated']) t.equal(read(type).subscription, null)
})

t.test('a generic payment event without amount, currency or object reports no status', async (t) => {
  for (const missing of ['amount', 'currency'])
    t.match(read('payment_intent.succeeded', { [missing]: '' }), {
      [missing === 'amount' ? 'amount_cents' : missing]: null,
      report: { about: 'object', provider_intent_id: 'obj_1', provider_payment_id: null },
    })
  t.match(read('payment_intent.succeeded', { id: '' }), { object_id: null, report: null })
})

t.test('a generic event without an id or a type is an invalid request [6.1-malformed]', async (t) => {
  for (const odd of [undefined, null, '', 17, {}, 'a\u0000b', 'x'.repeat(201)])
    for (const name of ['id', 'type'])
      t.throws(() => readGenericEvent({ ...event('customer.created'), [name]: odd }, options), {
        name: 'DomainError',
        code: 'invalid_request',
      })
})

t.test('isGenericEvent accepts the generic shape without a provider’s own type field', async (t) => {
  t.ok(isGenericEvent(event('x')))
  for (const data of [{ object: {} }, {}, null, undefined]) t.ok(isGenericEvent({ type: 'x', data }))
  for (const other of [null, [], 'x', {}, { type: 1, data: { object: {} } }])
    t.notOk(isGenericEvent(other), JSON.stringify(other))
  for (const name of ['event_type', 'eventType']) t.notOk(isGenericEvent({ ...event('x'), [name]: 'y' }), name)
})

t.test('the status of a generic event is converted to lower case', async (t) => {
  t.equal(read('subscription.updated', { status: 'ACTIVE' }).status, 'active')
})
