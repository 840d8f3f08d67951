// Webhook tests and simulations must not contain ids of recorded payments.

import { randomUUID } from 'node:crypto'
import { priceOf } from '@paylog/domain/payments/initiate'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { paymentFields } from '@paylog/testing/paymentFields'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { v5 as uuidv5 } from 'uuid'
import { initiatePayment } from '../payments/initiatePayment.ts'
import { type ApiResponse, ada, freshKey, grace, type Headers } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { type WebhookTestData, webhookTestsHarness } from '../testing/webhookTestsHarness.ts'

const { test, simulate, send, providers, workflow, recordsNothing } = await webhookTestsHarness(t)
const fakes = await Promise.all([startFakeStripe(t), startFakePaypal(t), startFakeAuthorizeNet(t)])
for (const { env } of fakes) {
  const provider = await providerFromEnv(t, env)
  providers.set(provider.id, provider)
}

type Payment = { readonly id: string; readonly provider_intent_id: string }
async function paymentOf(headers: Headers, provider_id = 'sandbox'): Promise<Payment> {
  const { status, data } = await send<Payment>('POST', '/payments/intents', headers, {
    total_cents: 2599,
    currency: 'EUR',
    provider_id,
  })
  if (status !== 201) throw new Error(String(status))
  return data
}

/** Records a payment with an id. */
async function recordPayment(payment_id: string): Promise<void> {
  const payer = { id: null, type: 'guest', email: null }
  const price = priceOf({ total_cents: 2599, currency: 'EUR' })
  const command = {
    ...paymentFields,
    ...price,
    payment_id,
    provider_id: 'sandbox',
    occurred_at: '2026-01-02T03:04:05.678Z',
    payer,
  }
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'anonymous' }
  await initiatePayment(workflow, command, { metadata })
}

const [mine, others] = [await paymentOf(ada), await paymentOf(grace)]
const keyed = await paymentOf({ ...ada, ...freshKey() })
const { provider_intent_id: stripeIntent } = await paymentOf(ada, 'stripe')
const { provider_intent_id: orderId } = await paymentOf(grace, 'paypal')
const { provider_intent_id: invoiceNumber } = await paymentOf(ada, 'authorize-net')

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
  'an intent at Stripe': { id: stripeIntent },
  "the client secret of Stripe's intent": { client_secret: `${stripeIntent}_secret_1` },
  'an order in a link': { links: [{ rel: 'up', href: `https://api.paypal.com/v2/checkout/orders/${orderId}` }] },
  'an invoice number': { order: { invoiceNumber } },
  "an event in the interface's shape": { id: 'evt_1', type: 'x', data: { object: { id: mine.provider_intent_id } } },
}

const [operator, finance] = ['operator', 'finance'].map((name) => ({ 'x-session-id': `demo-${name}-session` }))

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

  t.test(`${kind} may have the id of a recorded payment with the right operate [10.4-recorded-payment]`, async (t) => {
    for (const [name, payload] of Object.entries(payloads)) t.equal((await post(payload, operator)).status, 202, name)
    rejected(t, await post(Object.values(payloads)[0] ?? {}, finance))
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
    const id = randomUUID()
    const headers = { ...ada, ...freshKey() }
    const first = await post({ id }, headers)
    t.equal(first.status, 202)
    await recordPayment(id)
    const again = await post({ id }, headers)
    t.equal(again.status, 202)
    t.same(again.json, first.json)
    rejected(t, await post({ id }))
  })
}

t.test('a webhook test is 502 while the provider of an intent in it does not respond', async (t) => {
  const [stripe] = fakes
  await stripe.shut()
  const { status, error } = await test({ event: 'payment.succeeded', test_data: { id: 'pi_3PQexample0002' } })
  t.same([status, error?.code], [502, 'provider_unavailable'])
  await stripe.open()
})

t.test('a webhook test with more ids or intents than an object can have is 400 without a lookup', async (t) => {
  const [stripe] = fakes
  const before = stripe.calls.length
  for (const ids of [
    Array.from({ length: 11 }, (_, index) => `pi_3PQexample${1_000 + index}`),
    Array.from({ length: 1_001 }, (_, index) => String(index).padStart(20, 'a')),
  ]) {
    const { status, error } = await test({ event: 'payment.succeeded', test_data: { ids } })
    t.same([status, error?.code], [400, 'invalid_request'])
  }
  t.equal(stripe.calls.length, before)
})

function rejected(t: Test, { status, error, text }: ApiResponse<WebhookTestData>): void {
  t.equal(status, 422, text)
  t.equal(error?.code, 'recorded_payment_id')
}
