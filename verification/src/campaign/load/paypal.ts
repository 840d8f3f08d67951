// The campaign's PayPal: the fake with its books, and payers who approve its orders.
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Order } from '@paylog/testing/paypal/shownOrder'
import type { Intent } from '../judge/observations.ts'
import { type CampaignProvider, once, type ProviderContext, startProvider } from './provider.ts'
import { paypalPayer } from './settings.ts'

export async function startCampaignPaypal(context: ProviderContext): Promise<CampaignProvider> {
  const { stack, random, notifier } = context
  const fake = await startFakePaypal({ teardown: (stop) => void stack.defer(stop) }, { allowDouble: true })
  const isWrite = ({ method, url }: { readonly method: string; readonly url: string }) =>
    method === 'POST' && url.startsWith('/v2/')
  const { origin, common, payLater } = await startProvider(context, { origin: fake.apiBase, isWrite })
  let seen = 0
  return {
    ...common,
    env: { ...fake.env, PAYPAL_API_BASE: origin },
    books: () => [...fake.orders.values()].map(bookOf),
    look() {
      for (const event of fake.events.slice(seen)) {
        seen++
        const { id, event_type: type } = event
        const canBeLost = type === 'CHECKOUT.ORDER.APPROVED'
        notifier.send({ id, provider: 'paypal', type, canBeLost }, () => fake.signed(event))
      }
    },
    pay: once(({ intent_id }) => {
      if (random.weighted(paypalPayer) === 'nothing') return
      payLater(() => {
        if (fake.orders.get(intent_id)?.status === 'CREATED') fake.approve(intent_id)
      })
    }),
  }
}

function bookOf({ id, unit, status, authorizations, captures, refunds }: Order): Intent {
  const taken = captures.filter((capture) => capture.status !== 'PENDING' && capture.status !== 'DECLINED')
  const returned = refunds.filter((refund) => refund.status === 'COMPLETED')
  const isOpen = authorizations.some((each) => each.status === 'CREATED')
  const isVoided = authorizations.some((each) => each.status === 'VOIDED')
  const unpaid = isOpen ? 'authorized' : isVoided ? 'canceled' : status === 'APPROVED' ? 'approved' : 'open'
  return {
    provider: 'paypal',
    id,
    payment_id: unit.custom_id ?? null,
    key: null,
    amount_cents: centsOf(unit.amount),
    currency: unit.amount.currency_code,
    status: taken.length > 0 ? 'succeeded' : unpaid,
    failures: 0,
    charges: taken.length,
    received_cents: sumOf(taken),
    refunded_cents: sumOf(returned),
    is_foreign: false,
  }
}

type Money = { readonly value: string }
const centsOf = ({ value }: Money) => Math.round(Number(value) * 100)
const sumOf = (items: readonly { readonly amount: Money }[]) =>
  items.reduce((sum, { amount }) => sum + centsOf(amount), 0)
