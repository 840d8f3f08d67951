// Random histories of payments at Authorize.Net: the balance that we record equals the balance at the gateway.
import { randomUUID } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import { receivedOf, refundedOf } from '@paylog/domain/payments/money'
import { cancelPayment } from '@paylog/workflows/payments/intentCalls'
import { refundPayment } from '@paylog/workflows/payments/refundPayment'
import { seededRandom } from '@paylog/workflows/testing/workflowHarness'
import t from 'tap'
import { authorizeNetHarness, type OpenedPayment } from '../testing/receiverHarness.ts'

const gateway = await authorizeNetHarness(t)
const { fake, deliver, open, workflow, reconcile, time } = gateway
const metadata = { correlationId: 'test', causationId: 'test', actor: 'admin' }
/** Each settles up to a few batches, and a search reads at most 200. */
const histories = 60
const steps = 8
const upTo = seededRandom(1)

/** Our own calls may fail: then nothing, or an open call, is recorded. */
async function attempt(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error
  })
}

const chargeOf = ({ intent }: OpenedPayment) =>
  fake.transactions.find(({ invoiceNumber, capturedCents }) => invoiceNumber === intent && capturedCents > 0)

/** What the payer, the merchant and we do, in any order. */
const actions: readonly ((payment: OpenedPayment) => unknown)[] = [
  (payment) => chargeOf(payment) ?? fake.pay({ token: payment.secret }),
  () => fake.settle(),
  (payment) => {
    const charge = chargeOf(payment)
    if (charge?.batchId === null && charge.settleCents > 0) fake.voidTransaction(charge.transId)
  },
  (payment) => {
    const charge = chargeOf(payment)
    const { received_cents, refunded_cents } = fake.moneyOf(payment.intent)
    const rest = received_cents - refunded_cents
    if (charge?.transactionStatus === 'settledSuccessfully' && rest > 0) fake.refund(charge.transId, 1 + upTo(rest))
  },
  ({ id }) => attempt(cancelPayment(workflow, { payment_id: id, metadata, reason: null })),
  ...[0, 1].map(() => ({ id }: OpenedPayment) => {
    const fault = { kind: 'drop', commits: upTo(2) === 0 } as const
    const isLost = upTo(2) === 0
    const amount_cents = upTo(2) === 0 ? undefined : 1 + upTo(2599)
    const request = { refund_id: randomUUID(), amount_cents, reason: 'other', note: null } as const
    fake.faults.always(isLost ? fault : undefined)
    const refund = refundPayment(workflow, { payment_id: id, ...request, request_fingerprint: null, metadata })
    return attempt(refund).finally(() => fake.faults.always(undefined))
  }),
  async ({ intent }) => {
    const ids = fake.transactions.filter(({ invoiceNumber }) => invoiceNumber === intent).map(({ transId }) => transId)
    const events = fake.events.filter(({ body }) => ids.some((id) => body.includes(id)))
    const event = events[upTo(events.length)]
    if (event) await deliver(event)
  },
  ({ id }) => reconcile(id),
]

t.test('Authorize.Net: after random histories the recorded balance is the one at the gateway', async (t) => {
  for (let history = 0; history < histories; history++) {
    time.now = () => new Date()
    const sent = fake.events.length
    const payment = await open()
    const taken: number[] = []
    for (let step = 0; step < steps; step++) {
      const action = upTo(actions.length)
      taken.push(action)
      await actions[action]?.(payment)
    }
    const events = fake.events.slice(sent)
    for (let left = events.length * 2; left > 0; left--) await deliver(...events.slice(upTo(events.length)))
    await deliver(...events)
    time.now = () => new Date(Date.now() + 60_000)
    await reconcile(payment.id)
    const { payment: state } = await reconcile(payment.id)
    const { received_cents, refunded_cents } = fake.moneyOf(payment.intent)
    t.equal(receivedOf(state) - refundedOf(state), received_cents - refunded_cents, `${history}: ${taken}`)
    t.notOk(
      state.refunds.some(({ call }) => call !== 'ended'),
      `${history}: no call is open`,
    )
  }
})
