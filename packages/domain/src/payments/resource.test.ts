import t from 'tap'
import { Compile } from 'typebox/compile'
import { existingPayment } from './payment.ts'
import { PaymentResource, paymentResource } from './resource.ts'
import { at, eventsAfter, fold } from './testing/paymentFixture.ts'

t.test('the payment resource has exactly the fields of the interface', async (t) => {
  const resource = paymentResource(existingPayment(fold(eventsAfter('succeeded'))), null)
  t.ok(Compile(PaymentResource).Check(resource))
  t.same(Object.keys(resource).toSorted(), Object.keys(PaymentResource.properties).toSorted())
  t.match(resource, {
    id: '018f0000-0000-7000-8000-000000000001',
    status: 'succeeded',
    total_cents: 2599,
    amount_cents: 2599,
    currency: 'EUR',
    provider_intent_id: 'pi_1',
    client_secret: null,
    guest_email: 'guest@example.com',
    created_at: at(0),
    completed_at: at(11),
  })
})

t.test('the payment resource shows the saved payment method', async (t) => {
  const method = {
    id: '018f0000-0000-7000-8000-000000000002',
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'visa',
    last_four: '4242',
    expiry_month: '08',
    expiry_year: '2030',
    alias: 'Mine',
  }
  const resource = paymentResource(existingPayment(fold(eventsAfter('succeeded'))), method)
  t.ok(Compile(PaymentResource).Check(resource))
  t.same(resource.payment_method, method)
})
