// PayPal: the fake of the tests.
import { createPaypal } from '@paylog/providers/paypal/paypal'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { type Books, common, noTest, type Paid, type ProviderAct, possible, stateOfMoney } from '../books.ts'

export async function openPaypal(): Promise<Books> {
  const fake = await startFakePaypal(noTest as never, { allowDouble: true })
  const { clientId, clientSecret, webhookIds, apiBase } = fake
  const ordersOf = (id: string) => [...fake.orders.values()].filter(({ unit }) => unit.custom_id === id)
  /** Payments whose order PayPal has forgotten. A refresh gives them another one. */
  const forgotten = new Set<string>()
  const disputes = new Map<string, 'open' | 'won' | 'lost'>()
  function act(what: ProviderAct, { payment_id }: Paid, flavour: number): void {
    const order = ordersOf(payment_id).at(-1)
    if (order === undefined) throw new Error('nothing to act on')
    const [capture] = order.captures
    const refund = order.refunds.find(({ status }) => status === 'PENDING')
    if (what === 'pay') {
      if (order.status !== 'CREATED') throw new Error('approved before')
      fake.approve(order.id)
    } else if (what === 'fail') fake.nextCaptures('declined')
    else if (what === 'begin to pay') fake.nextCaptures('pending')
    else if (what === 'complete') {
      if (capture?.status !== 'PENDING') throw new Error('nothing is pending')
      fake.settleCapture(capture.id, flavour % 4 ? 'completed' : 'denied')
    } else if (what === 'cancel elsewhere') {
      // PayPal forgets an order that nobody approves, and voids authorizations that nobody captures.
      if (order.status === 'CREATED') {
        forgotten.add(payment_id)
        fake.expireOrder(order.id)
      } else if (order.status === 'APPROVED') fake.reverseApproval(order.id)
      else if (order.captures.length === 0) fake.settleAuthorization(order.id, 'VOIDED')
      else throw new Error('it is paid')
    } else if (what === 'end a refund') {
      if (refund) fake.settleRefund(refund.id, flavour % 2 ? 'completed' : 'failed')
      else fake.nextRefunds('pending')
    } else if (capture?.status !== 'COMPLETED') throw new Error('nothing was paid')
    else if (what === 'refund elsewhere') fake.refund(capture.id, flavour % 2 ? undefined : '0.01')
    else if (what === 'dispute') {
      if (disputes.has(capture.id)) throw new Error('disputed before')
      disputes.set(capture.id, 'open')
      fake.dispute(capture.id)
    } else if (disputes.get(capture.id) === 'open') {
      const isWon = flavour % 2 === 1
      disputes.set(capture.id, isWon ? 'won' : 'lost')
      fake.dispute(capture.id, 'RESOLVED', 'RESOLVED', isWon ? 'RESOLVED_SELLER_FAVOUR' : 'RESOLVED_BUYER_FAVOUR')
    }
  }
  return {
    createProvider: () => createPaypal({ clientId, clientSecret, webhookIds, apiBase, ...common }),
    act: (what, paid, flavour) => possible(() => act(what, paid, flavour)),
    get notifications() {
      return fake.events.map((event) => ({ what: event.event_type, sign: () => fake.signed(event) }))
    },
    accountOf(payment_id) {
      const orders = ordersOf(payment_id)
      const { received_cents, refunded_cents, capturable_cents } = fake.balanceOf(payment_id)
      const refunds = orders.flatMap((order) => order.refunds)
      const counted = refunds.filter(({ status }) => status !== 'FAILED' && status !== 'CANCELLED')
      const started = orders.flatMap(({ captures, authorizations }) => [...captures, ...authorizations])
      const isPending = started.some(({ status }) => status === 'PENDING')
      const isOpen = orders.some(({ status }) => status !== 'VOIDED') || forgotten.has(payment_id)
      const isKnown = orders.length > 0
      return {
        state: stateOfMoney({ received_cents, capturable_cents, isPending, isOpen, isKnown }),
        charges: fake.charges.filter((charge) => charge.payment_id === payment_id).length,
        received_cents,
        refunded_cents,
        refunds: counted.map(({ custom_id = '', amount }) => {
          // Our refunds name the payment and the refund.
          const [refund_id = null] = custom_id === payment_id ? [] : (/[\da-f-]{36}$/.exec(custom_id) ?? [])
          return { refund_id, amount_cents: Math.round(Number(amount.value) * 100) }
        }),
        disputes: orders.flatMap(({ captures }) => captures.flatMap(({ id }) => disputes.get(id) ?? [])),
        payable: orders.filter(({ status }) => status !== 'VOIDED').length,
      }
    },
  }
}
