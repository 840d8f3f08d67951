// The saved method of a payment is shown as it was at the time that is asked for.
import { randomUUID } from 'node:crypto'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  addPaymentMethod,
  changePaymentMethod,
  type PaymentMethodState,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { after, at } from '@paylog/domain/payments/testStory'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { visa } from '@paylog/workflows/testing/methodsUnderTest'
import t from 'tap'
import { paymentHistoryUnderTest } from '../testing/paymentHistoryUnderTest.ts'
import { adaId, graceId } from '../testing/people.ts'

const { payment, record, store } = await paymentHistoryUnderTest(t)

const decide = (id: string, decision: (state: PaymentMethodState) => PaymentMethodEvent[]) =>
  store.handle<PaymentMethodState, PaymentMethodEvent>({
    stream: paymentMethodStream(id),
    fold: paymentMethodFold,
    decide: decision,
    metadata: { correlationId: 'c', causationId: 'k', actor: 'worker' },
  })
const add = (payment_method_id: string, seconds: number, user_id: string, alias: string) =>
  decide(payment_method_id, (state) =>
    addPaymentMethod(
      {
        payment_method_id,
        occurred_at: at(seconds),
        user_id,
        guest_email: null,
        provider_id: 'sandbox',
        provider_method_id: 'pm_1',
        provider_customer_id: 'cus_1',
        ...visa,
        type: null,
        alias,
        organization_id: null,
        billing_address_id: null,
        billing_details: null,
        default_choice: null,
      },
      state,
    ),
  )
const rename = (id: string, seconds: number, alias: string) =>
  decide(id, (state) => changePaymentMethod({ occurred_at: at(seconds), alias }, state))
const remove = (id: string, seconds: number) =>
  decide(id, (state) => removePaymentMethod({ occurred_at: at(seconds), by: 'owner' }, state))

/** A payment of Ada's, begun at 0 and settled at 11, with this method. */
async function paidWith(payment_method_id: string): Promise<string> {
  const payer = { id: adaId, type: 'user', email: 'ada@example.com' }
  const events = after('succeeded').map(
    (event): PaymentEvent =>
      event.type === 'PaymentInitiated'
        ? { ...event, data: { ...event.data, payer, payment_method_id, is_guest_payment: false, guest_email: null } }
        : event,
  )
  return (await record(events)).id
}
const shownAt = async (id: string, seconds: number) => (await payment(id, `?as_of=${at(seconds)}`)).data.payment_method
const aliasAt = async (id: string, seconds: number) => (await shownAt(id, seconds))?.alias

t.test('a method that is renamed later is shown by the name that it had', async (t) => {
  const method = randomUUID()
  await add(method, -5, adaId, 'Mine')
  const id = await paidWith(method)
  await rename(method, 5, 'Work')
  await rename(method, 20, 'Old')
  t.same(await shownAt(id, 0), { id: method, ...visa, alias: 'Mine' })
  t.equal(await aliasAt(id, 4.999), 'Mine')
  t.equal(await aliasAt(id, 5), 'Work')
  t.equal(await aliasAt(id, 19), 'Work')
  t.equal(await aliasAt(id, 20), 'Old')
  t.match((await payment(id)).data, { status: 'succeeded', payment_method: { alias: 'Old' } })
  t.equal((await payment(id, `?as_of=${at(20)}`)).headers.etag, '"2"', 'the revision is of the payment alone')
})

t.test('a removed method is still shown, and not when it has become somebody else’s', async (t) => {
  const method = randomUUID()
  await add(method, -5, adaId, 'Mine')
  const id = await paidWith(method)
  await remove(method, 20)
  await add(method, 30, graceId, 'Secret')
  t.equal(await aliasAt(id, 20), 'Mine')
  t.equal(await aliasAt(id, 29), 'Mine')
  t.equal(await shownAt(id, 30), null)
  t.equal((await payment(id)).data.payment_method, null)
})

t.test(
  'there is nothing to show of a test method, of one that is not there, and of one that was not there yet',
  async (t) => {
    for (const none of ['pm_card_visa', randomUUID()]) {
      const id = await paidWith(none)
      t.match((await payment(id)).data, { payment_method_id: none, payment_method: null })
      t.match((await payment(id, `?as_of=${at(0)}`)).data, { payment_method_id: none, payment_method: null })
    }
    const method = randomUUID()
    await add(method, 5, adaId, 'Late')
    const id = await paidWith(method)
    t.equal(await shownAt(id, 4), null)
    t.equal(await aliasAt(id, 5), 'Late')
  },
)
