// Stripe's notifications about saved methods.
import t from 'tap'
import { withCustomer } from './testing/stripeHarness.ts'

t.test('Stripe: each method event has the method and its current or former customer', async (t) => {
  const { fake, stripe, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod({ last4: '4444', exp_year: 2031 })
  await methods.attachMethod({ idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id })
  fake.changeCard(id, { last4: '0005', exp_year: 2034 })
  fake.changeCard(id, { exp_month: 1 }, 'merchant')
  await methods.detachMethod({ provider_method_id: id, provider_customer_id })
  const { id: other } = fake.addMethod()
  await methods.attachMethod({ idempotency_key: 'other', token: other, user_id: 'u1', provider_customer_id })
  fake.detachMethod(other)
  const events = fake.events.filter(({ type }) => type.startsWith('payment_method.'))
  const received = []
  for (const event of events) {
    const { headers, body } = fake.signed(event)
    await stripe.verifyNotification({ headers, body: Buffer.from(body), now: new Date() })
    const notification = stripe.readNotification(Buffer.from(body))
    const { provider_type, generic_type, object_id, customer_id, report } = notification
    t.equal(report, null)
    t.equal(customer_id, provider_customer_id)
    received.push([provider_type, generic_type, object_id])
  }
  t.same(received, [
    ['payment_method.attached', 'payment_method.attached', id],
    ['payment_method.automatically_updated', 'payment_method.updated', id],
    ['payment_method.updated', 'payment_method.updated', id],
    ['payment_method.detached', 'payment_method.detached', id],
    ['payment_method.attached', 'payment_method.attached', other],
    ['payment_method.detached', 'payment_method.detached', other],
  ])
  t.match(events[1]?.data, {
    object: { customer: provider_customer_id, card: { last4: '0005', exp_year: 2034 } },
    previous_attributes: { card: { last4: '4444', exp_year: 2031 } },
  })
})
