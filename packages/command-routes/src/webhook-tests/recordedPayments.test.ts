// Webhook tests and simulations must not contain ids of recorded payments.

import { randomUUID } from 'node:crypto'
import { intentOwnerFold } from '@paylog/domain/providerEvents'
import { newStream } from '@paylog/event-store/eventStore'
import { providerIntentStream } from '@paylog/event-store/streamName'
import t, { type Test } from 'tap'
import { v5 as uuidv5 } from 'uuid'
import { type ApiResponse, ada, admin, freshKey, grace, type Headers } from '../testing/commandApiHarness.ts'
import { type WebhookTestData, webhookTestsHarness } from '../testing/webhookTestsHarness.ts'

const { test, simulate, send, store, recordsNothing } = await webhookTestsHarness(t)

type Payment = { readonly id: string; readonly provider_intent_id: string }
async function paymentOf(headers: Headers): Promise<Payment> {
  const { status, data } = await send<Payment>('POST', '/payments/intents', headers, {
    total_cents: 2599,
    currency: 'EUR',
  })
  if (status !== 201) throw new Error(String(status))
  return data
}

/** Records the owner of an intent, order or invoice number, as the creation of a payment does. */
async function recordOwner(provider_id: string, provider_intent_id: string, payment_id: string): Promise<string> {
  await store.handle({
    stream: providerIntentStream(provider_id, provider_intent_id),
    fold: intentOwnerFold,
    decide: () => [{ type: 'ProviderIntentOwned' as const, data: { payment_id, provider_id, provider_intent_id } }],
    metadata: { correlationId: 'c', causationId: 'c', actor: 'worker' },
    known: newStream(intentOwnerFold),
  })
  return provider_intent_id
}

const [mine, others] = [await paymentOf(ada), await paymentOf(grace)]
const keyed = await paymentOf({ ...ada, ...freshKey() })
const orderId = await recordOwner('paypal', '5O190127TN364715T', others.id)
const invoiceNumber = await recordOwner('authorize-net', mine.id.replaceAll('-', '').slice(-20), mine.id)

/** Every form in which a payload can contain a payment id. */
const payloads: Readonly<Record<string, object>> = {
  'our id': { id: mine.id },
  "another user's payment": { id: others.id },
  'the id of a payment made with an Idempotency-Key': { id: keyed.id },
  'our id in capitals and without dashes': { id: mine.id.toUpperCase().replaceAll('-', '') },
  'our id as payment_id': { payment_id: mine.id },
  'our id in nested metadata': { latest: [{ metadata: { payment_id: mine.id } }] },
  'our id within a text': { note: `order {${mine.id}}` },
  'our id as a key': { [mine.id]: 'succeeded' },
  'the intent': { id: mine.provider_intent_id },
  'the client secret of an intent': { client_secret: `${mine.provider_intent_id}_secret_1` },
  'an order in a link': { links: [{ rel: 'up', href: `https://api.paypal.com/v2/checkout/orders/${orderId}` }] },
  'an invoice number': { order: { invoiceNumber } },
  "an event in the interface's shape": { id: 'evt_1', type: 'x', data: { object: { id: mine.provider_intent_id } } },
}

const routes = {
  'a webhook test': (payload: object, headers: Headers = ada) =>
    test({ event: 'payment.succeeded', test_data: payload }, headers),
  'a simulation': (payload: object, headers: Headers = ada) =>
    simulate({ event: 'payment_intent.succeeded', provider: 'stripe', payload }, headers),
}

for (const [kind, post] of Object.entries(routes)) {
  t.test(
    `${kind} with the id of any recorded payment is 422 with the same message [10.4-recorded-payment]`,
    async (t) => {
      const texts = new Set<string>()
      for (const [name, payload] of Object.entries(payloads)) {
        const response = await recordsNothing(t, () => post(payload), name)
        t.equal(response.status, 422, `${name}: ${response.text}`)
        t.equal(response.error?.code, 'recorded_payment_id', name)
        texts.add(JSON.stringify({ ...response.error, request_id: null }))
      }
      t.equal(texts.size, 1)
    },
  )

  t.test(`an administrator may send ${kind} with the id of a recorded payment [10.4-recorded-payment]`, async (t) => {
    for (const [name, payload] of Object.entries(payloads)) t.equal((await post(payload, admin)).status, 202, name)
  })

  t.test(`${kind} with unknown ids is accepted`, async (t) => {
    const first = await post({})
    const free: readonly object[] = [
      { id: randomUUID() },
      { id: 'pi_3PQexample0002', amount: 2599, currency: 'eur', customer: 'cus_1' },
      { id: '5O190127TN364715U', created: 1_767_323_045 },
      { id: `test_${first.data.id}`, customer: `test_cus_${uuidv5('a', first.data.id)}` },
    ]
    for (const payload of free) t.equal((await post(payload)).status, 202, JSON.stringify(payload))
  })

  t.test(`${kind} with an id that an Idempotency-Key can derive is 422`, async (t) => {
    const id = uuidv5(JSON.stringify(['ada', 'POST /payments/intents', 'later']), randomUUID())
    for (const payload of [{ id }, { id: `sandbox_pi_${id}` }]) rejected(t, await post(payload))
  })

  t.test(`${kind} that was accepted is replayed after a payment with its id was recorded`, async (t) => {
    const id = `pi_${randomUUID().replaceAll('-', '')}`
    const headers = { ...ada, ...freshKey() }
    const first = await post({ id }, headers)
    t.equal(first.status, 202)
    await recordOwner('stripe', id, mine.id)
    const again = await post({ id }, headers)
    t.equal(again.status, 202)
    t.same(again.json, first.json)
    rejected(t, await post({ id }))
  })
}

t.test('a webhook test with thousands of ids is 400 without a lookup', async (t) => {
  const payload = { ids: Array.from({ length: 2_500 }, (_, index) => `a-${index}`) }
  const { status, error } = await simulate({ event: 'ping', provider: 'stripe', payload })
  t.same([status, error?.code], [400, 'invalid_request'])
})

function rejected(t: Test, { status, error, text }: ApiResponse<WebhookTestData>): void {
  t.equal(status, 422, text)
  t.equal(error?.code, 'recorded_payment_id')
}
