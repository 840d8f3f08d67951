// Finding the payment of intents and charges at Stripe.
import t, { type Test } from 'tap'
import type { ProviderIds } from '../provider.ts'
import { createRequest, payment_id } from '../testing/requests.ts'
import { stripeHarness, stripeResponding, stripeWithListener } from './testing/stripeHarness.ts'

const intentOnly = (provider_intent_id: string): ProviderIds => ({ provider_intent_id, provider_payment_id: null })
const chargeOnly = (provider_payment_id: string): ProviderIds => ({ provider_intent_id: null, provider_payment_id })

/** The adapter connected to a Stripe with these objects. */
async function stripeWithObjects(t: Test, objects: Readonly<Record<string, object>>) {
  const paths: string[] = []
  const missing = { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'id' } }
  const stripe = await stripeWithListener(t, ({ url = '' }, response) => {
    paths.push(url)
    const found = objects[url]
    response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? missing))
  })
  return { stripe, paths }
}

t.test('Stripe: the payment of an intent is in its metadata', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { provider_intent_id } = await stripe.createIntent(createRequest)
  t.equal(await stripe.findPaymentId(intentOnly(provider_intent_id)), payment_id)
  const { id } = fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id: 'order-17' } })
  t.equal(await stripe.findPaymentId(intentOnly(id)), null, 'an intent of another system')
  t.equal(await stripe.findPaymentId(intentOnly('pi_missing')), null, 'an unknown intent')
})

t.test('Stripe: the payment of a charge is in its metadata or in those of its intent', async (t) => {
  const { stripe, paths } = await stripeWithObjects(t, {
    '/v1/charges/ch_named': { id: 'ch_named', metadata: { payment_id }, payment_intent: 'pi_silent' },
    '/v1/charges/py_silent': { id: 'py_silent', metadata: {}, payment_intent: 'pi_named' },
    '/v1/charges/ch_expanded': { id: 'ch_expanded', payment_intent: { id: 'pi_named', object: 'payment_intent' } },
    '/v1/charges/ch_foreign': { id: 'ch_foreign', metadata: {}, payment_intent: 'pi_silent' },
    '/v1/charges/ch_legacy': { id: 'ch_legacy', metadata: {}, payment_intent: null },
    '/v1/charges/ch_orphan': { id: 'ch_orphan', metadata: {}, payment_intent: 'pi_missing' },
    '/v1/payment_intents/pi_named': { id: 'pi_named', metadata: { payment_id } },
    '/v1/payment_intents/pi_silent': { id: 'pi_silent', metadata: {} },
  })
  const found = async (id: string) => {
    paths.length = 0
    return [await stripe.findPaymentId(chargeOnly(id)), paths.length]
  }
  t.same(await found('ch_named'), [payment_id, 1])
  t.same(await found('py_silent'), [payment_id, 2], 'named by its intent')
  t.same(await found('ch_expanded'), [payment_id, 2])
  t.same(await found('ch_foreign'), [null, 2])
  t.same(await found('ch_legacy'), [null, 1])
  t.same(await found('ch_orphan'), [null, 2])
  t.same(await found('ch_missing'), [null, 1])
  paths.length = 0
  t.equal(await stripe.findPaymentId({ provider_intent_id: 'pi_silent', provider_payment_id: 'ch_named' }), null)
  t.same(paths, ['/v1/payment_intents/pi_silent'], 'a known intent decides')
})

t.test('Stripe: ids that are not Stripe’s cause no call', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  for (const id of ['obj_1', 'pi_1/capture', 'pi_', '../pi_1', 'PI_1', 'order-17', ''])
    t.equal(await stripe.findPaymentId(intentOnly(id)), null, id)
  for (const id of ['re_1', 'pi_1', 'ch_1?expand=x', '']) t.equal(await stripe.findPaymentId(chargeOnly(id)), null, id)
  t.equal(await stripe.findPaymentId({ provider_intent_id: null, provider_payment_id: null }), null)
  t.equal(fake.calls.length, 0)
})

t.test('Stripe: a rejected lookup finds no payment, and any other error or object is an error', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { provider_intent_id } = await stripe.createIntent(createRequest)
  const find = () => stripe.findPaymentId(intentOnly(provider_intent_id))
  fake.failNext({ status: 400, error: { type: 'invalid_request_error', message: 'No' } })
  t.equal(await find(), null)
  fake.failNext({ status: 403, error: { type: 'invalid_request_error', message: 'No permission' } })
  await t.rejects(find(), { name: 'ProviderError', kind: 'unavailable' })
  const other = await stripeResponding(t, { id: 'pi_2', metadata: { payment_id } })
  await t.rejects(other.stripe.findPaymentId(intentOnly('pi_1')), { kind: 'unknown', code: 'another_object' })
})
