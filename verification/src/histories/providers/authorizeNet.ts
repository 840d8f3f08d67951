// Authorize.Net: the fake of the tests.
import { createAuthorizeNet } from '@paylog/providers/authorize-net/authorizeNet'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { type Books, common, noTest, type Paid, type ProviderAct, possible, stateOfMoney } from '../books.ts'

export async function openAuthorizeNet(): Promise<Books> {
  const fake = await startFakeAuthorizeNet(noTest as never, { allowDouble: true })
  const { apiLoginId, transactionKey, signatureKey, origin: apiBase } = fake
  const invoiceOf = (payment_id: string) => payment_id.replaceAll('-', '').slice(-20)
  const chargesOf = (payment_id: string) =>
    fake.transactions.filter(
      ({ invoiceNumber, transactionType }) =>
        invoiceNumber === invoiceOf(payment_id) && transactionType !== 'refundTransaction',
    )
  /** The last form that was made for a payment. */
  const formOf = (payment_id: string) =>
    fake.calls
      .filter(({ method }) => method === 'getHostedPaymentPage')
      .map(({ request }) => request as HostedForm)
      .findLast((form) => form.transactionRequest?.order?.invoiceNumber === invoiceOf(payment_id))?.transactionRequest
  const isGood = (status: string) => !['declined', 'generalError', 'voided', 'failedReview'].includes(status)
  const isLeft = (payment_id: string) => {
    const { received_cents, refunded_cents } = fake.moneyOf(invoiceOf(payment_id))
    return received_cents > refunded_cents
  }
  function act(what: ProviderAct, { payment_id }: Paid, flavour: number): void {
    const form = formOf(payment_id)
    if (form === undefined) throw new Error('nothing to pay')
    const good = chargesOf(payment_id).find(({ transactionStatus }) => isGood(transactionStatus))
    const invoice = { invoiceNumber: invoiceOf(payment_id), amount_cents: Math.round(Number(form.amount) * 100) }
    const authOnly = form.transactionType === 'authOnlyTransaction'
    if (what === 'pay' || what === 'fail' || what === 'begin to pay') {
      // The gateway rejects a second payment of an invoice.
      if (chargesOf(payment_id).some(({ responseCode }) => responseCode !== 2)) throw new Error('paid before')
      const outcome = what === 'pay' ? 'approved' : what === 'fail' ? 'declined' : 'held'
      fake.pay(invoice, { outcome, authOnly })
    } else if (what === 'complete' && good?.transactionStatus === 'FDSPendingReview') {
      if (flavour % 4) fake.approveHeld(good.transId)
      else fake.declineHeld(good.transId)
    } else if (what === 'complete') fake.settle()
    // Only before the capture: a payment that is voided before Paylog sees it paid is canceled here, and refunded there.
    else if (what === 'cancel elsewhere' && good?.capturedCents === 0) fake.voidTransaction(good.transId)
    else if (what === 'refund elsewhere' && good?.transactionStatus === 'settledSuccessfully' && isLeft(payment_id))
      fake.refund(good.transId, 1, { invoiceNumber: good.invoiceNumber })
    else throw new Error('nothing to act on')
  }
  const account = { apiLoginId, transactionKey, signatureKeys: [signatureKey], apiBase, pageUrl: null, ...common }
  return {
    createProvider: () => createAuthorizeNet({ ...account, hostedFormUrl: apiBase }),
    act: (what, paid, flavour) => possible(() => act(what, paid, flavour)),
    get notifications() {
      return fake.events.map((event) => ({ what: event.eventType, sign: () => fake.signed(event) }))
    },
    accountOf(payment_id) {
      const { received_cents, refunded_cents } = fake.moneyOf(invoiceOf(payment_id))
      const charges = chargesOf(payment_id)
      const has = (status: string) => charges.some(({ transactionStatus }) => transactionStatus === status)
      const [capturable_cents, isKnown] = [Number(has('authorizedPendingCapture')), formOf(payment_id) !== undefined]
      const money = { received_cents, capturable_cents, isPending: has('FDSPendingReview'), isOpen: isKnown, isKnown }
      const refunds = fake.transactions.filter(({ refTransId, transactionStatus }) => {
        return isGood(transactionStatus) && charges.some(({ transId }) => transId === refTransId)
      })
      return {
        state: stateOfMoney(money),
        charges: charges.filter(({ capturedCents }) => capturedCents > 0).length,
        received_cents,
        refunded_cents,
        refunds: refunds.map(({ description, settleCents }) => {
          return { refund_id: description?.replace('Refund ', '') ?? null, amount_cents: settleCents }
        }),
        disputes: [],
        payable: 1,
      }
    },
  }
}

type HostedForm = {
  readonly transactionRequest?: {
    readonly amount: string
    readonly transactionType: string
    readonly order?: { readonly invoiceNumber?: string }
  }
}
