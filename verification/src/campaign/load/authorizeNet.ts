// The campaign's Authorize.Net: the fake with its books, payers who submit its forms, and its payerOutcomes.
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { Intent } from '../judge/observations.ts'
import { type CampaignProvider, once, type PayablePayment, type ProviderContext, startProvider } from './provider.ts'
import { authorizeNetPayer, settlementPauseMs } from './settings.ts'

type Fake = Awaited<ReturnType<typeof startFakeAuthorizeNet>>

export async function startCampaignAuthorizeNet(context: ProviderContext): Promise<CampaignProvider> {
  const { stack, random, notifier } = context
  const fake = await startFakeAuthorizeNet({ teardown: (stop) => void stack.defer(stop) }, { allowDouble: true })
  const isWrite = ({ body }: { readonly body: string }) =>
    /"(createTransaction|getHostedPaymentPage)Request"/.test(body)
  const { origin, common, payLater } = await startProvider(context, { origin: fake.origin, isWrite })
  /** By invoice number, which is all that the provider knows of a payment. */
  const payments = new Map<string, PayablePayment>()
  let [seen, settledAt] = [0, 0]
  return {
    ...common,
    env: { ...fake.env, AUTHORIZE_NET_API_BASE: origin },
    books: () => booksOf(fake, payments),
    look() {
      for (const event of fake.events.slice(seen)) {
        seen++
        const { notificationId: id, eventType: type } = event
        notifier.send({ id, provider: 'authorize-net', type }, () => fake.signed(event))
      }
      if (performance.now() - settledAt < settlementPauseMs) return
      fake.settle()
      settledAt = performance.now()
    },
    pay: once((payment) => {
      payments.set(payment.payment_id.replaceAll('-', '').slice(-20), payment)
      if (random.weighted(authorizeNetPayer) === 'nothing') return
      payLater(() => fake.pay({ token: payment.client_secret }))
    }),
  }
}

/** Only of payments that somebody has paid: a form that nobody submits leaves nothing. */
function booksOf({ transactions }: Fake, payments: ReadonlyMap<string, PayablePayment>): Intent[] {
  const refunds = Map.groupBy(transactions, ({ refTransId }) => refTransId)
  const charges = transactions.filter(({ refTransId }) => refTransId === null)
  return [...Map.groupBy(charges, ({ invoiceNumber }) => invoiceNumber)].map(([invoice, all]) => {
    const payment = payments.get(invoice ?? '')
    const captured = all.filter(({ capturedCents }) => capturedCents > 0)
    const kept = captured.map(
      ({ transId, settleCents }) => settleCents - sum((refunds.get(transId) ?? []).map((each) => each.settleCents)),
    )
    const received_cents = sum(captured.map(({ capturedCents }) => capturedCents))
    const isOpen = all.some(({ transactionStatus }) => transactionStatus === 'authorizedPendingCapture')
    return {
      provider: 'authorize-net',
      id: payment?.intent_id ?? String(invoice),
      payment_id: payment?.payment_id ?? null,
      key: null,
      amount_cents: all[0]?.authCents ?? 0,
      currency: all[0]?.currency ?? 'USD',
      status: captured.length > 0 ? 'succeeded' : isOpen ? 'authorized' : 'canceled',
      failures: 0,
      charges: captured.length,
      received_cents,
      refunded_cents: received_cents - sum(kept),
      is_foreign: false,
    }
  })
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
