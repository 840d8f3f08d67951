// Stripe: the fake of the tests.
import { createStripe } from '@paylog/providers/stripe/stripe'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { type Books, common, noTest, type Paid, type ProviderAct, possible, stateOf, sum } from '../books.ts'

export async function openStripe(): Promise<Books> {
  const fake = await startFakeStripe(noTest, { now: () => new Date(), allowDouble: true })
  const { secretKey, origin: apiBase, webhookSecret } = fake
  const intentsOf = (id: string) => fake.intents().filter(({ metadata }) => metadata.payment_id === id)
  const disputes = new Map<string, { id: string; status: 'open' | 'won' | 'lost' }[]>()
  const thin = new Map<string, object>()
  /** Accounts that use thin events get some of them instead. */
  const sentFor = (event: (typeof fake.events)[number], index: number) => {
    if (index % 4 < 3) return event
    const sent = thin.get(event.id) ?? fake.thin(event)
    thin.set(event.id, sent)
    return sent
  }
  function act(what: ProviderAct, { payment_id }: Paid, flavour: number): void {
    const intent = intentsOf(payment_id).find(({ status }) => status !== 'canceled')
    if (intent === undefined) throw new Error('nothing to act on')
    const pending = fake.refundsOf(intent.id).filter(({ status }) => status === 'pending')
    const open = disputes.get(payment_id)?.find(({ status }) => status === 'open')
    if (what === 'pay' || what === 'complete') fake.pay(intent.id, payOutcome(intent, what))
    else if (what === 'fail') fake.pay(intent.id, 'failed')
    else if (what === 'begin to pay') fake.pay(intent.id, flavour % 2 ? 'processing' : 'requires_action')
    else if (what === 'cancel elsewhere') fake.pay(intent.id, 'canceled')
    else if (intent.status !== 'succeeded') throw new Error('nothing was paid')
    else if (what === 'refund elsewhere') {
      const { received, refunded, disputed } = fake.balanceOf(intent.id)
      const rest = received - refunded - sum(pending.map(({ amount }) => amount))
      if (rest < 1 || disputed > 0) throw new Error('nothing to refund')
      fake.refund(intent.id, flavour % 2 ? rest : Math.ceil(rest / 2))
    } else if (what === 'end a refund') {
      if (!pending[0]) fake.nextRefunds('pending')
      else fake.changeRefund(pending[0].id, flavour % 2 ? 'succeeded' : 'failed')
    } else if (what === 'dispute') {
      if (disputes.has(payment_id)) throw new Error('disputed before')
      const [event] = fake.dispute(intent.id)
      const id = String(Reflect.get(event?.data.object ?? {}, 'id'))
      disputes.set(payment_id, [{ id, status: 'open' }])
    } else if (open) {
      open.status = flavour % 2 ? 'won' : 'lost'
      fake.closeDispute(open.id, open.status)
    }
  }
  return {
    createProvider: () => createStripe({ secretKey, webhookSecrets: [webhookSecret], apiBase, ...common }),
    act: (what, paid, flavour) => possible(() => act(what, paid, flavour)),
    get notifications() {
      return fake.events.map((event, index) => ({ what: event.type, sign: () => fake.signed(sentFor(event, index)) }))
    },
    delaySearch: (isLate) => (isLate ? fake.delaySearch() : fake.catchUpSearch()),
    accountOf(payment_id) {
      const intents = intentsOf(payment_id)
      const balances = intents.map(({ id }) => fake.balanceOf(id))
      const statuses = intents.map(({ status }) => status)
      const refunds = intents.flatMap(({ id }) => fake.refundsOf(id))
      const counted = refunds.filter(({ metadata, status }) => metadata.refund_id && !isFailed(status))
      return {
        state: stateOf(statuses, stripeStates),
        charges: fake.ledger.charges.filter((charge) => charge.payment_id === payment_id).length,
        received_cents: sum(balances.map(({ received }) => received)),
        refunded_cents: sum(balances.map(({ refunded }) => refunded)),
        refunds: counted.map(({ metadata, amount }) => ({
          refund_id: metadata.refund_id ?? null,
          amount_cents: amount,
        })),
        disputes: (disputes.get(payment_id) ?? []).map(({ status }) => status),
        payable: statuses.filter((status) => status !== 'canceled').length,
      }
    },
  }
}

const isFailed = (status: string) => status === 'failed' || status === 'canceled'

function payOutcome({ status, capture_method }: { status: string; capture_method: string }, what: ProviderAct) {
  if (what === 'complete' && status !== 'processing' && status !== 'requires_action') throw new Error('nothing started')
  // What is authorized is captured by Paylog only.
  if (status === 'requires_capture') throw new Error('it is authorized')
  return capture_method === 'manual' ? 'requires_capture' : 'succeeded'
}

const stripeStates = {
  succeeded: 'paid',
  requires_capture: 'authorized',
  processing: 'processing',
  canceled: 'canceled',
} as const
